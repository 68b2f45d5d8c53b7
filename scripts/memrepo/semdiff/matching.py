"""Which turn of the old context is which turn of the new one.

The evidence is taken in order of strength: the same turn in the same order; the same
turn elsewhere (moved); then, between the turns already matched, the same text, the same
role and time, the same text and time under another role, and at last a similar text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime

import msgspec

from memrepo.protocol.documents import Turn
from memrepo.semdiff.align import Pair, aligned
from memrepo.semdiff.likeness import Sketch, likeness

#: Likeness from which two texts of one role are one turn, edited.
_ALIKE = 0.5
#: Pairs of turns in a gap that are all compared; above, only the likely ones.
_ALL_PAIRS = 1_024
#: Words of a turn by which likely pairs are found, and how many turns may have such a word.
_RAREST = 3
_RARE = 16
#: Characters of a turn in which such a word is looked for.
_FIRST = 1_000

#: Indexes of unmatched turns that lie between the same two matched ones, on each side.
Gap = tuple[list[int], list[int]]


class Matching(msgspec.Struct, frozen=True):
    """Index pairs ``(before, after)``: ``kept`` in order, equal or edited; ``moved`` equal."""

    kept: list[Pair]
    moved: list[Pair]


def match_turns(before: Sequence[Turn], after: Sequence[Turn], *, limit: int) -> Matching:
    """Match the turns of two contexts one to one; time grows about as ``n log n``.

    ``limit`` is the number of turns a context may have: in a context that had to lose
    its oldest turns, a turn that left at the front and one equal to it that came at the
    end are two turns, not one that moved.
    """
    kept = aligned(before, after)
    if len(kept) in (len(before), len(after)):
        return Matching(kept, [])
    if not kept:
        return Matching(_edited_without_anchor(before, after), [])
    moved = _moved(before, after, kept, limit)
    gaps = _gaps(before, after, kept)
    if moved:
        gone, come = {i for i, _ in moved}, {j for _, j in moved}
        gaps = [
            ([i for i in old if i not in gone], [j for j in new if j not in come])
            for old, new in gaps
        ]
    return Matching(sorted(kept + _edited(before, after, gaps)), moved)


def _gaps(before: Sequence[Turn], after: Sequence[Turn], kept: list[Pair]) -> list[Gap]:
    """The gaps that have turns on both sides."""
    gaps: list[Gap] = []
    i = j = 0
    for next_i, next_j in [*kept, (len(before), len(after))]:
        if i < next_i and j < next_j:
            gaps.append((list(range(i, next_i)), list(range(j, next_j))))
        i, j = next_i + 1, next_j + 1
    return gaps


def _moved(
    before: Sequence[Turn], after: Sequence[Turn], kept: list[Pair], limit: int
) -> list[Pair]:
    """Equal turns that are out of order, the first with the first; something was kept."""
    here, there = {i for i, _ in kept}, {j for _, j in kept}
    free: dict[Turn, list[int]] = {}
    for j in range(len(after) - 1, -1, -1):
        if j not in there:
            free.setdefault(after[j], []).append(j)
    front, end = kept[0][0], kept[-1][1]
    full = len(before) + len(after) - 1 - end > limit
    moved: list[Pair] = []
    for i, turn in enumerate(before):
        if i in here:
            continue
        places = free.get(turn)
        if places and not (full and i < front and places[-1] > end):
            moved.append((i, places.pop()))
    return moved


def _edited(before: Sequence[Turn], after: Sequence[Turn], gaps: list[Gap]) -> list[Pair]:
    found: list[Pair] = []
    for match in (_same_text, _same_time, _other_role, _similar):
        rest: list[Gap] = []
        for old, new in gaps:
            if not (old and new):
                continue
            pairs = match([before[i] for i in old], [after[j] for j in new])
            found += [(old[p], new[q]) for p, q in pairs]
            p = q = 0
            for next_p, next_q in [*pairs, (len(old), len(new))]:
                rest.append((old[p:next_p], new[q:next_q]))
                p, q = next_p + 1, next_q + 1
        gaps = rest
    return found


def _edited_without_anchor(before: Sequence[Turn], after: Sequence[Turn]) -> list[Pair]:
    """No turn is on both sides: either every one was edited, or a long talk went on.

    A turn later than the whole old context is a new turn that happens to say the same,
    unless more than half of the texts return in order.
    """
    pairs = _same_text(before, after)
    if 2 * len(pairs) > min(len(before), len(after)):
        return sorted(pairs + _edited(before, after, _gaps(before, after, pairs)))
    last = max((t for turn in before if (t := _time(turn.timestamp)) is not None), default=None)
    old_enough = [
        j
        for j, turn in enumerate(after)
        if last is None or (t := _time(turn.timestamp)) is None or t <= last
    ]
    return sorted(_edited(before, after, [(list(range(len(before))), old_enough)]))


def _time(timestamp: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _same_text(old: Sequence[Turn], new: Sequence[Turn]) -> list[Pair]:
    return aligned([(t.role, t.content) for t in old], [(t.role, t.content) for t in new])


def _same_time(old: Sequence[Turn], new: Sequence[Turn]) -> list[Pair]:
    """Role and time, where they name one turn only on each side."""

    def key(turn: Turn) -> Hashable:
        return (turn.role, turn.timestamp)

    ours, theirs = _unique(old, key), _unique(new, key)
    both = ours.keys() & theirs.keys()
    left = [i for item, i in ours.items() if item in both]
    right = [j for item, j in theirs.items() if item in both]
    pairs = aligned([key(old[i]) for i in left], [key(new[j]) for j in right])
    return [(left[p], right[q]) for p, q in pairs]


def _unique(turns: Sequence[Turn], key: Callable[[Turn], Hashable]) -> dict[Hashable, int]:
    places: dict[Hashable, int] = {}
    twice: set[Hashable] = set()
    for index, turn in enumerate(turns):
        item = key(turn)
        if places.setdefault(item, index) != index:
            twice.add(item)
    return {item: index for item, index in places.items() if item not in twice}


def _other_role(old: Sequence[Turn], new: Sequence[Turn]) -> list[Pair]:
    return aligned([(t.content, t.timestamp) for t in old], [(t.content, t.timestamp) for t in new])


def _similar(old: Sequence[Turn], new: Sequence[Turn]) -> list[Pair]:
    """The most alike first, as long as the order stays."""
    ours = [Sketch(turn.content) for turn in old]
    theirs = [Sketch(turn.content) for turn in new]
    if len(old) * len(new) <= _ALL_PAIRS:
        pairs = [(i, j) for i in range(len(old)) for j in range(len(new))]
    else:
        pairs = _sharing_rare_words(ours, theirs)
    scored = [
        (-score, abs(i - j), i, j)
        for i, j in pairs
        if old[i].role == new[j].role and (score := likeness(ours[i], theirs[j])) >= _ALIKE
    ]
    scored.sort()
    return _in_order([(i, j) for _, _, i, j in scored])


def _in_order(pairs: list[Pair]) -> list[Pair]:
    """The pairs, best first, without those that cross or touch one taken before."""
    taken: list[Pair] = []
    for i, j in pairs:
        place = bisect_left(taken, (i, j))
        left = taken[place - 1] if place else (-1, -1)
        right = taken[place] if place < len(taken) else (i + 1, j + 1)
        if left[0] < i < right[0] and left[1] < j < right[1]:
            taken.insert(place, (i, j))
    return taken


def _sharing_rare_words(ours: list[Sketch], theirs: list[Sketch]) -> list[Pair]:
    """For each old text the new one at its place, and the two that share its rarest words."""
    index: dict[str, list[int]] = {}
    for j, sketch in enumerate(theirs):
        for word in _first_words(sketch.text):
            index.setdefault(word, []).append(j)
    rare = {word: places for word, places in index.items() if len(places) <= _RARE}
    pairs: list[Pair] = []
    for i, sketch in enumerate(ours):
        known = sorted((len(rare[w]), w) for w in _first_words(sketch.text) if w in rare)
        shared: dict[int, int] = {}
        for _, word in known[:_RAREST]:
            for j in rare[word]:
                shared[j] = shared.get(j, 0) + 1
        best = sorted(shared, key=lambda j: (-shared[j], abs(i - j)))[:2]
        if i < len(theirs) and i not in best:
            best.append(i)
        pairs += [(i, j) for j in best]
    return pairs


def _first_words(text: str) -> set[str]:
    return set(text[:_FIRST].split())
