"""What a caller of the Python API gives and gets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from memrepo.errors import UsageError
from memrepo.protocol.canonical import dump
from memrepo.protocol.documents import AgentState
from memrepo.protocol.findings import Finding
from memrepo.protocol.names import agent_id_problem

#: An agent's state as a caller may give it: values, or the bytes of the three files by name.
State = AgentState | Mapping[str, bytes]


class Committed(msgspec.Struct, frozen=True):
    """What a commit or a revert did.

    ``commit`` is the id of the commit that holds the state; ``changed`` is false where
    it was there already (``snapshot`` and ``paths`` are then empty). ``findings`` are
    warnings and notes; ``notes`` what else the person should hear, one line each.
    """

    commit: str
    snapshot: str = ""
    changed: bool = True
    pushed: bool = False
    paths: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


def check_agent_id(agent_id: str) -> str:
    """``agent_id`` itself; raises :class:`UsageError` when it cannot be one."""
    problem = agent_id_problem(agent_id)
    if problem:
        raise UsageError(
            f"the agent id {agent_id!a} {problem}",
            "an agent id is 1 to 100 of A-Z a-z 0-9 . _ @ - and starts with a letter or digit",
        )
    return agent_id


def check_message(message: str) -> None:
    """Raise :class:`UsageError` for a message without a first line."""
    if not message.strip():
        raise UsageError("the commit message is empty", "say in a few words what the cycle did")


def aware(when: datetime | None, name: str) -> datetime | None:
    """``when`` itself; raises UsageError for what is no time, or has no time zone."""
    if when is not None and getattr(when, "tzinfo", None) is None:
        raise UsageError(
            f"{name} must be a datetime with a time zone, not {when!r:.60}",
            "for example datetime.now(UTC)",
        )
    return when


def state_files(state: AgentState) -> dict[str, bytes]:
    """The canonical bytes of the three files, by file name."""
    return {
        "context.json": dump(state.context),
        "tools.json": dump(state.tools),
        "metadata.json": dump(state.metadata),
    }


def given(state: State) -> Mapping[str, bytes]:
    """The three files' bytes by name; raises UsageError for anything that is no bytes."""
    if isinstance(state, AgentState):
        return state_files(state)
    for name, data in state.items():
        if not isinstance(data, bytes):
            raise UsageError(
                f"state[{name!r}] must be the bytes of the file, not {type(data).__name__}",
                "encode it, or give an AgentState",
            )
    return state
