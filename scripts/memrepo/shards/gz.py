"""gzip (RFC 1952) without a name or a time, through the fastest library that is there.

``isal`` (the extra ``memrepo[archive]``) takes a fraction of zlib's time. The compressed bytes
differ between the two, what they hold does not.
"""

from __future__ import annotations

import zlib
from functools import cache
from importlib import import_module
from typing import Any, Protocol

#: No name, no time, no comment: the flags and the four bytes of the time are zero.
MAGIC = b"\x1f\x8b\x08" + bytes(5)

_GZIP = 31  # the largest window (15), in gzip's wrapping (16)
#: Level 2 loses some percent of size to 6, the default, and takes half of its time.
_LEVEL = 2


class Compressor(Protocol):
    """What compresses one stream."""

    def compress(self, data: bytes, /) -> bytes:
        """More of the stream; what is ready of its compressed bytes."""
        ...

    def flush(self) -> bytes:
        """The end of the stream."""
        ...


class Decompressor(Protocol):
    """What decompresses one stream."""

    @property
    def eof(self) -> bool:
        """Whether the stream ended, and its checksum and length were right."""
        ...

    @property
    def unconsumed_tail(self) -> bytes:
        """What was given and not read yet."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What was given and lies behind the end."""
        ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """At most ``max_length`` more bytes."""
        ...


@cache
def _fast() -> Any:
    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return None


def library() -> str:
    """The library that does the work: ``isal`` or ``zlib``."""
    return "isal" if _fast() else "zlib"


def compressor() -> Compressor:
    """A new stream."""
    fast = _fast()
    if fast:
        made: Compressor = fast.compressobj(2, zlib.DEFLATED, _GZIP)
        return made
    return zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)


def decompressor() -> Decompressor:
    """A reader of one stream."""
    fast = _fast()
    made: Decompressor = (fast or zlib).decompressobj(_GZIP)
    return made


def failures() -> tuple[type[Exception], ...]:
    """What a decompressor raises for bytes that are no such stream."""
    fast = _fast()
    return (zlib.error, fast.error) if fast else (zlib.error,)
