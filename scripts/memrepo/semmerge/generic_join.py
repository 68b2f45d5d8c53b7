"""The three-way merge of two trees: what both sides did to a base, joined by meaning.

The result keeps to ours' nodes wherever ours and the result mean the same, so that a
writer can splice only what is different into ours' text.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import msgspec

from memrepo.protocol.strictjson import escape_pointer
from memrepo.semmerge.generic_gaps import renamed_differently, replaced_differently
from memrepo.semmerge.generic_identity import (
    TEXT,
    Identity,
    choose_identity,
    joint_order,
    tokens,
    weave,
)
from memrepo.semmerge.generic_time import is_update_time, later
from memrepo.semmerge.generictree import Member, Node, same
from memrepo.semmerge.jsontext import read_json
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.values import ABSENT, ConflictKind


class Joined(msgspec.Struct, eq=False):
    """A container whose entries come from both sides; ``ours`` and ``theirs`` are as it was.

    ``members`` for an object, ``items`` for an array, in the order of the result. An
    entry is a node of either side, or again joined.
    """

    ours: Node
    theirs: Node
    members: list[tuple[Member, Outcome]] = []
    items: list[Outcome] = []

    @property
    def meaning(self) -> Any:
        """As :attr:`Node.meaning`."""
        if self.ours.kind == "object":
            inner = frozenset((m.key, out.meaning) for m, out in self.members)
            return "object", self.ours.value, inner
        return "array", self.ours.value, tuple(out.meaning for out in self.items)


Outcome = Node | Joined


class Join:
    """One merge of trees; conflicts and notes are kept in ``merging``."""

    def __init__(self, merging: Merging) -> None:
        self.merging = merging
        self.later_times: list[str] = []

    def value(
        self, pointer: str, key: str, base: Node | None, ours: Node | None, theirs: Node | None
    ) -> Outcome | None:
        """One place. None is absent; where there is a conflict, ours stands in."""
        if same(ours, theirs) or same(theirs, base):
            return ours
        if same(ours, base):
            return retold(ours, theirs)
        if ours is None or theirs is None:
            return self.disagree(pointer, base, ours, theirs)
        known = base is None or base.kind == ours.kind
        if known and ours.kind == theirs.kind == "object":
            return self.object(pointer, base, ours, theirs)
        if known and ours.kind == theirs.kind == "array":
            return self.array(pointer, base, ours, theirs)
        if is_update_time(key) and ours.kind == theirs.kind == "scalar":
            right = later(base.value if base else None, ours.value, theirs.value)
            if right is not None and (base is None or base.kind == "scalar"):
                self.later_times.append(pointer)
                return theirs if right else ours
        return self.disagree(pointer, base, ours, theirs)

    def object(self, pointer: str, base: Node | None, ours: Node, theirs: Node) -> Outcome:
        """Two objects, key by key; a key that only one side has is as if new or removed."""
        before = {m.key: m.node for m in base.members} if base else {}
        left = {m.key: m for m in ours.members}
        right = {m.key: m for m in theirs.members}
        joined = Joined(ours, theirs)
        for key in weave(list(left), list(right)):
            mine, other = left.get(key), right.get(key)
            outcome = self.value(
                f"{pointer}/{escape_pointer(key)}",
                key,
                before.get(key),
                mine.node if mine else None,
                other.node if other else None,
            )
            if outcome is not None:
                member = mine or other
                joined.members.append((member, outcome))  # type: ignore[arg-type]
        return joined

    def array(self, pointer: str, base: Node | None, ours: Node, theirs: Node) -> Outcome | None:
        """Two arrays: entry by entry where entries have an identity, else whole."""
        sides = [base.items if base else [], ours.items, theirs.items]
        identity, doubled = choose_identity(sides)
        if identity is not None:
            return self.keyed(pointer, identity, base, ours, theirs)
        if doubled:
            message = f"two entries have the same {doubled}, so the sides cannot be matched"
            clash: tuple[ConflictKind, str] = ("ambiguous-identity", message)
            return self.disagree(pointer, base, ours, theirs, clash)
        return self.disagree(pointer, base, ours, theirs)

    def keyed(
        self, pointer: str, identity: Identity, base: Node | None, ours: Node, theirs: Node
    ) -> Outcome | None:
        """An array whose entries have an identity, joined entry by entry."""
        sides = [base.items if base else [], ours.items, theirs.items]
        before, left, right = ({identity.of(e): e for e in side} for side in sides)
        if identity.name == TEXT and replaced_differently(list(before), list(left), list(right)):
            return self.disagree(pointer, base, ours, theirs)
        renamed = renamed_differently(identity.keys, before, left, right)
        if renamed is not None:
            was, mine, other = (json.dumps(identity.shown(entry)[:60]) for entry in renamed)
            labels = self.merging.labels
            message = f"{labels.ours} renamed {was} to {mine}, {labels.theirs} to {other}"
            return self.disagree(pointer, base, ours, theirs, ("renamed-and-changed", message))
        token = tokens(identity, sides)
        outcomes: dict[Hashable, Outcome] = {}
        for name in {**left, **right}:
            parts = before.get(name), left.get(name), right.get(name)
            some = next(part for part in reversed(parts) if part is not None)
            place = f"{pointer}/{escape_pointer(token(some))}"
            outcome = self.value(place, "", *parts)
            if outcome is not None:
                outcomes[name] = outcome
        labels = self.merging.labels
        order, torn = joint_order(list(before), list(left), list(right), set(outcomes))
        if torn and identity.name == TEXT:
            message = f"{labels.ours} and {labels.theirs} moved the same entries, differently"
            return self.disagree(pointer, base, ours, theirs, ("order", message))
        what = "their text" if identity.name == TEXT else identity.name
        message = f"the entries of this array were told apart by {what}"
        if torn:
            message += f"; both sides moved some, and they stand as in {labels.ours}"
        self.merging.note(pointer, "identity-key", message)
        return Joined(ours, theirs, items=[outcomes[name] for name in order])

    def disagree(
        self,
        pointer: str,
        base: Node | None,
        ours: Node | None,
        theirs: Node | None,
        clash: tuple[ConflictKind, str] | None = None,
    ) -> Outcome | None:
        """A conflict at a place, unless a person has decided about these three values.

        ``clash`` gives the kind and words where those of the values do not fit.
        """
        before = len(self.merging.conflicts)
        values = [ABSENT if node is None else node.plain() for node in (base, ours, theirs)]
        if clash is None:
            taken = self.merging.disagree(pointer, *values)
        else:
            taken = self.merging.clash(pointer, *clash, *values)
        if len(self.merging.conflicts) > before:
            return ours
        for node, value in zip((base, ours, theirs), values, strict=True):
            if value is taken:
                return node
        return read_json(msgspec.json.encode(taken).decode())

    def tell_times(self) -> None:
        """Note how many times the later of two times was taken."""
        if self.later_times:
            message = "both sides moved this time forward; the later one was taken"
            count = len(self.later_times)
            self.merging.note(self.later_times[0], "later-time", message, count)


def retold(ours: Node | None, theirs: Node | None) -> Outcome | None:
    """What ``theirs`` means, in the nodes of ``ours`` as far as they mean the same."""
    if same(ours, theirs):
        return ours
    if ours is None or theirs is None or ours.kind != theirs.kind or ours.value != theirs.value:
        return theirs
    if ours.kind == "object":
        left = {m.key: m for m in ours.members}
        right = {m.key: m for m in theirs.members}
        joined = Joined(ours, theirs)
        for key in weave([key for key in left if key in right], list(right)):
            mine = left.get(key)
            outcome = retold(mine.node if mine else None, right[key].node)
            joined.members.append((mine or right[key], outcome or right[key].node))
        return joined
    if ours.kind == "array":
        pairs = _pairs(ours.items, theirs.items)
        items = [retold(mine, other) or other for mine, other in pairs]
        return Joined(ours, theirs, items=items)
    return theirs


def _pairs(ours: list[Node], theirs: list[Node]) -> list[tuple[Node | None, Node]]:
    """Each entry of ``theirs`` with the one of ``ours`` that it was before, or None."""
    identity, _ = choose_identity([ours, theirs])
    if identity is not None:
        known = {identity.of(entry): entry for entry in ours}
        return [(known.get(identity.of(entry)), entry) for entry in theirs]
    most = min(len(ours), len(theirs))
    head = next((i for i in range(most) if not same(ours[i], theirs[i])), most)
    most -= head
    tail = next((i for i in range(most) if not same(ours[-1 - i], theirs[-1 - i])), most)
    before: list[Node | None] = [None] * len(theirs)
    if len(ours) == len(theirs):
        before = list(ours)
    else:
        before[:head] = ours[:head]
        if tail:
            before[-tail:] = ours[-tail:]
    return list(zip(before, theirs, strict=True))
