"""Decide what a write or an end of a record does to the records of its key. Pure.

Values in, a plan out: the records as they shall be, or why not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from memrepo.errors import NeedsPerson
from memrepo.protocol.record import Record, Status, Trust
from memrepo.protocol.timestamps import iso
from memrepo.recordrules.problem import Problem
from memrepo.recordrules.trust import rank, supersede_problem
from memrepo.records.values import NONE_ACTIVE

#: A record and the trust of it that counts.
Weighed = tuple[Record, Trust]
_OWN_ATTRIBUTES = ("confidence", "evidence", "code_blobs")


class Plan(msgspec.Struct, frozen=True):
    """What a write comes to.

    ``record`` is the record as it is written, and ``files`` are all that are written, it
    among them; both are empty where ``same`` (which says the same already) or ``problems``
    stand in the way. ``superseded`` is the record it takes the place of, ``lost_to`` the one
    that it could not take the place of.
    """

    record: Record | None = None
    files: tuple[Record, ...] = ()
    superseded: str | None = None
    same: Record | None = None
    lost_to: str | None = None
    problems: tuple[Problem, ...] = ()


def plan_write(
    new: Record,
    trust: Trust,
    active: Sequence[Weighed],
    now: datetime,
    *,
    expect: str | None = None,
) -> Plan:
    """What becomes of ``new``, whose trust that counts is ``trust``, beside the ``active`` ones.

    One of them that is past its end is in nobody's way: it is superseded where that is
    allowed, and archived where it is not.
    """
    here = [(old, weight) for old, weight in active if old.is_active(now)]
    ended = [(old, weight) for old, weight in active if not old.is_active(now)]
    for old, weight in here:
        if says_the_same(old, new) and rank(trust) <= rank(weight):
            return Plan(same=old)
    problems = [*_unexpected(expect, here, ended), *_stronger(new, trust, here)]
    if problems:
        return Plan(problems=tuple(problems))
    taken = [
        *here,
        *((old, weight) for old, weight in ended if not _stronger(new, trust, [(old, weight)])),
    ]
    main = _first(taken)
    record = with_life(new, supersedes=main.id if main else None)
    others = [superseded(old, record.id, now) for old, _ in taken]
    done = {old.id for old, _ in taken}
    others += [archived(old, now, ended_reason(old)) for old, _ in ended if old.id not in done]
    return Plan(record, (record, *others), main.id if main else None)


def plan_late(
    new: Record,
    trust: Trust,
    active: Sequence[Weighed],
    now: datetime,
    *,
    expect: str | None = None,
    exists: Callable[[str], bool],
    may_sign: bool,
) -> Plan:
    """The same for a record that was written already and meets others only when published.

    It is kept in any case. The one with the higher trust is the active one then, and of two
    that weigh the same the later; a write that expected another one is not. What a signature
    covers stays as it is where ``may_sign`` is false.
    """
    fixed = bool(new.signature) and not may_sign
    before = new.lifecycle.supersedes
    if before and not exists(before):
        if fixed:
            raise NeedsPerson(
                f"{new.id} supersedes {before}, which was left out since another writer said the "
                "same first",
                "publish it with the key that signed it, or write it again",
            )
        new = with_life(new, supersedes=None)
    plan = plan_write(new, trust, active, now, expect=expect)
    if plan.same:
        return plan
    if plan.record:
        if fixed and plan.record.lifecycle.supersedes != before:
            return msgspec.structs.replace(plan, record=new, files=(new, *plan.files[1:]))
        return plan
    here = [(old, weight) for old, weight in active if old.is_active(now)]
    winner = _first(here)
    if winner is None or (
        rank(trust) >= max(rank(weight) for _, weight in here)
        and not any(problem.code == "record-supersedes" for problem in plan.problems)
    ):
        # It weighs more, and had no reason to name evidence: it takes the place all the same,
        # and its own bytes stay.
        others = [superseded(old, new.id, now) for old, _ in active]
        return Plan(new, (new, *others), winner.id if winner else None)
    lost = with_life(new, status="superseded", superseded_by=winner.id)
    lost = msgspec.structs.replace(lost, updated_at=max(now, new.updated_at))
    return Plan(lost, (lost,), lost_to=winner.id)


def says_the_same(old: Record, new: Record) -> bool:
    """Whether two records of a key say the same: what, of which kind, and about which code."""
    return _said(old) == _said(new)


def with_life(record: Record, **changes: object) -> Record:
    """``record`` with fields of its lifecycle replaced."""
    life = msgspec.structs.replace(record.lifecycle, **changes)
    return msgspec.structs.replace(record, lifecycle=life)


def superseded(old: Record, by: str, now: datetime) -> Record:
    """``old`` as it is once ``by`` took its place."""
    return _ended(old, "superseded", now, superseded_by=by)


def archived(old: Record, now: datetime, reason: str) -> Record:
    """``old`` as it is once it is out of the active set for ``reason``."""
    return _ended(old, "archived", now, reason=reason)


def ended_reason(record: Record) -> str:
    """Why a record that is past its end is archived."""
    return f"expired at {iso(record.expires_at)}" if record.expires_at else "expired"


def _ended(old: Record, status: Status, now: datetime, **changes: object) -> Record:
    ended = with_life(old, status=status, **changes)
    # Clocks differ between writers; a record is never older than it was.
    return msgspec.structs.replace(ended, updated_at=max(now, old.updated_at))


def _said(record: Record) -> bytes:
    attributes = {k: v for k, v in record.attributes.items() if k not in _OWN_ATTRIBUTES}
    return msgspec.json.encode([attributes, record.content], order="deterministic")


def _first(records: Sequence[Weighed]) -> Record | None:
    """The one that counts most: by trust, then the latest."""
    found = max(records, key=lambda one: (rank(one[1]), one[0].id), default=None)
    return found[0] if found else None


def _stronger(new: Record, trust: Trust, old: Sequence[Weighed]) -> list[Problem]:
    evidence = str(new.attributes.get("evidence", ""))
    found = [supersede_problem(trust, one.id, weight, evidence) for one, weight in old]
    return [problem for problem in found if problem]


def _unexpected(
    expect: str | None, here: Sequence[Weighed], ended: Sequence[Weighed]
) -> list[Problem]:
    if expect is None:
        return []
    ids = [old.id for old, _ in here]
    if expect == NONE_ACTIVE and not ids:
        return []
    if expect in ids or (not ids and expect in [old.id for old, _ in ended]):
        return []
    said = f"{', '.join(ids)} is the active record" if ids else "no record of this key is active"
    return [
        Problem(
            "record-supersedes",
            "/lifecycle/supersedes",
            f"{said}, not {expect}",
            "read it, and write again what still holds",
        )
    ]
