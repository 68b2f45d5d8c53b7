"""The three-way merge of ``context.json``: turn by turn, in the order of their times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from memrepo.protocol.canonical import dump
from memrepo.protocol.documents import Turn
from memrepo.protocol.timestamps import parse_timestamp, plain_and_in_order
from memrepo.semdiff.matching import match_turns
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.order import merge_order
from memrepo.semmerge.statefile import merge_state, read_state
from memrepo.semmerge.values import ABSENT, Labels, Merged, Resolution

#: More turns than any file has: a turn may be looked for anywhere.
_NO_LIMIT = 1 << 62


def merge_context(
    path: str,
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    labels: Labels | None = None,
    resolutions: Sequence[Resolution] = (),
) -> Merged:
    """Merge three texts of a ``context.json``; ``base`` is None where both sides added it.

    What both sides appended comes in the order of time, ours first at one instant, and a
    turn that both added once. A turn that one side removed is gone unless the other edited
    it, which is a conflict, as is one that both edited differently. A conflict's pointer
    is the turn's index in ``base``.
    """
    merging = Merging(path, labels, resolutions)
    read: Callable[[bytes | None], list[Turn]] = partial(read_state, "context")
    return merge_state(
        merging, "context", (base, ours, theirs), read=read, join=_merge_turns, write=dump
    )


def _merge_turns(
    merging: Merging, base: list[Turn], ours: list[Turn], theirs: list[Turn]
) -> list[Turn]:
    mine, other = _places(base, ours), _places(base, theirs)
    turns: dict[Hashable, Turn] = {}
    for i, before in enumerate(base):
        left = ours[mine[i]] if i in mine else None
        right = theirs[other[i]] if i in other else None
        turn = _merge_turn(merging, f"/{i}", before, left, right)
        if turn is not None:
            turns[i] = turn
    names_of_ours = _names("ours", mine, ours)
    names_of_theirs = _names("theirs", other, theirs)
    _share(names_of_ours, ours, names_of_theirs, theirs)
    for names, side in ((names_of_ours, ours), (names_of_theirs, theirs)):
        turns.update((n, t) for n, t in zip(names, side, strict=True) if isinstance(n, tuple))
    everything: list[Hashable] = list(range(len(base)))
    order = merge_order(everything, names_of_ours, names_of_theirs, turns)
    if order is None:
        labels = merging.labels
        message = f"{labels.ours} and {labels.theirs} put the turns in another order, differently"
        merging.clash("", "order", message, *map(msgspec.to_builtins, (base, ours, theirs)))
        return ours
    return _in_time([turns[name] for name in order], ours, theirs)


def _places(base: list[Turn], side: list[Turn]) -> dict[int, int]:
    """Where each turn of the base is in the side, unchanged or edited.

    A turn that resembles one of the base, but was said after all of them, is a new one: a
    talk goes on, and people say the same again.
    """
    pairs = match_turns(base, side, limit=_NO_LIMIT)
    times = [when for turn in base if (when := parse_timestamp(turn.timestamp)) is not None]
    last = max(times, default=None)

    def is_new(turn: Turn) -> bool:
        when = parse_timestamp(turn.timestamp)
        return when is not None and last is not None and when > last

    return {
        i: j
        for i, j in (*pairs.kept, *pairs.moved)
        if base[i].timestamp == side[j].timestamp
        or base[i].content == side[j].content
        or not is_new(side[j])
    }


def _merge_turn(
    merging: Merging, pointer: str, base: Turn, ours: Turn | None, theirs: Turn | None
) -> Turn | None:
    if ours == theirs or base == theirs:
        return ours
    if base == ours:
        return theirs
    values = [
        ABSENT if turn is None else msgspec.to_builtins(turn) for turn in (base, ours, theirs)
    ]
    chosen = merging.disagree(pointer, *values)
    try:
        return None if chosen is ABSENT else msgspec.convert(chosen, Turn)
    except msgspec.ValidationError:
        merging.refuse("a recorded decision about a turn gives no turn")
        return None


def _names(label: str, places: dict[int, int], side: list[Turn]) -> list[Hashable]:
    """What each turn of a side is called: the index in the base, or the side and its own."""
    index = {j: i for i, j in places.items()}
    return [index.get(j, (label, j)) for j in range(len(side))]


def _share(
    names: list[Hashable], ours: list[Turn], others: list[Hashable], theirs: list[Turn]
) -> None:
    """Give each new turn of theirs that ours has too the name that it has in ours."""
    new: dict[Turn, list[Hashable]] = {}
    for name, turn in zip(names, ours, strict=True):
        if isinstance(name, tuple):
            new.setdefault(turn, []).append(name)
    used: Counter[Turn] = Counter()
    for j, turn in enumerate(theirs):
        if isinstance(others[j], tuple) and used[turn] < len(new.get(turn, ())):
            others[j] = new[turn][used[turn]]
            used[turn] += 1


def _in_time(turns: list[Turn], ours: list[Turn], theirs: list[Turn]) -> list[Turn]:
    """``turns`` in the order of time, where both sides keep to it; else as they are.

    Turns of one instant stay in the order that they are in.
    """
    if plain_and_in_order([turn.timestamp for turn in turns]):
        return turns
    for side in (ours, theirs):
        times = _times(side)
        if times is None or times != sorted(times):
            return turns
    times = _times(turns)
    if times is None:
        return turns
    return [turn for _, _, turn in sorted(zip(times, range(len(turns)), turns, strict=True))]


def _times(turns: list[Turn]) -> list[datetime] | None:
    found: list[Any] = [parse_timestamp(turn.timestamp) for turn in turns]
    return None if None in found else found
