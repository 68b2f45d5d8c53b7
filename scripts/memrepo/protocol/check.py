"""One file of a memory repo: is it what the protocol says?

Three tiers, so that good files cost little. A file that a typed decoder accepts and
that is byte for byte what memrepo would write needs no further look at its bytes:
duplicate keys, a BOM, CRLF, another indent or key order would all have changed them.
A file that decodes but is laid out otherwise is read once more for duplicate keys.
Only what the decoder refuses is read by the strict reader, which knows the places.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from memrepo.protocol.canonical import canonical_bytes
from memrepo.protocol.documents import AgentState, Kind, Metadata, Tool, Turn
from memrepo.protocol.schema import Fault, schema_faults
from memrepo.protocol.semver import is_version
from memrepo.protocol.strictjson import MAX_DEPTH, Document, Problem, read
from memrepo.protocol.timestamps import (
    parse_timestamp,
    plain_and_in_order,
    timestamp_problem,
)

Value = list[Turn] | list[Tool] | Metadata | AgentState

_DECODERS: dict[Kind, msgspec.json.Decoder[Any]] = {
    "context": msgspec.json.Decoder(list[Turn]),
    "tools": msgspec.json.Decoder(list[Tool]),
    "metadata": msgspec.json.Decoder(Metadata),
    "snapshot": msgspec.json.Decoder(AgentState),
}
_encode = msgspec.json.Encoder().encode
_format = msgspec.json.format
# A canonical file shows nesting as indent: this many spaces is more than MAX_DEPTH levels.
_DEEP = b"\n" + b"  " * MAX_DEPTH
_CONFLICT = re.compile(r"^(?:[<>|]{7}(?: |\r?$)|={7}\r?$)", re.MULTILINE)
# A row of "=" underlines a heading in Markdown, and ">" nests quotes there.
_PLAIN_CONFLICT = re.compile(r"^<{7}(?: |\r?$)", re.MULTILINE)
_BOM = b"\xef\xbb\xbf"
_UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError, ValueError)


class Checked(msgspec.Struct, frozen=True):
    """What a file holds (None when it cannot be used) and what is wrong with it.

    ``faults`` have a JSON pointer, ``problems`` an offset in characters of ``text``.
    ``document`` is the strict reading, where the file needed one.
    """

    value: Value | None
    faults: list[Fault] = []
    problems: list[Problem] = []
    canonical: bool = True
    document: Document | None = None


def decode(kind: Kind, data: bytes) -> Value | None:
    """The typed value of a file, or None where it is not readable as one. No judgement."""
    try:
        value: Value = _DECODERS[kind].decode(data)
    except _UNREADABLE:
        return None
    return value


def check_file(kind: Kind, data: bytes, *, agent_id: str) -> Checked:
    """Check the bytes of one state file or snapshot of ``agent_id``. Never raises.

    Finds the codes of the groups bytes and schema, except ``too-large`` and
    ``context-limit``, which need a policy.
    """
    value = decode(kind, data)
    if value is None or _DEEP in data:
        return _slow(kind, data, agent_id)
    if _format(_encode(value), indent=2) + b"\n" != data:
        return _laid_out_otherwise(kind, data, value, agent_id)
    faults = _FAULTS[kind](value, agent_id)
    return Checked(value, faults) if faults else Checked(value)


def _laid_out_otherwise(kind: Kind, data: bytes, value: Value, agent_id: str) -> Checked:
    if b"\r" in data or b"\t" in data or not _keys_are_unique(data):
        return _slow(kind, data, agent_id)
    problems = _format_problems(kind, data)
    return Checked(value, _FAULTS[kind](value, agent_id), problems, not problems)


class _Duplicate(Exception):
    pass


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Duplicate
    return members


def _keys_are_unique(data: bytes) -> bool:
    try:
        json.loads(data, object_pairs_hook=_no_duplicates)
    except (_Duplicate, ValueError, RecursionError):
        return False
    return True


def _format_problems(kind: Kind, data: bytes) -> list[Problem]:
    """The note ``format`` at the first line that the writer would lay out otherwise."""
    wanted = canonical_bytes(kind, data)
    if wanted == data:
        return []
    have, want = data.decode().split("\n"), wanted.decode().split("\n")
    line = next((i for i, (a, b) in enumerate(zip(have, want, strict=False)) if a != b), None)
    if line is None:
        line = min(len(have), len(want)) - 1
    offset = sum(len(text) + 1 for text in have[:line])
    message = "laid out otherwise than memrepo writes it (indent, key order or final newline)"
    return [Problem("format", message, offset, hint="memrepo writes two spaces an indent level")]


def _slow(kind: Kind, data: bytes, agent_id: str) -> Checked:
    text, problems = as_text(data)
    if text is None:
        return Checked(None, [], problems, False)
    marker = _CONFLICT.search(text)
    if marker:
        return Checked(None, [], [*problems, _conflict(marker.start())], False)
    if "\r" in text:
        problems.append(_carriage_return(text))
    # A snapshot holds the three files one level deeper than they were.
    document = read(text, max_depth=MAX_DEPTH + (kind == "snapshot"))
    problems.extend(document.problems)
    if not document.readable:
        return Checked(None, [], problems, False, document)
    faults = schema_faults(kind, document.value)
    if faults:
        return Checked(None, faults, problems, False, document)
    value = msgspec.convert(document.value, _DECODERS[kind].type)
    faults = _FAULTS[kind](value, agent_id)
    broken = any(p.code in ("duplicate-key", "encoding", "non-finite-number") for p in problems)
    return Checked(None if broken else value, faults, problems, False, document)


def as_text(data: bytes) -> tuple[str | None, list[Problem]]:
    """The text of a file, and what is wrong with its encoding.

    None where the bytes are no UTF-8; the problem's offset is then into the text
    decoded with replacement characters.
    """
    problems = []
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = "the file is UTF-16; memory files are UTF-8"
        return None, [Problem("encoding", message, 0, "", "save it as UTF-8 without a BOM")]
    if data.startswith(_BOM):
        message = "the file begins with a byte order mark"
        problems.append(Problem("encoding", message, 0, "", "save it as UTF-8 without a BOM"))
        data = data.removeprefix(_BOM)
    try:
        return data.decode(), problems
    except UnicodeDecodeError as error:
        offset = len(data[: error.start].decode())
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        return None, [*problems, Problem("encoding", message, offset, "", "save it as UTF-8")]


def _conflict(offset: int) -> Problem:
    message = "a merge conflict was left in this file"
    hint = "choose one side (or join both), and take the marker lines out"
    return Problem("conflict-marker", message, offset, "", hint)


def conflict_in_plain(text: str) -> Problem | None:
    """The first merge conflict left in a file that is not JSON, or None."""
    marker = _PLAIN_CONFLICT.search(text)
    return _conflict(marker.start()) if marker else None


def _carriage_return(text: str) -> Problem:
    message = f"{text.count(chr(13))} carriage returns; lines end in LF alone"
    hint = "write LF alone; dos2unix converts a file, memrepo doctor finds what adds CR"
    return Problem("line-endings", message, text.index("\r"), "", hint)


def _timestamp_fault(text: str, pointer: str, what: str) -> Fault:
    shown = json.dumps(text if len(text) <= 40 else text[:37] + "...")
    hint = "write it like 2026-03-01T12:00:00Z"
    return Fault("timestamp", pointer, f"{what} {shown} {timestamp_problem(text)}", hint)


def _context_faults(turns: list[Turn], _agent_id: str, base: str = "") -> list[Fault]:
    faults: list[Fault] = []
    if plain_and_in_order([turn.timestamp for turn in turns]):
        return faults
    last = None
    for i, turn in enumerate(turns):
        when = parse_timestamp(turn.timestamp)
        if when is None:
            pointer = f"{base}/{i}/timestamp"
            faults.append(_timestamp_fault(turn.timestamp, pointer, "the timestamp"))
            continue
        if last is not None and when < last:
            message = f"turn {i + 1} is older than the turn before it"
            hint = "turns stand in the order in which they were said"
            faults.append(Fault("context-order", f"{base}/{i}/timestamp", message, hint))
        last = when
    return faults


def _tools_faults(tools: list[Tool], _agent_id: str, base: str = "") -> list[Fault]:
    faults: list[Fault] = []
    first: dict[str, int] = {}
    for i, tool in enumerate(tools):
        if not tool.name:
            pointer = f"{base}/{i}/name"
            faults.append(Fault("schema", pointer, f"tool {i + 1} has an empty name"))
        elif first.setdefault(tool.name, i) != i:
            shown = json.dumps(tool.name[:60])
            message = f"tool {i + 1} is called {shown}, as tool {first[tool.name] + 1} is"
            hint = "names of tools are unique: rename one, or take it out"
            faults.append(Fault("duplicate-tool", f"{base}/{i}/name", message, hint))
    return faults


def _metadata_faults(metadata: Metadata, agent_id: str, base: str = "") -> list[Fault]:
    faults: list[Fault] = []
    if metadata.agent_id != agent_id:
        shown = json.dumps(metadata.agent_id[:100])
        message = f'"agent_id" is {shown}, the agent here is {json.dumps(agent_id)}'
        code = "snapshot-mismatch" if base else "agent-id"
        faults.append(Fault(code, f"{base}/agent_id", message, "both must be the same"))
    if not is_version(metadata.version):
        shown = json.dumps(metadata.version[:60])
        hint = "write MAJOR.MINOR.PATCH, like 1.4.0"
        message = f'"version" {shown} is no semantic version'
        faults.append(Fault("version", f"{base}/version", message, hint))
    if (
        not plain_and_in_order([metadata.last_updated])
        and parse_timestamp(metadata.last_updated, need_offset=False) is None
    ):
        pointer = f"{base}/last_updated"
        faults.append(_timestamp_fault(metadata.last_updated, pointer, '"last_updated"'))
    return faults


def _snapshot_faults(state: AgentState, agent_id: str) -> list[Fault]:
    return [
        *_context_faults(state.context, agent_id, "/context"),
        *_tools_faults(state.tools, agent_id, "/tools"),
        *_metadata_faults(state.metadata, agent_id, "/metadata"),
    ]


_FAULTS: dict[Kind, Any] = {
    "context": _context_faults,
    "tools": _tools_faults,
    "metadata": _metadata_faults,
    "snapshot": _snapshot_faults,
}


def locate(data: bytes) -> Document:
    """The strict reading of a file, to find the places of its findings."""
    text = data.removeprefix(_BOM).decode("utf-8", "replace")
    return read(text, max_depth=MAX_DEPTH + 1)
