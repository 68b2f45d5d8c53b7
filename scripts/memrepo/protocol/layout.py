"""Which path of a memory repo holds what."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from memrepo.protocol.documents import KINDS, STATE_FILES, Kind
from memrepo.protocol.names import SnapshotName, agent_id_problem, parse_snapshot_name
from memrepo.protocol.policy import POLICY_PATH
from memrepo.protocol.record import RECORDS_FOLDER
from memrepo.protocol.recordplace import record_id_problem

_DAILY = re.compile(r"history/([0-9]{4})/([0-9]{2})/([0-9]{2})/([^/]+)", re.DOTALL)

Role = Literal["state", "snapshot", "record", "policy", "rollout", "keep", "misplaced", "other"]


class Place(msgspec.Struct, frozen=True):
    """What a path is for.

    ``role``: ``state`` is one of an agent's three files, ``snapshot`` a snapshot,
    ``record`` a shared record, ``keep`` an empty-folder marker, ``misplaced`` a file in or
    in place of a core folder that the protocol does not know (``problem`` is then the
    finding code and ``why`` its words), ``other`` everything else in the repository.
    """

    role: Role
    agent_id: str = ""
    kind: Kind | None = None
    snapshot: SnapshotName | None = None
    problem: str = ""
    why: str = ""


_OTHER = Place("other")
_KEEP = Place("keep")
_ROLLOUT = Place("rollout")
_RECORD = Place("record")
_CORE = ("state", "history", RECORDS_FOLDER, ".memrepo")


def state_path(agent_id: str, name: str) -> str:
    """Where one of an agent's three files lies."""
    return f"state/{agent_id}/{name}"


def state_paths(agent_id: str) -> tuple[str, ...]:
    """The three paths of an agent's state, in the order a snapshot holds them."""
    return tuple(state_path(agent_id, name) for name in STATE_FILES)


def place_of(path: str) -> Place:
    """What ``path`` (from the root of the repository, with ``/``) is for."""
    if path.startswith("state/"):
        return _in_state(path)
    if path.startswith("history/"):
        return _in_history(path)
    if path.startswith(f"{RECORDS_FOLDER}/"):
        return _in_records(path)
    if path == POLICY_PATH:
        return Place("policy")
    if path.startswith(".memrepo/rollouts/") and path.endswith((".yml", ".yaml")):
        return _ROLLOUT
    return _beside(path)


def _beside(path: str) -> Place:
    """A path outside the core folders, unless it would take the place of one."""
    top = path.partition("/")[0]
    if path in _CORE:
        why = f"{top}/ is a folder of the protocol"
        return Place("misplaced", problem="unexpected-file", why=why)
    folded = top.casefold()
    if folded in _CORE and top not in _CORE:
        why = f"{top}/ and {folded}/ are one folder on systems that fold case"
        return Place("misplaced", problem="case-collision", why=why)
    return _OTHER


def _in_state(path: str) -> Place:
    agent_id, _, name = path[6:].partition("/")
    if not name:
        if agent_id == ".gitkeep":
            return _KEEP
        return Place("misplaced", problem="unexpected-file", why="state/ holds one folder an agent")
    problem = agent_id_problem(agent_id)
    if problem:
        return Place("misplaced", agent_id, problem="agent-id", why=f"the folder's name {problem}")
    kind = KINDS.get(name)
    if kind is None:
        why = "an agent's folder holds exactly context.json, tools.json and metadata.json"
        return Place("misplaced", agent_id, problem="unexpected-file", why=why)
    return Place("state", agent_id, kind)


def _in_history(path: str) -> Place:
    name = path[8:]
    if name == ".gitkeep":
        return _KEEP
    day = _DAILY.fullmatch(path)
    if day:
        name = day[4]
    elif "/" in name:
        why = "snapshots lie at history/<name> or history/YYYY/MM/DD/<name>"
        return Place("misplaced", problem="unexpected-file", why=why)
    snapshot = parse_snapshot_name(name)
    if snapshot is None:
        why = "a snapshot is called YYYYMMDD-HHMMSS-<agent_id>.json, with a time that exists"
        return Place("misplaced", problem="snapshot-name", why=why)
    if day and snapshot.path("daily") != path:
        why = f"the name belongs in {snapshot.path('daily').rpartition('/')[0]}/"
        return Place("misplaced", snapshot.agent_id, problem="snapshot-name", why=why)
    return Place("snapshot", snapshot.agent_id, "snapshot", snapshot)


def _in_records(path: str) -> Place:
    """Whether it may hold a record; whether that lies where its address says, it says itself."""
    if path == f"{RECORDS_FOLDER}/.gitkeep":
        return _KEEP
    name = path.rpartition("/")[2]
    if name.endswith(".yml") and record_id_problem(name[:-4]) is None:
        return _RECORD
    wanted = f"mem_{name[4:-4].upper()}.yml"
    if name.casefold() == wanted.casefold() and record_id_problem(wanted[:-4]) is None:
        why = f"{name} and {wanted} are one file on systems that fold case"
        return Place("misplaced", problem="case-collision", why=why)
    why = "records/ holds one file a record, called <id>.yml"
    return Place("misplaced", problem="unexpected-file", why=why)


def case_collisions(agent_ids: list[str]) -> list[tuple[str, str]]:
    """Pairs ``(first, other)`` of ids that are one folder where case is folded."""
    seen: dict[str, str] = {}
    clashes = []
    for agent_id in sorted(agent_ids):
        first = seen.setdefault(agent_id.casefold(), agent_id)
        if first != agent_id:
            clashes.append((first, agent_id))
    return clashes
