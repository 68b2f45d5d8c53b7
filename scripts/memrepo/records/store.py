"""Shared records in one memory repository: the five operations, and what keeps them honest."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import BadInput, MemrepoError, UsageError
from memrepo.gitrepo.commit import CommitRequest, commit
from memrepo.gitrepo.worktreeturn import worktree_turn
from memrepo.protocol.findings import Finding
from memrepo.protocol.policy import Policy
from memrepo.protocol.record import Address, Record, Trust, Writer
from memrepo.protocol.recorddump import dump_record, signed_bytes
from memrepo.protocol.recordplace import record_path
from memrepo.recordrules.problem import Problem
from memrepo.recordrules.trust import VERIFIED, rank
from memrepo.records import compose, writing
from memrepo.records.catalog import Catalog
from memrepo.records.decide import Plan, archived, ended_reason, plan_write
from memrepo.records.given import (
    checked_address,
    checked_expect,
    checked_id,
    checked_reason,
    checked_writer,
)
from memrepo.records.lookup import Lookup
from memrepo.records.tippolicy import TipPolicy
from memrepo.records.values import (
    Answer,
    Brief,
    Filters,
    Found,
    New,
    Summary,
    Swept,
    Synced,
    Written,
)
from memrepo.records.worth import Worth

if TYPE_CHECKING:
    from memrepo.gitrepo.publish import Published, Publisher
    from memrepo.gitrepo.repository import Repository, TipView

_DEFAULT = Filters()


class Store:
    """The records of ``repo``, as ``writer`` at ``address`` reads and writes them.

    ``policy`` None is the one of the branch that is checked out, read again when it changes.
    ``code`` is a checkout of the project at ``address``, read at its commits, for code
    references; without one they are all ``unverifiable``. ``signing_key`` is an SSH key's file,
    ``remote`` where pushes go. Raises UsageError for an address or writer that cannot be.
    Not for use by several threads at once.
    """

    def __init__(
        self,
        repo: Repository,
        *,
        writer: Writer,
        address: Address,
        policy: Policy | None = None,
        code: Path | None = None,
        signing_key: Path | None = None,
        remote: str | None = "origin",
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._repo = repo
        self.writer, self.address = checked_writer(writer), checked_address(address)
        self._tip_policy = TipPolicy(policy)
        self._key, self._remote, self._clock = signing_key, remote, clock
        self._catalog = Catalog(repo)
        self._worth = Worth(repo, self._catalog, address, code)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index and the checkout; the repository stays open."""
        self._catalog.close()
        self._worth.close()

    def read(self, key_or_id: str, address: Address | None = None) -> Answer:
        """The record of that id, or the one that holds for that key at an address.

        What someone vouches for counts more than what nobody does; then the nearest address.
        Raises BadInput when there is none there or in what the address inherits.
        """
        return self._lookup().read(key_or_id, self._at(address))

    def list(
        self, filters: Filters = _DEFAULT, address: Address | None = None
    ) -> builtins.list[Summary]:
        """The records of an address and of what it inherits, newest first."""
        return self._lookup().listed(filters, self._at(address))

    def search(
        self, query: str, filters: Filters = _DEFAULT, address: Address | None = None
    ) -> builtins.list[Found]:
        """The same by the words of ``query``, the best first. A query is text, never syntax."""
        return self._lookup().search(query, filters, self._at(address))

    def brief(self, max_tokens: int = 2_000, address: Address | None = None) -> Brief:
        """What an agent should be told at its start, in at most about ``max_tokens``."""
        if max_tokens < 100:
            raise UsageError(f"a brief of {max_tokens} tokens says nothing", "give 100 or more")
        return self._lookup().brief(max_tokens, self._at(address))

    def write(self, new: New, *, push: bool = False, dry_run: bool = False) -> Written:
        """Write a conclusion; it takes the place of the active one of its key.

        What an active record says already is not written again. Raises GateRefused with the
        findings (codes ``record-…`` and those of the text rules), UsageError for values that
        cannot be. A push that fails does not undo the write: see :class:`Written`.
        """
        address, now = self._at(new.address), self._clock()
        when = now.replace(microsecond=0)
        checked_expect(new.expect)
        policy, trust = self._policy(), self._claimed()
        blobs = self._worth.blobs_now(new.code_refs, address)
        record = compose.compose(new, address, self.writer, trust, blobs, now)
        findings = [*self._not_own(record, policy), *compose.judge(record, trust, policy)]
        compose.refuse(findings, "the record was not written")
        plans: builtins.list[tuple[Plan, Record | None]] = []

        def build(tip: TipView) -> CommitRequest | None:
            self._policy(tip)
            lookup = self._lookup(tip, now)
            active = [(old, self._worth.trust_of(old)) for old in lookup.active_at(record)]
            plan = plan_write(record, trust, active, when, expect=new.expect)
            found = compose.as_findings(plan.problems, record, policy)
            compose.refuse(found, "the record was not written")
            signed = self._signed(plan.record) if plan.record else None
            plans.append((plan, signed))
            if signed is None:
                return None
            files = (signed, *plan.files[1:])
            message = writing.written_message(signed, new.expect)
            return CommitRequest(_contents(files), message)

        done = self._commit(build, dry_run=dry_run)
        plan, signed = plans[-1]
        held = signed or plan.same
        if held is None:
            raise AssertionError("a write without problems has a record")
        said = ["an active record says this already"] if plan.same else []
        answer = self._worth.answer(held, now)
        written = Written(answer, plan.same is None, done, plan.superseded)
        written = msgspec.structs.replace(
            written, findings=tuple(findings), notes=(*said, *self._notes())
        )
        return self._pushed(written, expect=new.expect) if push and not dry_run else written

    def archive(
        self,
        record_id: str,
        reason: str,
        *,
        address: Address | None = None,
        push: bool = False,
        dry_run: bool = False,
    ) -> Written:
        """Take a record out of the active set; it stays with its trail.

        Raises BadInput when it is not at the address, GateRefused where the writer may not,
        or the reason breaks a text rule. One that is archived already stays as it is.
        """
        where, now = self._at(address), self._clock()
        checked_reason(reason)
        checked_id(record_id)
        policy = self._policy()
        made: builtins.list[tuple[Record, bool]] = []

        def build(tip: TipView) -> CommitRequest | None:
            old = self._lookup(tip, now).read(record_id, where).record
            if old.address != where:
                raise BadInput(
                    f"{record_id} is inherited from another address",
                    "name the address that it is about",
                )
            if old.lifecycle.status == "archived":
                made.append((old, False))
                return None
            record = archived(old, now.replace(microsecond=0), reason)
            compose.refuse(
                [
                    *self._may_archive(old, policy),
                    *self._not_own(record, policy),
                    *compose.text_findings(record, policy),
                ],
                "the record was not archived",
            )
            made.append((record, True))
            return CommitRequest(_contents([record]), writing.ended_message([record], "archived"))

        done = self._commit(build, dry_run=dry_run)
        record, changed = made[-1]
        written = Written(self._worth.answer(record, now), changed, done, notes=self._notes())
        return self._pushed(written) if push and not dry_run else written

    def sweep(self, *, push: bool = False, dry_run: bool = False) -> Swept:
        """Archive every active record that is past its end, of all addresses, in one commit."""
        now = self._clock()
        made: builtins.list[builtins.list[Record]] = []

        def build(tip: TipView) -> CommitRequest | None:
            when = now.replace(microsecond=0)
            ended = [archived(r, when, ended_reason(r)) for r in self._lookup(tip, now).ended()]
            made.append(ended)
            if not ended:
                return None
            return CommitRequest(_contents(ended), writing.ended_message(ended, "expired"))

        done = self._commit(build, dry_run=dry_run)
        swept = Swept(tuple(record.id for record in made[-1]), done, notes=self._notes())
        if not push or dry_run:
            return swept
        try:
            synced = self._exchange(lambda publisher: publisher.push())
        except MemrepoError as failed:
            said, code = failed.message, failed.exit_code
            return msgspec.structs.replace(swept, push_failed=said, push_exit=code)
        where = synced.tip if done and synced.rebuilt else done
        return msgspec.structs.replace(swept, pushed=True, commit=where)

    def verify(self) -> builtins.list[Finding]:
        """Findings about all records: schema, limits, signatures, chains, cited code."""
        from memrepo.records.verify import verify_all

        return verify_all(self._repo, self._repo.tip(), self._worth, self._policy())

    def sync(self) -> Synced:
        """Exchange records with the remote: take over others', publish one's own.

        Raises RemoteFailed, PermissionDenied, or NeedsPerson where histories do not fit.
        """
        return self._exchange(lambda publisher: publisher.push(fetch=True))

    def pull(self) -> Synced:
        """Take over what others published, and publish nothing."""
        return self._exchange(lambda publisher: publisher.pull())

    def _exchange(self, run: Callable[[Publisher], Published]) -> Synced:
        from memrepo.records.exchange import exchange
        from memrepo.records.rebuild import Rebuilder

        rebuild = Rebuilder(
            self._repo,
            lambda view, record: self._lookup(view).active_at(record),
            self._worth.trust_of,
            # One writer's key is none for what another wrote in this clone.
            lambda r: self._signed if self._key and r.written_by == self.writer else None,
            self._clock().replace(microsecond=0),
        )
        return exchange(self._repo, self._remote, rebuild, run)

    def _pushed(self, written: Written, *, expect: str | None = None) -> Written:
        """``written`` after a push, as what its record is by then."""
        from memrepo.records.exchange import after_failure, after_push

        try:
            synced = self._exchange(lambda publisher: publisher.push())
        except MemrepoError as failed:
            return after_failure(written, failed, self._notes())
        policy = self._policy()
        return after_push(written, synced, self.read, policy, self._notes(), expect=expect)

    def _commit(self, build: Callable[[TipView], CommitRequest | None], *, dry_run: bool) -> str:
        if dry_run:
            build(self._repo.view(self._repo.tip()))
            return ""
        with worktree_turn(self._repo) as turn:

            def noted(tip: TipView) -> CommitRequest | None:
                request = build(tip)
                turn.writes(request.changes if request else {})
                return request

            return commit(self._repo, noted) or ""

    def _lookup(self, view: TipView | None = None, now: datetime | None = None) -> Lookup:
        tip = view or self._repo.view(self._repo.tip())
        self._policy(tip)
        return Lookup(self._catalog, self._worth, tip, now or self._clock())

    def _policy(self, view: TipView | None = None) -> Policy:
        """The policy that counts, and the signers it lists put to use."""
        policy = self._tip_policy.of(view or self._repo.view(self._repo.tip()))
        self._worth.under(policy.records.signers)
        return policy

    def _at(self, address: Address | None) -> Address:
        return self.address if address is None else checked_address(address)

    def _signed(self, record: Record) -> Record:
        """``record`` signed where there is a key and the writer claims what needs one."""
        if self._key is None or self.writer.trust not in VERIFIED:
            return record
        from memrepo.gitrepo.sign import sign

        return compose.with_signature(record, sign(signed_bytes(record), self._key))

    def _claimed(self) -> Trust:
        """The trust that this writer's records count with."""
        if self.writer.trust not in VERIFIED or self._key is None:
            return "session" if self.writer.trust in VERIFIED else self.writer.trust
        when = datetime(2000, 1, 1, tzinfo=UTC)
        new = New("probe", "Which trust the key gives.")
        probe = compose.compose(new, self.address, self.writer, "session", {}, when)
        return self._worth.trust_of(self._signed(probe))

    def _may_archive(self, old: Record, policy: Policy) -> builtins.list[Finding]:
        own, theirs = self._claimed(), self._worth.trust_of(old)
        if rank(own) >= rank(theirs):
            return []
        message = f"{old.id} has the trust {theirs}; {own} does not archive it"
        hint = "propose it in a pull request, or sign with a key that the policy lists"
        return compose.as_findings(
            [Problem("record-trust", "/lifecycle/status", message, hint)], old, policy
        )

    def _not_own(self, record: Record, policy: Policy) -> builtins.list[Finding]:
        """A record of the scope agent is for its writer alone, and external stays there."""
        place = record.address
        if place.scope == "agent" and place.agent != self.writer.agent:
            message = f"the address is that of {place.agent}, and {self.writer.agent} writes"
            problem = Problem("record-address", "/address/agent", message, "write to your own")
            return compose.as_findings([problem], record, policy)
        return []

    def _notes(self) -> tuple[str, ...]:
        notes = tuple(self._repo.notes)
        self._repo.notes.clear()
        return notes


def _contents(records: Sequence[Record]) -> dict[str, bytes | None]:
    return {record_path(record.address, record.id): dump_record(record) for record in records}
