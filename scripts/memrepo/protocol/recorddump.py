"""Writes records: the file's canonical bytes, and the bytes that a signature covers."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from memrepo.protocol.record import SCHEMA, Address, Record
from memrepo.protocol.timestamps import iso

#: Words that every YAML reader takes for the text they are.
BARE = re.compile(r"(?!(?:null|true|false|yes|no|on|off|[yn])\Z)[a-z][a-z0-9_-]*(?:/[0-9.]+)?")
_ID = re.compile(r"mem_[0-9A-Z]{26}")
# YAML takes these for the end of a line, or not at all, also between quotes.
_ESCAPED = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_EXPONENT = re.compile(r"(?<![0-9.])(-?[0-9]+)e")


def dump_record(record: Record) -> bytes:
    """The whole file in its canonical form; reading it gives ``record`` back.

    Blocks for the envelope, and one line of JSON (which is YAML too) for each value under
    ``attributes`` and ``content``: a value that changes is one changed line.
    """
    lines = [f"schema: {SCHEMA}", f"id: {record.id}", f"key: {_scalar(record.key)}"]
    lines += _block("address", address_fields(record.address))
    lines += _block("written_by", msgspec.to_builtins(record.written_by))
    lines += [f"created_at: {iso(record.created_at)}", f"updated_at: {iso(record.updated_at)}"]
    lines += _block("lifecycle", lifecycle_fields(record))
    lines += _block("attributes", record.attributes)
    lines += _block("content", record.content)
    if record.signature:
        lines.append("signature: |")
        lines += [f"  {line}" for line in record.signature.strip("\n").split("\n")]
    return ("\n".join(lines) + "\n").encode()


def signed_bytes(record: Record) -> bytes:
    """What a signature of ``record`` covers: all that a later change must not touch.

    One line of JSON, keys sorted, no white space, ASCII: without ``signature``,
    ``updated_at``, and the lifecycle's ``status``, ``superseded_by`` and ``reason``, which
    change when a record is superseded or archived.
    """
    fields = {
        "schema": SCHEMA,
        "id": record.id,
        "key": record.key,
        "address": address_fields(record.address),
        "written_by": msgspec.to_builtins(record.written_by),
        "created_at": iso(record.created_at),
        "lifecycle": {
            "supersedes": record.lifecycle.supersedes,
            "ttl_seconds": record.lifecycle.ttl_seconds,
        },
        "attributes": record.attributes,
        "content": record.content,
    }
    return (json.dumps(fields, sort_keys=True, separators=(",", ":")) + "\n").encode()


def address_fields(address: Address) -> dict[str, str]:
    """An address as the file has it: without the fields that its scope does not have."""
    fields: dict[str, str] = msgspec.to_builtins(address)
    return {name: text for name, text in fields.items() if text}


def lifecycle_fields(record: Record) -> dict[str, Any]:
    """A lifecycle as the file has it: ``superseded_by`` and ``reason`` only when they are set."""
    life = record.lifecycle
    return {
        "status": life.status,
        "ttl_seconds": life.ttl_seconds,
        "supersedes": life.supersedes,
        **({"superseded_by": life.superseded_by} if life.superseded_by else {}),
        **({"reason": life.reason} if life.reason else {}),
    }


def _block(name: str, fields: dict[str, Any]) -> list[str]:
    return [f"{name}:", *(f"  {_scalar(key)}: {_value(fields[key])}" for key in fields)]


def _value(value: object) -> str:
    if isinstance(value, str):
        return _scalar(value)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, float):
        return _EXPONENT.sub(r"\1.0e", text)
    return _ESCAPED.sub(_as_escape, text)


def _scalar(text: str) -> str:
    if BARE.fullmatch(text) or _ID.fullmatch(text):
        return text
    return _ESCAPED.sub(_as_escape, json.dumps(text, ensure_ascii=False))


def _as_escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"
