"""JSON values compared as JSON means them, and pointers into them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


def same(one: Any, other: Any) -> bool:
    """Equal as JSON values: key order is nothing, 1 is 1.0, but true is not 1."""
    if one is other:
        return True
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(v, other[k]) for k, v in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def frozen(value: Any) -> Hashable:
    """A hashable stand-in: equal for two values exactly where :func:`same` holds."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return ("object", frozenset((k, frozen(v)) for k, v in value.items()))
    if isinstance(value, list):
        return ("array", tuple(map(frozen, value)))
    if isinstance(value, (str, int, float)) or value is None:
        return value
    return ("other", repr(value))


def step(key: str | int) -> str:
    """One reference token of a JSON pointer, with its slash (RFC 6901, section 3)."""
    return "/" + str(key).replace("~", "~0").replace("/", "~1")
