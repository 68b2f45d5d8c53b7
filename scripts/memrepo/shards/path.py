"""What a snapshot's path says, for many paths: the rule is :func:`protocol.layout.place_of`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import msgspec

from memrepo.protocol.layout import place_of

_DAY = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PATH = re.compile(r"history/(?:([0-9/]{10})/)?([0-9]{8})-([0-9]{6})-([^/]+)\.json", re.DOTALL)

_SECONDS = [f"{second:02}" for second in range(60)]
_MINUTES = [f"{minute // 60:02}{minute % 60:02}" for minute in range(24 * 60)]


class Named(msgspec.Struct, frozen=True):
    """A snapshot's path taken apart: seconds since 1970 (UTC), layout, and agent."""

    when: int
    daily: bool
    agent_id: str


def snapshot_at(path: str) -> Named | None:
    """What the path of a snapshot says, in either layout, or None for any other path.

    Gives what ``place_of(path).snapshot`` gives, several times as fast.
    """
    found = _PATH.fullmatch(path)
    if not found:
        return None
    folder, day, clock, agent_id = found.groups()
    begin = _day_begins(day, folder)
    second = _second_of(clock)
    if begin is None or second is None or not _is_agent(agent_id):
        return None
    return Named(begin + second, folder is not None, agent_id)


def shown(text: str) -> str:
    """Text that nobody vouches for, as it may stand in a message: quoted, ASCII, and short."""
    return ascii(text if len(text) <= 120 else text[:117] + "...")


def readable(error: Exception) -> str:
    """What a decoder says, which may quote what it read, in printable ASCII."""
    return ascii(str(error))[1:-1]


def snapshot_path(when: int, agent_id: str, *, daily: bool) -> str:
    """The path of a snapshot: the other way round of :func:`snapshot_at`."""
    day, second = divmod(when, _DAY)
    minute, second = divmod(second, 60)
    return f"{_day_prefix(day, daily)}{_MINUTES[minute]}{_SECONDS[second]}-{agent_id}.json"


def at(when: int) -> datetime:
    """Seconds since 1970 as a time in UTC."""
    return _EPOCH + timedelta(seconds=when)


def week_of(when: int) -> str:
    """The ISO week (ISO 8601, 5.2.3) in which a time lies, as ``2026-W05``."""
    return _week(when // _DAY)


@lru_cache(4096)
def _week(day: int) -> str:
    year, week, _ = at(day * _DAY).isocalendar()
    return f"{year:04}-W{week:02}"


@lru_cache(4096)
def _day_begins(day: str, folder: str | None) -> int | None:
    if folder is not None and folder != f"{day[:4]}/{day[4:6]}/{day[6:]}":
        return None
    try:
        begin = datetime(int(day[:4]), int(day[4:6]), int(day[6:]), tzinfo=UTC)
    except ValueError:
        return None
    return (begin - _EPOCH).days * _DAY


def _second_of(clock: str) -> int | None:
    second = 3600 * int(clock[:2]) + 60 * int(clock[2:4]) + int(clock[4:])
    return second if clock[:2] < "24" and clock[2] < "6" and clock[4] < "6" else None


@lru_cache(4096)
def _is_agent(agent_id: str) -> bool:
    return place_of(f"history/20000101-000000-{agent_id}.json").role == "snapshot"


@lru_cache(4096)
def _day_prefix(day: int, daily: bool) -> str:
    date = at(day * _DAY)
    name = f"{date.year:04}{date:%m%d}-"
    return f"history/{date.year:04}/{date:%m/%d}/{name}" if daily else f"history/{name}"
