"""The tree of a JSON or YAML text: what each node means, and where its text stands."""

from __future__ import annotations

import json
from collections.abc import Hashable
from decimal import Decimal
from typing import Any, Literal

import msgspec

from memrepo.semmerge.jsonvalue import number


class TreeProblem(Exception):
    """Why a text cannot be read as a tree; ``twice`` when a key is given twice."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.twice = False


class Node(msgspec.Struct, eq=False):
    """One value. ``text[start:end]`` is its source, in characters.

    ``value`` is a scalar's meaning: str, int, Decimal, bool or None. A YAML scalar of
    another type (a date) keeps its text in a tuple ``(tag, text)``; a YAML collection
    with a tag has that as its value.
    """

    kind: Literal["object", "array", "scalar"]
    text: str
    start: int
    end: int
    value: Any = None
    members: list[Member] = []
    items: list[Node] = []
    #: How YAML wrote it: "block", "flow", or of a scalar "plain", "quoted", "lines". "" in JSON.
    style: str = ""
    meaning_cache: Any = None

    @property
    def source(self) -> str:
        """The node as it was written."""
        return self.text[self.start : self.end]

    @property
    def meaning(self) -> Any:
        """A hashable that is equal for exactly the nodes that mean the same.

        Keys of an object have no order; 1 and 1.0 are one number; true and 1 are not.
        """
        if self.meaning_cache is None:
            if self.kind == "object":
                inner: Any = frozenset((m.key, m.node.meaning) for m in self.members)
            elif self.kind == "array":
                inner = tuple(item.meaning for item in self.items)
            else:
                return scalar_meaning(self.value)
            self.meaning_cache = (self.kind, self.value, inner)
        return self.meaning_cache

    def plain(self) -> Any:
        """The node as JSON values, for reports: numbers as :mod:`memrepo.semmerge.jsonvalue`."""
        if self.kind == "object":
            return {m.key: m.node.plain() for m in self.members}
        if self.kind == "array":
            return [item.plain() for item in self.items]
        if isinstance(self.value, tuple):
            return self.value[1]
        if isinstance(self.value, int | Decimal) and not isinstance(self.value, bool):
            # YAML writes numbers in ways that JSON does not know (0x1F, 1_000, 1.).
            return number(self.source if not self.style else _as_json(self.value))
        return self.value


class Member(msgspec.Struct, eq=False):
    """One key of an object, where the key stands, and its value."""

    key: str
    key_start: int
    key_end: int
    node: Node


def _as_json(value: int | Decimal) -> str:
    if isinstance(value, int):
        return str(value)
    # A JSON number has a digit on both sides of its point, and no sign before it but "-".
    return json.dumps(float(value))


def scalar_meaning(value: Any) -> Hashable:
    """A scalar's meaning as a hashable that tells ``1``, ``true`` and ``"1"`` apart."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int | Decimal):
        return ("number", value)
    return (type(value).__name__, value)


def same(one: Node | None, other: Node | None) -> bool:
    """Whether two nodes (None is absent) mean the same."""
    if one is None or other is None:
        return one is other
    if one is other or (not one.style and not other.style and one.source == other.source):
        return True
    return bool(one.meaning == other.meaning)
