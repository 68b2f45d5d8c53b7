"""JSON values as a merge needs them: exact numbers, and equality that tells 1 from true.

An integer of up to 18 digits is an ``int``. Every other number is a :class:`msgspec.Raw` of
its source text: ``0.10``, ``1e5`` and a 40-digit integer come out as they went in, and
msgspec writes them so.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from memrepo.semmerge.values import Absent

# Any integer of so few digits is exact in 64 bits; int() of very many digits is slow.
_MOST_DIGITS = 18


def number(text: str) -> int | msgspec.Raw:
    """The number that a JSON literal is."""
    if len(text) > _MOST_DIGITS or not text.lstrip("-").isdigit() or text == "-0":
        return msgspec.Raw(text)
    return int(text)


def loads(data: bytes) -> Any:
    """The JSON value in ``data``.

    Raises ``ValueError`` where it is no JSON, has a key twice in one object, a number that
    is none (NaN) or half a surrogate pair; ``RecursionError`` where it is nested too deeply.
    """
    value = json.loads(
        data.decode(),
        object_pairs_hook=_members,
        parse_float=msgspec.Raw,
        parse_int=number,
        parse_constant=_refuse,
    )
    if b"\\u" in data:
        msgspec.json.encode(value)  # UnicodeEncodeError is a ValueError
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return members


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


def same(one: Any, other: Any) -> bool:
    """Equal as JSON, strictly: key order is nothing, but 1, 1.0 and true are three values."""
    return one is other or bool(one == other and _same_kinds(one, other))


def _same_kinds(one: Any, other: Any) -> bool:
    """Whether two values that Python holds equal are of the same JSON kinds throughout."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict:
        return all(_same_kinds(value, other[key]) for key, value in one.items())
    if kind is list:
        return all(map(_same_kinds, one, other))
    return True


def frozen(value: Any) -> bytes:
    """A hashable stand-in: equal for two values exactly where :func:`same` holds.

    It is the value's JSON without spaces and with keys sorted; empty for ABSENT.
    """
    return b"" if isinstance(value, Absent) else msgspec.json.encode(value, order="sorted")


def shown(value: Any, most: int = 60) -> str:
    """A value as it may stand in a message: ASCII JSON of at most ``most`` characters."""
    if isinstance(value, Absent):
        return "nothing"
    text = json.dumps(msgspec.json.encode(value).decode()[: 2 * most])[1:-1].replace('\\"', '"')
    return text if len(text) <= most else text[: most - 3] + "..."
