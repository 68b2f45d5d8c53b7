"""The cycles of one agent, newest first, with what each snapshot held."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from memrepo.gitrepo.log import LogEntry, agent_log, trailer
from memrepo.gitrepo.objects import Found
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.documents import STATE_FILES, Metadata
from memrepo.protocol.layout import place_of, state_path
from memrepo.report.phrases import count
from memrepo.shards.values import INDEX_PATH


class _Counted(msgspec.Struct):
    # Only numbers of turns and tools are wanted: their bodies stay undecoded.
    context: list[msgspec.Raw]
    tools: list[msgspec.Raw]
    metadata: Metadata


#: A second cycle within a second takes the next free one; a burst takes some more.
_NEXT_FREE_SECONDS = 60
_decode_counted = msgspec.json.Decoder(_Counted).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_metadata = msgspec.json.Decoder(Metadata).decode

#: What a source of knowledge is called; other commits have a ``Source:`` of their own kind.
_SOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")

T = TypeVar("T")


class Cycle(msgspec.Struct, frozen=True):
    """One commit of an agent.

    ``timestamp`` is its author's time (ISO 8601 with offset). ``snapshot`` is "" where the
    commit brought none; the numbers are then those of the state that the commit holds.
    ``context_turns``, ``tools`` and ``version`` are None where the snapshot, or that state,
    cannot be read. ``archived`` is the release that holds a snapshot which left the tree, ""
    for others; where its commit is not in this clone, ``commit`` and ``message`` are "" and
    the time is that of its name. ``source`` is the branch ``knowledge/<source>`` that a commit
    without a snapshot says it came by, "" for others.
    """

    commit: str
    timestamp: str
    message: str
    snapshot: str
    context_turns: int | None = None
    tools: int | None = None
    version: str | None = None
    archived: str = ""
    source: str = ""

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of ``history --json``: the last two only where there is one."""
        value = msgspec.structs.asdict(self)
        return {k: v for k, v in value.items() if v or k not in ("archived", "source")}


def list_cycles(
    repo: Repository,
    agent_id: str,
    *,
    rev: str = "HEAD",
    limit: int | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> list[Cycle]:
    """The cycles of ``agent_id`` that ``rev`` reaches, newest first.

    A trailer is only what a commit says of itself: a snapshot counts where it is one of this
    agent and the commit brought it. A commit of any other kind that calls itself the agent's
    is listed without one, so that a person sees it.
    Archived snapshots are marked, and listed also where no commit here brought them.
    Raises :class:`memrepo.errors.UnknownRevision` when ``rev`` does not exist.
    """
    entries = agent_log(repo, agent_id, rev=rev, since=since, until=until, limit=limit)
    snapshots = brought(repo, agent_id, entries)
    cycles = [_cycle(agent_id, entry, snapshots.get(entry.commit)) for entry in entries]
    if len(snapshots) < len(cycles):
        cycles = list(_with_state(repo, agent_id, cycles, entries))
    tip = repo.view(repo.tip() if rev == "HEAD" else repo.resolve(rev))
    if not tip.exists(INDEX_PATH):
        return cycles
    # Not at the top: few repositories ask, and the answer costs an import.
    from memrepo.history.join import with_archived

    return with_archived(cycles, agent_id, tip, limit=limit, since=since, until=until)


def brought(repo: Repository, agent_id: str, entries: list[LogEntry]) -> dict[str, Found]:
    """The snapshots of the agent that these commits brought, by commit."""
    named = {
        entry.commit: entry.snapshot
        for entry in entries
        if (place := place_of(entry.snapshot)).role == "snapshot" and place.agent_id == agent_id
    }
    found = _blobs(repo, named)
    claims = Counter(named.values())
    doubtful = [
        entry.commit
        for entry in entries
        if entry.commit in found and (claims[entry.snapshot] > 1 or not _of_its_time(entry))
    ]
    before = repo.reader.read_many((f"{c}^:{named[c]}" for c in doubtful), limit=0)
    there = repo.reader.read_many((f"{c}:{named[c]}" for c in doubtful), limit=0)
    for commit, old, new in zip(doubtful, before, there, strict=True):
        if old or not new:
            del found[commit]
    return found


def _of_its_time(entry: LogEntry) -> bool:
    """Whether the snapshot is named after the time of the commit, as memrepo names it.

    To ask each commit whether it brought its snapshot costs two large folders of a flat
    ``history/``; it is asked of those that look otherwise.
    """
    snapshot = place_of(entry.snapshot).snapshot
    if snapshot is None:
        return False
    return 0 <= snapshot.when.timestamp() - entry.seconds < _NEXT_FREE_SECONDS


def _blobs(repo: Repository, named: dict[str, str]) -> dict[str, Found]:
    """The snapshots' blobs: as the newest commit has them, or as the one that names them."""
    tip = repo.view(repo.tip())
    entries = {commit: tip.entry(path) for commit, path in named.items()}
    names = [
        entry.oid.hex() if (entry := entries[commit]) else f"{commit}:{path}"
        for commit, path in named.items()
    ]
    read = repo.reader.read_many(names)
    return {c: blob for c, blob in zip(named, read, strict=True) if blob and blob.kind == "blob"}


def _cycle(agent_id: str, entry: LogEntry, blob: Found | None) -> Cycle:
    snapshot = entry.snapshot if blob else ""
    cycle = Cycle(entry.commit, entry.time, message_of(agent_id, entry), snapshot)
    held = _decoded(_decode_counted, blob)
    if held is None:
        return cycle
    return msgspec.structs.replace(
        cycle,
        context_turns=len(held.context),
        tools=len(held.tools),
        version=held.metadata.version,
    )


def _with_state(
    repo: Repository, agent_id: str, cycles: list[Cycle], entries: list[LogEntry]
) -> Iterator[Cycle]:
    """The cycles; those without a snapshot with what the state of their commit holds."""
    bare = [cycle.commit for cycle in cycles if not cycle.snapshot]
    names = (f"{commit}:{state_path(agent_id, name)}" for commit in bare for name in STATE_FILES)
    read = repo.reader.read_many(names)
    for cycle, entry in zip(cycles, entries, strict=True):
        if cycle.snapshot:
            yield cycle
            continue
        context, tools, metadata = (next(read) for _ in STATE_FILES)
        source = trailer(f"{entry.subject}\n\n{entry.body}", "Source")
        held = _decoded(_decode_metadata, metadata)
        yield msgspec.structs.replace(
            cycle,
            context_turns=_number(context),
            tools=_number(tools),
            version=held.version if held else None,
            source=source if _SOURCE.fullmatch(source) else "",
        )


def _number(blob: Found | None) -> int | None:
    """How many elements the list in a file has; None for what cannot be read."""
    held = _decoded(_decode_list, blob)
    return None if held is None else len(held)


def _decoded(decode: Callable[[bytes], T], blob: Found | None) -> T | None:
    if blob is None or blob.kind != "blob" or blob.data is None:
        return None
    try:
        return decode(blob.data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def message_of(agent_id: str, entry: LogEntry) -> str:
    """What the person said of the cycle: the subject without the agent's id."""
    return entry.subject.removeprefix(f"{agent_id}: ")


def cycle_line(cycle: Cycle) -> str:
    """One line of ``history`` for a terminal (untrusted text not yet made safe)."""
    turns = "? turns" if cycle.context_turns is None else count(cycle.context_turns, "turn")
    tools = "? tools" if cycle.tools is None else count(cycle.tools, "tool")
    version = cycle.version or "?"
    archived = f"  [archived in {cycle.archived}]" if cycle.archived else ""
    source = f"  [knowledge/{cycle.source}]" if cycle.source else ""
    if not cycle.commit:
        return f"{cycle.timestamp}  {'-':<12}  {cycle.snapshot}{archived}"
    return (
        f"{cycle.timestamp}  {cycle.commit[:12]}  {version:<8} "
        f"{turns:>9} {tools:>8}  {cycle.message}{archived}{source}"
    )
