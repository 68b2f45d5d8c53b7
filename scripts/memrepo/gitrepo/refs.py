"""Moving refs: compare and swap through one ``git update-ref --stdin`` that stays open.

Git does the locking, the reflog, and whatever ref storage the repository has; nothing here
writes a ref file.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from memrepo.errors import BadInput

from .process import GitResult, Running, failure, plain, reason, start_git

_REFUSED = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|^\.|\.lock(?:/|$)|^/|/$|\.$")
_LOST = (
    b"but expected",
    b"reference already exists",
    b"unable to resolve reference",
    b"reference is missing",
    b"File exists",
    b"unable to lock",
)


def check_ref(name: str) -> str:
    """``name`` when it is a full ref name by Git's rule (git-check-ref-format), or BadInput."""
    if not name.startswith("refs/") or name.count("/") < 2 or _REFUSED.search(name):
        raise BadInput(
            f"{plain(name)!r} is no valid ref name", "see git help check-ref-format for the rule"
        )
    return name


def branch_ref(branch: str) -> str:
    """The full ref of a branch.  Raises BadInput for a name that no branch can have."""
    if branch.startswith("-") or branch == "HEAD":
        raise BadInput(f"{plain(branch)!r} is no valid branch name")
    return check_ref(branch if branch.startswith("refs/heads/") else f"refs/heads/{branch}")


class RefWriter:
    """Compare and swap of single refs, all with the same reflog message."""

    def __init__(self, cwd: Path, null: str, message: str) -> None:
        self._cwd = cwd
        self._null = null
        # Hooks are off: a reference-transaction hook would run for each of our moves.
        self._args = ["-c", "core.hooksPath=/dev/null", "update-ref", "-m", message, "--stdin"]
        self._process: Running | None = None
        self.lost_because = ""

    def swap(self, ref: str, old: str | None, new: str | None) -> bool:
        """Move ``ref`` from ``old`` to ``new`` (None: absent); False when it was not at ``old``.

        ``ref`` is a full ref name, or "HEAD" for a detached HEAD. Another process that
        holds the ref's lock also counts as lost. Raises PermissionDenied or GitFailed.
        """
        if ref != "HEAD":
            check_ref(ref)
        before, after = old or self._null, new or self._null
        lines = [b"start\n"]
        if ref == "HEAD":
            lines.append(b"option no-deref\n")
        verb = f"update {ref} {after} {before}\n" if new else f"delete {ref} {before}\n"
        lines += [verb.encode(), b"prepare\n", b"commit\n"]
        request = b"".join(lines)
        while True:
            fresh = self._process is None
            answer = self._ask(request)
            if answer is None:
                return True
            if any(word in answer.err for word in _LOST):
                self.lost_because = reason(answer.err.decode("utf-8", "replace"))
                return False
            if fresh:
                raise failure(["update-ref"], answer, self._cwd)

    def _ask(self, request: bytes) -> GitResult | None:
        """None when the transaction is done; what the process left when it ended instead."""
        if self._process is None:
            self._process = start_git(self._args, cwd=self._cwd, stderr=True)
        process = self._process
        with suppress(BrokenPipeError):
            process.stdin.write(request)
            process.stdin.flush()
        answers = (b"start: ok\n", b"prepare: ok\n", b"commit: ok\n")
        if all(process.stdout.readline() == expected for expected in answers):
            return None
        self._process = None
        with suppress(BrokenPipeError):
            process.stdin.close()
        return process.finish()

    def close(self) -> None:
        """End the process."""
        if self._process:
            self._process.stop()
            self._process = None
