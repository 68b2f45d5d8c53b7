"""What each file must hold, checked on plain JSON values with words for a person.

``check.py`` decides with a typed decoder first; these checks say what is wrong with a
file that the decoder refused.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec

from memrepo.protocol.documents import Kind
from memrepo.protocol.strictjson import escape_pointer

MOST_FAULTS = 1000


class Fault(msgspec.Struct, frozen=True):
    """A rule of the protocol that a value breaks.

    ``at_key`` says that the finding belongs to the key, not to the value.
    """

    code: str
    pointer: str
    message: str
    hint: str = ""
    at_key: bool = False


_JSON_NAMES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def schema_faults(kind: Kind, value: Any) -> list[Fault]:
    """What is wrong with the shape of a file of ``kind``; [] when nothing is.

    At most :data:`MOST_FAULTS`: a file that is no memory at all need not be read to its end.
    """
    return list(islice(_CHECKS[kind](value, ""), MOST_FAULTS))


def _expect(value: Any, wanted: type, pointer: str, what: str) -> Fault | None:
    if type(value) is wanted:
        return None
    found = _JSON_NAMES.get(type(value), "something else")
    return Fault("schema", pointer, f"{what} must be {_JSON_NAMES[wanted]}, not {found}")


def _members(value: Any, fields: dict[str, type], pointer: str, what: str) -> Iterator[Fault]:
    """Exactly these fields, each of its type."""
    fault = _expect(value, dict, pointer, what)
    if fault:
        yield fault
        return
    for key in value:
        if key not in fields:
            yield _unknown_field(key, list(fields), f"{pointer}/{escape_pointer(key)}", what)
    for key, wanted in fields.items():
        if key not in value:
            yield Fault("schema", pointer, f'{what} has no "{key}"', f'add "{key}"')
            continue
        fault = _expect(value[key], wanted, f"{pointer}/{key}", f'"{key}" of {what}')
        if fault:
            yield fault


def _unknown_field(key: str, known: list[str], pointer: str, what: str) -> Fault:
    near = difflib.get_close_matches(key, known, 1)
    hint = f'did you mean "{near[0]}"?' if near else f"only {', '.join(known)} may stand here"
    shown = json.dumps(key if len(key) <= 60 else key[:57] + "...")
    message = f"{what} has the field {shown}, which the protocol does not know"
    return Fault("unknown-field", pointer, message, hint, at_key=True)


def _context(value: Any, pointer: str) -> Iterator[Fault]:
    fault = _expect(value, list, pointer, "the context")
    if fault:
        yield fault
        return
    fields: dict[str, type] = {"role": str, "content": str, "timestamp": str}
    for i, turn in enumerate(value):
        here = f"{pointer}/{i}"
        yield from _members(turn, fields, here, f"turn {i + 1}")
        role = turn.get("role") if isinstance(turn, dict) else None
        if isinstance(role, str) and role not in ("user", "assistant"):
            hint = "only the words of the user and of the assistant are kept as turns"
            shown = json.dumps(role[:60])
            message = f'"role" of turn {i + 1} is {shown}; it must be "user" or "assistant"'
            yield Fault("schema", f"{here}/role", message, hint)


def _tools(value: Any, pointer: str) -> Iterator[Fault]:
    fault = _expect(value, list, pointer, "the tools")
    if fault:
        yield fault
        return
    fields: dict[str, type] = {"name": str, "description": str, "parameters": dict}
    for i, tool in enumerate(value):
        yield from _members(tool, fields, f"{pointer}/{i}", f"tool {i + 1}")


def _metadata(value: Any, pointer: str) -> Iterator[Fault]:
    fields: dict[str, type] = {"agent_id": str, "version": str, "last_updated": str}
    yield from _members(value, fields, pointer, "the metadata")


def _snapshot(value: Any, pointer: str) -> Iterator[Fault]:
    # The parts say themselves what type they must be.
    parts: dict[str, Callable[[Any, str], Iterator[Fault]]] = {
        "context": _context,
        "tools": _tools,
        "metadata": _metadata,
    }
    fault = _expect(value, dict, pointer, "a snapshot")
    if fault:
        yield fault
        return
    for key in value:
        if key not in parts:
            yield _unknown_field(key, list(parts), f"{pointer}/{escape_pointer(key)}", "a snapshot")
    for key, check in parts.items():
        if key in value:
            yield from check(value[key], f"{pointer}/{key}")
        else:
            yield Fault("schema", pointer, f'a snapshot has no "{key}"', f'add "{key}"')


_CHECKS: dict[Kind, Callable[[Any, str], Iterator[Fault]]] = {
    "context": _context,
    "tools": _tools,
    "metadata": _metadata,
    "snapshot": _snapshot,
}
