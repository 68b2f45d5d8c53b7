"""The bytes in a gzip stream, in order and in bounded memory, both sides hashed."""

from __future__ import annotations

import hashlib
from typing import BinaryIO

from memrepo.shards.gz import MAGIC, decompressor, failures

_READ = 1 << 17
#: What one step may unpack: a bomb grows by no more before it is seen.
_STEP = 1 << 20


class Refused(Exception):
    """Why a tarball is not taken, in words."""


class Unpacked:
    """Reads ``source`` from where it stands to its end; no more than ``most`` bytes come out."""

    def __init__(self, source: BinaryIO, most: int) -> None:
        self._source = source
        self._most = most
        self._gzip = decompressor()
        self._failures = failures()
        self._buffer = b""
        self._at = 0
        self.file, self.tar = hashlib.sha256(), hashlib.sha256()
        self.size = self.tar_size = 0

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes.  Raises Refused where the stream is damaged or ends."""
        end = self._at + count
        if end > len(self._buffer):
            self._fill(count)
            end = count
        data = self._buffer[self._at : end]
        self._at = end
        return data

    def _fill(self, count: int) -> None:
        parts = [self._buffer[self._at :]]
        have = len(parts[0])
        while have < count:
            part = self._step()
            if not part:
                raise Refused("it ends too early")
            parts.append(part)
            have += len(part)
        self._buffer, self._at = b"".join(parts), 0

    def end(self) -> None:
        """Raises Refused unless all was taken, and the stream is whole and the last there is."""
        if self._at < len(self._buffer) or self._step():
            raise Refused("there is more behind the end of the tar")
        if self._gzip.unused_data or self._read():
            raise Refused("there is more behind the end of the gzip stream")

    def _read(self) -> bytes:
        data = self._source.read(_READ)
        if not self.size:
            while len(data) < len(MAGIC) and (more := self._source.read(_READ)):
                data += more
            if not data.startswith(MAGIC):
                raise Refused("it is no gzip file as the archive writes them")
        self.file.update(data)
        self.size += len(data)
        return data

    def _step(self) -> bytes:
        """Some more bytes; none at the end of the stream."""
        while not self._gzip.eof:
            given = self._gzip.unconsumed_tail or self._read()
            try:
                part = self._gzip.decompress(given, _STEP)
            except self._failures as error:
                raise Refused(f"its gzip stream is damaged ({error})") from None
            if part:
                self.tar.update(part)
                self.tar_size += len(part)
                if self.tar_size > self._most:
                    raise Refused(f"it unpacks to more than {self._most:,} bytes")
                return part
            if not given and not self._gzip.eof:
                raise Refused("its gzip stream is cut short")
        return b""
