"""The text of the job's pull request: a block of ours, and around it the words of people. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memrepo.knowledge.outcome import BranchOutcome
from memrepo.knowledge.render import left_out_markdown
from memrepo.report.escape import code_markdown, for_markdown

_BEGIN = "<!-- memrepo:knowledge -->"
_END = "<!-- memrepo:end -->"
_BLOCK = re.compile(rf"{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
_MOST_COMMITS = 20


def body_text(
    before: str,
    into: str,
    brought: dict[str, list[str]],
    outcomes: Sequence[BranchOutcome],
    review: str,
) -> str:
    """The text: what each source brings, what is open, and the review of all of it.

    ``brought`` gives the subjects of each branch's commits, and under "" those of people.
    In a text that has the block already only the block changes.
    """
    lines = [f"What the knowledge branches bring into {code_markdown(into)}:", ""]
    for branch, subjects in sorted(brought.items(), key=lambda item: (not item[0], item[0])):
        name = code_markdown(branch) if branch else "by people, and decisions"
        lines.append(f"- {name}: {len(subjects)} commit{'s' if len(subjects) > 1 else ''}")
        lines += [f"  - {for_markdown(subject)}" for subject in subjects[:_MOST_COMMITS]]
        if len(subjects) > _MOST_COMMITS:
            lines.append(f"  - … and {len(subjects) - _MOST_COMMITS} more")
    lines.append("")
    for outcome in outcomes:
        if outcome.left_out:
            words = for_markdown(outcome.message)
            lines += [f"✖ {code_markdown(outcome.branch)} is left out: {words}", ""]
            lines += left_out_markdown(outcome, into)
    text = "\n".join([*lines, review])
    block = f"{_BEGIN}\n{text.replace(_BEGIN, '').replace(_END, '').rstrip()}\n{_END}"
    if _BLOCK.search(before):
        return _BLOCK.sub(lambda _: block, before, count=1)
    return f"{before.strip()}\n\n{block}\n" if before.strip() else f"{block}\n"
