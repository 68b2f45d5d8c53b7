"""By what the entries of an array are told apart, and in which order two sides' entries stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import msgspec

from memrepo.semmerge.generictree import Node, scalar_meaning

#: Keys that name an entry, the surest first.
SINGLE = (
    *("id", "name", "key", "_id", "@id", "uuid", "uid", "guid"),
    *("slug", "path", "url", "uri", "title"),
)
#: An edge of a graph has no name of its own; its ends and its type are one.
COMPOSITE = (
    ("source", "target", "type"),
    ("source", "target"),
    ("from", "to", "type"),
    ("from", "to"),
    ("subject", "predicate", "object"),
)
TEXT = "its text"
_OPTION = re.compile(r"--?[A-Za-z]")

T = TypeVar("T", bound=Hashable)


class Identity(msgspec.Struct, frozen=True):
    """``name`` says by what entries are told apart; ``of`` gives an entry's identity.

    ``keys`` are the members it is made of, none where an entry is a text.
    """

    name: str
    keys: tuple[str, ...] = ()

    def of(self, entry: Node) -> Hashable:
        """The identity of one entry of the array."""
        if not self.keys:
            return scalar_meaning(entry.value)
        found = {m.key: m.node.value for m in entry.members if m.key in self.keys}
        return tuple(scalar_meaning(found[key]) for key in self.keys)

    def shown(self, entry: Node) -> str:
        """The identity as a token of a pointer."""
        if not self.keys:
            return str(entry.value)
        found = {m.key: m.node.value for m in entry.members if m.key in self.keys}
        return "+".join(str(found[key]) for key in self.keys)


def choose_identity(sides: Sequence[Sequence[Node]]) -> tuple[Identity | None, str]:
    """By what entries are told apart on all ``sides``, or None and what stands in the way.

    Every entry of every side must have the key, with a text or whole number that no other
    entry of that side has. The reason is "" where there is no candidate at all, and names
    the key that every entry has but that is not unique. Texts are told apart by themselves,
    but not those of a command line (``--port``), where a text means what stands beside it.
    """
    entries = [entry for side in sides for entry in side]
    if entries and all(e.kind == "scalar" and isinstance(e.value, str) for e in entries):
        if any(_OPTION.match(e.value) for e in entries):
            return None, ""
        unique = all(len({e.value for e in side}) == len(side) for side in sides)
        return (Identity(TEXT), "") if unique else (None, "")
    if not entries or any(e.kind != "object" for e in entries):
        return None, ""
    first = {m.key for m in entries[0].members}
    candidates: list[tuple[str, ...]] = [(key,) for key in SINGLE if key in first]
    candidates += [keys for keys in COMPOSITE if first.issuperset(keys)]
    doubled = ""
    for keys in candidates:
        if not all(_has(entry, keys) for entry in entries):
            continue
        identity = Identity(" + ".join(keys), keys)
        if all(len(set(map(identity.of, side))) == len(side) for side in sides):
            return identity, ""
        doubled = doubled or identity.name
    return None, doubled


def _has(entry: Node, keys: tuple[str, ...]) -> bool:
    values = {m.key: m.node for m in entry.members if m.key in keys}
    return len(values) == len(keys) and all(_names(node) for node in values.values())


def _names(node: Node) -> bool:
    value = node.value
    return node.kind == "scalar" and isinstance(value, str | int) and not isinstance(value, bool)


def tokens(identity: Identity, sides: Sequence[Sequence[Node]]) -> Callable[[Node], str]:
    """How an entry is called in a pointer: by its ``id`` where it has one, else by its identity.

    The ``id`` is only used where it is one entry's on all sides.
    """
    shown: dict[Hashable, str] = {}
    for side in sides:
        for entry in side:
            own = next((m.node for m in entry.members if m.key == "id" and _names(m.node)), None)
            name = str(own.value) if own is not None else identity.shown(entry)
            if shown.setdefault(identity.of(entry), name) != name:
                return identity.shown
    if max(Counter(shown.values()).values(), default=1) > 1:
        return identity.shown
    return lambda entry: shown[identity.of(entry)]


def weave(spine: Sequence[T], other: Sequence[T], *, spine_first: bool = True) -> list[T]:
    """``spine`` with the entries of ``other`` that it lacks, each after its neighbour.

    The neighbour is the nearest entry before it in ``other`` that ``spine`` has too.
    Where both have entries of their own at one place, the spine's come first, or last
    without ``spine_first``.
    """
    have, shared = set(spine), set(other)
    after: dict[T | None, list[T]] = {}
    anchor: T | None = None
    for entry in other:
        if entry in have:
            anchor = entry
        else:
            after.setdefault(anchor, []).append(entry)
    woven: list[T] = []
    waiting = after.pop(None, [])
    if not spine_first:
        woven += waiting
        waiting = []
    for entry in spine:
        if entry in shared and waiting:
            woven += waiting
            waiting = []
        woven.append(entry)
        if entry in shared:
            waiting = after.pop(entry, [])
            if not spine_first:
                woven += waiting
                waiting = []
    return woven + waiting


def joint_order(
    base: Sequence[T], ours: Sequence[T], theirs: Sequence[T], kept: set[T]
) -> tuple[list[T], bool]:
    """The order of the ``kept`` entries, and whether both sides moved entries differently.

    One side's moves count; where both sides' do and differ, the order is ours.
    """
    everywhere = set(base) & set(ours) & set(theirs)
    before, left, right = ([e for e in s if e in everywhere] for s in (base, ours, theirs))
    mine, other = ([e for e in side if e in kept] for side in (ours, theirs))
    if right in (before, left):
        return weave(mine, other), False
    if left == before:
        return weave(other, mine, spine_first=False), False
    return weave(mine, other), True
