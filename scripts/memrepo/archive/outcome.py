"""From what a run found and did to the outcome that it tells. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import msgspec

from memrepo.archive.prepare import Prepared, Request
from memrepo.archive.proof import Proven
from memrepo.archive.prune import Built
from memrepo.archive.values import ArchiveOutcome, Mode, Moved, Sizes, State, Stayed, Week
from memrepo.protocol.timestamps import iso
from memrepo.shards.path import snapshot_at, week_of
from memrepo.shards.plan import asset_name
from memrepo.shards.values import Shard


def nothing_yet(request: Request, mode: Mode) -> ArchiveOutcome:
    """The outcome for a branch without a commit."""
    note = "there is no commit yet, so there is nothing to archive"
    before = iso(request.before or request.now)
    return ArchiveOutcome("nothing", mode, request.branch, "", before, notes=(note,))


def planned(
    prepared: Prepared, mode: Mode, going: Collection[str], shards: Sequence[Shard]
) -> ArchiveOutcome:
    """What a run would come to: ``going`` are the paths that leave, ``shards`` are published."""
    start = prepared.start
    weeks, before, after = _tally(prepared, going)
    moved = tuple(
        Moved(
            shard=shard.name,
            tag="",
            asset=asset_name(shard.name, start.prefix),
            url="",
            snapshots=len(shard.snapshots),
            bytes=sum(one.size for one in shard.snapshots),
            size=0,
            sha256="",
            tar_sha256="",
        )
        for shard in shards
    )
    return ArchiveOutcome(
        state="planned" if going else "nothing",
        mode=mode,
        branch=start.branch,
        commit=start.commit,
        before=iso(start.before),
        archived=len(going),
        shards=moved,
        sizes_before=before,
        sizes_after=after,
        weeks=weeks,
        kept=len(prepared.due.kept),
        stayed=tuple(Stayed(one.path, one.why) for one in prepared.due.left),
        notes=prepared.notes,
    )


def with_releases(outcome: ArchiveOutcome, known: Sequence[Proven]) -> ArchiveOutcome:
    """The outcome with the shards of the releases that the run stands on, the newest named."""
    if not known:
        return msgspec.structs.replace(outcome, shards=())
    last = max(known, key=lambda one: one.release.id)
    return msgspec.structs.replace(
        outcome,
        shards=tuple(moved for one in known for moved in _moved(one)),
        release_tag=last.release.tag,
        release_url=last.release.url,
        sha256=hashlib.sha256(last.sums).hexdigest(),
        checksums=last.sums.decode("ascii"),
    )


def with_prune(
    outcome: ArchiveOutcome, prepared: Prepared, built: Built | None, commit: str, state: State
) -> ArchiveOutcome:
    """The outcome with what the commit took out; None where there was nothing left to do."""
    if built is None:
        return msgspec.structs.replace(
            outcome, state="nothing", archived=0, sizes_after=outcome.sizes_before
        )
    after = outcome.sizes_after
    if len(built.removed) != outcome.archived:
        after = _tally(prepared, frozenset(built.removed))[2]
    return msgspec.structs.replace(
        outcome,
        state=state,
        archived=len(built.removed),
        pruned_commit=commit,
        sizes_after=after,
        stayed=(*outcome.stayed, *built.stayed),
    )


def _moved(proven: Proven) -> Iterable[Moved]:
    for packed in proven.manifest.shards:
        yield Moved(
            shard=packed.shard,
            tag=proven.release.tag,
            asset=packed.asset,
            url=proven.release.url,
            snapshots=len(packed.snapshots),
            bytes=sum(size for _, _, size, _ in packed.snapshots),
            size=packed.size,
            sha256=packed.sha256,
            tar_sha256=packed.tar_sha256,
        )


def _tally(prepared: Prepared, going: Collection[str]) -> tuple[tuple[Week, ...], Sizes, Sizes]:
    """The history by week, and its size before and after ``going`` (looked up) has left."""
    there: Counter[str] = Counter()
    leaving: Counter[str] = Counter()
    total = gone = 0
    for one in prepared.snapshots:
        named = snapshot_at(one.path)
        week = week_of(named.when) if named else ""
        there[week] += 1
        total += one.size
        if one.path in going:
            leaving[week] += 1
            gone += one.size
    weeks = tuple(Week(week, there[week], leaving[week]) for week in sorted(there))
    count, left = there.total(), there.total() - leaving.total()
    if not prepared.knows_sizes:
        return weeks, Sizes(count, -1), Sizes(left, -1)
    return weeks, Sizes(count, total), Sizes(left, total - gone)
