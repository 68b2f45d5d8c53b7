"""The two sides of a change, wherever they lie: commits, the index, the worktree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from memrepo.errors import PermissionDenied, UnknownRevision
from memrepo.gitrepo import changes
from memrepo.gitrepo.changes import FileChange
from memrepo.gitrepo.log import messages_between
from memrepo.gitrepo.repository import Repository

#: What is read of a file at most; anything larger is a finding by its size alone.
READ_LIMIT = 64 * 1024 * 1024


class Blob(msgspec.Struct, frozen=True):
    """The bytes of one side of a file; ``data`` is None where it is too large to read."""

    data: bytes | None
    size: int


class Sides(Protocol):
    """A change of a repository: which files differ, and their bytes on both sides."""

    repo: Repository

    def changed(self) -> list[FileChange]:
        """The files that differ, in order of path; one entry a path."""

    def agents_before(self) -> set[str]:
        """The names of the folders under ``state/`` before the change."""

    def paths_after(self) -> list[str]:
        """Every path under ``state/`` after the change."""

    def paths_in(self, folder: str) -> list[str]:
        """The paths below ``folder`` (it ends in a slash) after the change."""

    def before(self, wanted: Iterable[FileChange]) -> dict[str, Blob]:
        """The old bytes by path, of those that were plain files."""

    def after(self, wanted: Iterable[FileChange]) -> dict[str, Blob]:
        """The new bytes by path, of those that are plain files."""

    def unchanged(self, paths: Iterable[str]) -> dict[str, Blob]:
        """The bytes of files that are the same on both sides, by path."""

    def below_after(self, folder: str) -> dict[str, Blob]:
        """The bytes of every plain file below ``folder`` after the change, by path."""

    def code_after(self) -> str | None:
        """The commit that holds the newer side's other files; None where none does."""

    def messages(self) -> list[tuple[str, str]]:
        """``(commit id, message)`` of the commits between the two sides."""


#: The modes of plain files.
PLAIN = (0o100644, 0o100755)
_PLAIN_BYTES = tuple(b"%o" % mode for mode in PLAIN)
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


class _FromBase:
    """What every change has: a commit on its old side."""

    def __init__(self, repo: Repository, base: str | None) -> None:
        self.repo = repo
        self.base = base

    def agents_before(self) -> set[str]:
        return changes.folder_names(self.repo, self.base, "state/") if self.base else set()

    def before(self, wanted: Iterable[FileChange]) -> dict[str, Blob]:
        return _blobs(self.repo, {c.path: c.old_oid for c in wanted if c.old_mode in PLAIN})

    def code_after(self) -> str | None:
        return None

    def messages(self) -> list[tuple[str, str]]:
        return []


class Commits(_FromBase):
    """From one commit to another."""

    def __init__(self, repo: Repository, base: str, head: str) -> None:
        super().__init__(repo, base)
        self.start = base
        self.head = head
        self._state: dict[str, str] | None = None

    def changed(self) -> list[FileChange]:
        """The files whose blob or mode differs between the two commits."""
        return changes.changed_files(self.repo, self.start, self.head)

    def _listed(self) -> dict[str, str]:
        if self._state is None:
            entries = changes.list_tree(self.repo, self.head, "state/")
            self._state = {entry.path: entry.oid for entry in entries}
        return self._state

    def paths_after(self) -> list[str]:
        """Every path under ``state/`` in the newer commit."""
        return list(self._listed())

    def paths_in(self, folder: str) -> list[str]:
        """The paths below ``folder`` in the newer commit."""
        return [entry.path for entry in changes.list_tree(self.repo, self.head, folder)]

    def after(self, wanted: Iterable[FileChange]) -> dict[str, Blob]:
        """The blobs of the newer commit."""
        return _blobs(self.repo, {c.path: c.new_oid for c in wanted if c.new_mode in PLAIN})

    def unchanged(self, paths: Iterable[str]) -> dict[str, Blob]:
        """The blobs of the newer commit, by path."""
        found: dict[str, str] = {}
        for path in paths:
            if path.startswith("state/"):
                found |= {path: oid} if (oid := self._listed().get(path)) else {}
            elif (entry := self.repo.view(self.head).entry(path)) and entry.mode in _PLAIN_BYTES:
                found[path] = entry.oid.hex()
        return _blobs(self.repo, found)

    def below_after(self, folder: str) -> dict[str, Blob]:
        """The blobs below ``folder`` in the newer commit."""
        entries = changes.list_tree(self.repo, self.head, folder)
        return _blobs(self.repo, {e.path: e.oid for e in entries if e.mode in PLAIN})

    def code_after(self) -> str:
        """The newer commit."""
        return self.head

    def messages(self) -> list[tuple[str, str]]:
        """The messages of the commits that the older side does not reach."""
        return messages_between(self.repo, self.start, self.head)


def change_between(repo: Repository, base: str, head: str) -> Commits:
    """What ``head`` (a commit id) changes since it left ``base``, as a pull request shows it.

    What the base gained meanwhile is not the change's doing. Two revisions without a
    common history are compared as they stand. Raises :class:`UnknownRevision` in a
    shallow clone that does not reach back to where they part.
    """
    start = repo.merge_base(base, head)
    if start is None and repo.is_shallow:
        raise UnknownRevision(
            "this clone is shallow and does not reach back to where the two revisions part",
            "fetch the whole history: git fetch --unshallow (fetch-depth: 0 in actions/checkout)",
        )
    return Commits(repo, start or base, head)


class Staged(_FromBase):
    """From ``HEAD`` to what is staged: in the index, or in the one that a hook was given."""

    def __init__(self, repo: Repository, base: str | None, index_file: Path | None = None) -> None:
        super().__init__(repo, base)
        self.index_file = index_file

    def changed(self) -> list[FileChange]:
        """The files whose staged blob or mode differs from ``HEAD``."""
        return changes.staged_files(self.repo, self.base, index_file=self.index_file)

    def paths_after(self) -> list[str]:
        """Every path under ``state/`` in the index."""
        return self.paths_in("state/")

    def paths_in(self, folder: str) -> list[str]:
        """The paths below ``folder`` in the index."""
        return changes.index_paths(self.repo, folder, index_file=self.index_file)

    def after(self, wanted: Iterable[FileChange]) -> dict[str, Blob]:
        """The blobs that are staged."""
        return _blobs(self.repo, {c.path: c.new_oid for c in wanted if c.new_mode in PLAIN})

    def below_after(self, folder: str) -> dict[str, Blob]:
        """The staged blobs below ``folder``."""
        entries = changes.list_index(self.repo, folder, index_file=self.index_file)
        return _blobs(self.repo, {e.path: e.oid for e in entries if e.mode in PLAIN})

    def unchanged(self, paths: Iterable[str]) -> dict[str, Blob]:
        """The staged blobs, by path."""
        return _blobs(
            self.repo, changes.index_oids(self.repo, list(paths), index_file=self.index_file)
        )


class Worktree(_FromBase):
    """From a commit (or nothing, in a repository without commits) to the files on disk."""

    def __init__(self, repo: Repository, base: str | None, root: Path) -> None:
        super().__init__(repo, base)
        self.root = root

    def changed(self) -> list[FileChange]:
        """The tracked files that differ on disk, and the untracked ones that are not ignored."""
        return changes.worktree_files(self.repo, self.base)

    def paths_after(self) -> list[str]:
        """Every path two levels under ``state/`` on disk."""
        state = self.root / "state"
        return [
            f"state/{folder.name}/{entry.name}"
            for folder in ([] if state.is_symlink() else _entries(state))
            if folder.is_dir(follow_symlinks=False)
            for entry in _entries(folder.path)
        ]

    def paths_in(self, folder: str) -> list[str]:
        """The names in ``folder`` on disk."""
        below = self.root / folder
        listed = [] if below.is_symlink() else _entries(below)
        return [f"{folder}{entry.name}" for entry in listed]

    def after(self, wanted: Iterable[FileChange]) -> dict[str, Blob]:
        """The files on disk; a link is never followed."""
        return self.unchanged([c.path for c in wanted if c.new_mode in PLAIN])

    def below_after(self, folder: str) -> dict[str, Blob]:
        """The files on disk below ``folder``; no link is followed."""
        return self.unchanged(_files_below(self.root, folder))

    def unchanged(self, paths: Iterable[str]) -> dict[str, Blob]:
        """The files on disk, by path."""
        found = {}
        for path in paths:
            blob = read_plain(self.root, path)
            if blob is not None:
                found[path] = blob
        return found


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _files_below(root: Path, folder: str) -> Iterator[str]:
    for entry in _entries(root / folder):
        path = f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _files_below(root, path)
        else:
            yield path


def read_plain(root: Path, path: str) -> Blob | None:
    """The bytes of the plain file at ``path`` below ``root``; None where there is none.

    No step below ``root`` goes through a symbolic link, and nothing but a plain file is
    opened for long. Raises :class:`PermissionDenied` for a file that may not be read.
    """
    try:
        fd = _open_below(root, path)
    except PermissionError:
        raise PermissionDenied(
            f"{path} cannot be read: permission denied", "check who owns it, and its mode"
        ) from None
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > READ_LIMIT:
            return Blob(None, status.st_size)
        with os.fdopen(fd, "rb", closefd=False) as file:
            data = file.read()
    finally:
        os.close(fd)
    return Blob(data, len(data))


def mode_on_disk(path: Path, modes: bool = True) -> int:
    """The mode as Git would write it; the kind of file alone for what Git cannot hold, 0 for
    nothing. ``modes`` is whether the file system keeps one that means anything."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return 0
    if not stat.S_ISREG(mode):
        return stat.S_IFMT(mode)
    return 0o100755 if modes and mode & 0o100 else 0o100644


def _open_below(root: Path, path: str) -> int:
    *folders, name = path.split("/")
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)


def _blobs(repo: Repository, oids: dict[str, str]) -> dict[str, Blob]:
    read = changes.read_blobs(repo, set(oids.values()), limit=READ_LIMIT)
    return {
        path: Blob(None, data) if isinstance(data, int) else Blob(data, len(data))
        for path, oid in oids.items()
        if (data := read.get(oid)) is not None
    }
