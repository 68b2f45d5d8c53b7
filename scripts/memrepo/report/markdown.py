"""A review as Markdown for a pull request comment or a job summary.

The report is a list of sections. With a limit, a section that does not fit is left out
whole and named at the end, so that no fence and no ``<details>`` is ever cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from memrepo.protocol.findings import Finding, in_order
from memrepo.report.agentmarkdown import SEVERITY_MARKS, agent_row, agent_section
from memrepo.report.escape import clipped, code_markdown, fenced, for_markdown, quoted
from memrepo.report.phrases import (
    FILE_SIGNS,
    by_agent,
    count,
    headline,
    place,
    sentence,
    severities_phrase,
    worst_first,
)
from memrepo.report.recordmarkdown import RECORDS_HEAD, record_row, record_section
from memrepo.report.verdict import Review
from memrepo.semdiff.change import OtherFile, SnapshotsDiff

VERDICT_MARKS = {"pass": "✔", "warn": "▲", "fail": "✖"}
_VERDICT_WORDS = {"pass": "pass", "warn": "look closely", "fail": "fail"}

#: Shares of a limit that the tables may take, so that details have room as well.
_FINDINGS_SHARE = 0.45
_AGENTS_SHARE = 0.25
_RECORDS_SHARE = 0.35
_MESSAGE = 500
_PATCH = 12_000


def review_markdown(review: Review, *, limit: int | None = None) -> str:
    """The whole review; at most ``limit`` characters where one is given.

    The first line holds the verdict and how many agents, turns and tools changed. Ends
    with a newline.
    """
    report = _Report(limit)
    first = (
        f"### {VERDICT_MARKS[review.verdict]} Memory review: {_VERDICT_WORDS[review.verdict]}. "
        f"{sentence(headline(review.diff))}"
    )
    report.add(first)
    report.add(_revisions(review))
    ordered = in_order(list(review.findings))
    grouped = by_agent(ordered)
    agents = worst_first(review.diff.agents, ordered)

    report.add_table("**Findings**", _FINDINGS_HEAD, map(_finding_row, ordered), _FINDINGS_SHARE)
    rows = (agent_row(agent, grouped.get(agent.agent_id, [])) for agent in agents)
    report.add_table("**Agents**", _AGENTS_HEAD, rows, _AGENTS_SHARE)
    records = map(record_row, review.diff.records)
    report.add_table("**Records**", RECORDS_HEAD, records, _RECORDS_SHARE)
    for agent in agents:
        report.add(agent_section(agent, grouped.get(agent.agent_id, [])), "agent")
    for record in review.diff.records:
        report.add(record_section(record), "record")
    for section in _snapshots(review.diff.snapshots):
        report.add(section, "snapshot list")
    for file in review.diff.other:
        report.add(_other_file(file), "other file")
    return report.text()


class _Report:
    """Sections up to a limit, and what was left out."""

    #: Room for the last line, which says what is missing.
    _POINTER = 300

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._sections: list[str] = []
        self._used = 0
        self._missing: list[str] = []

    def _room(self) -> int | None:
        return None if self._limit is None else self._limit - self._used - self._POINTER

    def add(self, section: str, noun: str = "") -> None:
        """Put a section in, or note what it was where it does not fit."""
        room = self._room()
        # The first line always stays: a report without its verdict says nothing.
        if self._sections and room is not None and len(section) + 2 > room:
            self._missing.append(noun or "line")
            return
        self._sections.append(section)
        self._used += len(section) + 2

    def add_table(self, title: str, head: Sequence[str], rows: Iterable[str], share: float) -> None:
        """Put a table in, as many rows as fit in ``share`` of the limit."""
        body = list(rows)
        if not body:
            return
        lines = [f"{title}\n", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
        room = self._room()
        kept = body
        if room is not None and self._limit is not None:
            budget = min(room, int(self._limit * share)) - sum(len(line) + 1 for line in lines)
            kept = list(_fitting(body, budget))
        noun = f"row of {title.strip('*').lower()}"
        self._missing += [noun] * (len(body) - len(kept))
        if kept:
            self.add("\n".join([*lines, *kept]))

    def text(self) -> str:
        """The report, with its last line saying what the limit left out."""
        if self._missing:
            parts = [
                f"{len(list(group)):,} × {noun}" for noun, group in groupby(sorted(self._missing))
            ]
            self._sections.append(
                f"_Left out for length: {', '.join(parts)}. "
                "The full report (HTML or JSON of this review) has all of it._"
            )
        text = "\n\n".join(self._sections) + "\n"
        return text if self._limit is None or len(text) <= self._limit else self._shortest()

    def _shortest(self) -> str:
        return self._sections[0][: self._limit]


def _fitting(rows: Iterable[str], budget: int) -> Iterator[str]:
    for row in rows:
        budget -= len(row) + 1
        if budget < 0:
            return
        yield row


_FINDINGS_HEAD = ("Severity", "Code", "Where", "What")
_AGENTS_HEAD = ("Agent", "Turns", "Tools", "Version", "Findings")


def _revisions(review: Review) -> str:
    names = (
        f"{code_markdown(name)} ({code_markdown(commit[:10])})"
        for name, commit in ((review.base_name, review.base), (review.head_name, review.head))
    )
    return f"{severities_phrase(review.findings).capitalize()}. From {' to '.join(names)}."


def _finding_row(finding: Finding) -> str:
    texts = (clipped(text, _MESSAGE) for text in (finding.message, finding.hint) if text)
    what = "<br>".join(quoted(text, for_markdown, code_markdown) for text in texts)
    mark = f"{SEVERITY_MARKS[finding.severity]} {finding.severity}"
    return f"| {mark} | {code_markdown(finding.code)} | {code_markdown(place(finding))} | {what} |"


def _snapshots(snapshots: SnapshotsDiff) -> Iterator[str]:
    if snapshots.added:
        yield f"{count(snapshots.added, 'snapshot')} added."
    if snapshots.moved:
        yield f"{count(snapshots.moved, 'snapshot')} moved to the other layout."
    if snapshots.archived:
        yield f"{count(snapshots.archived, 'snapshot')} left for the archive."
    for verb, paths in (("changed", snapshots.changed), ("deleted", snapshots.deleted)):
        if paths:
            rows = "\n".join(f"- {code_markdown(path)}" for path in paths)
            yield (
                f"<details><summary>✖ {count(len(paths), 'snapshot')} {verb}</summary>\n\n"
                f"{rows}\n\n</details>"
            )


def _other_file(file: OtherFile) -> str:
    kind = "" if file.kind == "text" else f" ({file.kind})"
    summary = f"{FILE_SIGNS[file.change]} {code_markdown(file.path)} {file.change}{kind}"
    words = "".join(f"\n- {for_markdown(clipped(each, _MESSAGE))}" for each in file.words)
    if not file.patch:
        return f"{summary}{words}"
    patch = clipped(file.patch, _PATCH)
    note = "" if not file.truncated else "\n\nThe rest of this diff is left out."
    folded = f"<details><summary>{summary}</summary>\n\n{fenced(patch, 'diff')}{note}\n\n</details>"
    return f"{code_markdown(file.path)}:{words}\n\n{folded}" if words else folded
