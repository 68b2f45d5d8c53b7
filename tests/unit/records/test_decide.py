from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from memrepo.errors import NeedsPerson
from memrepo.protocol.record import Record, Trust
from memrepo.records.decide import Weighed, archived, plan_late, plan_write, says_the_same
from recordfiles import NOW, a_record

LATER = NOW + timedelta(hours=2)


def weighed(record: Record, trust: Trust | None = None) -> Weighed:
    return record, trust or record.written_by.trust


def late(fresh: Record, active: list[Weighed], **more: Any) -> Any:
    options: dict[str, Any] = {"exists": lambda _: True, "may_sign": False, **more}
    trust = options.pop("trust", fresh.written_by.trust)
    return plan_late(fresh, trust, active, NOW, **options)


def test_the_first_of_a_key_supersedes_nothing() -> None:
    fresh = a_record()
    plan = plan_write(fresh, "session", [], NOW)
    assert plan.files == (fresh,)
    assert plan.superseded is None


def test_the_next_supersedes_it_and_both_are_written() -> None:
    old, fresh = a_record(), a_record(summary="Thirty.")
    plan = plan_write(fresh, "session", [weighed(old)], NOW)
    record, ended = plan.files
    assert (record.id, record.lifecycle.supersedes) == (fresh.id, old.id)
    assert (ended.lifecycle.status, ended.lifecycle.superseded_by) == ("superseded", fresh.id)
    assert ended.content == old.content


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"confidence": 0.1}, True),
        ({"evidence": "a run"}, True),
        ({"ttl_seconds": 60}, True),
        ({"summary": "Thirty."}, False),
        ({"kind": "decision"}, False),
        ({"code_refs": ["a.py:1"]}, False),
    ],
)
def test_what_is_said_already_is_not_written_again(change: dict[str, Any], same: bool) -> None:
    old, fresh = a_record(), a_record(**change)
    assert says_the_same(old, fresh) is same
    assert (plan_write(fresh, "session", [weighed(old)], NOW).same == old) is same


def test_saying_the_same_with_more_trust_is_a_promotion() -> None:
    old, fresh = a_record(), a_record(evidence="test_pool")
    assert plan_write(fresh, "human", [weighed(old, "session")], NOW).superseded == old.id
    assert plan_write(fresh, "session", [weighed(old, "human")], NOW).same == old


def test_a_lower_trust_never_supersedes_a_higher_one() -> None:
    old, fresh = a_record(), a_record(summary="Thirty.")
    plan = plan_write(fresh, "session", [weighed(old, "human")], NOW)
    assert [problem.code for problem in plan.problems] == ["record-trust"]
    assert plan.files == ()


def test_one_past_its_end_is_in_nobodys_way() -> None:
    old, fresh = a_record(ttl_seconds=60), a_record(summary="Thirty.")
    lower = plan_write(fresh, "session", [weighed(old, "human")], LATER)
    assert lower.superseded is None
    assert lower.files[1].lifecycle.status == "archived"
    assert lower.files[1].lifecycle.reason == "expired at 2026-11-30T12:01:00Z"
    equal = plan_write(fresh, "session", [weighed(old)], LATER)
    assert equal.superseded == old.id
    again = plan_write(a_record(), "session", [weighed(old)], LATER)
    assert again.same is None


OTHER = "mem_01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.mark.parametrize(
    ("active", "expect", "fits"),
    [
        (True, "it", True),
        (True, OTHER, False),
        (True, "none", False),
        (False, OTHER, False),
        (False, "none", True),
        (True, None, True),
    ],
)
def test_compare_and_swap(active: bool, expect: str | None, fits: bool) -> None:
    old, fresh = a_record(), a_record(summary="Thirty.")
    asked = old.id if expect == "it" else expect
    plan = plan_write(fresh, "session", [weighed(old)] if active else [], NOW, expect=asked)
    assert [problem.code for problem in plan.problems] == ([] if fits else ["record-supersedes"])


def test_two_active_ones_are_both_superseded_and_the_weightier_is_named() -> None:
    one, other, fresh = a_record(), a_record(summary="b"), a_record(summary="c", evidence="t")
    plan = plan_write(fresh, "human", [weighed(one, "verified-ci"), weighed(other)], NOW)
    assert plan.superseded == one.id
    assert {record.lifecycle.superseded_by for record in plan.files[1:]} == {fresh.id}


def test_of_two_that_weigh_the_same_the_later_published_is_active() -> None:
    first, fresh = a_record(summary="first"), a_record(summary="second")
    plan = late(fresh, [weighed(first)])
    assert plan.record.lifecycle.supersedes == first.id
    assert plan.files[1].lifecycle.superseded_by == fresh.id


def test_one_of_less_trust_that_comes_late_is_kept_and_not_active() -> None:
    first, fresh = a_record(summary="first"), a_record(summary="second", supersedes=OTHER)
    plan = late(fresh, [weighed(first, "human")])
    assert plan.lost_to == first.id
    assert plan.record.lifecycle.status == "superseded"
    assert plan.record.lifecycle.superseded_by == first.id
    assert plan.record.lifecycle.supersedes == OTHER
    assert plan.files == (plan.record,)


def test_one_of_more_trust_that_comes_late_needs_no_evidence_it_could_not_have_named() -> None:
    first, fresh = a_record(summary="first"), a_record(summary="second")
    plan = late(fresh, [weighed(first, "session")], trust="human")
    assert plan.superseded == first.id
    assert plan.record == fresh
    assert plan.files[1].lifecycle.superseded_by == fresh.id


def test_a_write_that_expected_another_one_loses_when_it_comes_late() -> None:
    first, fresh = a_record(summary="first"), a_record(summary="second")
    plan = late(fresh, [weighed(first, "session")], trust="human", expect=OTHER)
    assert plan.lost_to == first.id


def test_the_same_said_late_is_left_out() -> None:
    first = a_record()
    plan = late(a_record(), [weighed(first)])
    assert (plan.same, plan.files) == (first, ())


SIGNATURE = "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"


def test_what_a_signature_covers_stays_where_nobody_can_sign() -> None:
    first, fresh = a_record(summary="first"), a_record(summary="second", signature=SIGNATURE)
    fixed = late(fresh, [weighed(first)])
    assert fixed.record == fresh
    assert fixed.files[1].lifecycle.superseded_by == fresh.id
    assert late(fresh, [weighed(first)], may_sign=True).record.lifecycle.supersedes == first.id


def test_a_signed_one_whose_predecessor_was_left_out_needs_its_signer() -> None:
    fresh = a_record(supersedes=OTHER, signature=SIGNATURE)
    gone: Callable[[str], bool] = lambda _: False  # noqa: E731
    with pytest.raises(NeedsPerson, match="left out"):
        late(fresh, [], exists=gone)
    assert late(fresh, [], exists=gone, may_sign=True).record.lifecycle.supersedes is None


def test_a_record_never_becomes_older() -> None:
    ended = archived(a_record(updated_at=LATER), NOW, "wrong")
    assert ended.updated_at == LATER
