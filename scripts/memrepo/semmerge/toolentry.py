"""A tool as its merge holds it: the parameters stay text until both sides changed them."""

from __future__ import annotations

from typing import Any

import msgspec

from memrepo.semmerge.jsonvalue import loads, same
from memrepo.semmerge.statefile import read_state
from memrepo.semmerge.values import ABSENT, Absent

_BOM = b"\xef\xbb\xbf"


class Entry(msgspec.Struct, frozen=True):
    """One tool of a file; ``parameters`` is the JSON object as it was written."""

    name: str
    description: str
    parameters: msgspec.Raw


_decode = msgspec.json.Decoder(list[Entry]).decode
_encode = msgspec.json.Encoder().encode


def read_entries(data: bytes | None) -> list[Entry]:
    """The tools of one side's file, none where there is no file. Raises Unparseable."""
    read_state("tools", data)
    return [] if data is None else _decode(data.removeprefix(_BOM))


def written(entries: list[Entry]) -> bytes:
    """The bytes of a ``tools.json``, as memrepo lays it out."""
    return msgspec.json.format(_encode(entries), indent=2) + b"\n"


def parameters_of(entry: Entry) -> dict[str, Any]:
    """The parameters as a JSON value."""
    value: dict[str, Any] = loads(bytes(entry.parameters))
    return value


def same_entry(one: Entry | Absent, other: Entry | Absent) -> bool:
    """Whether two tools say the same, however their parameters are laid out."""
    if one is other or one == other:
        return True
    if isinstance(one, Absent) or isinstance(other, Absent):
        return False
    return one.name == other.name and same_body(one, other)


def same_body(one: Entry, other: Entry) -> bool:
    """Whether two tools are the same but for their names."""
    if one.description != other.description:
        return False
    return one.parameters == other.parameters or same(parameters_of(one), parameters_of(other))


def as_value(entries: Entry | list[Entry] | Absent) -> Any:
    """A tool, or several of one name, as the JSON value that a conflict shows."""
    if isinstance(entries, Absent):
        return ABSENT
    if isinstance(entries, list):
        return [as_value(entry) for entry in entries]
    return {
        "name": entries.name,
        "description": entries.description,
        "parameters": parameters_of(entries),
    }


def of_value(value: Any) -> Entry | None:
    """The tool that a JSON value is, or None where it is none."""
    if not isinstance(value, dict) or value.keys() != {"name", "description", "parameters"}:
        return None
    name, description, parameters = value["name"], value["description"], value["parameters"]
    if not (isinstance(name, str) and isinstance(description, str)):
        return None
    if not isinstance(parameters, dict):
        return None
    return Entry(name, description, msgspec.Raw(_encode(parameters)))
