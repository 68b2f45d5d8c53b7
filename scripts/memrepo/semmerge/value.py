"""The three-way merge of JSON values: objects by key, named entries by name, the rest whole.

A value is JSON as :mod:`memrepo.semmerge.jsonvalue` reads it, or ABSENT: a key that is not
there is a value of its own, and null is another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from memrepo.protocol.strictjson import escape_pointer
from memrepo.semmerge.jsonvalue import frozen, same
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.order import merge_order, weave
from memrepo.semmerge.values import ABSENT

#: Merges what one name stands for: (name, base, ours, theirs) to a value or ABSENT.
MergeOne = Callable[[str, Any, Any, Any], Any]
_NOTHING: dict[str, Any] = {}


class Rules:
    """How a place is merged where both sides changed it; this one takes arrays whole.

    A subclass says what is different at some places.
    """

    def under(self, _key: str) -> Rules:
        """The rules for the value under this key of an object."""
        return self

    def both_changed(
        self, merging: Merging, pointer: str, base: Any, ours: Any, theirs: Any
    ) -> Any:
        """The value of a place that has three different ones, not all objects."""
        return merging.disagree(pointer, base, ours, theirs)

    def joined(
        self,
        _merging: Merging,
        _pointer: str,
        _sides: tuple[dict[str, Any], dict[str, Any], dict[str, Any]],
        value: dict[str, Any],
    ) -> dict[str, Any]:
        """A last look at an object that was joined key by key; ``sides`` is base, ours, theirs."""
        return value


PLAIN = Rules()


def merge_value(
    merging: Merging, pointer: str, base: Any, ours: Any, theirs: Any, rules: Rules = PLAIN
) -> Any:
    """The value (or ABSENT) that three values make, with their conflicts put into ``merging``.

    Objects that both sides changed, or both added, are joined key by key in ours' order.
    """
    if same(ours, theirs) or same(base, theirs):
        return ours
    if same(base, ours):
        return theirs
    if type(ours) is dict and type(theirs) is dict and (base is ABSENT or type(base) is dict):
        before: dict[str, Any] = base if isinstance(base, dict) else _NOTHING

        def member(key: str, old: Any, mine: Any, other: Any) -> Any:
            place = f"{pointer}/{escape_pointer(key)}"
            return merge_value(merging, place, old, mine, other, rules.under(key))

        joined = merge_members(before, ours, theirs, member)
        return rules.joined(merging, pointer, (before, ours, theirs), joined)
    return rules.both_changed(merging, pointer, base, ours, theirs)


def merge_members(
    base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any], one: MergeOne
) -> dict[str, Any]:
    """What each name stands for, merged, in ours' order with theirs' additions placed."""
    names = list(ours)
    if ours.keys() != theirs.keys():
        names = weave(names, theirs)
    merged = {
        name: one(name, base.get(name, ABSENT), ours.get(name, ABSENT), theirs.get(name, ABSENT))
        for name in names
    }
    return {name: value for name, value in merged.items() if value is not ABSENT}


def merge_entries(
    merging: Merging,
    pointer: str,
    base: Mapping[str, Any],
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any],
    one: MergeOne,
) -> dict[str, Any]:
    """As :func:`merge_members` for the entries of a list, whose order counts.

    Where both sides moved the same entries differently, that is a conflict of kind "order"
    about the three lists of names.
    """
    merged = merge_members(base, ours, theirs, one)
    sides = (list(base), list(ours), list(theirs))
    order = merge_order(*sides, merged)
    if order is None:
        words = f"{merging.labels.ours} and {merging.labels.theirs} put these in another order"
        chosen = merging.clash(pointer, "order", f"{words}, differently", *sides)
        names = [str(name) for name in chosen] if isinstance(chosen, list) else []
        order = [name for name in weave(list(dict.fromkeys(names)), merged) if name in merged]
    return {name: merged[name] for name in order}


def merge_set(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any] | None:
    """Three lists merged as sets that keep an order, or None where one holds a value twice.

    What either side added is in, what either side removed is out; sets cannot conflict.
    """
    sides = [{frozen(item): item for item in side} for side in (base, ours, theirs)]
    if any(len(one) != len(side) for one, side in zip(sides, (base, ours, theirs), strict=True)):
        return None
    before, left, right = sides
    kept = {
        key: item
        for key, item in (right | left).items()
        if (key in left and key in right) or key not in before
    }
    order = merge_order(list(before), list(left), list(right), kept)
    if order is None:
        order = [key for key in weave(list(left), right) if key in kept]
    return [kept[key] for key in order]
