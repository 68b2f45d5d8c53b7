"""Sort the files that a change touches: which agents, which snapshots, what else. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memrepo.gitrepo.changes import FileChange
from memrepo.protocol.layout import place_of
from memrepo.semdiff.change import SnapshotsDiff


class TouchedAgent(msgspec.Struct):
    """The changed files of one agent: its state by file name, and its new snapshots."""

    state: dict[str, FileChange] = {}
    snapshots: list[FileChange] = []


class Touched(msgspec.Struct, frozen=True):
    """A change, sorted: agents by id, snapshots as the diff shows them, and the rest."""

    agents: dict[str, TouchedAgent]
    snapshots: SnapshotsDiff
    other: list[FileChange]


def sort_changes(changes: Iterable[FileChange]) -> Touched:
    """Sort ``changes``. A snapshot that only went to another folder has moved."""
    agents: dict[str, TouchedAgent] = {}
    other: list[FileChange] = []
    added: list[FileChange] = []
    changed: list[str] = []
    deleted: list[FileChange] = []
    for change in changes:
        place = place_of(change.path)
        if place.role == "state":
            name = change.path.rpartition("/")[2]
            agents.setdefault(place.agent_id, TouchedAgent()).state[name] = change
        elif place.role in ("other", "policy", "rollout", "keep"):
            other.append(change)
        elif place.role == "snapshot":
            if not change.old_mode:
                added.append(change)
            elif change.new_mode:
                changed.append(change.path)
            else:
                deleted.append(change)
    # The protocol knows two layouts; which one a snapshot lies in is not part of it.
    gone = {(file_name(c.path), c.old_oid): c.path for c in deleted}
    moved = {c.path for c in added if (file_name(c.path), c.new_oid) in gone}
    kept = {gone[file_name(c.path), c.new_oid] for c in added if c.path in moved}
    new = [c for c in added if c.path not in moved]
    for change in new:
        agent_id = place_of(change.path).agent_id
        agents.setdefault(agent_id, TouchedAgent()).snapshots.append(change)
    snapshots = SnapshotsDiff(
        added=len(new),
        changed=tuple(changed),
        deleted=tuple(c.path for c in deleted if c.path not in kept),
        moved=len(moved),
    )
    return Touched(agents, snapshots, other)


def file_name(path: str) -> str:
    """The last part of a path; of snapshots it sorts by time."""
    return path.rpartition("/")[2]
