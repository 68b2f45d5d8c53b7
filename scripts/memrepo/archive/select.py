"""Which archived snapshots are meant. Pure: an index and words in, a selection out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

import msgspec

from memrepo.errors import UnknownRevision, UsageError
from memrepo.history.archived import ArchiveIndex
from memrepo.protocol.layout import place_of
from memrepo.shards.index import archived_snapshots
from memrepo.shards.values import IndexLine


class Wanted(msgspec.Struct, frozen=True):
    """What a person asks for: everything, ``names``, or an agent's time.

    A name is a release's tag, a shard (all parts of a week, or one), an asset, or a
    snapshot's path or file name.
    """

    everything: bool = False
    names: tuple[str, ...] = ()
    agent_id: str = ""
    since: datetime | None = None
    until: datetime | None = None


class Picked(msgspec.Struct, frozen=True):
    """Of one shard, the ``paths`` that are meant; None is all of them."""

    line: IndexLine
    paths: frozenset[str] | None = None


def select(index: ArchiveIndex, wanted: Wanted) -> list[Picked]:
    """The shards and paths that are meant, in the order of the index.

    Raises UsageError for a wish that is none, UnknownRevision for what is not archived.
    """
    bounded = bool(wanted.agent_id or wanted.since or wanted.until)
    if sum((wanted.everything, bool(wanted.names), bounded)) != 1:
        raise UsageError(
            "say what to bring back, in one way",
            "name tags or paths, or give --all, or --agent-id with --from and --to",
        )
    if wanted.everything:
        return [Picked(line) for line in index.lines]
    if bounded:
        return list(_by_time(index, wanted))
    return list(_by_name(index, wanted.names))


def _by_time(index: ArchiveIndex, wanted: Wanted) -> Iterator[Picked]:
    since, until = wanted.since, wanted.until
    for line in index.lines:
        if wanted.agent_id and wanted.agent_id not in line.agents:
            continue
        if (since and line.last < since) or (until and line.first > until):
            continue
        found = archived_snapshots([line], index.read, agent_id=wanted.agent_id)
        paths = frozenset(one.path for one in found if _within(one.path, since, until))
        if paths:
            yield Picked(line, paths)


def _within(path: str, since: datetime | None, until: datetime | None) -> bool:
    snapshot = place_of(path).snapshot
    if snapshot is None:
        return False
    return (since is None or snapshot.when >= since) and (until is None or snapshot.when <= until)


def _by_name(index: ArchiveIndex, names: Sequence[str]) -> Iterator[Picked]:
    whole: set[IndexLine] = set()
    paths: dict[IndexLine, set[str]] = {}
    for name in names:
        if lines := [line for line in index.lines if name in _names_of(line)]:
            whole.update(lines)
            continue
        found = index.find(name)
        if found is None:
            raise UnknownRevision(
                f"{name} is neither a release nor a snapshot, week or file in the archive",
                "memrepo archive list shows the releases, memrepo history an agent's snapshots",
            )
        paths.setdefault(found.line, set()).add(found.path)
    for line in index.lines:
        if line in whole:
            yield Picked(line)
        elif line in paths:
            yield Picked(line, frozenset(paths[line]))


def _names_of(line: IndexLine) -> tuple[str, ...]:
    """What a shard is called: by its release, its week, itself, or its file."""
    return line.tag, line.shard.partition(".")[0], line.shard, line.asset


def lines_of(index: ArchiveIndex, tags: Collection[str]) -> list[IndexLine]:
    """The shards of these releases; of all for no tag.  Raises UnknownRevision."""
    known = {line.tag for line in index.lines}
    for tag in tags:
        if tag not in known:
            raise UnknownRevision(
                f"the archive knows no release {tag}", "memrepo archive list shows them"
            )
    return [line for line in index.lines if not tags or line.tag in tags]
