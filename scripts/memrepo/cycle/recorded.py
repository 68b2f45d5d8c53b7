"""Whether an agent's committed state has its snapshot: what Git merged or committed has none."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from memrepo.gitrepo.objects import object_id
from memrepo.gitrepo.repository import Listed, TipView
from memrepo.protocol.names import parse_snapshot_name
from memrepo.shards.values import INDEX_PATH


def is_recorded(tip: TipView, agent_id: str, snapshot: bytes) -> bool:
    """Whether ``tip`` has a snapshot of the agent that holds what ``snapshot`` holds.

    Also True where it has none of the agent and there is an archive, which may hold them.
    """
    suffix = f"-{agent_id}.json"
    newest = ""
    for path, listed in _newest_first(tip, "history"):
        named = parse_snapshot_name(listed.name) if listed.name.endswith(suffix) else None
        if named is None or named.agent_id != agent_id:
            continue
        algorithm = "sha1" if len(listed.oid) == 40 else "sha256"
        if listed.oid == object_id(algorithm, "blob", snapshot).hex():
            return True
        newest = max(newest, path, key=lambda one: one.rpartition("/")[2])
    if not newest:
        return tip.exists(INDEX_PATH)
    return _says(tip.read(newest) or b"") == _says(snapshot)


def _newest_first(tip: TipView, folder: str) -> Iterator[tuple[str, Listed]]:
    for listed in sorted(tip.list_dir(folder), key=lambda one: one.name, reverse=True):
        path = f"{folder}/{listed.name}"
        if not listed.is_folder:
            yield path, listed
        elif path.count("/") <= 3 and listed.name.isdecimal():
            yield from _newest_first(tip, path)


def _says(data: bytes) -> object:
    """What a snapshot says, however it is laid out; its bytes where it cannot be read."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return data
