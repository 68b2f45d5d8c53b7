"""An agent's three files as they were at a revision."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from memrepo.errors import UnknownRevision
from memrepo.gitrepo.log import agent_log
from memrepo.gitrepo.repository import Repository
from memrepo.history.cycles import brought
from memrepo.history.known import no_agent
from memrepo.protocol.canonical import split_snapshot
from memrepo.protocol.check import decode
from memrepo.protocol.documents import STATE_FILES, Metadata, Tool, Turn
from memrepo.protocol.layout import place_of, state_path
from memrepo.protocol.names import parse_snapshot_name
from memrepo.report.escape import for_terminal
from memrepo.report.phrases import count


class Shown(msgspec.Struct, frozen=True):
    """``commit`` is where the files were read; ``files`` maps a file's name to its bytes."""

    commit: str
    files: dict[str, bytes]


def files_at(repo: Repository, agent_id: str, rev: str) -> Shown:
    """The agent's files at ``rev``, which may be a revision or a snapshot's name or path.

    A snapshot's name stands for the commit that wrote it; where no commit did (it was
    imported), the files are those that the snapshot itself holds, also after it was archived
    (``commit`` is then the one it was archived from).
    Raises :class:`UnknownRevision` when there is no such revision, snapshot or agent, and
    :class:`memrepo.history.archived.SnapshotArchived` where only the archive has it.
    """
    snapshot = parse_snapshot_name(rev.rpartition("/")[2])
    if snapshot is not None:
        return _by_snapshot(repo, agent_id, rev.rpartition("/")[2])
    try:
        commit = repo.resolve(rev)
    except UnknownRevision as error:
        if parse_snapshot_name(f"{rev.rpartition('/')[2]}.json") is None:
            raise
        hint = f"a snapshot's name ends in .json: {rev}.json"
        raise UnknownRevision(error.message, hint) from None
    names = [f"{commit}:{state_path(agent_id, name)}" for name in STATE_FILES]
    files = {
        name: blob.data
        for name, blob in zip(STATE_FILES, repo.reader.read_many(names), strict=True)
        if blob is not None and blob.kind == "blob" and blob.data is not None
    }
    if not files:
        raise no_agent(repo, agent_id, rev)
    return Shown(commit, files)


def _by_snapshot(repo: Repository, agent_id: str, name: str) -> Shown:
    snapshot = parse_snapshot_name(name)
    if snapshot is None or snapshot.agent_id != agent_id:
        raise UnknownRevision(
            f"the snapshot {name} is not one of {agent_id}",
            f"memrepo history --agent-id {agent_id} lists its snapshots",
        )
    entries = [e for e in agent_log(repo, agent_id) if e.snapshot.rpartition("/")[2] == name]
    for commit in brought(repo, agent_id, entries):
        return files_at(repo, agent_id, commit)
    head = repo.resolve("HEAD")
    paths = [snapshot.path("flat"), snapshot.path("daily")]
    for blob in repo.reader.read_many([f"{head}:{path}" for path in paths]):
        if blob is not None and blob.data is not None:
            return Shown(head, _parts(name, blob.data))
    return _archived(repo, agent_id, name, head)


def _archived(repo: Repository, agent_id: str, name: str, head: str) -> Shown:
    """A snapshot that left the tree: its bytes may still be here, as an object of old commits."""
    from memrepo.history.archived import ArchiveIndex, SnapshotArchived

    found = ArchiveIndex(repo.view(head)).find(name)
    if found is None:
        raise UnknownRevision(
            f"there is no snapshot {name}", f"memrepo history --agent-id {agent_id} lists them"
        )
    blob = repo.reader.find(found.blob)
    if blob is None or blob.kind != "blob" or blob.data is None:
        raise SnapshotArchived(found)
    return Shown(found.line.commit, _parts(name, blob.data))


def _parts(name: str, data: bytes) -> dict[str, bytes]:
    try:
        return dict(zip(STATE_FILES, split_snapshot(data), strict=True))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise UnknownRevision(
            f"the snapshot {name} cannot be read", "memrepo validate says why"
        ) from None


def as_json(shown: Shown) -> dict[str, Any]:
    """The public JSON shape of ``show --json``; a file that cannot be read is its text."""
    parts: dict[str, Any] = {"commit": shown.commit}
    for name, data in shown.files.items():
        try:
            value = json.loads(data)
            json.dumps(value, allow_nan=False)
        except (ValueError, RecursionError):
            value = data.decode("utf-8", "replace")
        parts[name.removesuffix(".json")] = value
    return parts


def as_text(shown: Shown) -> str:
    """The agent's state for a person at a terminal, made safe to print."""
    values = {
        name: decode(kind, shown.files[name])
        for name in STATE_FILES
        if name in shown.files and (kind := place_of(state_path("x", name)).kind)
    }
    lines = [f"commit {shown.commit}"]
    metadata = values.get("metadata.json")
    if isinstance(metadata, Metadata):
        lines.append(f"{metadata.agent_id} {metadata.version}, updated {metadata.last_updated}")
    context, tools = values.get("context.json"), values.get("tools.json")
    if isinstance(tools, list):
        lines += ["", f"tools ({len(tools)})"]
        lines += [f"  {t.name}: {t.description}" for t in tools if isinstance(t, Tool)]
    if isinstance(context, list):
        lines += ["", f"context ({count(len(context), 'turn')})"]
        lines += [f"  {t.timestamp} {t.role}: {t.content}" for t in context if isinstance(t, Turn)]
    for name, value in values.items():
        if value is None:
            lines += ["", f"{name} cannot be read; memrepo validate says why"]
    return "\n".join(for_terminal(line) for line in lines)
