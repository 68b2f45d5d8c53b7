"""Many branches where they are published: listed in one exchange, moved only from a known place."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from memrepo.errors import NeedsPerson

from .branches import Shelf
from .follow import follow
from .process import plain, run_git
from .refs import branch_ref
from .remote import _QUIET, _TIMEOUT, _remote_failure, fetch_tip, known_ref, push_commit

if TYPE_CHECKING:
    from .repository import Repository

_REFLOG = "knowledge: by memrepo"
_LONGEST_PAUSE = 5.0

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

    def move(self, branch: str, old: str | None, new: str, *, pinned: bool = False) -> Moved:
        """Move ``branch`` from ``old`` (None: make it) to ``new``; "behind" when it is elsewhere.

        Only forward, unless ``pinned``: then to any commit, but from exactly ``old``. Where
        the branch is this repository's own and checked out, index and worktree follow; raises
        NeedsPerson, with nothing moved, where a person's changes are in their way. Raises
        RemoteFailed or PermissionDenied.
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
            why = " ".join(self.repo.notes[notes:])
            del self.repo.notes[notes:]
            raise NeedsPerson(
                f"{plain(branch)} is checked out, and your changes are in the way: {why}",
                "commit or stash them, then run it again",
            )
        return "moved" if done == "moved" else "behind"

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
