"""The bytes that memrepo writes: two-space indent, keys in order, one final newline."""

from __future__ import annotations

from typing import Any

import msgspec

from memrepo.protocol.documents import AgentState, Kind, Metadata, Tool, Turn


class _RawTool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    # Parameters stay the text they are: a number such as 1e5 or 0.10 keeps its spelling.
    name: str
    description: str
    parameters: msgspec.Raw


class _RawState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    context: list[Turn]
    tools: list[_RawTool]
    metadata: Metadata


_encode = msgspec.json.Encoder().encode
_RAW_DECODERS: dict[Kind, msgspec.json.Decoder[Any]] = {
    "context": msgspec.json.Decoder(list[Turn]),
    "tools": msgspec.json.Decoder(list[_RawTool]),
    "metadata": msgspec.json.Decoder(Metadata),
    "snapshot": msgspec.json.Decoder(_RawState),
}


def dump(value: list[Turn] | list[Tool] | Metadata | AgentState) -> bytes:
    """The canonical bytes of a typed value.

    Raises ``ValueError`` for NaN, infinity or a lone surrogate inside ``parameters``,
    which no JSON file can hold.
    """
    _refuse_unwritable(value)
    return msgspec.json.format(_encode(value), indent=2) + b"\n"


def _refuse_unwritable(value: Any) -> None:
    if isinstance(value, AgentState):
        value = value.tools
    if isinstance(value, list):
        for tool in value:
            if isinstance(tool, Tool):
                _refuse_non_finite(tool.parameters)


def _refuse_non_finite(value: Any) -> None:
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            # msgspec would write null in its place: memory must not change in silence.
            raise ValueError("a tool's parameters hold NaN or Infinity, which JSON cannot")
    elif isinstance(value, dict):
        for item in value.values():
            _refuse_non_finite(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _refuse_non_finite(item)


def canonical_bytes(kind: Kind, data: bytes) -> bytes:
    """``data`` laid out canonically; what it says, number spelling included, is kept.

    ``data`` must be a valid file of that kind without duplicate keys; raises
    ``msgspec.MsgspecError`` where it is not.
    """
    value = _RAW_DECODERS[kind].decode(data)
    return msgspec.json.format(_encode(value), indent=2) + b"\n"


def snapshot_bytes(context: bytes, tools: bytes, metadata: bytes) -> bytes:
    """The snapshot of three canonical files.

    A canonical file has line breaks only between tokens, so that a snapshot is the three
    texts moved two spaces to the right.
    """
    parts = [part.rstrip(b"\n").replace(b"\n", b"\n  ") for part in (context, tools, metadata)]
    return b'{\n  "context": %b,\n  "tools": %b,\n  "metadata": %b\n}\n' % tuple(parts)


def split_snapshot(data: bytes) -> tuple[bytes, bytes, bytes]:
    """The three canonical files that a snapshot holds (context, tools, metadata).

    Raises ``msgspec.MsgspecError`` where ``data`` is no snapshot.
    """
    state: _RawState = _RAW_DECODERS["snapshot"].decode(data)
    files = (state.context, state.tools, state.metadata)
    context, tools, metadata = (
        msgspec.json.format(_encode(part), indent=2) + b"\n" for part in files
    )
    return context, tools, metadata
