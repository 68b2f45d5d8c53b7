"""Writing one pack with its index (pack format 2, index format 2; gitformat-pack).

Trees that come from one another go in as deltas made from the edits themselves. Version
``k`` of a folder is a delta against version ``k`` with its lowest set bit cleared, so a
chain stays about as long as ``k`` has bits, and a delta carries few edits on average.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from itertools import accumulate
from pathlib import Path

import msgspec

from .delta import delta_of, patched
from .objects import ObjectReader, object_id, write_failure
from .trees import Splice

_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_OFFSET_DELTA = 6
_WIDEST_STEP = 256
_MOST_VERSIONS = 4096
_SMALL = 512
_WINDOW = 4096


class _Version(msgspec.Struct, frozen=True):
    """One version of a folder in the pack: where it lies, its size, the edits that made it."""

    oid: bytes
    offset: int
    size: int
    edits: Sequence[Splice]


class _Packed(msgspec.Struct, frozen=True):
    """Where an object lies in the pack: offset, checksum, kind; ``base`` for a delta."""

    offset: int
    checksum: int
    kind: str
    base: bytes | None


class PackSink:
    """Stores objects in one new pack, which the repository sees when it is finished.

    Also reads: what was stored here, and everything else through ``reader``.
    """

    def __init__(self, objects: Path, algorithm: str, reader: ObjectReader) -> None:
        self._folder = objects / "pack"
        self._algorithm = algorithm
        self._reader = reader
        self._packed: dict[bytes, _Packed] = {}
        self._versions: dict[bytes, list[_Version]] = {}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._temporary = self._folder / f"tmp_pack_{os.getpid():x}_{id(self):x}"
            self._file = self._temporary.open("x+b")
        except OSError as error:
            raise write_failure(error, str(self._folder)) from None
        self._size = self._file.write(b"PACK" + struct.pack(">II", 2, 0))

    def write(self, kind: str, body: bytes) -> bytes:
        """Store one object whole; its raw id."""
        oid = object_id(self._algorithm, kind, body)
        if oid not in self._packed:
            self._add(oid, kind, _header(_KINDS[kind], len(body)), body, None)
        return oid

    def write_tree(
        self, path: bytes, body: bytes, before: bytes | None, edits: Sequence[Splice]
    ) -> bytes:
        """Store the folder at ``path``, as a delta where its last version came from here."""
        versions = self._versions.get(path, [])
        fits = versions and versions[-1].oid == before and len(versions) < _MOST_VERSIONS
        if len(body) < _SMALL or not fits:
            oid = self.write("tree", body)
            self._versions[path] = [_Version(oid, self._packed[oid].offset, len(body), ())]
            return oid
        oid = object_id(self._algorithm, "tree", body)
        number = len(versions)
        start = number - min(number & -number, _WIDEST_STEP)
        base = versions[start]
        if oid not in self._packed:
            later = [version.edits for version in versions[start + 1 :]]
            delta = delta_of(base.size, len(body), [*later, edits])
            if 2 * len(delta) > len(body):
                self.write("tree", body)
                self._versions[path] = [_Version(oid, self._packed[oid].offset, len(body), ())]
                return oid
            header = _header(_OFFSET_DELTA, len(delta)) + _back(self._size - base.offset)
            self._add(oid, "tree", header, delta, base.oid)
        versions.append(_Version(oid, self._packed[oid].offset, len(body), edits))
        return oid

    def _add(self, oid: bytes, kind: str, header: bytes, body: bytes, base: bytes | None) -> None:
        data = header + _deflated(body)
        try:
            self._file.write(data)
        except OSError as error:
            raise write_failure(error, str(self._folder)) from None
        self._packed[oid] = _Packed(self._size, zlib.crc32(data), kind, base)
        self._size += len(data)

    def read(self, name: str) -> tuple[str, bytes]:
        """Kind and bytes of an object, from here or from the repository."""
        packed = self._packed.get(bytes.fromhex(name)) if _is_hex(name) else None
        if packed is None:
            return self._reader.read(name)
        self._file.flush()
        data = os.pread(self._file.fileno(), 32, packed.offset)
        start = next(i for i, byte in enumerate(data) if byte < 0x80) + 1
        if packed.base is not None:
            start += next(i for i, byte in enumerate(data[start:]) if byte < 0x80) + 1
        inflate = zlib.decompressobj()
        body, at = b"", packed.offset + start
        while not inflate.eof:
            body += inflate.decompress(os.pread(self._file.fileno(), 1 << 16, at))
            at += 1 << 16
        if packed.base is not None:
            body = patched(self.read(packed.base.hex())[1], body)
        return packed.kind, body

    def finish(self) -> None:
        """Complete the pack and give it to the repository: durable, and the index last."""
        if not self._packed:
            self.abandon()
            return
        try:
            self._file.seek(4)
            self._file.write(struct.pack(">II", 2, len(self._packed)))
            self._file.seek(0)
            digest = hashlib.new(self._algorithm, usedforsecurity=False)
            while part := self._file.read(1 << 20):
                digest.update(part)
            self._file.write(digest.digest())
            self._file.flush()
            os.fchmod(self._file.fileno(), 0o444)
            os.fsync(self._file.fileno())
            self._file.close()
            name = self._folder / f"pack-{digest.hexdigest()}"
            self._temporary.rename(name.with_suffix(".pack"))
            index = self._temporary.with_name(self._temporary.name + "_idx")
            with index.open("xb") as file:
                file.write(self._index(digest.digest()))
                file.flush()
                os.fchmod(file.fileno(), 0o444)
                os.fsync(file.fileno())
            index.rename(name.with_suffix(".idx"))
        except OSError as error:
            raise write_failure(error, str(self._folder)) from None

    def _index(self, pack_checksum: bytes) -> bytes:
        oids = sorted(self._packed)
        counts = [0] * 256
        for oid in oids:
            counts[oid[0]] += 1
        near: list[int] = []
        far: list[int] = []
        for oid in oids:
            offset = self._packed[oid].offset
            if offset >= 1 << 31:
                near.append(1 << 31 | len(far))
                far.append(offset)
            else:
                near.append(offset)
        body = b"".join(
            (
                b"\xfftOc\0\0\0\x02",
                struct.pack(">256I", *accumulate(counts)),
                *oids,
                struct.pack(f">{len(oids)}I", *(self._packed[oid].checksum for oid in oids)),
                struct.pack(f">{len(near)}I", *near),
                struct.pack(f">{len(far)}Q", *far),
                pack_checksum,
            )
        )
        return body + hashlib.new(self._algorithm, body, usedforsecurity=False).digest()

    def abandon(self) -> None:
        """Drop everything that was stored."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)


def _deflated(body: bytes) -> bytes:
    """``body`` as a zlib stream."""
    return _quickest()(body)


@cache
def _quickest() -> Callable[[bytes], bytes]:
    try:
        # It takes half of zlib's time here, and less room.
        compress = import_module("isal.isal_zlib").compress
    except ImportError:
        return _by_zlib
    return lambda body: bytes(compress(body, 1))


def _by_zlib(body: bytes) -> bytes:
    """For a small one, making room for a large window would be most of the work."""
    if len(body) > _WINDOW:
        return zlib.compress(body, 1)
    made = zlib.compressobj(1, zlib.DEFLATED, 12, 5)
    return made.compress(body) + made.flush()


def _is_hex(name: str) -> bool:
    return len(name) in (40, 64) and all(char in "0123456789abcdef" for char in name)


def _header(kind: int, size: int) -> bytes:
    first, size = kind << 4 | size & 15, size >> 4
    out = bytearray()
    while size:
        out.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    out.append(first)
    return bytes(out)


def _back(distance: int) -> bytes:
    """The distance back to a delta's base, in the pack's own coding."""
    out = [distance & 0x7F]
    while distance := distance >> 7:
        distance -= 1
        out.append(0x80 | distance & 0x7F)
    return bytes(reversed(out))
