"""Publishing commits that are made anew, not merely replayed, where a race was lost.

The race rule of ``sync`` with one thing of its own: what becomes of a commit on another tip
is the caller's to say.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import BadInput, NeedsPerson, RemoteFailed, UnknownRevision

from .commit import LooseSink
from .follow import follow
from .process import plain
from .remote import Remote, fetch_tip, find_remote, known_ref, push_commit
from .replay import Change, changes_of, replay
from .turns import Turn, turn_folder
from .unpublished import unpublished, was_rewritten
from .worktreeturn import worktree_turn

if TYPE_CHECKING:
    from .repository import Repository

_FETCHED = "fetch: by memrepo"
_MOST_TRIES = 50
_MOST_SECONDS = 300.0
_LONGEST_PAUSE = 1.0

#: Given a commit and the tip it shall be on: the new tip; None to have it replayed as it is.
Rebuild = Callable[[Change, str], str | None]


class Published(msgspec.Struct, frozen=True):
    """``tip`` is the branch's commit now; ``pushed`` whether the remote has it, too."""

    tip: str
    rebuilt: int
    pushed: bool


class Publisher:
    """The branch that is checked out, and one remote to exchange it with.

    Raises BadInput where no branch is checked out or it has no commit, RemoteFailed where
    there is no such remote.
    """

    def __init__(self, repo: Repository, remote: str, rebuild: Rebuild) -> None:
        self.repo, self.rebuild = repo, rebuild
        self.ref = repo.head_ref() or ""
        if not self.ref:
            raise BadInput(
                "HEAD is detached, so there is no branch to publish",
                "check out a branch with git switch",
            )
        self.branch = self.ref.removeprefix("refs/heads/")
        self.remote: Remote = find_remote(repo, remote)
        self.known_ref = known_ref(self.remote, self.branch)
        tracking = repo.tip(f"refs/remotes/{self.remote.name}/{self.branch}")
        self.known = repo.tip(self.known_ref) or tracking
        self.rebuilt = 0

    def push(self, *, fetch: bool = False) -> Published:
        """Publish the local commits; ``fetch`` to look first what others published.

        Raises NeedsPerson where histories do not fit, RemoteFailed, PermissionDenied. The
        local branch is as it was then.
        """
        with self._turn():
            seen = self._fetch() if fetch else self.known
            deadline = time.monotonic() + _MOST_SECONDS
            for attempt in range(_MOST_TRIES):
                if time.monotonic() > deadline:
                    break
                local = self._local()
                final = self._on_top(seen, local)
                if final != seen:
                    if push_commit(self.repo, self.remote, self.branch, final) == "behind":
                        seen = self._fetch()
                        time.sleep(random.random() * min(0.05 * attempt, _LONGEST_PAUSE))  # noqa: S311
                        continue
                    self._note(final)
                elif not fetch and attempt == 0:
                    # What was seen last may be long ago, and nothing was asked of the remote.
                    seen, fetch = self._fetch(), True
                    if seen != final:
                        continue
                if self._follow(local, final):
                    return Published(final, self.rebuilt, pushed=True)
                seen = final  # a commit was made here meanwhile, and goes on top
        raise RemoteFailed(
            f"{plain(self.remote.name)} was moved by others at every try",
            "your commits are kept here; run the command again",
        )

    def pull(self) -> Published:
        """Take over what others published, the local commits on top of it; pushes nothing."""
        seen = self._fetch()
        for _ in range(_MOST_TRIES):
            local = self._local()
            final = self._on_top(seen, local)
            if self._follow(local, final):
                return Published(final, self.rebuilt, pushed=final == seen)
        raise NeedsPerson(f"{plain(self.branch)} moved at every try", "run the command again")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for this machine's other writers; a courtesy that nothing rests on."""
        folder = turn_folder(self.remote.url, self.remote.incarnation, self.ref)
        turn: Turn | None = None
        if folder:
            with suppress(OSError):
                turn = Turn(folder)
        try:
            if turn:
                turn.wait(lambda: False)
            yield
        finally:
            if turn:
                turn.close()

    def _follow(self, local: str, final: str) -> bool:
        """Bring the local branch along; False when a commit was made on it meanwhile."""
        with worktree_turn(self.repo) as turn:
            turn.follows(final)
            return follow(self.repo, self.ref, local, final) != "lost"

    def _local(self) -> str:
        tip = self.repo.tip(self.ref)
        if tip is None:
            raise UnknownRevision(
                f"{plain(self.branch)} has no commit yet", "commit something on it first"
            )
        return tip

    def _note(self, tip: str) -> None:
        self.repo.refs(_FETCHED).swap(self.known_ref, self.repo.tip(self.known_ref), tip)
        self.known = tip

    def _fetch(self, *, deepen: bool = False) -> str | None:
        before = self.known
        self.known = fetch_tip(self.repo, self.remote, self.branch, deepen=deepen)
        if before is None or self.known is None or before == self.known:
            return self.known
        if self.repo.merge_base(before, self.known) != before:
            raise was_rewritten(self.branch, self.remote, before)
        return self.known

    def _on_top(self, seen: str | None, local: str) -> str:
        """The local commits on top of ``seen``: ``local`` itself where that is so already."""
        if seen is None:
            return local
        line = unpublished(
            self.repo, seen, local, self.branch, self.remote, lambda: self._fetch(deepen=True)
        )
        if line is None:
            return local
        tip, sink = seen, LooseSink(self.repo.writer)
        for change in changes_of(self.repo, line.commits):
            made = self.rebuild(change, tip)
            if made is None:
                made = replay(self.repo, [change], tip, sink, line.theirs).tip
            tip = made
        self.rebuilt = len(line.commits)
        return tip
