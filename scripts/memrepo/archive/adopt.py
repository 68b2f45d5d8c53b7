"""What published releases hold already: such snapshots need no second release.

A run that was killed behind its release, a pull request that waits, jobs that each publish a
shard: all are the same case. The release is there and the tree does not know it yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from memrepo.archive.proof import Proven, members, prove, read_manifest
from memrepo.archive.values import Tell
from memrepo.errors import BadInput
from memrepo.forge.releases import Release, Releases
from memrepo.gitrepo.repository import TipView
from memrepo.history.archived import read_index
from memrepo.shards.index import archived_snapshots
from memrepo.shards.manifest import Manifest
from memrepo.shards.path import snapshot_at, week_of
from memrepo.shards.values import Archived, IndexLine

_MARKER = re.compile(r"<!-- memrepo:archive ([0-9a-f]{64}) -->")


class Adopted(msgspec.Struct, frozen=True):
    """Releases that the index does not know yet, and those it does that hold what is due.

    ``notes`` say which releases could not be used, and why. ``known`` are the tags that the
    index names, each with the SHA-256 of its shards.
    """

    unindexed: tuple[Proven, ...]
    indexed: tuple[Proven, ...]
    notes: tuple[str, ...]
    known: dict[str, set[str]] = {}

    def holds(self) -> dict[str, set[str]]:
        """Each path that they hold, with its blob ids."""
        found: dict[str, set[str]] = {}
        for proven in (*self.unindexed, *self.indexed):
            for shard in proven.manifest.shards:
                for one in members(shard):
                    found.setdefault(one.path, set()).add(one.blob)
        return found


def marker(key: str) -> str:
    """What the text of a release of ours begins with: the key of what it holds."""
    return f"<!-- memrepo:archive {key} -->"


def key_of(release: Release) -> str:
    """The key in a release's marker; "" for one that is not ours."""
    found = _MARKER.match(release.body.lstrip())
    return found[1] if found else ""


def is_tag_of(prefix: str, tag: str) -> bool:
    """Whether a tag is one that a run with this prefix gives."""
    return re.fullmatch(rf"{re.escape(prefix)}-\d{{4}}-W\d\d(?:\.\d{{1,4}})?", tag) is not None


def adopt(
    releases: Releases,
    listed: Iterable[Release],
    view: TipView,
    due: Iterable[Archived],
    *,
    prefix: str,
    folder: Path,
    tell: Tell,
) -> Adopted:
    """Which published releases hold snapshots already, read back and proven.

    Of those that the index of ``view`` does not know, the ones that hold a snapshot of this
    tree are taken: a folder may be another repository's forge too. Of those it knows, the
    ones that hold something of ``due`` (it was brought back into the tree). One that is
    damaged counts for nothing, and is named.
    """
    lines = read_index(view)
    known: dict[str, set[str]] = {}
    for line in lines:
        known.setdefault(line.tag, set()).add(line.sha256)
    again = _tags_that_hold(lines, view, due)
    unindexed: list[Proven] = []
    indexed: list[Proven] = []
    notes: list[str] = []
    for release in sorted(listed, key=lambda one: one.id):
        if release.draft or not is_tag_of(prefix, release.tag):
            continue
        if release.tag in known and release.tag not in again:
            continue
        try:
            manifest, sums = read_manifest(releases, release, folder)
            if not _was_made_here(manifest, view):
                notes.append(
                    f"the release {release.tag} holds nothing of this repository: left alone"
                )
                continue
            proven = prove(releases, release, manifest, sums, folder, tell)
        except BadInput as error:
            notes.append(f"the release {release.tag} cannot be relied on: {error.message}")
            continue
        (indexed if release.tag in known else unindexed).append(proven)
    return Adopted(tuple(unindexed), tuple(indexed), tuple(notes), known)


def _was_made_here(manifest: Manifest, view: TipView) -> bool:
    held = (one for shard in manifest.shards for one in members(shard))
    found = ((view.entry(one.path), one.blob) for one in held)
    return any(entry is not None and entry.oid.hex() == blob for entry, blob in found)


def _tags_that_hold(lines: Sequence[IndexLine], view: TipView, due: Iterable[Archived]) -> set[str]:
    """The tags of indexed shards that hold something that is due."""
    if not lines:
        return set()
    blobs = {one.path: one.blob for one in due}
    weeks = {week_of(named.when) for path in blobs if (named := snapshot_at(path))}
    near = [line for line in lines if line.shard.partition(".")[0] in weeks]
    try:
        known = archived_snapshots(near, view.read)
        return {one.line.tag for one in known if blobs.get(one.path) == one.blob}
    except BadInput:
        # A members file that is damaged proves nothing; what is due is archived anew.
        return set()
