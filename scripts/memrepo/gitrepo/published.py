"""Many branches where they are published: listed in one exchange, moved only from a known place."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from memrepo.errors import NeedsPerson

from .branches import Shelf, is_ancestor
from .follow import follow, in_the_way
from .linear import count_beyond
from .process import plain, run_git
from .refs import branch_ref
from .remote import _QUIET, _TIMEOUT, _remote_failure, fetch_tip, known_ref, push_commit

if TYPE_CHECKING:
    from .repository import Repository

_REFLOG = "knowledge: by memrepo"
_LONGEST_PAUSE = 5.0
_MOST_FILES = 5

Moved = Literal["moved", "behind"]


class Published(Shelf):
    """Branches on a remote, or those of this repository where there is none."""

    def __init__(self, repo: Repository, remote: str | None) -> None:
        super().__init__(repo, remote)

    def tips(self, prefix: str) -> dict[str, str]:
        """The branches below ``prefix`` (``knowledge/``) and their commits, fetched; by name.

        Raises RemoteFailed or PermissionDenied.
        """
        below = f"refs/heads/{prefix}"
        if self.remote is not None:
            below = known_ref(self.remote, prefix)
            options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
            spec = f"+refs/heads/{prefix}*:{below}*"
            args = [*_QUIET, "fetch", *options, "--prune", "--", self.remote.name, spec]
            done = run_git(args, cwd=self.repo.path, check=False, timeout=_TIMEOUT)
            if done.code:
                raise _remote_failure(args, done, self.repo, self.remote)
        args = ["for-each-ref", "--format=%(objectname) %(refname)", below]
        listed = run_git(args, cwd=self.repo.path).out.decode("utf-8", "surrogateescape")
        found = {}
        for line in listed.splitlines():
            commit, _, ref = line.partition(" ")
            found[prefix + ref.removeprefix(below)] = commit
        return found

    def whole(self, branch: str) -> None:
        """Make a shallow clone whole, so that every commit of ``branch`` can be compared."""
        if self.repo.is_shallow and self.remote is not None:
            fetch_tip(self.repo, self.remote, branch, deepen=True)

    def move(
        self,
        branch: str,
        old: str | None,
        new: str,
        *,
        pinned: bool = False,
        did: str = "moved",
    ) -> Moved:
        """Move ``branch`` from ``old`` (None: make it) to ``new``; "behind" when it is elsewhere.

        Only forward, unless ``pinned``: then to any commit, but from exactly ``old``. Where
        the branch is this repository's own and checked out, index and worktree follow; raises
        NeedsPerson, with nothing moved, where a person's changes are in their way; it says
        that nothing was ``did``. Raises RemoteFailed or PermissionDenied.
        """
        ref = branch_ref(branch)
        if self.remote is not None:
            lease = old if pinned else None
            pushed = push_commit(self.repo, self.remote, branch, new, lease)
            return "moved" if pushed == "pushed" else "behind"
        if old is None:
            return "moved" if self.repo.refs(_REFLOG).swap(ref, None, new) else "behind"
        notes = len(self.repo.notes)
        done = follow(self.repo, ref, old, new)
        if done == "kept":
            del self.repo.notes[notes:]
            raise self._kept(branch, old, new, did)
        return "moved" if done == "moved" else "behind"

    def _kept(self, branch: str, old: str, new: str, did: str) -> NeedsPerson:
        """What to say of a checked-out branch that could not be moved."""
        if self.repo.has_worktree and self.repo.head_ref() == branch_ref(branch):
            files = [plain(path) for path in in_the_way(self.repo, old, new)]
            more = f" and {len(files) - _MOST_FILES:,} more" if len(files) > _MOST_FILES else ""
            verb, them = ("has", "it") if len(files) == 1 else ("have", "them")
            names = f"{', '.join(files[:_MOST_FILES])}{more}" or "files in its worktree"
            return NeedsPerson(
                f"{plain(branch)} is checked out and {names} {verb} changes; nothing was {did}",
                f"commit or stash {them}, then run it again",
            )
        return NeedsPerson(
            f"{plain(branch)} is checked out in another worktree; nothing was {did}",
            "switch that worktree to another branch, then run it again",
        )

    def bring_here(self, branch: str, new: str) -> int:
        """Bring this clone's own ``branch`` to ``new``, which the remote is at.

        Index and worktree follow where it is checked out. It stays where it is if it holds
        what is not published, or a person's changes are in the way: so many commits it is
        then behind.
        """
        ref = branch_ref(branch)
        local = self.repo.tip(ref)
        if self.remote is None or local is None or local == new:
            return 0
        notes = len(self.repo.notes)
        if is_ancestor(self.repo, local, new) and follow(self.repo, ref, local, new) == "moved":
            return 0
        del self.repo.notes[notes:]
        return count_beyond(self.repo, new, local)

    def remove(self, branch: str, old: str) -> Moved:
        """Delete ``branch`` if it is at exactly ``old``; "behind" when it is elsewhere."""
        ref = branch_ref(branch)
        if self.remote is None:
            return "moved" if self.repo.refs(_REFLOG).swap(ref, old, None) else "behind"
        options = ["--porcelain", f"--force-with-lease={ref}:{old}"]
        args = ["push", *options, "--", self.remote.name, f":{ref}"]
        done = run_git(args, cwd=self.repo.path, check=False, timeout=_TIMEOUT)
        if done.code == 0:
            return "moved"
        if b"stale info" in done.out or b"remote ref does not exist" in done.err:
            return "behind"
        raise _remote_failure(args, done, self.repo, self.remote)


def tries(most: int, seconds: float) -> Iterator[int]:
    """Numbers from 1 while there are tries and time left, with a pause of chance in between."""
    deadline = time.monotonic() + seconds
    for number in range(1, most + 1):
        if number > 1 and time.monotonic() > deadline:
            return
        if number > 1:
            time.sleep(random.random() * min(0.05 * 2**number, _LONGEST_PAUSE))  # noqa: S311
        yield number
