"""Every snapshot of one commit, read from its trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from memrepo.gitrepo.blobs import blob_sizes, bring_blobs, iter_tree, promisor
from memrepo.gitrepo.repository import Repository
from memrepo.shards.path import snapshot_at
from memrepo.shards.table import Snapshots
from memrepo.shards.values import Archived

_FOLDER = "history"
_PLAIN = (0o100644, 0o100664)


class Newest(msgspec.Struct, frozen=True):
    """An agent's newest snapshot: its time in seconds since 1970, and its path."""

    when: int
    path: str


def collect(repo: Repository, commit: str, *, before: datetime, remote: str | None) -> Snapshots:
    """The snapshots that the commit id holds, in either layout, with their sizes in bytes.

    Links, submodules and executable files are none. A clone without blobs fetches those from
    before ``before`` in bulk, and does not know the sizes of the others: they are 0 then.
    """
    listed = Snapshots(listed_snapshots(repo, commit))
    if promisor(repo):
        border = before.timestamp()
        old = [one for one in listed if _when(one.path) < border]
        bring_blobs(repo, (one.blob for one in old), commit=commit, remote=remote)
        sizes = dict(zip((one.path for one in old), _sizes(repo, old), strict=True))
        return Snapshots(Archived(one.path, one.blob, sizes.get(one.path, 0)) for one in listed)
    return listed.sized(blob_sizes(repo, listed.blobs()))


def _sizes(repo: Repository, snapshots: list[Archived]) -> Iterator[int]:
    return blob_sizes(repo, (one.blob for one in snapshots))


def listed_snapshots(repo: Repository, commit: str) -> Iterator[Archived]:
    """The snapshots that the commit id holds, sizes 0, in the order of Git's tree."""
    for entry in iter_tree(repo, commit, _FOLDER):
        if entry.mode in _PLAIN and snapshot_at(entry.path):
            yield Archived(entry.path, entry.oid, 0)


def _when(path: str) -> int:
    named = snapshot_at(path)
    return named.when if named else 0


def newest_of_each(snapshots: Iterable[Archived]) -> dict[str, Newest]:
    """Each agent's newest snapshot."""
    newest: dict[str, Newest] = {}
    for one in snapshots:
        named = snapshot_at(one.path)
        if named and (named.agent_id not in newest or named.when > newest[named.agent_id].when):
            newest[named.agent_id] = Newest(named.when, one.path)
    return newest
