"""Cycles and archived snapshots in one list."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from memrepo.gitrepo.repository import TipView
from memrepo.history.archived import ArchiveIndex
from memrepo.history.cycles import Cycle
from memrepo.protocol.layout import place_of


def with_archived(
    cycles: list[Cycle],
    agent_id: str,
    tip: TipView,
    *,
    limit: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[Cycle]:
    """``cycles`` (newest first) with archived snapshots marked, and those added that none names.

    ``tip`` is the commit whose index counts; the bounds are those that ``cycles`` were read
    with. Members files are read only of shards that reach into that time.
    """
    oldest = since
    if limit is not None and len(cycles) >= limit:
        # What is older than the last one would not be listed anyway.
        oldest = min(map(_when, cycles))
    known = {
        one.path: one.line.tag
        for one in ArchiveIndex(tip).of_agent(agent_id, since=oldest, until=until)
        if not tip.exists(one.path)
    }
    if not known:
        return cycles
    named = {cycle.snapshot for cycle in cycles}
    marked = [
        msgspec.structs.replace(cycle, archived=tag)
        if (tag := known.get(cycle.snapshot))
        else cycle
        for cycle in cycles
    ]
    extra = [_alone(path, tag) for path, tag in known.items() if path not in named]
    wanted = [
        cycle
        for cycle in extra
        if (oldest is None or _when(cycle) >= oldest) and (until is None or _when(cycle) <= until)
    ]
    if not wanted:
        return marked
    # Stable, so cycles of one second stay as the commits are.
    return sorted([*marked, *wanted], key=_when, reverse=True)[:limit]


def _alone(path: str, tag: str) -> Cycle:
    """An archived snapshot whose commit is not in this clone."""
    snapshot = place_of(path).snapshot
    when = snapshot.when if snapshot else datetime.fromtimestamp(0, UTC)
    return Cycle("", when.isoformat(), "", path, archived=tag)


def _when(cycle: Cycle) -> datetime:
    return datetime.fromisoformat(cycle.timestamp)
