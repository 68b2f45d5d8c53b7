"""Changes of shared records for a terminal or a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memrepo.report.escape import clipped, for_terminal
from memrepo.report.recordphrases import (
    RECORD_SIGNS,
    ends_phrase,
    facts,
    is_unbacked,
    is_wrong,
    kind_phrase,
    trust_phrase,
    who_phrase,
)
from memrepo.semdiff.records import RecordChange, RecordSide

_GREEN, _RED, _YELLOW, _BOLD, _BAD = "32", "31", "33", "1", "1;31"
_EXCERPT = 400
#: Said in the lines of the conclusion itself.
_SAID = ("who", "trust", "kind", "ends", "before", "id")


def record_lines(change: RecordChange, pen: Callable[[str, str], str]) -> Iterator[str]:
    """The lines of one change: old conclusion, new conclusion, and the rest; ``pen`` paints."""
    style = _BAD if is_wrong(change) else _GREEN if change.change == "added" else _YELLOW
    sign = pen(RECORD_SIGNS[change.change], style)
    name = pen(f"record {for_terminal(change.key)}", _BOLD)
    yield f"{sign} {name} {change.change} ({for_terminal(change.address)})"
    for mark, colour, side in (("−", _RED, change.before), ("+", _GREEN, change.after)):
        if side is not None:
            yield f"    {pen(f'{mark} {_shown(side.summary)}', colour)}"
            yield f"        {_source(side, pen)}"
    for label, text in facts(change):
        if label not in _SAID and not (label == "evidence" and change.after is None):
            yield f"        {_shown(label)}: {_shown(text)}"


def _source(side: RecordSide, pen: Callable[[str, str], str]) -> str:
    trust = for_terminal(trust_phrase(side))
    trust = pen(trust, _YELLOW) if is_unbacked(side) else trust
    rest = for_terminal(f"{kind_phrase(side)}; {ends_phrase(side)}")
    return f"{_shown(who_phrase(side))}, {trust}; {rest}"


def _shown(text: str) -> str:
    return for_terminal(clipped(text, _EXCERPT))
