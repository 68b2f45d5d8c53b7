"""Chains of records: which conclusion replaced which, and what may change in one that exists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

import msgspec

from memrepo.protocol.record import Lifecycle, Record, Trust
from memrepo.protocol.recorddump import dump_record
from memrepo.recordrules.problem import Problem
from memrepo.recordrules.trust import rank, supersede_problem

_MOVES = {
    ("active", "superseded"),
    ("active", "archived"),
    ("superseded", "archived"),
}


def overwrite_problem(old: Record, new: Record) -> Problem | None:
    """Why ``new`` may not take the place of ``old`` in its file, or None when it may.

    Only the end of a record's life is ever written into it: its status (active, then
    superseded, then archived), what superseded it, and why.
    """
    # Bytes, not values: to Python, 1 and true are equal.
    if dump_record(_birth(old)) != dump_record(_birth(new)):
        return Problem(
            "record-overwrite",
            _changed_field(old, new),
            "the content of a record that exists was changed",
            "restore it, and write a new record that supersedes it",
        )
    before, after = old.lifecycle, new.lifecycle
    moved = before.status != after.status
    if moved and (before.status, after.status) not in _MOVES:
        return Problem(
            "record-overwrite",
            "/lifecycle/status",
            f"a record does not go from {before.status} to {after.status}",
            "write a new record that supersedes it",
        )
    if before.superseded_by and after.superseded_by != before.superseded_by:
        return Problem(
            "record-overwrite",
            "/lifecycle/superseded_by",
            f"what superseded it was changed from {before.superseded_by}",
            "restore it",
        )
    if not moved and (before, old.updated_at) != (after, new.updated_at):
        return Problem(
            "record-overwrite",
            "/lifecycle",
            f"a record that stays {before.status} was changed",
            "restore it",
        )
    return None


def chain_problems(
    records: Mapping[str, Record], trust_of: Callable[[Record], Trust]
) -> list[tuple[str, Problem]]:
    """What is wrong between the records of one address, as (id, problem), in the order of ids.

    ``records`` are all of them by id; ``trust_of`` gives the trust that counts.
    """
    found: list[tuple[str, Problem]] = []
    for record_id in sorted(records):
        record = records[record_id]
        found += [(record_id, problem) for problem in _own(record, records, trust_of)]
    found += _two_active(records.values())
    found += _circles(records)
    return sorted(found, key=lambda one: one[0])


def _own(
    record: Record, records: Mapping[str, Record], trust_of: Callable[[Record], Trust]
) -> list[Problem]:
    problems = []
    life = record.lifecycle
    if life.supersedes is not None:
        old = records.get(life.supersedes)
        if old is None or old.key != record.key:
            problems.append(
                _broken(
                    "/lifecycle/supersedes",
                    f"{life.supersedes}, which it supersedes, is no record of this address "
                    f"and the key {record.key}",
                )
            )
        else:
            if old.lifecycle.status == "active":
                message = f"{old.id}, which it supersedes, is still active"
                problems.append(_broken("/lifecycle/supersedes", message))
            evidence = str(record.attributes.get("evidence", ""))
            refused = supersede_problem(trust_of(record), old.id, trust_of(old), evidence)
            problems += [refused] if refused else []
    if life.status == "superseded" and life.superseded_by is None:
        message = "it is superseded, and does not say by which record"
        problems.append(_broken("/lifecycle/superseded_by", message))
    if life.superseded_by is not None:
        by = records.get(life.superseded_by)
        if by is None or by.key != record.key:
            message = f"{life.superseded_by}, which superseded it, is no record of this key"
            problems.append(_broken("/lifecycle/superseded_by", message))
        elif by.lifecycle.supersedes != record.id:
            # The other does not say so itself, as after two writers met: the rule is the same.
            mine, theirs = trust_of(record), trust_of(by)
            if rank(theirs) < rank(mine):
                message = f"{by.id}, which superseded it, has the trust {theirs}; it has {mine}"
                hint = "restore it; a lower trust never supersedes a higher one"
                place = "/lifecycle/superseded_by"
                problems.append(Problem("record-trust", place, message, hint))
    return problems


def _two_active(records: Iterable[Record]) -> list[tuple[str, Problem]]:
    active: dict[str, list[str]] = defaultdict(list)
    for record in records:
        if record.lifecycle.status == "active":
            active[record.key].append(record.id)
    return [
        (
            record_id,
            Problem(
                "record-supersedes",
                "/key",
                f"{len(ids)} records are active for the key {key}: {', '.join(sorted(ids))}",
                "let the newest supersede the others",
            ),
        )
        for key, ids in active.items()
        if len(ids) > 1
        for record_id in sorted(ids)[1:]
    ]


def _circles(records: Mapping[str, Record]) -> list[tuple[str, Problem]]:
    found = []
    done: set[str] = set()
    for start in sorted(records):
        way: dict[str, None] = {}
        at: str | None = start
        while at is not None and at in records and at not in done:
            if at in way:
                circle = list(way)[list(way).index(at) :]
                first = min(circle)
                message = f"it supersedes itself by way of {', '.join(sorted(circle))}"
                found.append((first, _broken("/lifecycle/supersedes", message)))
                break
            way[at] = None
            at = records[at].lifecycle.supersedes
        done.update(way)
    return found


def _broken(pointer: str, message: str) -> Problem:
    hint = "write it with `memrepo records write`, which keeps the chain"
    return Problem("record-supersedes", pointer, message, hint)


def _birth(record: Record) -> Record:
    """A record as it was when it was written, as far as that can still be seen."""
    life = Lifecycle(
        ttl_seconds=record.lifecycle.ttl_seconds, supersedes=record.lifecycle.supersedes
    )
    return msgspec.structs.replace(record, updated_at=record.created_at, lifecycle=life)


def _changed_field(old: Record, new: Record) -> str:
    before, after = _birth(old), _birth(new)
    names = (field.name for field in msgspec.structs.fields(Record))
    return next((f"/{n}" for n in names if getattr(before, n) != getattr(after, n)), "")
