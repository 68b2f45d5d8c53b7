"""Changes of shared records as Markdown: a row in the table, and the folded rest."""

from __future__ import annotations

from memrepo.report.escape import clipped, code_markdown, for_markdown
from memrepo.report.recordphrases import (
    RECORD_SIGNS,
    facts,
    is_unbacked,
    is_wrong,
    trust_phrase,
    who_phrase,
)
from memrepo.semdiff.records import RecordChange, RecordSide

RECORDS_HEAD = ("Record", "Conclusion", "Who says so", "Evidence", "Ends")

_CONCLUSION = 600
_CELL = 200
_FACT = 1_500


def record_row(change: RecordChange) -> str:
    """One row: the key, old conclusion and new conclusion, who says so, on what, until when."""
    sign = "✖" if is_wrong(change) else RECORD_SIGNS[change.change]
    name = f"{sign} {code_markdown(change.key)}<br>{for_markdown(change.address)}"
    sides = (("del", change.before), ("ins", change.after))
    said = "<br>".join(
        f"<{tag}>{for_markdown(clipped(side.summary, _CONCLUSION), breaks=True)}</{tag}>"
        for tag, side in sides
        if side is not None
    )
    side = change.after or change.before
    if side is None:
        return f"| {name} | | | | |"
    evidence = for_markdown(clipped(side.evidence, _CELL)) or "none named"
    ends = for_markdown(side.expires_at or "never") if change.after else change.change
    return f"| {name} | {said} | {_who(side)} | {evidence} | {ends} |"


def record_section(change: RecordChange) -> str:
    """The folded details of one change; holds no fence and exactly one ``<details>``."""
    sign = "✖" if is_wrong(change) else RECORD_SIGNS[change.change]
    title = f"{sign} {code_markdown(change.key)}: {change.change}"
    lines = [
        f"- {code_markdown(clipped(label, _CELL))} "
        f"{for_markdown(clipped(text, _FACT), breaks=True)}"
        for label, text in facts(change)
    ]
    lines.append(f"- <code>file</code> {code_markdown(change.path)}")
    return "\n\n".join([f"<details><summary>{title}</summary>", "\n".join(lines), "</details>"])


def _who(side: RecordSide) -> str:
    mark = "▲ " if is_unbacked(side) else ""
    who = for_markdown(clipped(who_phrase(side), _CELL))
    return f"{who}<br>{mark}{for_markdown(clipped(trust_phrase(side), _CELL))}"
