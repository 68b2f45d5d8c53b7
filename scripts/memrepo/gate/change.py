"""Judge a change: what it does to memory, beyond what each file says. Pure."""

from __future__ import annotations

import json

from memrepo.gate.files import make
from memrepo.protocol.documents import Tool
from memrepo.protocol.findings import Finding
from memrepo.protocol.layout import state_path
from memrepo.protocol.policy import POLICY_PATH, Policy
from memrepo.rules.capability import capabilities
from memrepo.rules.commits import skip_marker
from memrepo.rules.text import scan_plain
from memrepo.semdiff.change import AgentDiff, Diff, ToolChange, ToolRename


def judge_agent_change(
    diff: AgentDiff, policy: Policy, *, tools_after: list[Tool] | None = None
) -> list[Finding]:
    """The findings about one agent's change. ``tools_after`` are its tools afterwards."""
    if diff.change == "removed":
        message = f"the agent {diff.agent_id} and all its memory are removed"
        hint = "its snapshots keep what it knew; memrepo revert brings it back"
        path = f"state/{diff.agent_id}"
        return make(policy, "mass-shrink", path, message, hint, agent_id=diff.agent_id)
    return [
        *_rewritten(diff, policy),
        *_shrink(diff, policy),
        *_version(diff, policy),
        *_breaking(diff, policy, tools_after or []),
        *_capability(diff, policy, tools_after or []),
    ]


def _rewritten(diff: AgentDiff, policy: Policy) -> list[Finding]:
    context = diff.context
    removed = context.removed - context.trimmed
    counts = {"edited": context.edited, "removed": removed, "moved": context.moved}
    parts = [f"{count} {verb}" for verb, count in counts.items() if count > 0]
    if not parts:
        return []
    turns = "turn" if sum(counts.values()) == 1 else "turns"
    message = f"earlier {turns} of the conversation changed: {', '.join(parts)}"
    hint = "check who had a reason to change what was already said"
    path = state_path(diff.agent_id, "context.json")
    kinds = ("edited", "moved")
    still_there = [c.after_index for c in context.changes if c.kind in kinds]
    pointer = f"/{still_there[0]}" if still_there else ""
    return make(
        policy,
        "context-rewritten",
        path,
        message,
        hint,
        pointer=pointer,
        agent_id=diff.agent_id,
    )


def _shrink(diff: AgentDiff, policy: Policy) -> list[Finding]:
    found: list[Finding] = []
    sizes = {
        ("context.json", "turns"): (diff.context.before_turns, diff.context.after_turns),
        ("tools.json", "tools"): (diff.tools.before_tools, diff.tools.after_tools),
    }
    for (name, what), (before, after) in sizes.items():
        if before and before - after > before * policy.limits.shrink:
            message = f"{before - after} of {before} {what} are gone"
            hint = "if this is meant, let a maintainer say so; otherwise memrepo revert undoes it"
            path = state_path(diff.agent_id, name)
            found += make(policy, "mass-shrink", path, message, hint, agent_id=diff.agent_id)
    return found


def _version(diff: AgentDiff, policy: Policy) -> list[Finding]:
    metadata = diff.metadata
    old, new = metadata.version
    if metadata.fits or old is None or new is None:
        return []
    if metadata.step == "backward":
        message = f"the version goes back from {old} to {new}"
    else:
        step = f"the version stayed {new}" if old == new else f"the version went {old} to {new}"
        message = f"a breaking change of tools, and {step}"
    hint = f"a {metadata.needs} step says it to whoever calls this agent"
    path = state_path(diff.agent_id, "metadata.json")
    pointer = "/version"
    return make(
        policy,
        "version-not-bumped",
        path,
        message,
        hint if metadata.needs != "none" else "versions only go forward",
        pointer=pointer,
        agent_id=diff.agent_id,
    )


def _breaking(diff: AgentDiff, policy: Policy, tools_after: list[Tool]) -> list[Finding]:
    path = state_path(diff.agent_id, "tools.json")
    found: list[Finding] = []
    places = {tool.name: f"/{i}" for i, tool in enumerate(tools_after)}

    def add(name: str, message: str) -> None:
        hint = "callers that know the old form will fail"
        found.extend(
            make(
                policy,
                "tool-breaking",
                path,
                message,
                hint,
                pointer=places.get(name, ""),
                agent_id=diff.agent_id,
            )
        )

    for tool in diff.tools.removed:
        add("", f"the tool {_shown(tool.name)} is removed")
    for rename in diff.tools.renamed:
        renamed = f"the tool {_shown(rename.before)} is renamed to {_shown(rename.after)}"
        add(rename.after, renamed)
    for change in diff.tools.changed:
        if change.cls == "breaking":
            reasons = _reasons(change)
            message = f"the tool {_shown(change.name)} changed for its callers: {reasons}"
            add(change.name, message)
    return found


#: What makes the kind of change one that breaks calls, where its name does not say.
_WORDS = {"parameter-added": "required parameter added"}


def _reasons(change: ToolChange | ToolRename) -> str:
    worst = [c for c in change.changes if c.cls == "breaking"]
    shown = [
        f"{_WORDS.get(c.kind, c.kind.replace('-', ' '))} at {_shown(c.pointer)}" for c in worst[:3]
    ]
    more = f" and {len(worst) - 3} more" if len(worst) > 3 else ""
    return ", ".join(shown) + more


def _capability(diff: AgentDiff, policy: Policy, tools_after: list[Tool]) -> list[Finding]:
    touched = {
        *(tool.name for tool in diff.tools.added),
        *(rename.after for rename in diff.tools.renamed),
        *(change.name for change in diff.tools.changed),
    }
    path = state_path(diff.agent_id, "tools.json")
    found: list[Finding] = []
    for i, tool in enumerate(tools_after):
        if tool.name not in touched:
            continue
        able = [f"{what} ({_shown(words)})" for what, words in capabilities(tool)]
        if able:
            message = f"the tool {_shown(tool.name)} can {'; '.join(able)}"
            hint = "make sure that this agent should be able to do that"
            pointer = f"/{i}"
            found += make(
                policy,
                "tool-capability",
                path,
                message,
                hint,
                pointer=pointer,
                agent_id=diff.agent_id,
            )
    return found


def _shown(text: str) -> str:
    return json.dumps(text if len(text) <= 60 else text[:57] + "...")


def judge_repository(
    diff: Diff, policy: Policy, *, agents_before: int, messages: list[tuple[str, str]]
) -> list[Finding]:
    """The findings about the change as a whole.

    ``agents_before`` is the number of agents in the base; ``messages`` holds
    ``(commit id, message)`` of the commits that make up the change.
    """
    found: list[Finding] = []
    gone = sum(agent.change == "removed" for agent in diff.agents)
    if agents_before and gone > agents_before * policy.limits.shrink:
        message = f"{gone} of the repository's {agents_before} agents are removed"
        hint = "if this is meant, let a maintainer say so"
        found += make(policy, "mass-shrink", "state", message, hint)
    if any(other.path == POLICY_PATH for other in diff.other):
        message = "the policy changes; this review was judged by the old one"
        hint = "read the new limits and severities before you accept them"
        found += make(policy, "policy-changed", POLICY_PATH, message, hint)
    for path in (*diff.snapshots.changed, *diff.snapshots.deleted):
        verb = "changed" if path in diff.snapshots.changed else "deleted"
        message = f"a snapshot was {verb}; a snapshot is never touched again once written"
        hint = f"bring it back: git checkout <base> -- {json.dumps(path)}"
        found += make(policy, "snapshot-changed", path, message, hint)
    for commit, text in messages:
        for hit in scan_plain(text, policy, path=""):
            if hit.code == "secret":
                message = f"in the text of commit {commit[:10]}: {hit.message}"
                found += make(policy, hit.code, "", message, hit.hint)
        marker = skip_marker(text)
        if marker:
            message = f"the text of commit {commit[:10]} holds {_shown(marker)}, which skips checks"
            hint = "reword the commit, so that nothing but a review lets memory in"
            found += make(policy, "skip-marker", "", message, hint)
    return found
