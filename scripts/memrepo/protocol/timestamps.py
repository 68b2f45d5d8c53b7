"""Times as the protocol writes them (ISO 8601 date and time)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_SHAPE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_OFFSET = re.compile(r"(?:Z|[+-][0-9]{2}:?[0-9]{2})\Z")

# 29 February is left to the calendar.
_PLAIN = (
    r"(?:[1-8][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)"
    r"|(?:0[13578]|1[02])-31)T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)"
)
_ALL_PLAIN = re.compile(rf"{_PLAIN}(?:\n{_PLAIN})*+").fullmatch

match_shape = _SHAPE.fullmatch


def parse_timestamp(text: str, *, need_offset: bool = True) -> datetime | None:
    """The instant that ``text`` names, or None when it names none.

    Accepts ``2026-03-01T12:00:00+01:00`` and its ISO 8601 relatives with ``Z``, a
    fraction, or no seconds. Without ``need_offset`` a time that carries no offset is
    taken as UTC.
    """
    if not match_shape(text):
        return None
    try:
        when = datetime.fromisoformat(text)
        if when.tzinfo is not None:
            if not 1 < when.year < 9999:
                # Near the ends of the calendar the same instant may not exist in UTC.
                when.astimezone(UTC)
            return when
    except (ValueError, OverflowError):
        return None
    return None if need_offset else when.replace(tzinfo=UTC)


def plain_and_in_order(texts: list[str]) -> bool:
    """Whether all are times as memrepo writes them (``2026-03-01T12:00:00Z``), none going back.

    Quick: times of this one form are in order where their texts are.
    """
    return _ALL_PLAIN("\n".join(texts)) is not None and texts == sorted(texts)


def timestamp_problem(text: str) -> str:
    """What is wrong with ``text`` as a timestamp, for a message."""
    if match_shape(text) and not _OFFSET.search(text):
        return "has no offset from UTC"
    return "is no ISO 8601 date and time" if not match_shape(text) else "names no time that exists"


def iso(when: datetime) -> str:
    """A time the way memrepo writes it: UTC, whole seconds, ``Z``."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
