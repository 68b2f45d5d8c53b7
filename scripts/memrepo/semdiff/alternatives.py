"""The alternatives of ``anyOf`` and ``oneOf``, and which of the old ones is which new one."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from memrepo.semdiff.jsonvalue import frozen
from memrepo.semdiff.keywords import ANNOTATIONS
from memrepo.semdiff.spelling import Side

UNIONS = ("anyOf", "oneOf")


class Alternatives(NamedTuple):
    """``parts`` are the alternatives, ``keyword`` what lists them (None: nothing does).

    ``pure`` where nothing but the alternatives says which values are accepted.
    """

    keyword: str | None
    parts: list[Side]
    pure: bool


def alternatives_of(side: Side, schema: dict[str, Any]) -> Alternatives | None:
    """The alternatives of one side; None where they cannot be compared one by one.

    A schema without ``anyOf`` and ``oneOf`` is its own only alternative, unless it
    accepts everything.
    """
    rules = {key: value for key, value in schema.items() if key not in ANNOTATIONS}
    keywords = [keyword for keyword in UNIONS if keyword in schema]
    if not keywords:
        if not rules or side.form == "map":
            return None
        return Alternatives(None, [side._replace(value=rules)], pure=True)
    listed = schema[keywords[0]]
    if len(keywords) > 1 or not isinstance(listed, list) or not listed:
        return None
    parts = [side.part(value, keywords[0], i) for i, value in enumerate(listed)]
    return Alternatives(keywords[0], parts, pure=len(rules) == 1)


def pair_up(
    olds: list[Side], news: list[Side]
) -> tuple[list[tuple[Side, Side]], list[Side], list[Side]]:
    """Pairs, and what is left on each side: equal ones, then of one type, then in order."""
    pairs: list[tuple[Side, Side]] = []
    for key in (_whole, _type, _any):
        places: dict[Hashable, list[Side]] = {}
        for side in reversed(olds):
            places.setdefault(key(side), []).append(side)
        rest: list[Side] = []
        for side in news:
            found = places.get(key(side))
            if found:
                pairs.append((found.pop(), side))
            else:
                rest.append(side)
        taken = {id(one) for one, _ in pairs}
        olds, news = [side for side in olds if id(side) not in taken], rest
    return pairs, olds, news


def _whole(side: Side) -> Hashable:
    return frozen(side.schema())


def _type(side: Side) -> Hashable:
    schema = side.schema()
    if not isinstance(schema, dict):
        return None
    return frozen([schema.get("type"), schema.get("$ref"), schema.get("const")])


def _any(_: Side) -> Hashable:
    return None
