"""Keeping worktree and index in step with a commit, without touching what a person left there.

The index is brought up to the new content *before* the ref moves. Killed in between, the
repository looks as after ``git add``; the other order would leave an index that takes the
commit back when a person commits next.
"""

from __future__ import annotations

import os
import random
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from memrepo.errors import BadInput, GitFailed

from .objects import object_id, write_failure
from .paths import Value, path_text
from .process import failure, plain, run_git

if TYPE_CHECKING:
    from .repository import Repository

_LOCK_SECONDS = 10.0
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Staged:
    """What was done to worktree and index for one commit that has not happened yet."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._modes = repo.config_true("core.filemode", default=True)
        self._paths: set[bytes] = set()
        self._wrote: dict[bytes, tuple[bytes | None, bytes | None]] = {}

    def stage(
        self,
        contents: Mapping[bytes, bytes | None],
        before: Mapping[bytes, Value | None],
        after: Mapping[bytes, Value | None],
    ) -> None:
        """Write what the worktree misses and put ``contents`` (None: deleted) into the index.

        A file is written where there is none, and replaced where it is still what the tip
        has; any other content is a person's, and stays as an unstaged change.
        """
        from_worktree: list[bytes] = []
        from_objects: dict[bytes, Value | None] = {}
        for path, content in contents.items():
            if self._bring(path, content, before.get(path)):
                from_worktree.append(path)
            else:
                from_objects[path] = after[path]
                self._repo.notes.append(
                    f"{plain(path_text(path))} differs in the worktree and was left as it is"
                )
        self._paths.update(contents)
        if from_worktree:
            listed = b"".join(path + b"\0" for path in from_worktree)
            update_index(self._repo, ["--add", "--remove", "-z", "--stdin"], listed)
        if from_objects:
            update_index(
                self._repo, ["-z", "--index-info"], index_lines(from_objects, self._repo.null)
            )

    def _bring(self, path: bytes, content: bytes | None, old: Value | None) -> bool:
        """Make the file of the worktree hold ``content``; False where a person's stays."""
        with parent_folder(self._repo, path, create=content is not None) as (folder, name):
            if folder is None:
                return True
            found = self._read(folder, name)
            if found is _NO_FILE:
                return False
            if found == content:
                return True
            mine = self._wrote.get(path)
            ours = mine is not None and found == mine[0]
            if not (found is None or ours or self._is(found, old)):
                return False
            origin = mine[1] if mine else found
            self._wrote[path] = (content, origin)
            self._put(folder, name, content)
            return True

    def _read(self, folder: int, name: bytes) -> bytes | None:
        return _read(folder, name, modes=self._modes)

    def _is(self, found: bytes, value: Value | None) -> bool:
        oid = object_id(self._repo.object_format, "blob", found)
        return value is not None and oid == value.oid

    def _put(self, folder: int, name: bytes, content: bytes | None) -> None:
        if content is None:
            os.unlink(name, dir_fd=folder)
        else:
            write_beside(folder, name, content, fsync=self._repo.fsync)

    def undo(self, now: Mapping[bytes, Value | None], keep: frozenset[bytes] = frozenset()) -> None:
        """Take back what was staged, except ``keep``: ``now`` is what the tip has instead."""
        for path in self._wrote.keys() - keep:
            content, before = self._wrote.pop(path)
            with parent_folder(self._repo, path, create=before is not None) as (folder, name):
                if folder is not None and self._read(folder, name) == content:
                    self._put(folder, name, before)
        gone = self._paths - keep
        if gone:
            lines = index_lines({path: now.get(path) for path in gone}, self._repo.null)
            update_index(self._repo, ["-z", "--index-info"], lines)
        self._paths &= keep

    def adopt(self, wrote: Mapping[bytes, tuple[bytes | None, bytes | None]]) -> None:
        """Take over what a killed process staged: what it wrote to each path, what was there."""
        self._wrote.update(wrote)
        self._paths.update(wrote)

    @property
    def paths(self) -> frozenset[bytes]:
        """The paths that were written or staged."""
        return frozenset(self._paths | self._wrote.keys())


def index_lines(values: Mapping[bytes, Value | None], null: str) -> bytes:
    """Lines for ``update-index -z --index-info``; None takes the path out."""
    return b"".join(
        b"%s %s\t%s\0" % (value.mode, value.oid.hex().encode(), path)
        if value
        else b"0 %s\t%s\0" % (null.encode(), path)
        for path, value in values.items()
    )


def update_index(repo: Repository, args: list[str], lines: bytes) -> None:
    """Run ``git update-index``, waiting some seconds for another process's index.lock."""
    with_lock(repo, ["-c", "core.hooksPath=/dev/null", "update-index", *args], lines)


def with_lock(
    repo: Repository,
    args: list[str],
    text: bytes | None = None,
    accept: tuple[int, ...] = (0,),
) -> None:
    """Run a Git command that takes the index lock, waiting for whoever holds it.

    ``accept`` are the exit codes that mean done.
    """
    deadline = time.monotonic() + _LOCK_SECONDS
    pause = 0.005
    while True:
        done = run_git(args, cwd=repo.path, input=text, check=False)
        if done.code in accept:
            return
        if b"index.lock" not in done.err or b"File exists" not in done.err:
            raise failure(args, done, repo.path)
        if time.monotonic() > deadline:
            raise GitFailed(
                f"another Git process holds {plain(str(repo.git_dir / 'index.lock'))}",
                "wait for it to end; if none runs, delete that file",
            )
        time.sleep(pause * (0.5 + random.random()))  # noqa: S311 (spreads waiters out)
        pause = min(2 * pause, 0.2)


@contextmanager
def parent_folder(
    repo: Repository, path: bytes, *, create: bool
) -> Iterator[tuple[int | None, bytes]]:
    """The open folder that holds ``path`` in the worktree (None: not there), and its name.

    Every step refuses symlinks, so nothing outside the worktree can be reached.
    """
    *folders, name = path.split(b"/")
    descriptor = os.open(repo.path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folders:
            try:
                if create:
                    _make(part, descriptor)
                inner = os.open(part, _FOLDER_FLAGS, dir_fd=descriptor)
            except FileNotFoundError:
                yield None, name
                return
            except OSError as error:
                shown = plain(path_text(path))
                if isinstance(error, NotADirectoryError) or error.errno == 40:  # 40: a symlink
                    raise BadInput(
                        f"{shown}: {plain(path_text(part))} is no real folder in the worktree",
                        "memory lies in plain folders; remove the link or file",
                    ) from None
                raise write_failure(error, shown) from None
            os.close(descriptor)
            descriptor = inner
        try:
            yield descriptor, name
        except OSError as error:
            raise write_failure(error, path_text(path)) from None
    finally:
        os.close(descriptor)


def _make(part: bytes, folder: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(part, dir_fd=folder)


_NO_FILE = b"\0not a regular file, or executable\0"


def _read(folder: int, name: bytes, *, modes: bool) -> bytes | None:
    """The bytes of a plain file, None when nothing is there, _NO_FILE for anything else.

    ``modes`` is whether the file system keeps a mode that means something.
    """
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError:
        return _NO_FILE
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode) or (modes and mode & 0o100):
            return _NO_FILE
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def write_beside(folder: int, name: bytes, content: bytes, *, fsync: bool) -> None:
    """Write a file into an open folder: beside its place, then renamed into it."""
    temporary = b".memrepo-%x-%x" % (os.getpid(), random.getrandbits(48))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)
    try:
        with open(descriptor, "wb", closefd=True) as file:  # noqa: PTH123
            file.write(content)
            if fsync:
                file.flush()
                os.fsync(descriptor)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
