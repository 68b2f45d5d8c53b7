"""MurmurHash3, the 32-bit variant for x86, by Austin Appleby, who placed it in the public domain.

Seed 0, unsigned: the hash that flagd's ``fractional`` operation is built on.
"""

from __future__ import annotations

from struct import Struct, unpack_from

_C1 = 0xCC9E2D51
_C2 = 0x1B873593
_MASK = 0xFFFFFFFF
_WORDS = tuple(Struct(f"<{count}I") for count in range(64))


def murmur3(data: bytes) -> int:
    """The hash of ``data``, 0 to 2**32 - 1."""
    size = len(data)
    count = size >> 2
    words = _WORDS[count].unpack_from(data) if count < 64 else unpack_from(f"<{count}I", data)
    h = 0
    for k in words:
        k = k * _C1 & _MASK
        h ^= (k << 15 | k >> 17) * _C2 & _MASK
        h = (h << 13 | h >> 19) * 5 + 0xE6546B64 & _MASK
    tail = data[count << 2 :]
    if tail:
        k = int.from_bytes(tail, "little") * _C1 & _MASK
        h ^= (k << 15 | k >> 17) * _C2 & _MASK
    h ^= size
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    return h ^ h >> 16
