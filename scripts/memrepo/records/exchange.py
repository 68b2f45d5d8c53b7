"""Records exchanged with a remote, and what that did to one that was just written."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from memrepo.errors import GateRefused, MemrepoError, UsageError
from memrepo.gitrepo.publish import Published, Publisher
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.policy import Policy
from memrepo.protocol.record import Address
from memrepo.recordrules.problem import Problem
from memrepo.records import compose
from memrepo.records.rebuild import Rebuilder
from memrepo.records.values import Answer, Synced, Written


def exchange(
    repo: Repository,
    remote: str | None,
    rebuild: Rebuilder,
    run: Callable[[Publisher], Published],
) -> Synced:
    """What ``run`` does with the branch that is checked out.

    Raises UsageError without a remote, and what the exchange raises.
    """
    if remote is None:
        raise UsageError("no remote is named", "give one with --remote")
    done = run(Publisher(repo, remote, rebuild))
    return Synced(done.tip, done.rebuilt, done.pushed, tuple(rebuild.outcomes.values()))


def after_failure(written: Written, failed: MemrepoError, notes: tuple[str, ...]) -> Written:
    """A write whose push failed: it is committed here, and goes out with the next one."""
    return msgspec.structs.replace(
        written,
        push_failed=failed.message,
        push_exit=failed.exit_code,
        notes=(*written.notes, *notes),
    )


def after_push(
    written: Written,
    synced: Synced,
    read: Callable[[str, Address], Answer],
    policy: Policy,
    notes: tuple[str, ...],
    *,
    expect: str | None = None,
) -> Written:
    """A write as it is once it was published, perhaps beside another writer's.

    Raises GateRefused where it expected an active record and met another one.
    """
    mine = written.answer.record
    outcome = next((one for one in synced.outcomes if one.record_id == mine.id), None)
    if outcome and outcome.lost and outcome.kept and expect is not None:
        problem = Problem("record-supersedes", "/lifecycle/supersedes", outcome.note)
        raise GateRefused(
            f"another record was published first: {outcome.note}",
            "read it, and write again what still holds",
            compose.as_findings([problem], mine, policy),
        )
    answer = read(outcome.instead if outcome and not outcome.kept else mine.id, mine.address)
    superseded = written.superseded
    if outcome:
        superseded = None if outcome.lost else answer.record.lifecycle.supersedes
    return msgspec.structs.replace(
        written,
        answer=answer,
        changed=written.changed and (outcome is None or outcome.kept),
        commit=synced.tip if synced.rebuilt else written.commit,
        superseded=superseded,
        pushed=True,
        notes=(*written.notes, *notes, *([outcome.note] if outcome else [])),
    )
