"""Reading and writing Git objects without a process for each.

Reading goes through ``git cat-file --batch`` processes that stay open, so packs, deltas
and alternates are Git's business. Writing makes loose objects here: a temporary file and
a rename, as Git does it, so a killed writer leaves at most a ``tmp_obj_`` file for gc.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from memrepo.errors import GitFailed, MemrepoError, PermissionDenied, UnknownRevision

from .process import plain, start_git

#: Requests in flight, in bytes: what the smallest pipe holds, so nobody waits for the other.
_WINDOW = 4000
#: A blob over the caller's limit is read past up to this size; over it the process is replaced.
_SKIP_AT_MOST = 16 << 20
_CHUNK = 1 << 16
#: Trees over this are stored, not deflated: object ids hardly shrink, and gc packs them anyway.
_STORE_TREES_OVER = 1 << 16
_LEFTOVER = "tmp_obj_"

Part = bytes | memoryview


class Found(msgspec.Struct, frozen=True):
    """One object: id in hex, kind (commit, tree, blob, tag), size in bytes, and its bytes.

    ``data`` is None when the object is larger than the reader was allowed to load.
    """

    oid: str
    kind: str
    size: int
    data: bytes | None


class _Batch:
    """One ``cat-file --batch`` process."""

    def __init__(self, cwd: Path) -> None:
        self._process = start_git(["cat-file", "--batch"], cwd=cwd)

    def send(self, names: bytes) -> None:
        """Ask for objects, one name a line."""
        try:
            self._process.stdin.write(names)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise _unreadable() from None

    def receive(self, limit: int | None) -> tuple[Found | None, bool]:
        """The next answer, and whether the process can still be used."""
        line = self._process.stdout.readline()
        if not line:
            raise _unreadable()
        words = line.rstrip(b"\n").rsplit(b" ", 2)
        if len(words) < 3 or not words[2].isdigit():
            return None, True
        size = int(words[2])
        data: bytes | None = None
        usable = True
        if limit is None or size <= limit:
            data = self._process.stdout.read(size + 1)
            if len(data) != size + 1:
                raise _unreadable()
            data = data[:-1]
        elif size <= _SKIP_AT_MOST:
            left = size + 1
            while left and (part := self._process.stdout.read(min(left, _CHUNK))):
                left -= len(part)
        else:
            usable = False
        return Found(words[0].decode(), words[1].decode(), size, data), usable

    def close(self) -> None:
        """End the process."""
        self._process.stop()


def _unreadable() -> MemrepoError:
    return GitFailed(
        "the repository's objects could not be read", "run git fsck to see what is damaged"
    )


class ObjectReader:
    """Reads objects by id or by any name that ``git cat-file`` takes."""

    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd
        self._idle: list[_Batch] = []

    def find(self, name: str, limit: int | None = None) -> Found | None:
        """The object called ``name``, or None. Over ``limit`` bytes its data is left out."""
        for found in self.read_many([name], limit):
            return found
        return None

    def read(self, name: str) -> tuple[str, bytes]:
        """Kind and bytes of the object called ``name``.  Raises UnknownRevision."""
        found = self.find(name)
        if found is None or found.data is None:
            raise UnknownRevision(f"there is no object {plain(name)} in this repository")
        return found.kind, found.data

    def read_many(self, names: Iterable[str], limit: int | None = None) -> Iterator[Found | None]:
        """The objects called ``names``, in that order; None for each that does not exist.

        Requests are pipelined and only one object is held at a time. Objects of more than
        ``limit`` bytes come without their data.
        """
        waiting: deque[bytes] = deque()
        rest = iter(names)
        in_flight = 0
        batch = self._idle.pop() if self._idle else _Batch(self._cwd)
        done = False
        try:
            while True:
                if in_flight < _WINDOW // 2:
                    lines, in_flight = _next_window(rest, waiting, in_flight)
                    if lines:
                        batch.send(lines)
                if not waiting:
                    done = True
                    return
                in_flight -= len(waiting.popleft())
                found, usable = batch.receive(limit)
                if not usable:
                    batch.close()
                    batch = _Batch(self._cwd)
                    if waiting:
                        batch.send(b"".join(waiting))
                yield found
        finally:
            if done or not waiting:
                self._idle.append(batch)
            else:
                batch.close()

    def close(self) -> None:
        """End every process; the reader starts a new one when it is used again."""
        while self._idle:
            self._idle.pop().close()


def _next_window(rest: Iterator[str], waiting: deque[bytes], size: int) -> tuple[bytes, int]:
    """Take names from ``rest`` until ``size`` bytes of requests reach the window."""
    lines = []
    for name in rest:
        if "\n" in name or "\0" in name or not name:
            raise UnknownRevision(f"there is no object {plain(name)} in this repository")
        line = name.encode("utf-8", "surrogateescape") + b"\n"
        waiting.append(line)
        lines.append(line)
        size += len(line)
        if size >= _WINDOW - 200:
            break
    return b"".join(lines), size


def object_id(algorithm: str, kind: str, body: bytes) -> bytes:
    """The raw id (20 or 32 bytes) of an object under ``algorithm`` (sha1 or sha256)."""
    digest = hashlib.new(algorithm, b"%s %d\0" % (kind.encode(), len(body)), usedforsecurity=False)
    digest.update(body)
    return digest.digest()


class LooseWriter:
    """Writes loose objects into one object folder.

    ``shared`` holds the permission bits that ``core.sharedRepository`` adds (0 for none);
    ``fsync`` makes every object durable before its name appears.
    """

    def __init__(
        self, objects: Path, algorithm: str, *, shared: int = 0, fsync: bool = False
    ) -> None:
        self._objects = str(objects)
        self.algorithm = algorithm
        self._shared = shared
        self._fsync = fsync
        self._count = 0

    def write(self, kind: str, body: bytes) -> bytes:
        """Store one object and return its raw id.  Raises PermissionDenied or GitFailed."""
        oid = object_id(self.algorithm, kind, body)
        name = oid.hex()
        folder = f"{self._objects}/{name[:2]}"
        target = f"{folder}/{name[2:]}"
        try:
            os.utime(target)  # there already: keep it young, so that gc keeps it
        except FileNotFoundError:
            self._create(folder, target, kind, body)
        except PermissionError:
            pass  # there already, and someone else's
        return oid

    def _create(self, folder: str, target: str, kind: str, body: bytes) -> None:
        full = b"%s %d\0%s" % (kind.encode(), len(body), body)
        stored = kind == "tree" and len(full) > _STORE_TREES_OVER
        parts: list[Part] = _stored_stream(full) if stored else [zlib.compress(full, 1)]
        self._count += 1
        # The prefix is the one by which gc knows what a killed writer left.
        temporary = f"{folder}/{_LEFTOVER}{os.getpid():x}_{id(self):x}_{self._count:x}"
        try:
            descriptor = self._open(folder, temporary)
            try:
                for start in range(0, len(parts), 512):
                    _write_all(descriptor, parts[start : start + 512])
                if self._shared:
                    os.fchmod(descriptor, 0o444 & (0o400 | self._shared))
                if self._fsync:
                    os.fsync(descriptor)
            except BaseException:
                os.unlink(temporary)  # noqa: PTH108 (plain strings on the hot path)
                raise
            finally:
                os.close(descriptor)
            os.rename(temporary, target)  # noqa: PTH104
        except OSError as error:
            raise write_failure(error, self._objects) from None

    def _open(self, folder: str, temporary: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            return os.open(temporary, flags, 0o444)
        except FileNotFoundError:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
            if self._shared:
                os.chmod(folder, 0o2700 | self._shared | (self._shared & 0o444) >> 2)  # noqa: PTH101
            return os.open(temporary, flags, 0o444)


def write_failure(error: OSError, place: str) -> MemrepoError:
    """The words for a file of the repository that could not be written."""
    what = f"{plain(place)} could not be written: {plain(error.strerror or str(error))}"
    if isinstance(error, PermissionError) or error.errno == 30:  # 30: read-only file system
        return PermissionDenied(what, "check who owns the repository")
    return GitFailed(what, "check the free space and the state of the disk")


def _write_all(descriptor: int, parts: list[Part]) -> None:
    written = os.writev(descriptor, parts)
    if written != sum(map(len, parts)):
        rest = memoryview(b"".join(parts))[written:]
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def _stored_stream(data: bytes) -> list[Part]:
    """``data`` as a zlib stream of stored blocks (RFC 1950 and 1951), in pieces to write."""
    view = memoryview(data)
    parts: list[Part] = [b"\x78\x01"]
    for start in range(0, len(data), 0xFFFF):
        block = view[start : start + 0xFFFF]
        last = start + len(block) == len(data)
        parts += [struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF), block]
    parts.append(struct.pack(">I", zlib.adler32(data)))
    return parts
