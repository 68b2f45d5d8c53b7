"""Decide what a source's tools change in an agent's files. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from memrepo.errors import BadInput
from memrepo.protocol.canonical import dump
from memrepo.protocol.check import decode
from memrepo.protocol.documents import Metadata, Tool
from memrepo.protocol.layout import state_path
from memrepo.protocol.semver import parse_version
from memrepo.protocol.timestamps import parse_timestamp
from memrepo.semdiff.asjson import diff_as_json
from memrepo.semdiff.change import AgentDiff, Diff, Step, ToolsDiff
from memrepo.semdiff.metadata import diff_metadata
from memrepo.semdiff.tools import diff_tools

_FIRST_VERSION = "1.0.0"
_MOST_NAMES = 20


class UpdatePlan(msgspec.Struct, frozen=True):
    """An agent's three files as they should be, by name, and what that changes in its tools."""

    files: dict[str, bytes]
    diff: ToolsDiff
    new: bool


def not_given(agent_id: str, held: bytes | None, tools: Sequence[Tool]) -> list[str]:
    """The names of the tools in a ``tools.json`` that are none of these.  Raises BadInput."""
    given = {tool.name for tool in tools}
    old: list[Tool] | None = _read(agent_id, "tools", held)  # type: ignore[assignment]
    return [tool.name for tool in old or [] if tool.name not in given]


def plan_update(
    agent_id: str,
    before: Mapping[str, bytes | None],
    tools: Sequence[Tool],
    when: datetime,
    keep: Collection[str] = (),
) -> UpdatePlan | None:
    """The files of the agent with these tools; None when that changes nothing in meaning.

    A tool that was there and is none of these goes, unless its name is in ``keep``. Tools that
    mean the same keep their bytes and tools that were there keep their order, so that only
    what the source changed can meet what others changed. The version takes the step that the
    change asks for, and ``last_updated`` never goes back. A new agent begins with no turns.
    Raises :class:`BadInput` where the files on the branch cannot be read.
    """
    held = {name: before.get(name) for name in ("context.json", "tools.json", "metadata.json")}
    stamp = when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if not any(held.values()):
        files = {
            "context.json": dump([]),
            "tools.json": dump(list(tools)),
            "metadata.json": dump(Metadata(agent_id, _FIRST_VERSION, stamp)),
        }
        return UpdatePlan(files, diff_tools([], tools), new=True)
    old: list[Tool] | None = _read(agent_id, "tools", held["tools.json"])  # type: ignore[assignment]
    metadata: Metadata | None = _read(agent_id, "metadata", held["metadata.json"])  # type: ignore[assignment]
    joined = _in_order(old or [], tools, keep)
    diff = diff_tools(old or [], joined)
    if old is not None and metadata is not None and held["context.json"] and diff.is_empty:
        return None
    files = {
        "context.json": held["context.json"] or dump([]),
        "tools.json": dump(joined),
        "metadata.json": dump(_stepped(agent_id, metadata, diff, stamp)),
    }
    return UpdatePlan(files, diff, new=False)


def _read(agent_id: str, kind: str, data: bytes | None) -> object | None:
    value = decode(kind, data) if data else None  # type: ignore[arg-type]
    if data and value is None:
        raise BadInput(
            f"{state_path(agent_id, f'{kind}.json')} on the branch cannot be read",
            "memrepo validate says what is wrong with it; put it right there first",
        )
    return value


def _in_order(old: Sequence[Tool], new: Sequence[Tool], keep: Collection[str]) -> list[Tool]:
    """The new tools and those to ``keep``: those that were there in their old order, each other
    one behind the tool that it follows in the source."""
    held = {tool.name: tool for tool in old}
    given = {tool.name: _kept(held.get(tool.name), tool) for tool in new}
    joined = [given.get(tool.name, tool) for tool in old if tool.name in given or tool.name in keep]
    names = [tool.name for tool in joined]
    before = ""
    for tool in new:
        if tool.name not in held:
            at = names.index(before) + 1 if before else 0
            names.insert(at, tool.name)
            joined.insert(at, tool)
        before = tool.name
    return joined


def _kept(old: Tool | None, new: Tool) -> Tool:
    return old if old is not None and diff_tools([old], [new]).is_empty else new


def _stepped(agent_id: str, old: Metadata | None, diff: ToolsDiff, stamp: str) -> Metadata:
    if old is None:
        return Metadata(agent_id, _FIRST_VERSION, stamp)
    earlier = parse_timestamp(old.last_updated, need_offset=False)
    now = parse_timestamp(stamp)
    later = old.last_updated if earlier and now and earlier > now else stamp
    needs = diff_metadata(old, old, diff).needs
    return Metadata(old.agent_id, _next_version(old.version, needs), later)


def _next_version(text: str, step: Step) -> str:
    version = parse_version(text)
    if version is None or step == "none":
        return text
    major, minor, patch = version.core
    if step == "major":
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if step == "minor" else f"{major}.{minor}.{patch + 1}"


def words_for(diff: ToolsDiff, *, new: bool) -> str:
    """What an update changed, for a commit's subject."""
    counts = {
        "added": len(diff.added),
        "changed": len(diff.changed) + len(diff.renamed),
        "removed": len(diff.removed),
    }
    parts = [f"{number} {verb}" for verb, number in counts.items() if number]
    return f"{'new agent, ' if new else ''}tools: {', '.join(parts) or 'none'}"


def removed_words(diff: ToolsDiff) -> str:
    """The names of the tools that are there no more; "" without any."""
    gone = [tool.name for tool in diff.removed]
    gone += [f"{renamed.before} (now {renamed.after})" for renamed in diff.renamed]
    more = f" and {len(gone) - _MOST_NAMES:,} more" if len(gone) > _MOST_NAMES else ""
    return ", ".join(gone[:_MOST_NAMES]) + more


def kept_words(names: Sequence[str], source: str) -> str:
    """Why tools that a source does not give are still there."""
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    known = ", ".join(names[:_MOST_NAMES])
    return f"kept: {known}{more} (never brought by {source}; replace would take it out)"


def tools_json(diff: ToolsDiff) -> dict[str, object]:
    """The change of tools as the JSON of ``memrepo diff``."""
    whole = diff_as_json(Diff((AgentDiff("", "changed", tools=diff),)))
    found: dict[str, object] = whole["agents"][0]["tools"]
    return found
