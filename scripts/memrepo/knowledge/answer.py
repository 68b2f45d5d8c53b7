"""What is said to a comment that decides: Markdown for the pull request. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.errors import MemrepoError
from memrepo.knowledge.decided import Decided
from memrepo.knowledge.outcome import MergeReport
from memrepo.knowledge.render import summary
from memrepo.report.escape import code_markdown, for_markdown


def answer_text(by: str, decided: Sequence[Decided], report: MergeReport | None) -> str:
    """The answer to ``by``, whom it does not notify; ``report`` is of the merge after it."""
    lines = [f"Decided by {code_markdown(by)}:", ""]
    for one in decided:
        place = code_markdown(f"{one.command.path}#{one.command.pointer}")
        words = f"{one.command.take} is taken" if one.error is None else _why(one.error)
        lines.append(f"- {'✔' if one.error is None else '✖'} {place}: {words}")
    if report is not None:
        where = f" (#{report.number})" if report.number else ""
        lines += ["", f"{for_markdown(summary(report))}{where}."]
        if report.conflicts:
            lines.append("The text of that pull request says what is open.")
    return "\n".join(lines) + "\n"


def _why(error: MemrepoError) -> str:
    return for_markdown(f"{error.message}; {error.hint}" if error.hint else error.message)
