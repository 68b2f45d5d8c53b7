from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from memrepo.protocol.record import Lifecycle, Record, Trust
from memrepo.recordrules.chain import chain_problems, overwrite_problem
from recordfiles import NOW, a_record


def claimed(record: Record) -> Trust:
    return record.written_by.trust


def ended(record: Record, **life: Any) -> Record:
    changed = msgspec.structs.replace(record.lifecycle, **life)
    later = NOW + timedelta(minutes=1)
    return msgspec.structs.replace(record, lifecycle=changed, updated_at=later)


def codes(*records: Record) -> list[tuple[str, str, str]]:
    found = chain_problems({record.id: record for record in records}, claimed)
    return [(record_id, problem.code, problem.pointer) for record_id, problem in found]


def pair(**new: Any) -> tuple[Record, Record]:
    """A record, and the one that superseded it."""
    old = a_record()
    by = a_record(supersedes=old.id, **new)
    return ended(old, status="superseded", superseded_by=by.id), by


# --- what may change in a record


@pytest.mark.parametrize(
    "life",
    [
        {"status": "superseded", "superseded_by": a_record().id},
        {"status": "archived", "reason": "not true any more"},
        {"status": "archived"},
    ],
)
def test_a_life_may_end(life: dict[str, Any]) -> None:
    old = a_record()
    assert overwrite_problem(old, ended(old, **life)) is None
    assert overwrite_problem(old, old) is None


def test_a_superseded_one_may_be_archived_and_keeps_its_successor() -> None:
    old, by = pair()
    assert overwrite_problem(old, ended(old, status="archived")) is None
    for superseded_by in (None, a_record().id):
        lost = ended(old, status="archived", superseded_by=superseded_by)
        refused = overwrite_problem(old, lost)
        assert refused is not None
        assert refused.pointer == "/lifecycle/superseded_by"
    assert by.lifecycle.supersedes == old.id


@pytest.mark.parametrize(
    ("before", "after"),
    [("archived", "active"), ("superseded", "active"), ("archived", "superseded")],
)
def test_a_life_never_begins_again(before: Any, after: Any) -> None:
    refused = overwrite_problem(a_record(status=before), a_record(status=after))
    assert refused is not None
    one = a_record(status=before)
    refused = overwrite_problem(one, ended(one, status=after))
    assert refused is not None
    assert (refused.code, refused.pointer) == ("record-overwrite", "/lifecycle/status")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"key": "other"}, "/key"),
        ({"content": {"summary": "Thirty."}}, "/content"),
        ({"attributes": {"kind": "fact", "confidence": 0.6}}, "/attributes"),
        ({"signature": "x"}, "/signature"),
        ({"created_at": NOW + timedelta(1)}, "/created_at"),
        ({"lifecycle": Lifecycle("active", 3601)}, "/lifecycle"),
        ({"lifecycle": Lifecycle("active", None)}, "/lifecycle"),
        ({"lifecycle": Lifecycle("active", 3600, reason="x")}, "/lifecycle"),
        ({"updated_at": NOW + timedelta(1)}, "/lifecycle"),
    ],
)
def test_content_never_changes(change: dict[str, Any], pointer: str) -> None:
    old = a_record()
    refused = overwrite_problem(old, msgspec.structs.replace(old, **change))
    assert refused is not None
    assert (refused.code, refused.pointer) == ("record-overwrite", pointer)


def test_one_is_not_true() -> None:
    old = a_record(attributes={"kind": "fact", "flag": True, "confidence": 0.5})
    new = msgspec.structs.replace(old, attributes={**old.attributes, "flag": 1})
    assert old == new
    assert overwrite_problem(old, new) is not None


# --- chains


def test_a_whole_chain() -> None:
    old, by = pair()
    assert codes(old, by) == []
    assert codes(ended(old, status="archived"), by) == []
    assert codes(a_record(), a_record(key="other")) == []


def test_two_active_ones() -> None:
    one, other = sorted((a_record(), a_record()), key=lambda record: record.id)
    assert codes(one, other) == [(other.id, "record-supersedes", "/key")]


def test_what_it_supersedes_is_missing_or_of_another_key() -> None:
    alone = a_record(supersedes=a_record().id)
    assert codes(alone) == [(alone.id, "record-supersedes", "/lifecycle/supersedes")]
    old, by = pair(key="other")
    assert {(i, p) for i, _, p in codes(old, by)} == {
        (by.id, "/lifecycle/supersedes"),
        (old.id, "/lifecycle/superseded_by"),
    }


def test_what_it_supersedes_is_still_active() -> None:
    old, by = pair()
    again = msgspec.structs.replace(old, lifecycle=Lifecycle("active", 3600))
    assert (by.id, "record-supersedes", "/lifecycle/supersedes") in codes(again, by)


def test_superseded_by_nothing() -> None:
    one = a_record(status="superseded")
    assert codes(one) == [(one.id, "record-supersedes", "/lifecycle/superseded_by")]


def test_circles_end() -> None:
    ids = [a_record().id for _ in range(3)]
    ring = [
        a_record(id=ids[i], supersedes=ids[i - 1], status="superseded", superseded_by=ids[i - 2])
        for i in range(3)
    ]
    assert (min(ids), "record-supersedes", "/lifecycle/supersedes") in codes(*ring)
    itself = a_record(status="archived")
    itself = ended(itself, supersedes=itself.id)
    assert codes(itself) == [(itself.id, "record-supersedes", "/lifecycle/supersedes")]


def test_a_lower_trust_in_a_chain() -> None:
    old, by = pair()
    old = msgspec.structs.replace(
        old, written_by=msgspec.structs.replace(old.written_by, trust="human")
    )
    assert codes(old, by) == [(by.id, "record-trust", "/lifecycle/supersedes")]
