"""The typed values of a memory repo's files (protocol section "files")."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

#: The three files of an agent's state, in the order a snapshot holds them.
STATE_FILES: tuple[str, ...] = ("context.json", "tools.json", "metadata.json")

Kind = Literal["context", "tools", "metadata", "snapshot"]

#: What each of the three files holds.
KINDS: dict[str, Kind] = {
    "context.json": "context",
    "tools.json": "tools",
    "metadata.json": "metadata",
}


class Turn(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One message of a conversation; ``timestamp`` is ISO 8601 with an offset."""

    role: Literal["user", "assistant"]
    content: str
    timestamp: str


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tool; ``parameters`` is a short map (name to type) or a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Metadata(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Who the agent is, its semantic version, and when its state last changed."""

    agent_id: str
    version: str
    last_updated: str


class AgentState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent's three files as values; also the shape of a snapshot."""

    context: list[Turn]
    tools: list[Tool]
    metadata: Metadata
