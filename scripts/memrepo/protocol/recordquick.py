"""Reads a record that lies in its canonical form, some ten times as fast as any YAML reader."""

from __future__ import annotations

from typing import Any

import msgspec

from memrepo.protocol.record import SCHEMA, Record
from memrepo.protocol.recorddump import BARE, dump_record
from memrepo.protocol.yamltree import MAX_BYTES, MAX_DEPTH

# Attributes and content stand one level below the top, and their values one below that.
_DEEPEST = MAX_DEPTH - 1
_BLOCKS = ("address", "written_by", "lifecycle", "attributes", "content")


def read_canonical(data: bytes) -> Record | None:
    """The record in ``data`` when these are exactly the bytes that memrepo would write.

    None for all else, be it a record in another spelling, nothing of the kind, or one that
    the YAML reader's limits refuse. What the envelope's rules say about the values is not
    looked at.
    """
    if len(data) > MAX_BYTES:
        return None
    try:
        top = _top(data.decode("utf-8"))
        if top.pop("schema") != SCHEMA:
            return None
        record = msgspec.convert(top, Record)
        if _depth(record.attributes) > _DEEPEST or _depth(record.content) > _DEEPEST:
            return None
        return record if dump_record(record) == data else None
    except (ValueError, KeyError, TypeError, RecursionError):
        # msgspec's errors are ValueErrors. The slow way finds the words for a person.
        return None


def _top(text: str) -> dict[str, Any]:
    top: dict[str, Any] = {}
    block: dict[str, Any] = {}
    signature: list[str] = []
    for line in text.split("\n"):
        if line.startswith("  "):
            if signature:
                signature.append(line[2:])
            else:
                name, _, value = line[2:].partition(": ")
                block[_one(name)] = _one(value)
        elif line == "signature: |":
            signature = [""]
        elif line[:-1] in _BLOCKS:
            top[line[:-1]] = block = {}
        elif line:
            name, _, value = line.partition(": ")
            top[name] = _one(value)
    if signature:
        top["signature"] = "\n".join(signature[1:]) + "\n"
    return top


def _one(text: str) -> Any:
    """A value: a bare word is a text, the rest is JSON."""
    return text if _is_word(text) else msgspec.json.decode(text)


def _is_word(text: str) -> bool:
    # Ids and times begin like numbers or words and are never quoted.
    return bool(BARE.fullmatch(text)) or text.startswith("mem_") or text.endswith("Z")


def _depth(value: Any) -> int:
    """How many levels of lists and mappings ``value`` has; 0 for a single one."""
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0
