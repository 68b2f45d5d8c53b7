"""Git's own merge of lines, of bytes that lie in no worktree."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .process import failure, run_git

if TYPE_CHECKING:
    from .repository import Repository

#: Git answers with the number of conflicts; at and above this it failed.
_FAILED = 128


def line_merge(repo: Repository) -> Callable[[bytes, bytes, bytes], bytes | None]:
    """Git's line merge of (base, ours, theirs): the result, or None where lines conflict."""

    def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        with tempfile.TemporaryDirectory(prefix="memrepo-merge-") as folder:
            for name, data in (("ours", ours), ("base", base), ("theirs", theirs)):
                Path(folder, name).write_bytes(data)
            files = [str(Path(folder, name)) for name in ("ours", "base", "theirs")]
            args = ["merge-file", "--stdout", "--quiet", "--", *files]
            done = run_git(args, cwd=repo.path, check=False)
        if done.code >= _FAILED:
            raise failure(args, done, repo.path)
        return done.out if done.code == 0 else None

    return merge
