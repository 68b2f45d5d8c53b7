"""The Python API: one open memory repository.

>>> from memrepo import MemoryRepo
>>> with MemoryRepo("my-memory") as repo:
...     repo.commit("support_v1", "answered a refund question")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.cycle.given import (
    Committed,
    State,
    aware,
    check_agent_id,
    check_message,
    given,
)
from memrepo.errors import GateRefused, NotAMemoryRepo
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.protocol.findings import Finding
from memrepo.protocol.policy import POLICY_PATH, Policy

if TYPE_CHECKING:
    from memrepo.cycle.commit import Judged
    from memrepo.cycle.plan import CyclePlan
    from memrepo.gate.compare import Compared
    from memrepo.gitrepo.bulk import Batch
    from memrepo.history.blame import Origin
    from memrepo.history.cycles import Cycle
    from memrepo.history.show import Shown
    from memrepo.report.verdict import Review


class MemoryRepo:
    """A memory repository that stays open: Git's processes and trees are kept between calls.

    ``path`` lies anywhere in the repository. Works on a bare repository too, where the
    state must be given. Not for use by several threads at once.
    Raises :class:`NotAMemoryRepo` when ``path`` is in no Git repository.
    """

    def __init__(self, path: str | Path = ".") -> None:
        self._repo = Repository.open(Path(path))
        self._policy: tuple[bytes | None, Policy] = (None, Policy())

    def __enter__(self) -> MemoryRepo:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the Git processes that were kept."""
        self._repo.close()

    @property
    def repository(self) -> Repository:
        """The Git repository underneath."""
        return self._repo

    def policy(self) -> Policy:
        """The policy of ``HEAD``."""
        return self.policy_on_tip(self._repo.view(self._repo.tip()))

    def policy_on_tip(self, tip: TipView) -> Policy:
        """The policy that ``tip`` holds; read again only when the file's blob changed."""
        entry = tip.entry(POLICY_PATH)
        oid = entry.oid if entry else None
        if oid != self._policy[0] or oid is None:
            from memrepo.cycle.commit import policy_on

            self._policy = (oid, policy_on(tip))
        return self._policy[1]

    def commit(
        self,
        agent_id: str,
        message: str,
        *,
        state: State | None = None,
        at: datetime | None = None,
        push: bool = False,
        remote: str = "origin",
        dry_run: bool = False,
    ) -> Committed:
        """Commit one cycle: the agent's three files and one snapshot, nothing else.

        Without ``state`` the files are those of the worktree. ``at`` is the cycle's time
        (now): the snapshot's name, and the commit's dates.
        Raises :class:`GateRefused` when the files break a rule, :class:`BadInput` when the
        agent has none, :class:`NeedsPerson` and :class:`RemoteFailed` from a push.
        """
        from memrepo.cycle.commit import judge, judge_message, read_state
        from memrepo.gate.policy import policy_of_worktree

        check_agent_id(agent_id)
        check_message(message)
        files = given(state) if state is not None else read_state(self._repo, agent_id)
        policy = self.policy_on_tip(self._repo.view(self._repo.tip()))
        judge_message(message, policy)
        try:
            judged = judge(agent_id, files, policy)
        except GateRefused as refused:
            if not self._repo.bare and policy_of_worktree(self._repo.path) != policy:
                refused.hint = (
                    "the policy of the last commit judged: commit your change of it first"
                )
            raise
        return self._write(agent_id, judged, message, at, push, remote, dry_run)

    def revert(
        self,
        agent_id: str,
        rev: str,
        *,
        message: str | None = None,
        at: datetime | None = None,
        dry_run: bool = False,
    ) -> Committed:
        """Bring the agent's files back as they were at ``rev``, byte for byte, in a new commit.

        ``rev`` is a revision or a snapshot's name. Raises :class:`UnknownRevision` where
        there is no such revision or agent, :class:`NeedsPerson` when the agent has
        changes that are not committed; nothing changes then.
        """
        from memrepo.cycle.commit import Judged
        from memrepo.cycle.revert import canonical_of, refuse_if_dirty
        from memrepo.history.show import files_at

        check_agent_id(agent_id)
        shown = files_at(self._repo, agent_id, rev)
        judged = Judged(shown.files, canonical_of(agent_id, shown.files, rev), [])
        refuse_if_dirty(self._repo, agent_id, self._repo.view(self._repo.tip()))
        text = message or f"revert to {shown.commit[:12]}"
        return self._write(
            agent_id,
            judged,
            text,
            at,
            False,
            "origin",
            dry_run,
            trailers=(f"Reverts-To: {shown.commit}",),
        )

    def _write(
        self,
        agent_id: str,
        judged: Judged,
        message: str,
        at: datetime | None,
        push: bool,
        remote: str,
        dry_run: bool,
        *,
        trailers: Sequence[str] = (),
    ) -> Committed:
        from memrepo.cycle.commit import builder, refuse_push_in_vain
        from memrepo.gitrepo.commit import commit

        if push and not dry_run:
            refuse_push_in_vain(self._repo, remote)
        when = aware(at, "at") or datetime.now(UTC)
        plans: list[CyclePlan] = []
        tip = self._repo.view(self._repo.tip())
        build = builder(
            agent_id,
            judged,
            message,
            when,
            layout=self.policy_on_tip(tip).history.layout,
            trailers=trailers,
            planned=plans.append,
            complete=not trailers,  # a revert that changes nothing makes no commit
        )
        if dry_run:
            request = build(tip)
            paths = tuple(request.changes) if request else ()
            return Committed(
                tip.commit or "",
                changed=bool(request),
                paths=paths,
                findings=tuple(judged.findings),
            )
        done = commit(self._repo, build, when=int(when.timestamp()) if at else None)
        if push:
            from memrepo.gitrepo.sync import push_head

            push_head(self._repo, remote=remote)
        findings = tuple(judged.findings)
        notes = tuple(self._repo.notes)
        self._repo.notes.clear()
        if done is None:
            return Committed(self._holding(agent_id), "", False, push, (), findings, notes)
        if self._repo.head_ref() is None:
            notes = (*notes, "HEAD is detached: git switch -c NAME keeps this commit on a branch")
        plan = plans[-1]
        # A push that lost a race has rebuilt the commit on the new tip.
        written = done if self._repo.tip() == done else self._holding(agent_id)
        return Committed(written, plan.snapshot, True, push, tuple(plan.files), findings, notes)

    def _holding(self, agent_id: str) -> str:
        """The newest commit of the agent; the tip where memrepo wrote none."""
        from memrepo.gitrepo.log import agent_log

        entries = agent_log(self._repo, agent_id, limit=1)
        return entries[0].commit if entries else self._repo.tip() or ""

    @contextmanager
    def bulk(self) -> Iterator[Bulk]:
        """Many cycles in one stream: one pack, one move of the branch at the end.

        >>> with repo.bulk() as batch:
        ...     for cycle in cycles:
        ...         batch.commit("support_v1", cycle.message, state=cycle.state, at=cycle.at)
        """
        from memrepo.gitrepo.bulk import bulk

        with bulk(self._repo) as batch:
            yield Bulk(self, batch)

    def history(
        self,
        agent_id: str,
        *,
        rev: str = "HEAD",
        limit: int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Cycle]:
        """The agent's cycles, newest first. Ids are matched whole."""
        from memrepo.history.cycles import list_cycles

        check_agent_id(agent_id)
        aware(since, "since")
        aware(until, "until")
        return list_cycles(self._repo, agent_id, rev=rev, limit=limit, since=since, until=until)

    def show(self, agent_id: str, rev: str = "HEAD") -> Shown:
        """The agent's three files as they were at ``rev`` (a revision or a snapshot's name)."""
        from memrepo.history.show import files_at

        check_agent_id(agent_id)
        return files_at(self._repo, agent_id, rev)

    def blame(self, agent_id: str, rev: str = "HEAD") -> list[Origin]:
        """For every turn and tool, the commit that brought it in its present form."""
        from memrepo.history.blame import blame

        check_agent_id(agent_id)
        return blame(self._repo, agent_id, rev=rev)

    def diff(
        self, base: str | None = None, head: str | None = None, *, agent_id: str | None = None
    ) -> Compared:
        """The semantic diff between two revisions.

        Without ``head``, from ``base`` (``HEAD``) to the files of the worktree.
        """
        from memrepo.gate.compare import agents_after, compare
        from memrepo.gate.sides import Commits, Worktree

        if agent_id is not None:
            check_agent_id(agent_id)
        start = self._repo.resolve(base) if base is not None else self._repo.tip()
        if head is not None and start is not None:
            sides: Commits | Worktree = Commits(self._repo, start, self._repo.resolve(head))
        else:
            sides = Worktree(self._repo, start, self._root())
        policy = self.policy_on_tip(self._repo.view(start))
        if agent_id is not None and agent_id not in sides.agents_before() | agents_after(sides):
            from memrepo.history.known import no_agent

            raise no_agent(self._repo, agent_id, base or "HEAD")
        return compare(sides, policy, agent_id=agent_id)

    def review(
        self, base: str, head: str = "HEAD", *, names: tuple[str, str] | None = None
    ) -> Review:
        """Findings and semantic diff of what ``head`` changes since it left ``base``.

        ``names`` are the words for the two in reports (the revisions themselves).
        """
        from memrepo.review.review import review_change

        return review_change(self._repo, base, head, names)

    def validate(
        self,
        paths: str | Path | Sequence[str | Path] = (),
        *,
        base: str | None = None,
        head: str = "HEAD",
        staged: bool = False,
        index_file: Path | None = None,
        text: bool = True,
    ) -> list[Finding]:
        """Findings about the worktree (or ``paths`` of it), the index, or a change.

        ``text``: run the text rules too, not the protocol alone. ``index_file`` is the
        index that Git gave to a hook.
        """
        from memrepo.validate import validate

        if base is not None:
            return validate.validate_change(self._repo, base, head)
        if staged:
            return validate.validate_staged(self._repo, index_file)
        if isinstance(paths, str | Path):
            paths = [paths]
        if paths:
            return validate.validate_paths(self._repo, [Path(p) for p in paths], text=text)
        return validate.validate_all(self._repo, text=text)

    def _root(self) -> Path:
        if self._repo.bare:
            raise NotAMemoryRepo(
                "this repository is bare: it has no files of its own",
                "name two revisions, or give the state itself",
            )
        return self._repo.path


class Bulk:
    """The cycles of one :meth:`MemoryRepo.bulk`."""

    def __init__(self, owner: MemoryRepo, batch: Batch) -> None:
        self._owner = owner
        self._batch = batch

    def commit(
        self, agent_id: str, message: str, *, state: State, at: datetime | None = None
    ) -> None:
        """Add one cycle. Raises what :meth:`MemoryRepo.commit` raises; the batch goes on."""
        from memrepo.cycle.commit import builder, judge, judge_message

        check_agent_id(agent_id)
        tip = self._batch.view()
        policy = self._owner.policy_on_tip(tip)
        judge_message(message, policy)
        judged = judge(agent_id, given(state), policy)
        when = aware(at, "at") or datetime.now(UTC)
        build = builder(agent_id, judged, message, when, layout=policy.history.layout)
        self._batch.commit(build, when=int(when.timestamp()))
