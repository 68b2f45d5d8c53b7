"""Entries of an array that both sides took out, and what each put there instead."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

from memrepo.semmerge.generictree import Node


def replaced_differently(
    before: Sequence[Hashable],
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    *,
    deletion_counts: bool = False,
) -> bool:
    """Whether both sides put other entries in the place of one entry of the base.

    A place is the gap between entries that all three have. With ``deletion_counts`` also
    where one side only took the entry out.
    """
    kept = set(before) & set(left) & set(right)
    gaps = [_gaps(side, kept) for side in (before, left, right)]
    for anchor, old in gaps[0].items():
        mine, other = (set(side.get(anchor, [])) for side in gaps[1:])
        gone_left, gone_right = set(old) - mine, set(old) - other
        new_left, new_right = mine - set(old), other - set(old)
        if new_left == new_right or not gone_left & gone_right:
            continue
        if deletion_counts or (new_left and new_right):
            return True
    return False


def renamed_differently(
    keys: Collection[str],
    before: Mapping[Hashable, Node],
    left: Mapping[Hashable, Node],
    right: Mapping[Hashable, Node],
) -> tuple[Node, Node, Node] | None:
    """An entry that both sides gave another name, each its own; base, left and right, or None.

    ``keys`` are the members that name an entry. A new entry is an old one under another name
    where all its other members, at least one, are the same.
    """
    gone = [name for name in before if name not in left and name not in right]
    if not gone:
        return None
    mine, other = (
        {_body(keys, node): node for name, node in side.items() if name not in before}
        for side in (left, right)
    )
    for name in gone:
        body = _body(keys, before[name])
        if not body or body not in mine or body not in other:
            continue
        if mine[body].meaning != other[body].meaning:
            return before[name], mine[body], other[body]
    return None


def _body(keys: Collection[str], entry: Node) -> frozenset[tuple[str, Hashable]]:
    return frozenset((m.key, m.node.meaning) for m in entry.members if m.key not in keys)


def _gaps(entries: Sequence[Hashable], kept: set[Hashable]) -> dict[Hashable, list[Hashable]]:
    found: dict[Hashable, list[Hashable]] = {}
    anchor: Hashable = None
    for entry in entries:
        if entry in kept:
            anchor = entry
        else:
            found.setdefault(anchor, []).append(entry)
    return found
