"""Judge what a change does to shared records, and say what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.gate.files import make, too_large
from memrepo.gate.recordclaims import check_signatures, claim_problems, code_problems
from memrepo.gate.recordfile import judge_record_file, place_problems
from memrepo.gate.recordshown import Shown
from memrepo.gate.sides import PLAIN, Blob, Sides
from memrepo.gitrepo.backing import Backing
from memrepo.gitrepo.changes import FileChange
from memrepo.protocol.findings import Finding
from memrepo.protocol.layout import place_of
from memrepo.protocol.policy import Policy
from memrepo.protocol.record import Record
from memrepo.protocol.recordfile import parse_record
from memrepo.protocol.recordplace import address_folder, address_words, record_path
from memrepo.recordrules.chain import chain_problems, overwrite_problem
from memrepo.recordrules.problem import Problem
from memrepo.recordrules.trust import external_problem
from memrepo.semdiff.records import RecordChange

if TYPE_CHECKING:
    from memrepo.gate.recordcode import OwnCode

#: The third line of a record that memrepo wrote: its key, which such a file says there alone.
_KEY = re.compile(rb"schema: agent-memory/0\.1\nid: mem_[0-9A-Z]{26}\nkey: ([a-z][a-z0-9-]*)\n")


class RecordsDiff(msgspec.Struct, frozen=True):
    """What changed, and the findings about it.

    ``opaque`` are the paths whose file says more than ``changes`` do, or cannot be read: they
    are to be shown as any other file is.
    """

    changes: tuple[RecordChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    opaque: frozenset[str] = frozenset()


class Touched(msgspec.Struct, frozen=True):
    """One record that the change touches: as it was and as it is, None where there is none."""

    path: str
    old: Record | None
    new: Record | None
    data: bytes = b""


def is_shared(path: str) -> bool:
    """Whether a path is the one of a shared record."""
    return place_of(path).role == "record"


def judge_records(
    changes: Sequence[FileChange], sides: Sides, policy: Policy, now: datetime | None = None
) -> RecordsDiff:
    """What ``changes`` do to the shared records, judged by ``policy`` (the one of the base).

    What a record claims is asked of those that the change brings; of the others, that no word
    of them is another. Chains are looked at as they are afterwards, for the addresses and
    keys that are touched; what was broken before is not the change's doing. ``now`` is the
    time by which a record can have been written.
    """
    wanted = [change for change in changes if is_shared(change.path)]
    if not wanted:
        return RecordsDiff()
    return _Judge(sides, policy, now or datetime.now(UTC)).judge(wanted)


class _Judge:
    """One look at the records of a change."""

    def __init__(self, sides: Sides, policy: Policy, now: datetime) -> None:
        self.sides, self.policy, self.now = sides, policy, now
        self.backing = Backing(policy.records.signers)
        self.findings: list[Finding] = []
        self.opaque: set[str] = set()

    def judge(self, changes: Sequence[FileChange]) -> RecordsDiff:
        touched = self._read(changes)
        check_signatures((one.new for one in touched if one.new and not one.old), self.backing)
        code = self._code() if any(one.new and not one.old for one in touched) else None
        for one in touched:
            if one.new is None:
                continue
            problems = self._problems(one.new, one.old, code)
            self.findings += place_problems(problems, one.path, one.data, self.policy)
            if one.old is None:
                self.findings += self._external(one)
        after = self._chains(touched)
        shown = Shown(self.backing, self.policy, after)
        changed = shown.changes([(one.path, one.old, one.new) for one in touched])
        return RecordsDiff(tuple(changed), tuple(self.findings), frozenset(self.opaque))

    def _read(self, changes: Sequence[FileChange]) -> list[Touched]:
        before, after = self.sides.before(changes), self.sides.after(changes)
        return [self._one(c, before.get(c.path), after.get(c.path)) for c in changes]

    def _one(self, change: FileChange, before: Blob | None, after: Blob | None) -> Touched:
        path = change.path
        old = parse_record(before.data, path)[0] if before and before.data is not None else None
        if before and old is None:
            self.opaque.add(path)
        if after is None or after.data is None:
            if after is not None:
                self.findings += too_large(path, after.size, self.policy)
            if old is not None:
                gone = "deleted" if change.new_mode == 0 else "replaced by something else"
                message = f"the record {old.id} was {gone}"
                hint = "restore it: git checkout <base> -- " + path
                self.findings += make(self.policy, "record-overwrite", path, message, hint)
            elif change.new_mode in PLAIN:
                self.opaque.add(path)
            return Touched(path, old, None)
        judged = judge_record_file(path, after.data, self.policy)
        self.findings += judged.findings
        if judged.record is None or not judged.plain:
            self.opaque.add(path)
        return Touched(path, old, judged.record, after.data)

    def _code(self) -> OwnCode | None:
        commit = self.sides.code_after()
        if commit is None:
            return None
        from memrepo.gate.recordcode import OwnCode

        return OwnCode(self.sides.repo, commit)

    def _problems(self, new: Record, old: Record | None, code: OwnCode | None) -> Iterator[Problem]:
        if old is not None:
            problem = overwrite_problem(old, new)
            if problem is not None:
                yield problem
            return
        yield from claim_problems(new, self.backing, self.now)
        if code is not None:
            yield from code_problems(new, code.of(new))

    def _external(self, one: Touched) -> list[Finding]:
        """Name what a writer who reads anyone's text proposes: a person has to look at it."""
        if one.new is None or external_problem(one.new) is None:
            return []
        place = address_words(one.new.address)
        message = f"a writer who reads what anyone may write says it to all of {place}"
        hint = "nothing of it is verified: read it as you would a stranger's"
        problem = Problem("record-trust", "/written_by/trust", message, hint)
        found = place_problems([problem], one.path, one.data, self.policy)
        return [replace(finding, severity="warning") for finding in found]

    def _chains(self, touched: Sequence[Touched]) -> dict[str, Record]:
        """Judge the chains that the change touches; their records by id, as they are after it."""
        keys: dict[str, set[str]] = {}
        for one in touched:
            for record in (one.old, one.new):
                if record is not None:
                    keys.setdefault(address_folder(record.address), set()).add(record.key)
        everything: dict[str, Record] = {}
        for folder in sorted(keys):
            blobs = self.sides.below_after(folder)
            after = {record.id: record for record in _of_keys(blobs, keys[folder])}
            before = dict(after)
            for one in touched:
                if one.new is not None:
                    before.pop(one.new.id, None)
            for one in touched:
                if one.old is not None and address_folder(one.old.address) == folder:
                    before[one.old.id] = one.old
            self._broken(before, after, blobs)
            everything |= after
        return everything

    def _broken(
        self, before: dict[str, Record], after: dict[str, Record], blobs: Mapping[str, Blob]
    ) -> None:
        known = set(chain_problems(before, self.backing.trust_of))
        for record_id, problem in chain_problems(after, self.backing.trust_of):
            if (record_id, problem) not in known:
                path = record_path(after[record_id].address, record_id)
                data = blobs[path].data or b""
                self.findings += place_problems([problem], path, data, self.policy)


def _of_keys(blobs: Mapping[str, Blob], keys: Iterable[str]) -> Iterator[Record]:
    """The records that have one of ``keys``; of most files a look at the third line is enough."""
    wanted = {key.encode() for key in keys}
    for path, blob in blobs.items():
        data = blob.data
        if data is None or not is_shared(path):
            continue
        found = _KEY.match(data)
        if found and found[1] not in wanted:
            continue
        record = parse_record(data, path)[0]
        if record is not None and record.key.encode() in wanted:
            yield record
