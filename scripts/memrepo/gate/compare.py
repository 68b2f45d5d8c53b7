"""Compare the two sides of a change: the semantic diff, and every finding about it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from memrepo.gate.archived import judge_archive
from memrepo.gate.change import judge_agent_change, judge_repository
from memrepo.gate.files import is_record, judge_file, judge_plain, make, too_large
from memrepo.gate.layout import Entry, agents_of, judge_agents, judge_entry
from memrepo.gate.sides import Blob, Sides
from memrepo.gate.touched import TouchedAgent, file_name, sort_changes
from memrepo.gate.withhold import (
    Secrets,
    plain_holds_secret,
    secrets_in,
    without_patch,
    without_secrets,
)
from memrepo.gitrepo.changes import FileChange
from memrepo.protocol.canonical import snapshot_bytes
from memrepo.protocol.check import decode, locate
from memrepo.protocol.documents import KINDS, STATE_FILES, AgentState, Kind, Metadata, Tool, Turn
from memrepo.protocol.findings import Finding, in_order
from memrepo.protocol.layout import place_of, state_path
from memrepo.protocol.policy import Policy
from memrepo.protocol.policyfile import parse_policy
from memrepo.protocol.record import RECORDS_FOLDER
from memrepo.protocol.strictjson import Document
from memrepo.semdiff.agents import Parts, diff_agent
from memrepo.semdiff.change import AgentDiff, Diff, OtherFile, SnapshotsDiff
from memrepo.semdiff.plain import unified_diff
from memrepo.semdiff.records import RecordChange

#: So many agents' files are in memory at once.
_AT_ONCE = 64


class Compared(msgspec.Struct, frozen=True):
    """What changed, and what there is to say about it (in report order)."""

    diff: Diff
    findings: list[Finding]


def agents_after(sides: Sides) -> set[str]:
    """The agents that there are after the change."""
    return set(agents_of(sides.paths_after()))


def compare(sides: Sides, policy: Policy, *, agent_id: str | None = None) -> Compared:
    """Diff and judge a change by ``policy`` (the one of its base).

    With ``agent_id``, only that agent's part is looked at.
    """
    findings: list[Finding] = []
    changes = sides.changed()
    if agent_id is not None:
        changes = [c for c in changes if place_of(c.path).agent_id == agent_id]
    for change in changes:
        if change.new_mode:
            entry = Entry(change.path, change.new_mode)
            findings += judge_entry(entry, place_of(change.path), policy)
    touched = sort_changes(changes)
    agents = touched.agents
    before = sides.agents_before()
    after = agents_of(sides.paths_after())
    findings += judge_agents(after, policy, only=[a for a in agents if agents[a].state])
    diffs: list[AgentDiff] = []
    for group in _groups(sorted(agents.items())):
        reader = _Reader(sides, group)
        for name, agent in group:
            diff, found = _one_agent(name, agent, reader, policy, name in before, name in after)
            findings += found
            if diff is not None:
                diffs.append(diff)
    others = []
    for change in touched.other:
        file, found = _one_other(change, sides, policy)
        others.append(file)
        findings += found
    others, said_of_rollouts = _rollouts(others, changes, sides, policy)
    findings += said_of_rollouts
    records, opaque, said = _records(changes, sides, policy)
    others += opaque
    findings += said
    left = judge_archive(changes, touched.snapshots.deleted, sides, policy)
    findings += left.findings
    snapshots = _without(touched.snapshots, left.archived)
    diff_all = Diff(tuple(diffs), snapshots, tuple(others), records)
    messages = [] if agent_id is not None else sides.messages()
    findings += judge_repository(diff_all, policy, agents_before=len(before), messages=messages)
    return Compared(diff_all, in_order(findings))


def _rollouts(
    others: list[OtherFile], changes: list[FileChange], sides: Sides, policy: Policy
) -> tuple[list[OtherFile], list[Finding]]:
    """The other files, rollouts among them with what their edit does, and the findings."""
    touched = [change for change in changes if place_of(change.path).role == "rollout"]
    if not touched:
        return others, []
    # Not at the top: most changes touch no rollout.
    from memrepo.gate.rollouts import judge_rollouts

    judged = judge_rollouts(touched, sides, policy)
    return [judged.shown(file) for file in others], judged.findings


def _records(
    changes: list[FileChange], sides: Sides, policy: Policy
) -> tuple[tuple[RecordChange, ...], list[OtherFile], tuple[Finding, ...]]:
    """What happens to shared records, those of their files that say more, and the findings."""
    if not any(change.path.startswith(f"{RECORDS_FOLDER}/") for change in changes):
        return (), [], ()
    # Not at the top: most changes touch no record.
    from memrepo.gate.records import judge_records

    judged = judge_records(changes, sides, policy)
    # What there is to say about their text is among the findings already.
    opaque = [_one_other(c, sides, policy)[0] for c in changes if c.path in judged.opaque]
    return judged.changes, opaque, judged.findings


def _without(snapshots: SnapshotsDiff, archived: frozenset[str]) -> SnapshotsDiff:
    deleted = tuple(path for path in snapshots.deleted if path not in archived)
    return msgspec.structs.replace(snapshots, deleted=deleted, archived=len(archived))


def _groups(items: list[tuple[str, TouchedAgent]]) -> Iterator[list[tuple[str, TouchedAgent]]]:
    rest = iter(items)
    while group := list(islice(rest, _AT_ONCE)):
        yield group


class _Reader:
    """The bytes of a group of agents, read in three rounds."""

    def __init__(self, sides: Sides, group: list[tuple[str, TouchedAgent]]) -> None:
        states = [change for _, agent in group for change in agent.state.values()]
        self.old = sides.before(states)
        self.new = sides.after(
            states + [change for _, agent in group for change in agent.snapshots]
        )
        # The version is judged against the tools, and snapshots against the whole state.
        paths = [
            state_path(name, file)
            for name, agent in group
            for file in STATE_FILES
            if file not in agent.state
        ]
        self.same = sides.unchanged(paths)


def _one_agent(
    agent_id: str,
    agent: TouchedAgent,
    reader: _Reader,
    policy: Policy,
    was: bool,
    is_there: bool,
) -> tuple[AgentDiff | None, list[Finding]]:
    findings: list[Finding] = []
    old: dict[str, tuple[bytes, Any]] = {}
    new: dict[str, tuple[bytes, Any]] = {}
    new_bytes: dict[str, bytes] = {}
    unreadable = []
    for name, kind in KINDS.items():
        path = state_path(agent_id, name)
        if name not in agent.state:
            same = reader.same.get(path)
            if same and same.data is not None:
                new_bytes[name] = same.data
                old[kind] = new[kind] = (same.data, decode(kind, same.data))
            continue
        if path in reader.old:
            data = reader.old[path].data or b""
            old[kind] = (data, decode(kind, data))
            if old[kind][1] is None:
                unreadable.append(f"{name} (before)")
        if path in reader.new:
            value, found = _judge(kind, reader.new[path], path, agent_id, policy)
            findings += found
            new_bytes[name] = reader.new[path].data or b""
            new[kind] = (new_bytes[name], value)
            if value is None:
                unreadable.append(name)
    findings += _snapshots(agent_id, agent, reader, policy, new_bytes)
    if not agent.state:
        return None, findings
    diff = diff_agent(
        agent_id,
        _parts(old) if was else None,
        _parts(new) if is_there else None,
        limit=policy.limits.context_turns,
        unreadable=tuple(unreadable),
    )
    tools = new["tools"][1] if "tools" in new else None
    judged = judge_agent_change(diff, policy, tools_after=tools)
    after = secrets_in(new, policy) if any(f.code == "secret" for f in findings) else Secrets()
    diff = without_secrets(diff, secrets_in(old, policy), after)
    return diff, findings + _placed(judged, new_bytes)


def _placed(findings: list[Finding], files: dict[str, bytes]) -> list[Finding]:
    """The same findings with the line and column of their pointers."""
    documents: dict[str, Document] = {}
    placed = []
    for finding in findings:
        name = finding.path.rpartition("/")[2]
        if finding.pointer and name in files:
            if name not in documents:
                documents[name] = locate(files[name])
            line, column = documents[name].find(finding.pointer)
            finding = msgspec.structs.replace(finding, line=line, column=column)
        placed.append(finding)
    return placed


def _parts(files: dict[str, tuple[bytes, Any]]) -> Parts:
    return Parts(**{kind: value for kind, (_, value) in files.items()})


def _judge(
    kind: Kind, blob: Blob, path: str, agent_id: str, policy: Policy, *, text: bool = True
) -> tuple[list[Turn] | list[Tool] | Metadata | AgentState | None, list[Finding]]:
    if blob.data is None:
        return None, too_large(path, blob.size, policy, agent_id)
    judged = judge_file(kind, blob.data, path=path, agent_id=agent_id, policy=policy, text=text)
    return judged.value, judged.findings


def _snapshots(
    agent_id: str, agent: TouchedAgent, reader: _Reader, policy: Policy, state: dict[str, bytes]
) -> list[Finding]:
    """Judge the snapshots that came; the newest must hold the state as it now is."""
    findings: list[Finding] = []
    files = [state.get(name) for name in STATE_FILES]
    whole = snapshot_bytes(*files) if all(files) else None  # type: ignore[arg-type]
    said: set[tuple[str, str]] = set()
    newest = max((c.path for c in agent.snapshots), key=file_name, default=None)
    for change in sorted(agent.snapshots, key=lambda c: file_name(c.path), reverse=True):
        blob = reader.new.get(change.path)
        if blob is None:
            continue
        # The text of a snapshot that equals the state was judged there.
        same = blob.data == whole
        value, found = _judge("snapshot", blob, change.path, agent_id, policy, text=not same)
        # Windows of one conversation overlap: each thing is said once.
        for finding in found:
            if (finding.code, finding.message) not in said:
                said.add((finding.code, finding.message))
                findings.append(finding)
        if change.path == newest and agent.state and not same:
            findings += _mismatch(change.path, value, state, policy, agent_id)
    return findings


def _mismatch(
    path: str, value: object, state: dict[str, bytes], policy: Policy, agent_id: str
) -> list[Finding]:
    if not isinstance(value, AgentState):
        return []
    parts: dict[str, tuple[Kind, object]] = {
        "context.json": ("context", value.context),
        "tools.json": ("tools", value.tools),
        "metadata.json": ("metadata", value.metadata),
    }
    differ = [
        name
        for name, (kind, part) in parts.items()
        if name in state and decode(kind, state[name]) != part
    ]
    if not differ:
        return []
    message = f"the agent's newest snapshot holds another {' and '.join(differ)} than its state"
    hint = "commit the state again with memrepo commit, which writes the snapshot that fits"
    return make(policy, "snapshot-mismatch", path, message, hint, agent_id=agent_id)


def _one_other(change: FileChange, sides: Sides, policy: Policy) -> tuple[OtherFile, list[Finding]]:
    kind = "added" if not change.old_mode else "removed" if not change.new_mode else "changed"
    if is_record(change.path):
        # Long lists that nobody reads; what they say is a finding of its own.
        return OtherFile(change.path, kind), []  # type: ignore[arg-type]
    before = sides.before([change]).get(change.path)
    after = sides.after([change]).get(change.path)
    is_policy = place_of(change.path).role == "policy"
    findings: list[Finding] = []
    if after is not None:
        if after.data is None:
            findings += too_large(change.path, after.size, policy)
        elif is_policy:
            findings += parse_policy(after.data)[1]
            findings += judge_plain(change.path, after.data, policy)
        else:
            findings += judge_plain(change.path, after.data, policy)
    patch = unified_diff(
        before.data if before else b"",
        after.data if after else b"",
    )
    file = OtherFile(
        path=change.path,
        change=kind,  # type: ignore[arg-type]
        kind="binary" if patch is None else "policy" if is_policy else "text",
        patch=patch.text if patch else "",
        truncated=patch.truncated if patch else False,
    )
    sides_data = (before.data if before else None, after.data if after else None)
    if any(plain_holds_secret(change.path, data, policy) for data in sides_data):
        file = without_patch(file)
    return file, findings
