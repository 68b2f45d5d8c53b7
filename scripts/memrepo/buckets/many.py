"""Buckets of many units at once, with NumPy: the same numbers as ``key.py``, twenty times as fast.

NumPy is in the extra ``memrepo[stats]``; whoever imports from here has looked for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from memrepo.buckets.key import HEADS
from memrepo.protocol.rollout import TOTAL_PARTS, Assignment


def many_buckets(salt: str, units: Sequence[str], assignment: Assignment) -> NDArray[np.uint32]:
    """The bucket of each normal unit, in their order, as ``uint32``."""
    text = "".join(units)
    if text.isascii():
        data = text.encode()
        sizes = np.fromiter(map(len, units), np.int64, len(units))
    else:
        encoded = [unit.encode() for unit in units]
        data = b"".join(encoded)
        sizes = np.fromiter(map(len, encoded), np.int64, len(units))
    ends = np.cumsum(sizes)
    flat = np.frombuffer(data, np.uint8)
    begins = salt.encode()
    buckets = np.empty(len(units), np.uint32)
    order = np.argsort(sizes, kind="stable")
    cuts = np.flatnonzero(np.diff(sizes[order])) + 1
    for rows in np.split(order, cuts) if len(units) else ():
        size = int(sizes[rows[0]])
        prefix = HEADS[assignment](len(begins) + size) + begins
        whole = len(prefix) + size
        keys = np.zeros((len(rows), (whole + 3) // 4 * 4), np.uint8)
        keys[:, : len(prefix)] = np.frombuffer(prefix, np.uint8)
        keys[:, len(prefix) : whole] = sliding_window_view(flat, size)[ends[rows] - size]
        hashes = _murmur3(keys, whole).astype(np.uint64)
        buckets[rows] = hashes * np.uint64(TOTAL_PARTS) >> np.uint64(32)
    return buckets


def _murmur3(keys: NDArray[np.uint8], size: int) -> Any:
    """The hash of each row's first ``size`` bytes; the rest of a row is zero."""
    words = keys.view("<u4")
    h: Any = np.zeros(len(keys), np.uint32)
    for index in range(size // 4):
        h ^= _scrambled(words[:, index])
        h = (h << 13 | h >> 19) * np.uint32(5) + np.uint32(0xE6546B64)
    if size % 4:
        h ^= _scrambled(words[:, size // 4])
    h ^= np.uint32(size)
    h = (h ^ h >> 16) * np.uint32(0x85EBCA6B)
    h = (h ^ h >> 13) * np.uint32(0xC2B2AE35)
    return h ^ h >> 16


def _scrambled(k: Any) -> Any:
    k = k * np.uint32(0xCC9E2D51)
    return (k << 15 | k >> 17) * np.uint32(0x1B873593)
