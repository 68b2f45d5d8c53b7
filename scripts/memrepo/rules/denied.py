"""``tool-denied``: tools that the policy says no agent may have."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from memrepo.protocol.documents import AgentState, Tool
from memrepo.protocol.policy import Policy
from memrepo.rules.characters import shown
from memrepo.rules.fold import fold
from memrepo.rules.hits import Hit

CODE = "tool-denied"

_HINT = "Take the tool out, or change tools.deny in .memrepo/policy.yml."


def denied_by(name: str, policy: Policy) -> str | None:
    """The entry of ``tools.deny`` that names the tool, or None.

    Entries are names or shell globs; case and full-width letters make no difference, so
    that ``Shell_Exec`` does not slip past ``shell_*``.
    """
    if not policy.tools.deny:
        return None
    folded = fold(name)
    for entry in policy.tools.deny:
        if fnmatchcase(folded, fold(entry)):
            return entry
    return None


def denied_tools(kind: str, value: Any, policy: Policy) -> list[Hit]:
    """A hit for each tool that the policy denies in a tools.json or a snapshot.

    ``kind`` and ``value`` as for :func:`memrepo.rules.text.scan_document`.
    """
    tools, prefix = value, ""
    if kind == "snapshot":
        is_typed = isinstance(value, AgentState)
        tools = value.tools if is_typed else value.get("tools") if isinstance(value, dict) else None
        prefix = "/tools"
    hits: list[Hit] = []
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        name = tool.name if isinstance(tool, Tool) else _name(tool)
        if entry := denied_by(name, policy):
            message = f'the policy denies the tool "{shown(name)}" (tools.deny: {entry})'
            hits.append(Hit(CODE, message, _HINT, f"{prefix}/{index}/name", 0))
    return hits


def _name(tool: Any) -> str:
    name = tool.get("name") if isinstance(tool, dict) else ""
    return name if isinstance(name, str) else ""
