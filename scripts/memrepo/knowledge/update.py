"""Bring what a source gives onto its knowledge branch: one commit, or none.

A knowledge update is no cycle: the agent did not run, so there is no snapshot. A snapshot is
a state that the agent had, and what the branch holds becomes one only when it is merged, with
what others changed meanwhile; a snapshot of the branch's own view would then be refused by
the gate (``snapshot-mismatch``), and could be reverted to although it never was a state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import partial

import msgspec

from memrepo.cycle.commit import judge, judge_message
from memrepo.cycle.given import check_agent_id, check_message
from memrepo.cycle.plan import commit_message
from memrepo.errors import RemoteFailed, UsageError
from memrepo.gate.policy import policy_at
from memrepo.gitrepo.branches import commit_onto
from memrepo.gitrepo.commit import CommitRequest
from memrepo.gitrepo.published import Published, tries
from memrepo.gitrepo.repository import TipView
from memrepo.knowledge.brought import brought_by
from memrepo.knowledge.names import (
    REVISION_TRAILER,
    SOURCE_TRAILER,
    branch_of,
    checked_revision,
    checked_source,
    quoted,
)
from memrepo.knowledge.source import Given
from memrepo.knowledge.updateplan import UpdatePlan, not_given, plan_update, words_for
from memrepo.memory import MemoryRepo
from memrepo.protocol.documents import STATE_FILES
from memrepo.protocol.findings import Finding
from memrepo.protocol.layout import state_path
from memrepo.semdiff.change import ToolsDiff

_MOST_TRIES = 20
_MOST_SECONDS = 300.0


class Updated(msgspec.Struct, frozen=True):
    """What an update came to: ``commit`` is the branch's newest, ``changed`` whether it is new.

    ``revision`` is what the commit says of the source; ``findings`` are warnings; ``kept``
    are the tools that the source does not give and that stay, since it never brought them.
    """

    branch: str
    commit: str
    changed: bool
    created: bool
    agent_id: str
    revision: str
    diff: ToolsDiff
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def update(
    repo: MemoryRepo,
    source: str,
    agent_id: str,
    given: Given,
    *,
    message: str | None = None,
    revision: str | None = None,
    remote: str | None = None,
    into: str = "main",
    at: datetime | None = None,
    replace: bool = False,
    dry_run: bool = False,
) -> Updated:
    """Bring the tools of ``given`` to the agent on ``knowledge/<source>``.

    What the source brought earlier and no longer gives goes; what others brought stays, unless
    ``replace`` says that ``given`` is all that there should be.
    The branch begins at the tip of ``into`` where it is missing. One commit when something
    changed in meaning, none when only order or form did. Raises GateRefused for files that
    break a rule, RemoteFailed and PermissionDenied from the push; nothing is moved then.
    """
    branch = branch_of(checked_source(source))
    check_agent_id(agent_id)
    if message is not None:
        check_message(message)
    trailers = (
        f"Agent-Id: {agent_id}",
        f"{SOURCE_TRAILER}: {branch.partition('/')[2]}",
        f"{REVISION_TRAILER}: {checked_revision(revision or given.revision)}",
    )
    shelf = Published(repo.repository, remote)
    run = _Update(repo, agent_id, given, message, trailers, at or datetime.now(UTC))
    if not replace:
        run.brought = partial(_brought, shelf, branch, into, agent_id)
    for _ in tries(_MOST_TRIES, _MOST_SECONDS):
        tip = shelf.tip(branch)
        start = tip or shelf.tip(into)
        if start is None:
            raise UsageError(
                f"there is no branch {into} to begin {branch} from", "name another --into"
            )
        commit = run.on(start)
        if commit is None or dry_run or shelf.move(branch, tip, commit) == "moved":
            return Updated(
                branch=branch,
                commit=commit or start,
                changed=commit is not None,
                created=commit is not None and tip is None,
                agent_id=agent_id,
                revision=revision or given.revision,
                diff=run.plan.diff if run.plan else ToolsDiff(),
                findings=tuple(run.findings),
                notes=(*given.notes, *repo.repository.notes),
                kept=tuple(run.kept),
            )
    raise RemoteFailed(
        f"{branch} was moved by others at every one of {_MOST_TRIES} tries",
        "nothing was changed; run it again in a while",
    )


def _brought(shelf: Published, branch: str, into: str, agent_id: str, tip: str) -> set[str]:
    for name in (branch, into):
        shelf.whole(name)
    return brought_by(shelf.repo, tip, branch.partition("/")[2], agent_id)


class _Update:
    """One update, made anew on each tip that it is tried on."""

    def __init__(
        self,
        repo: MemoryRepo,
        agent_id: str,
        given: Given,
        message: str | None,
        trailers: tuple[str, ...],
        when: datetime,
    ) -> None:
        self.repo, self.agent_id, self.given = repo, agent_id, given
        self.message, self.trailers, self.when = message, trailers, when
        self.brought: Callable[[str], Collection[str]] | None = None
        self.kept: list[str] = []
        self.plan: UpdatePlan | None = None
        self.findings: list[Finding] = []

    def on(self, tip: str) -> str | None:
        """The update's commit on ``tip``; None where there is nothing to change."""
        policy = policy_at(self.repo.repository, tip)

        def build(view: TipView) -> CommitRequest | None:
            before = {name: view.read(state_path(self.agent_id, name)) for name in STATE_FILES}
            self.kept = self.others(tip, before["tools.json"])
            tools = self.given.tools
            self.plan = plan_update(self.agent_id, before, tools, self.when, self.kept)
            if self.plan is None:
                return None
            judged = judge(self.agent_id, self.plan.files, policy)
            self.findings = judged.findings
            words = self.message or words_for(self.plan.diff, new=self.plan.new)
            judge_message(words, policy)
            changes = {state_path(self.agent_id, n): data for n, data in judged.files.items()}
            text = commit_message(self.agent_id, quoted(words), list(self.trailers))
            return CommitRequest(changes=changes, message=text)

        return commit_onto(self.repo.repository, tip, build)

    def others(self, tip: str, held: bytes | None) -> list[str]:
        """The tools that are not given and that the source never brought."""
        gone = not_given(self.agent_id, held, self.given.tools)
        if self.brought is None or not gone:
            return []
        mine = self.brought(tip)
        return [name for name in gone if name not in mine]
