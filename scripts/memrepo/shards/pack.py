"""One shard into one ``.tar.gz``, a snapshot at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from itertools import chain, repeat
from typing import BinaryIO

from memrepo.errors import GitFailed
from memrepo.shards.gz import compressor
from memrepo.shards.path import shown
from memrepo.shards.table import Members, table_of
from memrepo.shards.tar import END, header, padding
from memrepo.shards.values import Archived, Packed, Shard

#: Called with the number of snapshots done since the last call.
Progress = Callable[[int], None]

_CHUNK = 1 << 18
_SHA1, _SHA256 = hashlib.sha1(usedforsecurity=False), hashlib.sha256()
_NOTHING = (Archived("", "", 0), b"")


def pack(
    shard: Shard,
    contents: Iterable[tuple[Archived, bytes]],
    out: BinaryIO,
    asset: str,
    progress: Progress | None = None,
) -> Packed:
    """Write ``shard`` to ``out`` as a gzipped tar, and say what was written.

    ``contents`` are its snapshots in its order, each with its bytes. Holds one snapshot at a
    time. Raises GitFailed where bytes are not those of the blob that is planned, or where
    snapshots are missing or not in order; what is in ``out`` is then worth nothing.
    """
    table = table_of(shard.snapshots)
    writer, hashes, told = _Writer(out), bytearray(), 0
    given = iter(contents)
    planned = zip(table.paths(), table.blobs(), table.sizes(), table.times(), strict=True)
    for (path, blob, size, when), (snapshot, data) in zip(
        planned, chain(given, repeat(_NOTHING)), strict=False
    ):
        if snapshot.path != path or snapshot.blob != blob:
            raise _damaged(path, "was not given to the packer in its place")
        if len(data) != size or blob_id(data, len(blob)) != blob:
            raise _damaged(path, f"is not the blob {blob} that was planned")
        hashes += hashlib.sha256(data).digest()
        if writer.add(header(path, size, when), data) and progress:
            done = len(hashes) // 32
            progress(done - told)
            told = done
    if next(given, None) is not None:
        raise GitFailed(f"more snapshots than {shard.name} holds were given to the packer")
    writer.end()
    if progress:
        progress(len(table) - told)
    return Packed(
        shard=shard.name,
        asset=asset,
        size=writer.size,
        sha256=writer.file.hexdigest(),
        tar_size=writer.tar_size,
        tar_sha256=writer.tar.hexdigest(),
        snapshots=Members(table, hashes),
    )


def blob_id(data: bytes, digits: int = 40) -> str:
    """The id Git gives to a file: by SHA-1 where ids have 40 digits, by SHA-256 where 64."""
    made = (_SHA1 if digits == 40 else _SHA256).copy()  # quicker than a new one
    made.update(b"blob %d\0" % len(data))
    made.update(data)
    return made.hexdigest()


def _damaged(path: str, why: str) -> GitFailed:
    return GitFailed(f"{shown(path)} {why}", "run git fsck to see what is damaged")


class _Writer:
    """A tar through gzip into a file, both hashed."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._gzip = compressor()
        self._parts: list[bytes] = []
        self._waiting = 0
        self.file, self.tar = hashlib.sha256(), hashlib.sha256()
        self.size = self.tar_size = 0

    def add(self, head: bytes, data: bytes) -> bool:
        """One file; whether bytes went on their way."""
        rest = padding(len(data))
        self._parts += (head, data, rest)
        self._waiting += len(head) + len(data) + len(rest)
        if self._waiting < _CHUNK:
            return False
        self._send()
        return True

    def end(self) -> None:
        """The end of the tar and of the stream."""
        self._parts.append(END)
        self._send()
        self._write(self._gzip.flush())

    def _send(self) -> None:
        chunk = b"".join(self._parts)
        self._parts.clear()
        self._waiting = 0
        self.tar_size += len(chunk)
        self.tar.update(chunk)
        self._write(self._gzip.compress(chunk))

    def _write(self, data: bytes) -> None:
        self.file.update(data)
        self.size += len(data)
        self._out.write(data)
