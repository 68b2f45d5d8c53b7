"""Which commit brought every turn and every tool of an agent in its present form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import msgspec

from memrepo.gitrepo.log import LogEntry, log_paths
from memrepo.gitrepo.repository import Repository
from memrepo.history.known import no_agent
from memrepo.protocol.check import decode
from memrepo.protocol.documents import Kind, Tool, Turn
from memrepo.protocol.layout import state_path

#: Versions read at once; a conversation's window is often younger than its whole history.
_AT_ONCE = 100


class Origin(msgspec.Struct, frozen=True):
    """Where one turn or tool comes from. ``index`` counts from 0 in its file."""

    what: Literal["turn", "tool"]
    index: int
    label: str
    text: str
    commit: str
    time: str
    author: str

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of ``blame --json``."""
        return msgspec.structs.asdict(self)


def blame(repo: Repository, agent_id: str, *, rev: str = "HEAD") -> list[Origin]:
    """Origins of every turn, then of every tool, of the agent at ``rev``.

    An item belongs to the oldest commit of the unbroken run of versions, back from
    ``rev``, that hold it. Of equal turns the earlier ones are the older.
    Raises :class:`memrepo.errors.UnknownRevision` when the agent is not there at ``rev``.
    """
    commit = repo.resolve(rev)
    origins: list[Origin] = []
    found = False
    for kind, name in (("context", "context.json"), ("tools", "tools.json")):
        path = state_path(agent_id, name)
        entries = log_paths(repo, [path], rev=commit)
        if entries and repo.reader.find(f"{commit}:{path}") is not None:
            found = True
            origins += _blame_file(repo, entries, path, kind)  # type: ignore[arg-type]
    if not found:
        raise no_agent(repo, agent_id, rev)
    return origins


def _items(kind: Kind, data: bytes | None) -> list[Turn] | list[Tool]:
    value = decode(kind, data) if data is not None else None
    return value if isinstance(value, list) else []


def _keys(items: Sequence[Turn | Tool]) -> list[Hashable]:
    """A key an item, equal items told apart by how many came before them."""
    seen: Counter[bytes] = Counter()
    keys: list[Hashable] = []
    for item in items:
        body = msgspec.json.encode(item)
        keys.append((body, seen[body]))
        seen[body] += 1
    return keys


def _blame_file(repo: Repository, entries: list[LogEntry], path: str, kind: Kind) -> list[Origin]:
    newest = repo.reader.find(f"{entries[0].commit}:{path}")
    items = _items(kind, newest.data if newest else None)
    keys = _keys(items)
    origin: dict[Hashable, LogEntry] = dict.fromkeys(keys, entries[0])
    open_keys = set(keys)
    for start in range(1, len(entries), _AT_ONCE):
        group = entries[start : start + _AT_ONCE]
        blobs = list(repo.reader.read_many([f"{entry.commit}:{path}" for entry in group]))
        for entry, blob in zip(group, blobs, strict=True):
            open_keys &= set(_keys(_items(kind, blob.data if blob else None)))
            for key in open_keys:
                origin[key] = entry
            if not open_keys:
                break
        if not open_keys:
            break
    return [_origin(kind, i, items[i], origin[key]) for i, key in enumerate(keys)]


def _origin(kind: Kind, index: int, item: Turn | Tool, entry: LogEntry) -> Origin:
    label, text = (
        (item.role, item.content) if isinstance(item, Turn) else (item.name, item.description)
    )
    what: Literal["turn", "tool"] = "turn" if kind == "context" else "tool"
    return Origin(what, index, label, text, entry.commit, entry.time, entry.author)


def origin_line(origin: Origin) -> str:
    """One line of ``blame`` for a terminal (untrusted text not yet made safe)."""
    return (
        f"{origin.commit[:12]}  {origin.time}  {origin.author}  "
        f"{origin.what} {origin.index + 1}  {origin.label}: {origin.text}"
    )
