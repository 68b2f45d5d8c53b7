"""What happened to shared records, on the page: old conclusion, new conclusion, and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memrepo.protocol.findings import Finding
from memrepo.report.escape import marked_html
from memrepo.report.page.pieces import badge, code, finding_item
from memrepo.report.recordphrases import (
    RECORD_SIGNS,
    ends_phrase,
    facts,
    is_unbacked,
    is_wrong,
    kind_phrase,
    records_phrase,
    trust_phrase,
    who_phrase,
)
from memrepo.semdiff.change import Diff
from memrepo.semdiff.records import RecordChange, RecordSide

#: The classes of colour that a kind of change has.
_COLOURS = {
    "added": "added",
    "replaced": "changed",
    "superseded": "removed",
    "archived": "removed",
    "edited": "removed",
    "removed": "removed",
}
#: Said beside the conclusion itself.
_SAID = ("who", "trust", "kind", "ends", "evidence", "before")
_DRY = ("code", "id")


def records(diff: Diff, findings: Sequence[Finding]) -> str:
    """The section of shared records; "" where the change touches none."""
    if not diff.records:
        return ""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    cards = "".join(
        _card(change, record_anchor(number), by_path.get(change.path, []))
        for number, change in enumerate(diff.records)
    )
    return (
        '<section aria-labelledby="records"><h2 id="records">Shared records</h2>'
        f'<p>{records_phrase(diff)}.</p><div class="tools">{cards}</div></section>'
    )


def record_anchor(number: int) -> str:
    """The HTML id of the record with this place in the diff."""
    return f"r{number + 1}"


def record_beliefs(diff: Diff, most: int) -> Iterator[str]:
    """A line for each record that changed, at most ``most``, and one for the rest."""
    for number, change in enumerate(diff.records[:most]):
        colour, sign = _COLOURS[change.change], RECORD_SIGNS[change.change]
        yield (
            f'<li><i class="sign {colour}" aria-hidden="true">{sign}</i> '
            f'<a href="#{record_anchor(number)}">{code(change.key)}</a> {change.change} '
            f"for {code(change.address)}</li>"
        )
    if len(diff.records) > most:
        yield f'<li><a href="#records">{len(diff.records) - most:,} more records</a></li>'


def _card(change: RecordChange, anchor: str, findings: Sequence[Finding]) -> str:
    colour, sign = _COLOURS[change.change], RECORD_SIGNS[change.change]
    kind = f'<b class="kind"><i aria-hidden="true">{sign}</i> {change.change}</b>'
    wrong = badge("error", "✖", "not allowed") if is_wrong(change) else ""
    sides = _side(change.before, "del") + _side(change.after, "ins")
    found = "".join(finding_item(finding) for finding in findings)
    listed = f'<ul class="findings">{found}</ul>' if found else ""
    return (
        f'<article class="tool {colour}" id="{anchor}"><h3>{kind} {code(change.key)}</h3> '
        f"<small>{code(change.address)}</small> {wrong}{sides}{listed}{_rest(change)}</article>"
    )


def _side(side: RecordSide | None, tag: str) -> str:
    if side is None:
        return ""
    label = "Old conclusion" if tag == "del" else "New conclusion"
    care = badge("warning", "▲", f"counts as {side.trust}") if is_unbacked(side) else ""
    evidence = f"; evidence: {side.evidence}" if side.evidence else "; names no evidence"
    source = f"{who_phrase(side)}, {trust_phrase(side)}; {kind_phrase(side)}; {ends_phrase(side)}"
    return (
        f'<p dir="auto"><small>{label}</small> <{tag}>{marked_html(side.summary)}</{tag}></p>'
        f'<p class="why" dir="auto">{care}{marked_html(source + evidence)}</p>'
    )


def _rest(change: RecordChange) -> str:
    told = [one for one in facts(change) if one[0] not in _SAID]
    # What agents will read beside the summary is not for a reader to go and look for.
    unfold = " open" if any(label not in _DRY for label, _ in told) else ""
    rows = "".join(
        f'<tr><th scope="row">{code(label)}</th><td dir="auto">{marked_html(text)}</td></tr>'
        for label, text in (*told, ("file", change.path))
    )
    return (
        f"<details{unfold}><summary>All of it</summary>"
        f'<div class="scroll"><table><tbody>{rows}</tbody></table></div></details>'
    )
