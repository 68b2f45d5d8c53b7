"""Text that holds a secret is not shown again by a diff. Pure.

A finding never holds the secret's value, but the diff beside it would, on either side of
the change: reports are copied into comments, mails and artifacts, and outlive the commit
that held the secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.protocol.documents import Tool
from memrepo.protocol.policy import Policy
from memrepo.rules.text import scan_document, scan_plain
from memrepo.semdiff.change import (
    AgentDiff,
    ContextDiff,
    OtherFile,
    ParameterChange,
    ToolsDiff,
    ToolSummary,
    TurnChange,
)

WITHHELD = "(withheld: a secret stands here)"

_CODE = "secret"
_INDEX = re.compile(r"/([0-9]{1,9})(?:/|$)")


class Secrets(msgspec.Struct, frozen=True):
    """Where one side of an agent holds secrets: indexes of turns, names of tools."""

    turns: frozenset[int] = frozenset()
    tools: frozenset[str] = frozenset()


def secrets_in(files: Mapping[str, tuple[bytes, Any]], policy: Policy) -> Secrets:
    """The secrets of one side; ``files`` maps a kind to the bytes and the typed value."""
    turns: set[int] = set()
    tools: set[str] = set()
    for kind, (data, value) in files.items():
        if value is None:
            continue
        for hit in scan_document(kind, data, value, policy):
            place = _INDEX.match(hit.pointer)
            if hit.code == _CODE and place and isinstance(value, list):
                item = value[int(place[1])]
                if isinstance(item, Tool):
                    tools.add(item.name)
                else:
                    turns.add(int(place[1]))
    return Secrets(frozenset(turns), frozenset(tools))


def without_secrets(diff: AgentDiff, before: Secrets, after: Secrets) -> AgentDiff:
    """The diff without the turns and tools that hold a secret on their side.

    A turn and the body of a tool are withheld whole.
    """
    if before == after == Secrets():
        return diff
    tools = before.tools | after.tools
    return replace(
        diff, context=_context(diff.context, before, after), tools=_tools(diff.tools, tools)
    )


def _context(context: ContextDiff, before: Secrets, after: Secrets) -> ContextDiff:
    changes = tuple(
        _turn(change)
        if change.before_index in before.turns or change.after_index in after.turns
        else change
        for change in context.changes
    )
    return replace(context, changes=changes)


def _turn(change: TurnChange) -> TurnChange:
    return replace(
        change,
        before=WITHHELD if change.before else "",
        after=WITHHELD if change.after else "",
        words=(),
    )


def _tools(tools: ToolsDiff, held: frozenset[str]) -> ToolsDiff:
    return replace(
        tools,
        added=tuple(_tool(tool) if tool.name in held else tool for tool in tools.added),
        removed=tuple(_tool(tool) if tool.name in held else tool for tool in tools.removed),
        renamed=tuple(
            replace(t, changes=_changes(t.changes)) if {t.before, t.after} & held else t
            for t in tools.renamed
        ),
        changed=tuple(
            replace(t, changes=_changes(t.changes)) if t.name in held else t for t in tools.changed
        ),
    )


def _tool(tool: ToolSummary) -> ToolSummary:
    return ToolSummary(tool.name, WITHHELD, {})


def _changes(changes: Iterable[ParameterChange]) -> tuple[ParameterChange, ...]:
    return tuple(
        replace(
            change,
            before=None if change.before is None else WITHHELD,
            after=None if change.after is None else WITHHELD,
        )
        for change in changes
    )


def plain_holds_secret(path: str, data: bytes | None, policy: Policy) -> bool:
    """Whether a file that is no agent's holds a secret."""
    if not data or b"\0" in data[:8192]:
        return False
    text = data.decode("utf-8", "replace")
    return any(hit.code == _CODE for hit in scan_plain(text, policy, path=path))


def without_patch(file: OtherFile) -> OtherFile:
    """The file's entry with its patch withheld."""
    return replace(file, patch=WITHHELD if file.patch else "")
