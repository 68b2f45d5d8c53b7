"""Commands that go on with the archive where a snapshot is no longer in this clone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from memrepo.errors import UnknownRevision
from memrepo.memory import MemoryRepo

if TYPE_CHECKING:
    from memrepo.history.archived import SnapshotArchived

T = TypeVar("T")


def with_archive(
    repo: MemoryRepo, ask: Callable[[], T], *, forge: str | None, remote: str | None
) -> T:
    """What ``ask`` gives; where the archive alone has the snapshot, it is fetched first.

    Raises RemoteFailed, UsageError or PermissionDenied where no forge can be had, in words
    that name the release.
    """
    try:
        return ask()
    except UnknownRevision as unknown:
        # Not at the top, and not by its class: other revisions do not pay for the import.
        from memrepo.history.archived import SnapshotArchived

        if not isinstance(unknown, SnapshotArchived):
            raise
        _fetch(repo, unknown, forge, remote)
    return ask()


def _fetch(
    repo: MemoryRepo, archived: SnapshotArchived, forge: str | None, remote: str | None
) -> None:
    from memrepo.archive.fetch import bring
    from memrepo.cli.shelves import shelves_for
    from memrepo.errors import MemrepoError

    git = repo.repository
    try:
        with shelves_for(git, forge, remote) as shelves:
            bring(git, shelves, archived.found)
    except MemrepoError as error:
        error.message = f"{archived.message}, and it cannot be fetched: {error.message}"
        raise
