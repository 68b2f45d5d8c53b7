"""A merge of knowledge in words: Markdown for a pull request, lines for a terminal. Pure.

All that came from memory or from a branch goes through the escapes of ``report``.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from memrepo.knowledge.names import PREFIX
from memrepo.knowledge.outcome import BranchOutcome, Disagreement, MergeReport, plain_value
from memrepo.knowledge.status import BranchStatus
from memrepo.knowledge.updateplan import removed_words
from memrepo.report.escape import clipped, code_markdown, for_markdown, for_terminal
from memrepo.report.phrases import count, headline, severities_phrase
from memrepo.semmerge.values import ABSENT, Note

_MARKS = {"merged": "✔", "nothing": "·", "conflict": "✖", "refused": "✖", "invalid": "✖"}
_WOULD = {"conflict": "conflict", "refused": "be refused", "invalid": "be invalid"}
_VALUE = 300
_MOST_PLACES = 50
_MOST_NOTES = 30


def summary(report: MergeReport) -> str:
    """The run in one sentence, without a full stop."""
    merged, out = len(report.merged), report.conflicts
    if not merged and not out:
        return f"nothing to do: {report.into} has all that the knowledge branches hold"
    parts = []
    if merged:
        verb = "would go" if report.mode == "dry-run" else "went"
        where = "a pull request for " if report.mode == "pr" else ""
        parts.append(
            f"{count(report.commits, 'commit')} of {_branches(merged)} {verb} into"
            f" {where}{report.into}"
        )
    if out:
        parts.append(f"{_branches(out)} left out, since a person must decide")
    return "; ".join(parts)


def _branches(number: int) -> str:
    return "1 branch" if number == 1 else f"{number:,} branches"


def render_report(report: MergeReport) -> str:
    """The whole run as Markdown; ends with a newline."""
    mark = "✖" if report.conflicts else "✔"
    text = summary(report)
    lines = [f"### {mark} Knowledge merge: {for_markdown(text)}", ""]
    if report.branches:
        lines += ["| Branch | Result | Commits | Changes |", "| --- | --- | --- | --- |"]
        lines += [_row(branch) for branch in report.branches]
        lines.append("")
    for branch in report.branches:
        gone = [] if branch.left_out else [for_markdown(text) for text in removals(branch)]
        lines += [f"- {code_markdown(branch.branch)} {text}" for text in gone] + [""] * bool(gone)
        lines += left_out_markdown(branch, report.into)
    lines += [f"- {for_markdown(note)}" for note in report.notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(branch: BranchOutcome) -> str:
    mark = _MARKS.get(branch.result, "✖")
    commits = f"{len(branch.commits)}"
    if branch.empty:
        commits += f" ({branch.empty} changed nothing)"
    changes = for_markdown(headline(branch.diff)) if branch.commits else "nothing"
    if branch.left_out:
        changes = for_markdown(branch.message)
    return f"| {code_markdown(branch.branch)} | {mark} {branch.result} | {commits} | {changes} |"


def left_out_markdown(branch: BranchOutcome, into: str) -> list[str]:
    """The section of a branch that was left out, or that decided something by itself."""
    lines: list[str] = []
    if branch.conflicts:
        lines += [f"**Open in {code_markdown(branch.branch)}**", ""]
        head = ("Place", "Before", into, branch.branch, "Last changed by")
        lines.append(f"| {' | '.join(map(for_markdown, head))} |")
        lines.append("|" + " --- |" * len(head))
        lines += [_conflict_row(one) for one in branch.conflicts[:_MOST_PLACES]]
        more = len(branch.conflicts) - _MOST_PLACES
        lines += ["", f"… and {more} more places." if more > 0 else _how(branch), ""]
    errors = [f for f in branch.findings if f.severity == "error"]
    if branch.result == "invalid":
        lines += [f"**{code_markdown(branch.branch)}**: {severities_phrase(branch.findings)}", ""]
        for finding in errors[:_MOST_NOTES]:
            where = code_markdown(f"{finding.path}{finding.pointer and '#' + finding.pointer}")
            lines.append(
                f"- {code_markdown(finding.code)} {where}: {for_markdown(finding.message)}"
            )
        lines += ["", f"{for_markdown(_invalid_hint(branch))}.", ""]
    if branch.notes and not branch.left_out:
        lines += [f"**Decided by rule in {code_markdown(branch.branch)}**", ""]
        lines += [f"- {for_markdown(text)}" for text in notes_text(branch.notes)]
        lines.append("")
    return lines


def _conflict_row(one: Disagreement) -> str:
    conflict = one.conflict
    place = code_markdown(f"{conflict.path}#{conflict.pointer}")
    values = (code_markdown(shown(v)) for v in (conflict.base, conflict.ours, conflict.theirs))
    who = "<br>".join(
        f"{code_markdown(side.commit[:10])} {for_markdown(side.author)}"
        for side in (one.ours, one.theirs)
        if side.commit
    )
    return f"| {place}<br>{for_markdown(conflict.message)} | {' | '.join(values)} | {who} |"


def _how(branch: BranchOutcome) -> str:
    first = branch.conflicts[0].conflict
    place = f"{first.path}#{first.pointer}"
    return (
        "To decide, a writer comments, as a line of its own, for example:"
        f" {code_markdown(f'/memrepo take theirs {place}')}"
        f" (theirs is {code_markdown(branch.branch)}; ours and base can be taken likewise)."
    )


def shown(value: Any) -> str:
    """A side of a conflict on one line; "(nothing)" where there is none."""
    if value is ABSENT:
        return "(nothing)"
    return clipped(json.dumps(plain_value(value), ensure_ascii=False), _VALUE)


def notes_text(notes: Sequence[Note]) -> Iterator[str]:
    """What was decided by rule, one line each."""
    for note in notes[:_MOST_NOTES]:
        times = f" ({note.count} places)" if note.count > 1 else ""
        yield f"{note.path}{'#' + note.pointer if note.pointer else ''}: {note.message}{times}"
    if len(notes) > _MOST_NOTES:
        yield f"and {len(notes) - _MOST_NOTES:,} more"


def report_lines(report: MergeReport) -> Iterator[str]:
    """The run for a terminal, one line each, safe to print."""
    for branch in report.branches:
        yield from branch_lines(branch, dry=report.mode == "dry-run")
    yield for_terminal(summary(report))
    if report.url:
        yield f"pull request: #{report.number} {for_terminal(report.url)}"
    for branch_name in report.rewritten:
        yield for_terminal(f"{branch_name} was moved onto {report.into}")


def branch_lines(branch: BranchOutcome, *, dry: bool = False) -> Iterator[str]:
    """One branch: its line, and one for each place where a person must decide."""
    mark = _MARKS.get(branch.result, "✖")
    result: str = "nothing new" if branch.result == "nothing" else branch.result
    if dry and branch.result == "merged":
        result = "would go in"
    words = branch.message
    if branch.commits:
        words = f"{count(len(branch.commits), 'commit')}, {headline(branch.diff)}"
    empty = f" ({branch.empty} changed nothing)" if branch.empty else ""
    words = f": {words}" if words else ""
    yield for_terminal(f"{mark} {branch.branch} {result}{words}{empty}")
    yield from conflict_lines(branch)
    if branch.result == "invalid":
        for finding in (f for f in branch.findings if f.severity == "error"):
            place = f"{finding.path}{finding.pointer and '#' + finding.pointer}"
            yield for_terminal(f"    {place}: {finding.message} ({finding.code})")
        yield for_terminal(f"    hint: {_invalid_hint(branch)}")
    if not branch.left_out:
        yield from (for_terminal(f"    {text}") for text in removals(branch))
        yield from (for_terminal(f"    {text}") for text in notes_text(branch.notes))


def removals(branch: BranchOutcome) -> Iterator[str]:
    """The tools that a branch takes out, one line an agent."""
    for agent in branch.diff.agents:
        if gone := removed_words(agent.tools):
            yield f"removes: {gone} of {agent.agent_id}"


def _invalid_hint(branch: BranchOutcome) -> str:
    return (
        f"repair what the source gives and update {branch.branch} again; or change the limit in"
        f" .memrepo/policy.yml by a reviewed change; or open a pull request from {branch.branch}"
        " itself, for a person with the right to merge it"
    )


def conflict_lines(branch: BranchOutcome) -> Iterator[str]:
    """Places in conflict: where, the three values, who last changed the file, how to decide."""
    for one in branch.conflicts:
        conflict = one.conflict
        yield for_terminal(f"    {conflict.path}#{conflict.pointer}: {conflict.message}")
        sides = (
            ("before", conflict.base, None),
            ("ours", conflict.ours, one.ours),
            ("theirs", conflict.theirs, one.theirs),
        )
        for name, value, who in sides:
            by = f"  {who.commit[:10]} {who.author}" if who and who.commit else ""
            yield for_terminal(f"      {name:<7}{shown(value)}{by}")
        # What is a file on one side and a folder on the other, no record can settle.
        if branch.branch.startswith(PREFIX) and conflict.kind != "file-folder":
            given = ("--branch", branch.branch, "--path", conflict.path)
            words = ("memrepo", "knowledge", "resolve", *given, "--pointer", conflict.pointer)
            take = "--take ours|theirs|base|value:JSON"
            yield for_terminal(f"      decide: {shlex.join(words)} {take}")
    if branch.conflicts and not branch.branch.startswith(PREFIX):
        how = f"rebase {branch.branch} by hand, or close its pull request and delete it"
        yield for_terminal(f"    decide: {how}")


def status_lines(row: BranchStatus) -> Iterator[str]:
    """One branch of ``knowledge status`` for a terminal, safe to print."""
    outcome = row.outcome
    when = f"merged {row.merged[:10]}" if row.merged else "never merged"
    if outcome.result == "nothing" and not outcome.ahead:
        words = "nothing new"
    elif outcome.result == "merged":
        words = f"would go in: {headline(outcome.diff)}"
    elif outcome.result == "nothing":
        words = "its new commits change nothing"
    else:
        result = _WOULD.get(outcome.result) if row.after else ""
        words = f"would {result} after {', '.join(row.after)}" if result else outcome.result
        words += f": {outcome.message}"
    place = f"{outcome.ahead} ahead, {outcome.behind} behind"
    yield for_terminal(f"{outcome.branch}  {place}, {when}; {words}")
    if outcome.result == "merged":
        yield from (for_terminal(f"    {text}") for text in removals(outcome))
    yield from conflict_lines(outcome)
