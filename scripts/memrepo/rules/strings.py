"""Every string of a document, with the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from memrepo.protocol.documents import AgentState, Metadata, Tool, Turn


class Text(NamedTuple):
    """One string: ``place`` says whether it is a value, an object's key, or a number
    written out. ``name`` is the key of the member it is a value of, "" where there is none.
    """

    pointer: str
    text: str
    place: str = "value"
    name: str = ""
    turn: bool = False


def texts(kind: str, value: Any) -> Iterator[Text]:
    """All strings of a document in document order.

    ``kind`` is context, tools, metadata or snapshot; ``value`` plain JSON or the typed
    values. The content of an assistant's turn has ``turn`` set. Whole numbers of twelve
    or more digits come as text, since a card number may be one.
    """
    if kind == "context":
        yield from _context("", value)
    elif kind == "snapshot" and isinstance(value, AgentState):
        yield from _context("/context", value.context)
        yield from _walk("/tools", msgspec.to_builtins(value.tools))
        yield from _walk("/metadata", msgspec.to_builtins(value.metadata))
    elif kind == "snapshot" and isinstance(value, dict):
        for key, part in value.items():
            yield Text(_step("", key), key, "key")
            if key == "context":
                yield from _context("/context", part)
            else:
                yield from _walk(_step("", key), part, key)
    else:
        typed = isinstance(value, Metadata) or (
            isinstance(value, list) and value and isinstance(value[0], Tool)
        )
        yield from _walk("", msgspec.to_builtins(value) if typed else value)


def _context(pointer: str, turns: Any) -> Iterator[Text]:
    if not isinstance(turns, list):
        yield from _walk(pointer, turns)
        return
    for index, turn in enumerate(turns):
        here = f"{pointer}/{index}"
        if isinstance(turn, Turn):
            yield Text(f"{here}/content", turn.content, turn=turn.role == "assistant")
            yield Text(f"{here}/timestamp", turn.timestamp)
            continue
        speaks = isinstance(turn, dict) and turn.get("role") == "assistant"
        for text in _walk(here, turn):
            said = speaks and text.place == "value" and text.pointer == f"{here}/content"
            yield text._replace(turn=True) if said else text


def _walk(pointer: str, value: Any, name: str = "") -> Iterator[Text]:
    # A stack of its own: plain JSON can be nested deeper than Python's.
    stack: list[tuple[str, Any, str, bool]] = [(pointer, value, name, False)]
    while stack:
        pointer, value, name, is_key = stack.pop()
        if isinstance(value, str):
            yield Text(pointer, value, "key" if is_key else "value", name)
        elif isinstance(value, dict):
            members: list[tuple[str, Any, str, bool]] = []
            for key, member in value.items():
                step = _step(pointer, key)
                members.append((step, key, "", True))
                members.append((step, member, name if key in _VALUES else key, False))
            stack.extend(reversed(members))
        elif isinstance(value, list):
            items = [(f"{pointer}/{i}", item, name, False) for i, item in enumerate(value)]
            stack.extend(reversed(items))
        elif isinstance(value, int) and 10**11 <= abs(value) < 10**40:
            yield Text(pointer, str(abs(value)), "number", name)


def _step(pointer: str, key: str) -> str:
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


#: JSON Schema keywords whose strings are values of the property around them.
_VALUES = frozenset(("default", "const", "enum", "example", "examples"))
