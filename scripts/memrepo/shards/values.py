"""What the archive moves, as values: snapshots, shards, the plan, and what was packed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

#: Folder of everything that the archive keeps in the memory repository.
ARCHIVE_FOLDER = ".memrepo/archive"
#: One line a shard, in the order they were archived.
INDEX_PATH = f"{ARCHIVE_FOLDER}/index.jsonl"
#: A release asset has to be smaller than 2 GiB, and exactly 2 GiB fails.
MOST_ASSET_BYTES = int(1.9 * 1024**3)


class Archived(msgspec.Struct, frozen=True, order=True):
    """One snapshot to archive: its path, its Git blob id (hexadecimal) and size in bytes."""

    path: str
    blob: str
    size: int


class Shard(msgspec.Struct, frozen=True):
    """The snapshots of one ISO week, sorted by path.

    The first part of a week is ``2026-W05``, part ``n`` after it ``2026-W05.n``. A plan's
    snapshots are a :class:`memrepo.shards.table.Snapshots`, which holds many in little
    memory and equals a tuple of the same.
    """

    name: str
    snapshots: Sequence[Archived]


class Left(msgspec.Struct, frozen=True, order=True):
    """A snapshot that is due and that no shard can hold, and why, in words."""

    path: str
    why: str


class Plan(msgspec.Struct, frozen=True):
    """What one run would archive: the snapshots of ``commit`` from before ``before`` (UTC).

    ``kept`` are those that are old enough and stay, being the newest of their agent;
    ``left`` are those that stay because a tar of ours cannot hold them.
    ``key`` names what is archived and nothing else: SHA-256 over the lines
    ``<blob> <path>`` of all shards, so that a second run over another commit finds it.
    """

    commit: str
    before: datetime
    shards: tuple[Shard, ...]
    kept: tuple[Archived, ...]
    key: str
    left: tuple[Left, ...] = ()


class Packed(msgspec.Struct, frozen=True):
    """One packed shard. ``tar_sha256`` is its identity: gzip's bytes depend on the compressor.

    ``size`` and ``tar_size`` are bytes of the asset and of the tar in it; ``snapshots`` are
    (path, blob, size, SHA-256 of the content) in the order of the tar; what
    :func:`memrepo.shards.pack.pack` gives is a :class:`memrepo.shards.table.Members`.
    """

    shard: str
    asset: str
    size: int
    sha256: str
    tar_size: int
    tar_sha256: str
    snapshots: Sequence[tuple[str, str, int, str]]


class IndexLine(msgspec.Struct, frozen=True):
    """One line of the index: a shard, where it lies and what proves it.

    ``first`` and ``last`` are times from snapshots' names; ``members`` is the SHA-256 of
    the file that lists ``<blob> <path>`` a line (:func:`memrepo.shards.index.members_path`),
    which is written once and never again, so that the index stays small.
    """

    shard: str
    tag: str
    asset: str
    size: int
    sha256: str
    tar_sha256: str
    snapshots: int
    bytes: int
    first: datetime
    last: datetime
    agents: tuple[str, ...]
    commit: str
    members: str
    url: str = ""
