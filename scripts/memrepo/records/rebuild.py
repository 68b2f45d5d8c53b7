"""What becomes of a commit of records on another tip: decided anew there, not replayed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from memrepo.gitrepo.log import trailer
from memrepo.gitrepo.paths import path_text
from memrepo.gitrepo.remake import remake
from memrepo.protocol.record import RECORDS_FOLDER, Record, Trust
from memrepo.protocol.recorddump import dump_record
from memrepo.protocol.recordfile import parse_record
from memrepo.protocol.recordplace import record_path
from memrepo.records.decide import Weighed, archived, plan_late
from memrepo.records.values import Outcome
from memrepo.records.writing import EXPECT_TRAILER

if TYPE_CHECKING:
    from memrepo.gitrepo.replay import Change
    from memrepo.gitrepo.repository import Repository, TipView

#: The active records of the address and key of a record, as a tip has them.
ActiveAt = Callable[["TipView", Record], list[Record]]


class Rebuilder:
    """Makes commits of records again on another tip.

    ``active_at`` looks records up and ``trust_of`` weighs them. ``sign`` gives what signs a
    record that had to change, None where its writer's key is not at hand. ``outcomes`` says,
    by id, which records met another writer's.
    """

    def __init__(
        self,
        repo: Repository,
        active_at: ActiveAt,
        trust_of: Callable[[Record], Trust],
        sign: Callable[[Record], Callable[[Record], Record] | None],
        now: datetime,
    ) -> None:
        self._repo = repo
        self._active_at, self._trust_of, self._sign = active_at, trust_of, sign
        self._now = now
        self.outcomes: dict[str, Outcome] = {}

    def __call__(self, change: Change, onto: str) -> str | None:
        """The tip with ``change`` made again on ``onto``; None for a commit of anything else."""
        files = self._files(change)
        if files is None:
            return None
        view = self._repo.view(onto)
        done: dict[str, Record] = {}
        for record in files.values():
            if not self._is_new(change, record):
                self._end(view, record, done)
        message = change.parsed.message.decode("utf-8", "replace")
        expect = trailer(message, EXPECT_TRAILER) or None
        for record in files.values():
            if self._is_new(change, record):
                self._write(view, record, done, expect)
        contents = {record_path(r.address, r.id): dump_record(r) for r in done.values()}
        return remake(self._repo, change, onto, contents) if contents else onto

    def _files(self, change: Change) -> dict[str, Record] | None:
        """The records that a commit writes, by path; None when it does anything else."""
        found: dict[str, Record] = {}
        for raw, value in change.applied.after.items():
            path = path_text(raw)
            if value is None or not path.startswith(f"{RECORDS_FOLDER}/"):
                return None
            record = parse_record(self._repo.trees.blob(value.oid), path)[0]
            if record is None:
                return None
            found[path] = record
        return found or None

    def _is_new(self, change: Change, record: Record) -> bool:
        return change.applied.before.get(record_path(record.address, record.id).encode()) is None

    def _at(self, view: TipView, record: Record) -> Record | None:
        path = record_path(record.address, record.id)
        data = view.read(path)
        return parse_record(data, path)[0] if data is not None else None

    def _end(self, view: TipView, record: Record, done: dict[str, Record]) -> None:
        """Archive a record there, too; one that was superseded is, by what superseded it."""
        there = self._at(view, record)
        ended = there and there.lifecycle.status != "archived"
        if there and ended and record.lifecycle.status == "archived":
            done[there.id] = archived(there, record.updated_at, record.lifecycle.reason)

    def _write(
        self, view: TipView, record: Record, done: dict[str, Record], expect: str | None
    ) -> None:
        if self._at(view, record):
            return  # published already
        if record.lifecycle.status != "active":
            done[record.id] = record
            return
        active: list[Weighed] = []
        for one in [*self._active_at(view, record), *done.values()]:
            now = done.get(one.id, one)
            same_place = (now.address, now.key) == (record.address, record.key)
            if same_place and now.lifecycle.status == "active":
                active.append((now, self._trust_of(now)))

        def exists(record_id: str) -> bool:
            other = msgspec.structs.replace(record, id=record_id)
            return record_id in done or self._at(view, other) is not None

        plan = plan_late(
            record,
            self._trust_of(record),
            list({one.id: (one, trust) for one, trust in active}.values()),
            self._now,
            expect=expect,
            exists=exists,
            may_sign=self._sign(record) is not None,
        )
        for one in plan.files:
            done[one.id] = one
        if plan.record:
            signed = self._signed(record, plan.record)
            done[signed.id] = signed
        self._tell(record, plan.same, plan.superseded, plan.lost_to)

    def _signed(self, before: Record, after: Record) -> Record:
        moved = before.lifecycle.supersedes != after.lifecycle.supersedes
        sign = self._sign(before) if moved and before.signature else None
        return sign(after) if sign else after

    def _tell(
        self, record: Record, same: Record | None, superseded: str | None, lost_to: str | None
    ) -> None:
        name = record.id
        if same:
            note = f"{same.id} of another writer says the same and was first; {name} was left out"
            self.outcomes[name] = Outcome(name, note, same.id, lost=True, kept=False)
        elif lost_to:
            note = (
                f"{lost_to} of another writer was first and stays the active one; {name} is kept "
                "as superseded by it"
            )
            self.outcomes[name] = Outcome(name, note, lost_to, lost=True)
        elif superseded and superseded != record.lifecycle.supersedes:
            note = f"{superseded} of another writer was first; {name} supersedes it"
            self.outcomes[name] = Outcome(name, note, name)
