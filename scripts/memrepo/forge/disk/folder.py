"""A folder that several processes write at once, and a person edits meanwhile.

No link is followed on the way to a file. Each file is written beside and renamed, so that
it is there whole or not at all.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from memrepo.errors import BadInput, MemrepoError, PermissionDenied, RemoteFailed
from memrepo.forge.failure import plain

MOST_BYTES = 1_048_576
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK_NAME = ".lock"
_PATIENCE = 30.0
_HIDDEN = re.compile(r"\..+\.\w+~")


class Folder:
    """Files below ``root`` by their path inside it, such as ``pulls/0001/pull.yml``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def where(self, path: str) -> str:
        """A path in words for a message."""
        return plain(str(self.root / path if path else self.root))

    def names(self, path: str) -> list[str]:
        """What the folder at ``path`` holds, sorted; nothing when it does not exist."""
        with self._errors(path):
            try:
                with self._open(path) as folder:
                    return sorted(os.listdir(folder))  # noqa: PTH208 (of a descriptor)
            except FileNotFoundError:
                return []

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None when it does not exist.  Raises BadInput for anything but a file."""
        above, name = os.path.split(path)
        with self._errors(path):
            try:
                with self._open(above) as folder:
                    descriptor = os.open(name, _READ, dir_fd=folder)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise BadInput(f"{self.where(path)} is no plain file", "move it away")
                data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BadInput(f"{self.where(path)} has more than {MOST_BYTES:,} bytes", "shorten it")
        return data

    def changed_at(self, path: str) -> datetime:
        """When a file was last written, to the second; now for one that is gone."""
        above, name = os.path.split(path)
        seconds = time.time()
        with self._errors(path), suppress(FileNotFoundError), self._open(above) as folder:
            seconds = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime
        return datetime.fromtimestamp(int(seconds), UTC)

    def write(self, path: str, data: bytes) -> None:
        """Put a file in place, making the folders above it; the old one goes with the rename."""
        above, name = os.path.split(path)
        with self._errors(path), self._open(above, create=True) as folder:
            beside = f".{name}.{os.getpid()}~"
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=folder)  # left by a process that was killed
            try:
                with os.fdopen(os.open(beside, _WRITE, 0o666, dir_fd=folder), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(beside, dir_fd=folder)
                raise
            os.fsync(folder)

    def add_folder(self, path: str, files: dict[str, bytes]) -> None:
        """Make a folder with these files in it, whole or not at all.

        Raises RemoteFailed when there is one of that name that is not empty.
        """
        above, name = os.path.split(path)
        beside = f".{name}.{os.getpid()}~"
        for file, data in files.items():
            self.write(f"{above}/{beside}/{file}", data)
        with self._errors(path), self._open(above) as folder:
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

    def remove(self, path: str) -> None:
        """Take a file away; one that is gone already is no error."""
        above, name = os.path.split(path)
        with self._errors(path), suppress(FileNotFoundError), self._open(above) as folder:
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)

    def size(self, path: str) -> int | None:
        """A file's size in bytes; None for one that does not exist, or is no plain file."""
        above, name = os.path.split(path)
        with self._errors(path), suppress(FileNotFoundError), self._open(above) as folder:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            return found.st_size if stat.S_ISREG(found.st_mode) else None
        return None

    def pieces(self, path: str, size: int) -> Iterator[bytes]:
        """A file's bytes, ``size`` at a time.  Raises RemoteFailed for one that is not there."""
        above, name = os.path.split(path)
        with self._errors(path), self._open(above) as folder:
            file = os.fdopen(os.open(name, _READ, dir_fd=folder), "rb")
        with file:
            while piece := self._piece(file, path, size):
                yield piece

    def _piece(self, file: BinaryIO, path: str, size: int) -> bytes:
        with self._errors(path):
            return file.read(size)

    @contextmanager
    def incoming(self, path: str) -> Iterator[tuple[BinaryIO, Callable[[], None]]]:
        """A new file beside ``path`` to fill, and what puts it in place, whole.

        For files that take longer to write than others can wait for the lock: call the second
        with the lock held. Without it the file is gone at the end; one that a killed process
        left is taken away by :meth:`sweep`.
        """
        above, name = os.path.split(path)
        hidden = f".{name}.{secrets.token_hex(4)}~"
        with self._errors(path), self._open(above, create=True) as folder:
            descriptor = os.open(hidden, _WRITE, 0o444, dir_fd=folder)
            with os.fdopen(descriptor, "wb") as file:
                fcntl.flock(descriptor, fcntl.LOCK_EX)

                def put() -> None:
                    file.flush()
                    os.fsync(descriptor)
                    os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)
                    os.fsync(folder)

                try:
                    yield file, put
                finally:
                    with suppress(FileNotFoundError):
                        os.unlink(hidden, dir_fd=folder)

    def sweep(self, path: str) -> None:
        """Take away what killed processes left in the folder at ``path``; with the lock held."""
        with self._errors(path), suppress(FileNotFoundError), self._open(path) as folder:
            for name in os.listdir(folder):  # noqa: PTH208 (of a descriptor)
                if _HIDDEN.fullmatch(name):
                    _sweep(folder, name)

    def remove_folder(self, path: str) -> None:
        """Take a folder away with what is in it, as one step for those who look."""
        above, name = os.path.split(path)
        hidden = f".{name}.{secrets.token_hex(4)}~"
        with self._errors(path), suppress(FileNotFoundError), self._open(above) as folder:
            os.rename(name, hidden, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
            shutil.rmtree(hidden, dir_fd=folder)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """One writer at a time; the system lets go of it when a writer is killed."""
        with self._errors(""), self._open("", create=True) as folder:
            descriptor = os.open(_LOCK_NAME, _LOCK, 0o666, dir_fd=folder)
        try:
            deadline = time.monotonic() + _PATIENCE
            while not _locked(descriptor):
                if time.monotonic() > deadline:
                    raise RemoteFailed(
                        f"{self.where('')} is being written by another process",
                        "run it again once that is done",
                    )
                time.sleep(0.02)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def _open(self, path: str, *, create: bool = False) -> Iterator[int]:
        if create:
            self.root.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.root, _FOLDER)
        try:
            for part in path.split("/") if path else ():
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=handle)
                inner = os.open(part, _FOLDER, dir_fd=handle)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except MemrepoError:
            raise
        except PermissionError:
            raise PermissionDenied(
                f"{self.where(path)} may not be read or written", "check who owns it"
            ) from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EEXIST):
                raise BadInput(
                    f"{self.where(path)}: a link or a file stands where memrepo keeps its own",
                    "move it away: links are not followed",
                ) from None
            why = error.strerror or "the file system refused"
            raise RemoteFailed(f"{self.where(path)}: {plain(why)}", "repair that") from None


def _sweep(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            shutil.rmtree(name, dir_fd=folder)
            return
        descriptor = os.open(name, _READ, dir_fd=folder)
        try:
            if _locked(descriptor):  # its writer would hold it
                os.unlink(name, dir_fd=folder)
        finally:
            os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
