"""Publishing commits while others publish theirs: rebuild on the new tip, try again, lose nothing.

A push is never forced. A push that comes too late is rebuilt: every local commit is made
again on the remote's tip (see ``replay``), and only after the remote has taken the result
do the local branch, index and worktree follow it.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import BadInput, MemrepoError, RemoteFailed, UnknownRevision

from .commit import LooseSink
from .follow import follow
from .handoff import Ask, follow_trail, leave_trail, make_ask, waiting
from .lineage import between, line_to
from .process import plain
from .refs import branch_ref
from .remote import Remote, fetch_tip, find_remote, has_push_hook, known_ref, push_commit
from .replay import changes_of, replay
from .turns import Turn, turn_folder
from .unpublished import unpublished, was_rewritten

if TYPE_CHECKING:
    from .repository import Repository

_FETCHED = "fetch: by memrepo"
_MOST_TRIES = 50
_MOST_SECONDS = 300.0
_LONGEST_PAUSE = 5.0


class PushResult(msgspec.Struct, frozen=True):
    """``tip`` is what the remote's branch is at; ``tries`` counts pushes, 0 with none to do.

    ``rebuilt`` is the number of commits made again on another tip; ``followed`` says
    whether the local branch is at ``tip`` too (if not, a note in the repository says why).
    """

    tip: str
    tries: int
    rebuilt: int
    followed: bool


def push(repo: Repository, branch: str, *, remote: str = "origin") -> PushResult:
    """Publish the commits of the local ``branch`` on the branch of that name of ``remote``.

    Tries up to 50 times or five minutes while others push too. Raises NeedsPerson when
    another writer changed the same agent or path, when histories are unrelated, or when the
    remote's history was rewritten; RemoteFailed or PermissionDenied when the remote fails or
    refuses. The local branch is as it was after any of these.
    """
    ref = branch_ref(branch)
    at = find_remote(repo, remote)
    if repo.tip(ref) is None:
        raise UnknownRevision(
            f"there is no branch {plain(branch)} to push", "commit something on it first"
        )
    folder = turn_folder(at.url, at.incarnation, ref)
    run = _Push(repo, ref, at, folder)
    if folder is None:
        return run.publish()
    try:
        mine = Turn(folder)
    except OSError:
        return run.publish()
    try:
        return run.in_turn(mine)
    finally:
        mine.close()


def push_head(repo: Repository, *, remote: str = "origin") -> PushResult:
    """Publish the branch that is checked out; see :func:`push`.  Raises BadInput without one."""
    ref = repo.head_ref()
    if ref is None:
        raise BadInput(
            "HEAD is detached, so there is no branch to push", "check out a branch with git switch"
        )
    return push(repo, ref, remote=remote)


class _Push:
    """One run of tries to publish a branch; ``folder`` is shared with this machine's writers."""

    def __init__(self, repo: Repository, ref: str, remote: Remote, folder: Path | None) -> None:
        self.repo, self.ref, self.remote, self.folder = repo, ref, remote, folder
        self.branch = ref.removeprefix("refs/heads/")
        self.known_ref = known_ref(remote, self.branch)
        tracking = repo.tip(f"refs/remotes/{remote.name}/{self.branch}")
        self.known = repo.tip(self.known_ref) or tracking
        self.rebuilt = 0

    def in_turn(self, turn: Turn) -> PushResult:
        """Publish when it is this writer's turn, or let whoever has it do so."""
        ask = self.leave_ask()
        try:
            held = turn.wait(ask.answered if ask else lambda: False)
            taken = ask is not None and ask.answered()
        finally:
            if ask:
                ask.close()
        if taken and not held:
            local = self.local()
            seen = self.trail()
            if seen is not None and self.on_top(seen, local) == seen:
                self.note_known(seen)
                move = follow(self.repo, self.ref, local, seen)
                if move != "lost":
                    return PushResult(seen, 0, self.rebuilt, move == "moved")
            turn.wait(lambda: False)
        return self.publish(self.trail())

    def leave_ask(self) -> Ask | None:
        """The commits that are to be published, left for another writer where that is right."""
        repo = self.repo
        if self.folder is None or self.known is None or has_push_hook(repo):
            return None
        if repo.config_true("commit.gpgsign"):
            return None
        line = line_to(repo, self.known, self.local())
        if line is None or line.merges or line.base != self.known:
            return None
        return make_ask(repo, self.folder, line.commits)

    def trail(self) -> str | None:
        """The remote's tip as far as this machine's writers know; None where they do not."""
        if self.folder is None or self.known is None:
            return None
        tip = follow_trail(self.repo, self.folder, self.known)
        return tip if tip != self.known else None

    def publish(self, seen: str | None = None) -> PushResult:
        """Push until it is taken.

        ``seen`` is the tip that others on this machine say the remote is at. What is built
        on hearsay is pushed only if the remote is at exactly that: it may have been reset.
        """
        heard = seen
        deadline = time.monotonic() + _MOST_SECONDS
        pushes = 0
        while pushes < _MOST_TRIES and time.monotonic() < deadline:
            local = self.local()
            candidate = local if seen is None else self.on_top(seen, local)
            final, taken = self.take_along(candidate)
            if final != seen:
                pushes += 1
                started = time.monotonic()
                expected = heard if seen == heard else None
                if push_commit(self.repo, self.remote, self.branch, final, expected) == "behind":
                    took = time.monotonic() - started
                    seen, landed = self.fetch()
                    if pushes > 1:  # as many others as landed commits meanwhile want a go
                        time.sleep(random.random() * min(took * landed, _LONGEST_PAUSE))  # noqa: S311
                    continue
                self.note_pushed(seen or self.known, final, taken)
            elif seen == heard:  # others say that all is published: ask the remote
                heard, seen = None, self.fetch()[0]
                continue
            move = follow(self.repo, self.ref, local, final)
            if move != "lost":
                return PushResult(final, pushes, self.rebuilt, move == "moved")
            seen = final  # a commit was made here meanwhile, and goes on top
        raise RemoteFailed(
            f"{plain(self.remote.name)} was moved by others at every one of {pushes} tries",
            "your commits are kept here; run the command again",
        )

    def local(self) -> str:
        """The local branch's tip.  Raises UnknownRevision when the branch is gone."""
        tip = self.repo.tip(self.ref)
        if tip is None:
            raise UnknownRevision(f"the branch {plain(self.branch)} is gone")
        return tip

    def take_along(self, tip: str) -> tuple[str, list[Path]]:
        """``tip`` with the commits on top that others wait to publish, and their asks.

        One that does not fit stays for its own writer, who then hears why.
        """
        taken: list[Path] = []
        if self.folder is None or self.repo.config_true("commit.gpgsign"):
            return tip, taken
        for path, changes in waiting(self.repo, self.folder):
            try:
                tip = replay(self.repo, changes, tip, LooseSink(self.repo.writer)).tip
            except MemrepoError:
                continue
            taken.append(path)
        return tip, taken

    def note_known(self, tip: str) -> None:
        """Remember what the remote is at."""
        self.repo.refs(_FETCHED).swap(self.known_ref, self.repo.tip(self.known_ref), tip)
        self.known = tip

    def note_pushed(self, base: str | None, tip: str, taken: list[Path]) -> None:
        """Remember that the remote went from ``base`` to ``tip``, and let the others know."""
        line = line_to(self.repo, base, tip) if base and self.folder else None
        self.note_known(tip)
        if line and self.folder and not line.theirs:
            leave_trail(self.repo, self.folder, line.commits)
        for path in taken:
            path.unlink(missing_ok=True)

    def fetch(self, *, deepen: bool = False) -> tuple[str | None, int]:
        """The remote's tip, fetched, and how many commits it is ahead of the last one seen."""
        before = self.known
        self.known = fetch_tip(self.repo, self.remote, self.branch, deepen=deepen)
        if before is None or self.known is None:
            return self.known, 1
        ahead = between(self.repo, before, self.known)
        if ahead is None and self.repo.merge_base(before, self.known) != before:
            raise was_rewritten(self.branch, self.remote, before)
        return self.known, ahead or 1

    def on_top(self, seen: str, local: str) -> str:
        """The local commits on top of ``seen``: ``local`` itself where that is so already."""
        line = unpublished(
            self.repo, seen, local, self.branch, self.remote, lambda: self.fetch(deepen=True)
        )
        if line is None:
            return local
        changes = changes_of(self.repo, line.commits)
        done = replay(self.repo, changes, seen, LooseSink(self.repo.writer), line.theirs)
        self.rebuilt = len(done.made)
        return done.tip
