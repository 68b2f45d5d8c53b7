"""Pair the equal items of two sequences in order: the longest common subsequence, bounded.

The exact answer comes from Hunt and Szymanski's method (CACM 20:5, 1977), whose cost
grows with the number of equal pairs. Sequences that repeat themselves too often for it
are first cut at the items that are unique on both sides (patience diff), and what still
repeats is paired by rank; the pairs are then in order and equal, but not always most.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence

Pair = tuple[int, int]

#: Equal pairs up to which the exact answer is computed; about a millisecond's work.
_EXACT_PAIRS = 4_096
#: Cuts inside cuts, after which repeated items are paired by rank.
_MAX_CUTS = 12


def aligned(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Pair]:
    """Index pairs ``(before, after)`` of equal items, both indexes strictly rising.

    Common beginnings and endings are always paired. Time is about ``n log n``,
    whatever the input.
    """
    pairs: list[Pair] = []
    todo = [(0, len(before), 0, len(after), 0)]
    while todo:
        b_lo, b_hi, a_lo, a_hi, cuts = todo.pop()
        while b_lo < b_hi and a_lo < a_hi and before[b_lo] == after[a_lo]:
            pairs.append((b_lo, a_lo))
            b_lo += 1
            a_lo += 1
        while b_lo < b_hi and a_lo < a_hi and before[b_hi - 1] == after[a_hi - 1]:
            b_hi -= 1
            a_hi -= 1
            pairs.append((b_hi, a_hi))
        if b_lo == b_hi or a_lo == a_hi:
            continue
        places = _places(after, a_lo, a_hi)
        total = sum(len(places.get(before[i], ())) for i in range(b_lo, b_hi))
        if not total:
            continue
        if total <= max(_EXACT_PAIRS, 4 * (b_hi - b_lo)):
            candidates = [(i, places.get(before[i], [])) for i in range(b_lo, b_hi)]
            pairs += rising(candidates)
            continue
        own = _places(before, b_lo, b_hi)
        cut = rising(
            [(i[0], places[x]) for x, i in own.items() if len(i) == 1 == len(places.get(x, ()))]
        )
        if not cut or cuts == _MAX_CUTS:
            pairs += rising(_by_rank(own, places))
            continue
        pairs += cut
        for i, j in [*cut, (b_hi, a_hi)]:
            todo.append((b_lo, i, a_lo, j, cuts + 1))
            b_lo, a_lo = i + 1, j + 1
    pairs.sort()
    return pairs


def rising(candidates: list[tuple[int, list[int]]]) -> list[Pair]:
    """The most pairs ``(i, j)`` with both rising, out of candidates in order of ``i``.

    Each candidate is ``(i, [j, ...])`` with its ``j`` in rising order.
    """
    ends: list[int] = []
    chains: list[tuple[int, int, object]] = []
    for i, places in candidates:
        for j in reversed(places):
            length = bisect_left(ends, j)
            link = (i, j, chains[length - 1] if length else None)
            if length == len(ends):
                ends.append(j)
                chains.append(link)
            else:
                ends[length] = j
                chains[length] = link
    pairs: list[Pair] = []
    link_: object = chains[-1] if chains else None
    while isinstance(link_, tuple):
        i, j, link_ = link_
        pairs.append((i, j))
    pairs.reverse()
    return pairs


def _places(items: Sequence[Hashable], low: int, high: int) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = {}
    for index in range(low, high):
        places.setdefault(items[index], []).append(index)
    return places


def _by_rank(
    own: dict[Hashable, list[int]], other: dict[Hashable, list[int]]
) -> list[tuple[int, list[int]]]:
    """Candidates of equal rank, counted from the front and from the back, give or take one."""
    found: list[tuple[int, list[int]]] = []
    for item, mine in own.items():
        theirs = other.get(item)
        if not theirs:
            continue
        shift = len(theirs) - len(mine)
        for rank, i in enumerate(mine):
            near = {r + d for r in (rank, rank + shift) for d in (-1, 0, 1)}
            found.append((i, [theirs[r] for r in sorted(near) if 0 <= r < len(theirs)]))
    found.sort()
    return found
