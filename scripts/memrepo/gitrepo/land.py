"""One commit onto a branch where it is published, rebuilt on each new tip until it is taken."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import NeedsPerson, RemoteFailed, UnknownRevision

from .follow import follow
from .process import plain
from .refs import branch_ref
from .remote import Remote, fetch_tip, find_remote, known_ref, push_commit
from .turns import Turn, turn_folder

if TYPE_CHECKING:
    from .repository import Repository, TipView

_FETCHED = "fetch: by memrepo"
_MOST_TRIES = 50
_MOST_SECONDS = 300.0
_LONGEST_PAUSE = 5.0

#: A commit on the tip that is given, which no ref names yet; None where there is nothing to do.
BuildOn = Callable[["TipView"], str | None]


class Landed(msgspec.Struct, frozen=True):
    """``commit`` is on the branch, "" where none was wanted; ``tip`` is what the branch is at."""

    commit: str
    tip: str


def published_tip(repo: Repository, remote: str | None, branch: str) -> str | None:
    """What ``branch`` is at where it is published: on ``remote``, fetched, or else here."""
    if remote is None:
        return repo.tip(branch_ref(branch))
    branch_ref(branch)
    return fetch_tip(repo, find_remote(repo, remote), branch)


def land(repo: Repository, remote: str | None, branch: str, build: BuildOn) -> Landed:
    """Put a commit on the current tip of ``branch``, here or on ``remote``.

    ``build`` is called again on each new tip while other writers are faster; the push is
    plain. The local branch, its index and worktree follow where nothing of a person's is in
    the way; else a note of the repository says so. Raises UnknownRevision without such a
    branch, RemoteFailed after 50 tries or five minutes, PermissionDenied, and NeedsPerson
    where there is no remote and files of the worktree hold changes.
    """
    ref = branch_ref(branch)
    if remote is None:
        return _land_here(repo, ref, build)
    at = find_remote(repo, remote)
    folder = turn_folder(at.url, at.incarnation, ref)
    turn = None
    if folder is not None:
        try:
            turn = Turn(folder)
            turn.wait(lambda: False)
        except OSError:
            turn = None
    try:
        landed = _land_there(repo, at, branch, build)
    finally:
        if turn:
            turn.close()
    if landed.commit:
        _bring_local(repo, ref, landed.commit)
    return landed


def _land_there(repo: Repository, remote: Remote, branch: str, build: BuildOn) -> Landed:
    deadline = time.monotonic() + _MOST_SECONDS
    tries = 0
    while tries < _MOST_TRIES and time.monotonic() < deadline:
        tip = fetch_tip(repo, remote, branch)
        if tip is None:
            raise _gone(branch)
        new = build(repo.view(tip))
        if new is None:
            return Landed("", tip)
        tries += 1
        started = time.monotonic()
        if push_commit(repo, remote, branch, new) == "pushed":
            known = known_ref(remote, branch)
            repo.refs(_FETCHED).swap(known, repo.tip(known), new)
            return Landed(new, new)
        if tries > 1:
            took = time.monotonic() - started
            time.sleep(random.random() * min(took * tries, _LONGEST_PAUSE))  # noqa: S311
    raise RemoteFailed(
        f"{plain(remote.name)} was moved by others at every one of {tries} tries",
        "nothing was changed there; run it again",
    )


def _land_here(repo: Repository, ref: str, build: BuildOn) -> Landed:
    for _ in range(_MOST_TRIES):
        tip = repo.tip(ref)
        if tip is None:
            raise _gone(ref.removeprefix("refs/heads/"))
        new = build(repo.view(tip))
        if new is None:
            return Landed("", tip)
        notes = len(repo.notes)
        move = follow(repo, ref, tip, new)
        if move == "moved":
            return Landed(new, new)
        if move == "kept":
            why = "; ".join(repo.notes[notes:])
            del repo.notes[notes:]
            raise NeedsPerson(
                f"files that go are changed in the worktree, so the branch stays: {why}",
                "commit, stash or restore them (git status shows which), then run it again",
            )
    raise RemoteFailed(
        f"the branch was moved by others at every one of {_MOST_TRIES} tries", "run it again"
    )


def _bring_local(repo: Repository, ref: str, new: str) -> None:
    """Bring the branch of this clone along, unless it holds what is not published."""
    local = repo.tip(ref)
    if local is None or local == new:
        return
    branch = plain(ref.removeprefix("refs/heads/"))
    if repo.merge_base(local, new) != local:
        repo.notes.append(
            f"{branch} here has commits that are not published, so it was left as it is:"
            " git pull --rebase brings in what was done"
        )
        return
    if follow(repo, ref, local, new) == "lost":
        repo.notes.append(f"{branch} here was moved meanwhile: git pull --rebase brings it up")


def _gone(branch: str) -> UnknownRevision:
    return UnknownRevision(
        f"there is no branch {plain(branch)} where it should be published", "push it first"
    )
