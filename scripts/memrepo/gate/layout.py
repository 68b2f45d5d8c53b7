"""Judge which paths there are: agents' folders, snapshots' names, links and modes. Pure."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable

import msgspec

from memrepo.gate.files import make
from memrepo.protocol.documents import STATE_FILES
from memrepo.protocol.findings import Finding
from memrepo.protocol.layout import Place, case_collisions, place_of, state_path
from memrepo.protocol.policy import Policy

_SPECIAL = {
    0o120000: "a symbolic link",
    0o160000: "a submodule",
    0o100755: "executable",
    # What only a worktree can hold.
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Entry(msgspec.Struct, frozen=True):
    """One path and its Git mode (0o100644 a plain file); 0 where it is gone."""

    path: str
    mode: int


def judge_entry(entry: Entry, place: Place, policy: Policy) -> list[Finding]:
    """What is wrong with one path, wherever it lies."""
    if place.role in ("other", "policy", "rollout"):
        if entry.mode in (0o120000, 0o160000) and place.role != "other":
            return _special(entry, place, policy)
        return []
    found = []
    if place.role == "misplaced":
        folder = entry.path.partition("/")[0]
        where = "records/" if folder == "records" else "state/ and history/"
        hint = f"move it out of {where}, or rename it"
        found += make(policy, place.problem, entry.path, place.why, hint, agent_id=place.agent_id)
    if entry.mode in _SPECIAL:
        found += _special(entry, place, policy)
    return found


def _special(entry: Entry, place: Place, policy: Policy) -> list[Finding]:
    message = f"the file is {_SPECIAL[entry.mode]}; memory is plain files"
    hint = (
        f"git update-index --chmod=-x {json.dumps(entry.path)}"
        if entry.mode == 0o100755
        else "put a plain file in its place"
    )
    return make(policy, "special-file", entry.path, message, hint, agent_id=place.agent_id)


def judge_agents(
    agents: dict[str, set[str]], policy: Policy, *, only: Iterable[str] | None = None
) -> list[Finding]:
    """Missing files and ids that collide. ``agents`` maps an id to its files' names.

    With ``only``, missing files are asked for of these agents alone; collisions always
    concern at least one of them.
    """
    wanted = agents.keys() if only is None else set(only) & agents.keys()
    found: list[Finding] = []
    for agent_id in sorted(wanted):
        for name in STATE_FILES:
            if name not in agents[agent_id]:
                path = state_path(agent_id, name)
                message = f"the agent has no {name}"
                hint = "an agent's folder holds context.json, tools.json and metadata.json"
                found += make(policy, "missing-file", path, message, hint, agent_id=agent_id)
    for first, other in case_collisions(list(agents)):
        if first in wanted or other in wanted:
            message = f"{other} and {first} are one folder on systems that fold case"
            found += make(
                policy,
                "case-collision",
                f"state/{other}",
                message,
                "rename one of the two agents",
                agent_id=other,
            )
    return found


def agents_of(paths: Iterable[str]) -> dict[str, set[str]]:
    """The agents that ``paths`` make up, each with the names of its files."""
    agents: dict[str, set[str]] = {}
    for path in paths:
        place = place_of(path)
        if place.role == "state":
            agents.setdefault(place.agent_id, set()).add(path.rpartition("/")[2])
    return agents
