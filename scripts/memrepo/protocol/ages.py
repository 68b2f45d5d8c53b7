"""Ages and times as people write them: ``90d``, a date, an ISO 8601 time. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from memrepo.protocol.timestamps import parse_timestamp

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_LONGEST = 6


def parse_age(text: str) -> timedelta | None:
    """An age such as ``90d``, ``12w`` or ``48h``; None for anything else."""
    number, unit = text[:-1], text[-1:]
    if len(text) > _LONGEST or not (number.isascii() and number.isdecimal()) or unit not in _UNITS:
        return None
    return timedelta(**{_UNITS[unit]: int(number)})


def parse_moment(text: str, now: datetime) -> datetime | None:
    """A time with an offset, a date (its midnight in UTC), or an age before ``now``."""
    age = parse_age(text)
    if age is not None:
        return now - age
    return parse_timestamp(text) or parse_timestamp(f"{text}T00:00:00Z")
