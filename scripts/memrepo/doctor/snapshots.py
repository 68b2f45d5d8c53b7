"""How many snapshots lie flat, counted by their names alone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from memrepo.protocol.names import parse_snapshot_name

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import TipView

#: How long snapshots stay in the repository before the archive takes them.
WINDOW = timedelta(days=90)

_FLAT = re.compile(
    r"[0-9]{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
    r"-(?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]-.+\.json"
)


class FlatHistory(msgspec.Struct, frozen=True):
    """``total`` snapshots lie flat, ``recent`` of them inside the archive's window.

    The window is the 90 days before the newest snapshot of either layout.
    """

    total: int
    recent: int


def flat_history(tip: TipView) -> FlatHistory:
    """Count the flat snapshots of a commit."""
    listed = tip.list_dir("history")
    flat = sorted(one.name for one in listed if not one.is_folder and _FLAT.fullmatch(one.name))
    newest = max((when for when in (_newest(flat), _newest_daily(tip)) if when), default=None)
    if newest is None:
        return FlatHistory(0, 0)
    start = _stamp(newest - min(WINDOW, newest - datetime.min.replace(tzinfo=UTC)))
    return FlatHistory(len(flat), sum(name[: len(start)] >= start for name in flat))


def _stamp(when: datetime) -> str:
    """The time as names spell it; ``%Y`` would leave out a year's leading zeros."""
    day, _, second = when.replace(tzinfo=None).isoformat().partition("T")
    return f"{day.replace('-', '')}-{second[:8].replace(':', '')}"


def _newest(names: list[str]) -> datetime | None:
    """The time of the last of ``names`` (in order) whose time exists."""
    found = (parse_snapshot_name(name) for name in reversed(names))
    return next((snapshot.when for snapshot in found if snapshot), None)


def _newest_daily(tip: TipView) -> datetime | None:
    """The time of the newest snapshot in the daily layout; looks at the last day that has one."""
    folders = ["history"]
    for digits in (4, 2, 2):
        folders = [
            f"{folder}/{one.name}"
            for folder in folders
            for one in tip.list_dir(folder)
            if one.is_folder and len(one.name) == digits and one.name.isdecimal()
        ]
        folders = sorted(folders)[-1:]
    return _newest(sorted(one.name for one in tip.list_dir(folders[0]))) if folders else None
