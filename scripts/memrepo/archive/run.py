"""One run of the archive: plan, pack, publish, prove, prune.

Whatever kills a run, each snapshot is in the tree or in a published release that was read
back; the next run finds which, and goes on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from memrepo.archive.finish import Removal, finish
from memrepo.archive.outcome import nothing_yet, planned
from memrepo.archive.prepare import Prepared, Request, prepare
from memrepo.archive.publish import Names, publish
from memrepo.archive.stage import pack_shards
from memrepo.archive.values import ArchiveOutcome, Mode, Tell, quiet
from memrepo.errors import GitFailed
from memrepo.forge.forge import Forge
from memrepo.gitrepo.repository import Repository


def run_archive(
    repo: Repository, forge: Forge, request: Request, mode: Mode = "push", tell: Tell = quiet
) -> ArchiveOutcome:
    """Publish what is due and not published yet, then take it out of the tree.

    Safe to run again at any time. Raises UsageError (nothing was changed), RemoteFailed and
    PermissionDenied from the forge or the remote, NeedsPerson for a branch that a person
    changed; what was published by then is taken up by the next run.
    """
    with temporary_folder() as folder:
        prepared = prepare(repo, forge, request, folder, tell)
        if prepared is None:
            return nothing_yet(request, mode)
        wanted = {**prepared.held(), **dict(_of_plan(prepared))}
        outcome = planned(prepared, mode, wanted, prepared.plan.shards)
        if mode == "dry-run":
            return outcome
        known = list(prepared.adopted.unindexed)
        if prepared.plan.shards:
            prefix = prepared.start.prefix
            staged = pack_shards(repo, prepared.plan, folder, prefix, tell)
            names = Names(prefix, request.now, known=prepared.adopted.known)
            known.append(
                publish(forge, prepared.listed, prepared.plan, staged, names, folder, tell)
            )
    removal = Removal(wanted, known, prepared.adopted.indexed)
    return finish(repo, forge, request, prepared, outcome, removal, tell)


def prune_archive(
    repo: Repository, forge: Forge, request: Request, mode: Mode = "push", tell: Tell = quiet
) -> ArchiveOutcome:
    """Take out of the tree what published releases hold, and put them in the index.

    For releases that were published on their own. Without an age in ``request``, all that
    they hold goes but the newest snapshot of each agent; with one, what is older.
    """
    if request.before is None and request.older_than is None:
        request = msgspec.structs.replace(request, before=request.now)
    with temporary_folder() as folder:
        prepared = prepare(repo, forge, request, folder, tell)
    if prepared is None:
        return nothing_yet(request, mode)
    wanted = prepared.held()
    outcome = planned(prepared, mode, wanted, ())
    if mode == "dry-run":
        return outcome
    adopted = prepared.adopted
    removal = Removal(wanted, adopted.unindexed, adopted.indexed)
    return finish(repo, forge, request, prepared, outcome, removal, tell)


def _of_plan(prepared: Prepared) -> Iterator[tuple[str, str]]:
    return ((one.path, one.blob) for shard in prepared.plan.shards for one in shard.snapshots)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder on disk for shards on their way, gone at the end."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="memrepo-archive-")
    except OSError as error:
        raise GitFailed(
            f"no temporary folder could be made: {error.strerror}", "set TMPDIR to a writable one"
        ) from None
    with folder:
        yield Path(folder.name)
