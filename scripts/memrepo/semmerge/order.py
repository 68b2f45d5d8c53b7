"""In which order the entries of a merge stand."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def merge_order(
    base: Sequence[Key], ours: Sequence[Key], theirs: Sequence[Key], kept: Collection[Key]
) -> list[Key] | None:
    """The ``kept`` entries in order, or None where both sides moved the same ones differently.

    ``kept`` are entries of ours or theirs, each unique in its sequence. Entries that all
    three have stand in ours' order, or in theirs' where only theirs moved them; moves in
    separate stretches of the sequence do not touch each other. What ours added stays
    behind its neighbour in ours, what theirs added behind its neighbour in theirs, and
    where both added at one place ours comes first.
    """
    if ours == theirs:
        return [key for key in ours if key in kept]
    common = set(base).intersection(ours, theirs)
    before, left, right = ([key for key in side if key in common] for side in (base, ours, theirs))
    spine = _joint(before, left, right)
    if spine is None:
        return None
    return [key for key in weave(weave(spine, ours), theirs) if key in kept]


def _joint(before: list[Key], left: list[Key], right: list[Key]) -> list[Key] | None:
    """Three orders of the same entries as one, stretch by stretch."""
    if right in (before, left):
        return left
    if left == before:
        return right
    joint: list[Key] = []
    start = 0
    # Keys that so far only one of a side and the base has passed: none, and a stretch ends.
    open_left: set[Key] = set()
    open_right: set[Key] = set()
    for end, key in enumerate(before, 1):
        open_left ^= {key, left[end - 1]} if key != left[end - 1] else set()
        open_right ^= {key, right[end - 1]} if key != right[end - 1] else set()
        if open_left or open_right:
            continue
        old, mine, other = before[start:end], left[start:end], right[start:end]
        start = end
        if other in (old, mine):
            joint += mine
        elif mine == old:
            joint += other
        else:
            return None
    return joint


def weave(spine: Sequence[Key], other: Iterable[Key]) -> list[Key]:
    """``spine`` with the entries of ``other`` that it lacks, each behind its neighbour.

    The neighbour is the nearest entry before it in ``other`` that ``spine`` has too; what
    only the spine has at that place comes first.
    """
    have = set(spine)
    shared: set[Key] = set()
    after: dict[Key | None, list[Key]] = {}
    anchor: Key | None = None
    for key in other:
        if key in have:
            anchor = key
            shared.add(key)
        else:
            after.setdefault(anchor, []).append(key)
    if not after:
        return list(spine)
    woven: list[Key] = []
    waiting = after.pop(None, [])
    for key in spine:
        if key in shared:
            woven += waiting
            waiting = after.pop(key, [])
        woven.append(key)
    return woven + waiting
