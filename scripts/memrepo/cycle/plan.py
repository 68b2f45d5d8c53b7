"""Decide what one cycle commits. Pure: bytes and names in, a plan out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from memrepo.cycle.given import check_message
from memrepo.errors import UsageError
from memrepo.gate.files import judge_file, make
from memrepo.protocol.canonical import canonical_bytes, snapshot_bytes
from memrepo.protocol.documents import KINDS, STATE_FILES
from memrepo.protocol.findings import Finding
from memrepo.protocol.layout import state_path
from memrepo.protocol.names import SnapshotName
from memrepo.protocol.policy import Policy

#: Seconds after the cycle's own in which a free snapshot name is looked for.
_MOST_SECONDS = 86_400
# Git stores no time before 1970; after the last one there must be seconds left to look in.
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)
_OURS = re.compile(
    r"^(?=[ \t]*(?:agent-id|snapshot|reverts-to|proposed|source|source-revision|knowledge-commit|"
    r"record)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class CyclePlan(msgspec.Struct, frozen=True):
    """One commit to be: its files (path to bytes), its message and its snapshot's path."""

    agent_id: str
    files: dict[str, bytes]
    message: str
    snapshot: str


def judge_state_files(
    agent_id: str, files: Mapping[str, bytes], policy: Policy
) -> tuple[list[Finding], dict[str, bytes]]:
    """Findings about an agent's three files, and the canonical bytes of the readable ones."""
    findings: list[Finding] = []
    canonical: dict[str, bytes] = {}
    for name in STATE_FILES:
        path = state_path(agent_id, name)
        data = files.get(name)
        if data is None:
            message = f"the agent has no {name}"
            hint = f"write {path}; an agent is its three files"
            findings += make(policy, "missing-file", path, message, hint, agent_id=agent_id)
            continue
        judged = judge_file(KINDS[name], data, path=path, agent_id=agent_id, policy=policy)
        findings += judged.findings
        if judged.value is not None:
            canonical[name] = data if judged.canonical else canonical_bytes(KINDS[name], data)
    return findings, canonical


def plan_cycle(
    agent_id: str,
    files: Mapping[str, bytes],
    canonical: Mapping[str, bytes],
    message: str,
    when: datetime,
    *,
    layout: str,
    exists: Callable[[str], bool],
    trailers: Sequence[str] = (),
) -> CyclePlan:
    """The commit of one cycle.

    ``files`` are committed as they are, ``canonical`` goes into the snapshot. ``exists``
    tells whether a path is taken: a snapshot that is there is never overwritten, and the
    next free second is used instead.
    """
    name = SnapshotName(when.astimezone(UTC).replace(microsecond=0), agent_id)
    if not _FIRST <= name.when <= _LAST:
        raise UsageError(f"a cycle at {when} is not possible", "give a time from 1970 to 9998")
    for _ in range(_MOST_SECONDS):
        if not (exists(name.path("flat")) or exists(name.path("daily"))):
            break
        name = name.next_second()
    else:
        raise UsageError(f"no free second for a snapshot of {agent_id} within a day of {when}")
    snapshot = name.path(layout)
    changes = {state_path(agent_id, file): data for file, data in files.items()}
    changes[snapshot] = snapshot_bytes(*(canonical[file] for file in STATE_FILES))
    lines = [f"Agent-Id: {agent_id}", f"Snapshot: {snapshot}", *trailers]
    return CyclePlan(agent_id, changes, commit_message(agent_id, message, lines), snapshot)


def commit_message(agent_id: str, message: str, trailers: list[str]) -> str:
    """``<agent_id>: <message>``, and the trailers as the last paragraph.

    A line of the message that reads like one of our trailers is quoted with ``> ``, so
    that no text can pass for what memrepo itself says about a commit.
    """
    text = _CONTROL.sub(" ", message.replace("\r\n", "\n").replace("\r", "\n"))
    text = text.encode("utf-8", "replace").decode().strip()
    subject, _, body = text.partition("\n")
    check_message(subject)
    paragraphs = [f"{agent_id}: {subject.strip()}"]
    body = _OURS.sub("> ", body.strip("\n")).rstrip()
    if body:
        paragraphs.append(body)
    paragraphs.append("\n".join(trailers))
    return "\n\n".join(paragraphs) + "\n"
