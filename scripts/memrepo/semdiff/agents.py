"""What changed in one agent: its three files together."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from memrepo.protocol.documents import AgentState, Metadata, Tool, Turn
from memrepo.semdiff.change import AgentDiff, ContextDiff, MetadataDiff, ToolsDiff
from memrepo.semdiff.context import diff_context
from memrepo.semdiff.metadata import diff_metadata
from memrepo.semdiff.tools import diff_tools


class Parts(msgspec.Struct, frozen=True):
    """An agent's files as far as they are there and could be read; None otherwise."""

    context: list[Turn] | None = None
    tools: list[Tool] | None = None
    metadata: Metadata | None = None


def diff_agent(
    agent_id: str,
    before: Parts | AgentState | None,
    after: Parts | AgentState | None,
    *,
    limit: int,
    unreadable: Collection[str] = (),
) -> AgentDiff:
    """The change of one agent; None is a side where the agent is not.

    ``limit`` is the number of turns a context may have. ``unreadable`` names the state
    files (``"tools.json"``) that could not be read on a side: they are not compared. Any
    other missing file counts as an empty one. Both sides None: ``ValueError``.
    """
    if before is None and after is None:
        raise ValueError("an agent that is on neither side has no difference")
    old, new = before or Parts(), after or Parts()
    context, tools, metadata = ContextDiff(), ToolsDiff(), MetadataDiff()
    if "context.json" not in unreadable:
        context = diff_context(old.context or [], new.context or [], limit=limit)
    if "tools.json" not in unreadable:
        tools = diff_tools(old.tools or [], new.tools or [])
    if "metadata.json" not in unreadable:
        metadata = diff_metadata(old.metadata, new.metadata, tools)
    return AgentDiff(
        agent_id=agent_id,
        change="added" if before is None else "removed" if after is None else "changed",
        context=context,
        tools=tools,
        metadata=metadata,
        unreadable=tuple(sorted(unreadable)),
    )
