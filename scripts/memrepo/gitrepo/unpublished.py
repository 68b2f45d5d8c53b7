"""The commits of a branch that a remote does not have yet, and whether they can go there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memrepo.errors import NeedsPerson

from .lineage import Line, line_to
from .process import plain
from .remote import Remote

if TYPE_CHECKING:
    from .repository import Repository


def unpublished(
    repo: Repository,
    seen: str,
    local: str,
    branch: str,
    remote: Remote,
    deepen: Callable[[], object],
) -> Line | None:
    """The local commits that have to be made anew on ``seen``; None where they are on it.

    ``deepen`` fetches more history of a shallow clone.  Raises NeedsPerson where the two
    share no history, or a merge is among the local commits.
    """
    line = line_to(repo, seen, local)
    if line is None and repo.is_shallow:
        deepen()
        line = line_to(repo, seen, local)
    if line is None:
        raise NeedsPerson(
            f"{plain(branch)} here and on {plain(remote.name)} share no history",
            "check that the remote is the right one",
        )
    if line.base == seen:
        return None
    if line.merges:
        raise NeedsPerson(
            f"{plain(branch)} holds a merge that is not published, and the remote moved",
            "merge the remote's branch yourself, then push again",
        )
    return line


def was_rewritten(branch: str, remote: Remote, before: str) -> NeedsPerson:
    """What to say when a remote's branch no longer holds the commit it was at."""
    return NeedsPerson(
        f"{plain(branch)} on {plain(remote.name)} was rewritten:"
        f" {before[:12]} is no longer part of it",
        "look at the remote's history; git pull --rebase takes it over as it is now",
    )
