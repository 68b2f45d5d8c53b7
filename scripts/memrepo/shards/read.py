"""Reading a shard back, from bytes that nobody vouches for.

A shard is refused whole: it is only taken when every byte of its tar is one that
:func:`memrepo.shards.pack.pack` would have written for the files in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec

from memrepo.errors import BadInput
from memrepo.shards.foreign import path_in, size_in, why_refused
from memrepo.shards.pack import Progress, blob_id
from memrepo.shards.path import shown, snapshot_at
from memrepo.shards.table import UNKNOWN_SIZE
from memrepo.shards.tar import BLOCK, END, MOST_SNAPSHOT_BYTES, header
from memrepo.shards.unpack import Refused, Unpacked
from memrepo.shards.values import MOST_ASSET_BYTES, Archived, IndexLine

_ZEROS = bytes(BLOCK)
_TELL_EVERY = 256


class Limits(msgspec.Struct, frozen=True):
    """How much a shard may hold: snapshots, bytes of one, and bytes of the tar."""

    snapshots: int = 5_000_000
    snapshot_bytes: int = MOST_SNAPSHOT_BYTES
    tar_bytes: int = MOST_ASSET_BYTES


#: The limits of every shard that was ever packed.
ANY_SHARD = Limits()


class Checked(msgspec.Struct, frozen=True):
    """What a shard holds that was read to its end: sizes in bytes, hashes in hex."""

    snapshots: int
    bytes: int
    size: int
    sha256: str
    tar_size: int
    tar_sha256: str


def limits_of(line: IndexLine) -> Limits:
    """The limits of a shard that the index knows."""
    tar = line.bytes + line.snapshots * 2 * BLOCK + len(END)
    return Limits(line.snapshots, min(line.bytes, MOST_SNAPSHOT_BYTES), min(tar, MOST_ASSET_BYTES))


def read_shard(
    source: BinaryIO,
    expected: Iterable[Archived] | None = None,
    *,
    limits: Limits = ANY_SHARD,
    name: str = "the shard",
) -> Iterator[tuple[str, bytes]]:
    """Each snapshot of a shard: (path, content), in order of paths.

    With ``expected`` (in order of paths; ``UNKNOWN_SIZE`` where only the id is known) exactly
    these must be there, with these blob ids and sizes. Holds one snapshot at a time.
    ``name`` is how a message calls the file. Raises BadInput with the reason as soon as
    something is wrong, so what came before it is not to be used: run :func:`check_shard`
    over the same bytes first.
    """
    unpacked = Unpacked(source, limits.tar_bytes)
    try:
        yield from _files(unpacked, expected, limits)
    except Refused as why:
        raise _refusal(name, str(why)) from None


def check_shard(
    source: BinaryIO,
    expected: Iterable[Archived] | None = None,
    *,
    sha256: str = "",
    tar_sha256: str = "",
    limits: Limits = ANY_SHARD,
    name: str = "the shard",
    progress: Progress | None = None,
) -> Checked:
    """Read a whole shard and answer what it holds; ``source`` is read from where it stands.

    Raises BadInput with the reason where the tarball is not one of ours, holds other
    snapshots than ``expected``, or has other hashes than ``sha256`` (of the file) and
    ``tar_sha256``, where these are given.
    """
    unpacked = Unpacked(source, limits.tar_bytes)
    snapshots = content = told = 0
    try:
        for _, data in _files(unpacked, expected, limits):
            snapshots += 1
            content += len(data)
            if progress and snapshots - told >= _TELL_EVERY:
                progress(snapshots - told)
                told = snapshots
    except Refused as why:
        raise _refusal(name, str(why)) from None
    if progress:
        progress(snapshots - told)
    file, tar = unpacked.file.hexdigest(), unpacked.tar.hexdigest()
    if tar_sha256 and tar != tar_sha256:
        raise _refusal(name, f"the SHA-256 of its tar is {tar}, not {shown(tar_sha256)}")
    if sha256 and file != sha256:
        raise _refusal(name, f"its SHA-256 is {file}, not {shown(sha256)}")
    return Checked(snapshots, content, unpacked.size, file, unpacked.tar_size, tar)


def _files(
    unpacked: Unpacked, expected: Iterable[Archived] | None, limits: Limits
) -> Iterator[tuple[str, bytes]]:
    planned = None if expected is None else iter(expected)
    last, count = "", 0
    while (block := unpacked.take(BLOCK)) != _ZEROS:
        path, size = _header(block)
        count += 1
        if path <= last:
            raise Refused(
                f"{shown(path)} is there twice"
                if path == last
                else f"{shown(path)} is not in order, or there twice"
            )
        if count > limits.snapshots:
            raise Refused(f"it holds more than {limits.snapshots:,} snapshots")
        if size > limits.snapshot_bytes:
            raise Refused(
                f"{shown(path)} has {size:,} bytes, and {limits.snapshot_bytes:,} is the most"
            )
        due = None if planned is None else _expected(path, size, next(planned, None))
        data = unpacked.take(size)
        if unpacked.take(-size % BLOCK).strip(b"\0"):
            raise Refused(f"something hides behind the end of {shown(path)}")
        if due and blob_id(data, len(due.blob)) != due.blob:
            raise Refused(f"the content of {shown(path)} is not the blob {shown(due.blob)}")
        yield path, data
        last = path
    if planned is not None and (missing := next(planned, None)):
        raise Refused(f"{shown(missing.path)} is missing")
    if unpacked.take(len(END) - BLOCK) != END[BLOCK:]:
        raise Refused("there is more behind the end of the tar")
    unpacked.end()


def _header(block: bytes) -> tuple[str, int]:
    """Path and size of the file that begins here."""
    path, size = path_in(block), size_in(block)
    named = snapshot_at(path)
    try:
        if size is not None and named and block == header(path, size, named.when):
            return path, size
    except BadInput:  # what no header of ours says
        pass
    raise Refused(why_refused(block))


def _expected(path: str, size: int, due: Archived | None) -> Archived:
    """What should come, when it is this.  Raises Refused where it is another."""
    if due is None or path < due.path:
        raise Refused(f"{shown(path)} is not among its snapshots")
    if path > due.path:
        raise Refused(f"{shown(due.path)} is missing")
    if due.size not in (size, UNKNOWN_SIZE):
        raise Refused(f"{shown(path)} has {size:,} bytes, not {due.size:,}")
    return due


def _refusal(name: str, why: str) -> BadInput:
    return BadInput(
        f"{name} is refused: {why}",
        "it is damaged or not memrepo's: fetch it again, or another copy",
    )
