"""Reading and replacing single files of a worktree; no link on the way is followed."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from memrepo.errors import MemrepoError
from memrepo.gitrepo.paths import path_bytes
from memrepo.gitrepo.worktree import parent_folder

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def read_file(repo: Repository, path: str) -> bytes | None:
    """The bytes of the plain file at ``path`` (from the root); None for anything else."""
    try:
        with parent_folder(repo, path_bytes(path), create=False) as (folder, name):
            found = _read(folder, name) if folder is not None else None
    except MemrepoError:
        return None  # behind a link, or not readable
    return found[0] if found else None


def replace_file(repo: Repository, path: str, before: bytes | None, after: bytes) -> bool:
    """Write ``after`` to ``path`` where it still holds ``before`` (None: nothing there).

    The new file is written beside, made durable and renamed; it keeps the mode of the old
    one. False when the file has changed. Raises PermissionDenied, BadInput or GitFailed.
    """
    with parent_folder(repo, path_bytes(path), create=False) as (folder, name):
        if folder is None:
            return False
        found = _read(folder, name)
        if (found[0] if found else None) != before:
            return False
        if found is None and _exists(folder, name):
            return False
        # The name matches `*~`, which memory repositories ignore.
        beside = b".%s.%d~" % (name, os.getpid())
        descriptor = os.open(beside, _WRITE, 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if found:
                    os.fchmod(descriptor, found[1])
                file.write(after)
                file.flush()
                os.fsync(descriptor)
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=folder)
            raise
    return True


def _read(folder: int, name: bytes) -> tuple[bytes, int] | None:
    """Bytes and permission bits of a plain file in an open folder; None for anything else."""
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        return file.read(), stat.S_IMODE(status.st_mode)


def _exists(folder: int, name: bytes) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
