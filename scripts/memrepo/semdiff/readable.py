"""A JSON file as a person reads it, for ``git diff``: laid out anew, long texts as lines.

Uses the standard library only, since Git starts one process a file.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from typing import Any


class _Number(str):
    """A number as it was written."""

    __slots__ = ()


def readable(data: bytes) -> bytes:
    """The text for a diff; bytes that are no JSON, or have a key twice, come out unchanged.

    Two spaces an indent level whatever the file has, so that only what means something
    differs. A text of several lines stands as lines, each behind a bar, and characters
    that would not be seen stay escaped.
    """
    try:
        value = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_members,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_refuse,
        )
        return ("\n".join(_lines(value, "", "", "")) + "\n").encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return data


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice")
    return members


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


def _lines(value: Any, indent: str, key: str, comma: str) -> Iterator[str]:
    """One value with its key; ``comma`` follows it."""
    inner = indent + "  "
    if isinstance(value, dict | list) and value:
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        yield f"{indent}{key}{opening}"
        entries = (
            [(f"{_quoted(name)}: ", item) for name, item in value.items()]
            if isinstance(value, dict)
            else [("", item) for item in value]
        )
        for number, (name, item) in enumerate(entries, 1):
            yield from _lines(item, inner, name, "," if number < len(entries) else "")
        yield f"{indent}{closing}{comma}"
    elif isinstance(value, str) and not isinstance(value, _Number) and "\n" in value.rstrip("\n"):
        yield f"{indent}{key}|"
        yield from (f"{inner}| {_visible(line)}" for line in value.split("\n"))
    else:
        yield f"{indent}{key}{_scalar(value)}{comma}"


def _scalar(value: Any) -> str:
    if isinstance(value, _Number):
        return str.__str__(value)
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    return _visible(json.dumps(text, ensure_ascii=False))


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        json.dumps(char)[1:-1]
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else char
        for char in text
    )
