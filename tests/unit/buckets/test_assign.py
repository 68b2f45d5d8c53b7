from __future__ import annotations

from math import sqrt

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.buckets.assign import Assigner, assign, variant_of
from memrepo.buckets.key import bucket_of
from memrepo.buckets.many import many_buckets
from memrepo.errors import BadInput
from memrepo.protocol.rollout import MOST_MONITORED, TOTAL_PARTS, State, Step
from memrepo.protocol.rolloutmoves import Moved, abort, pause, promote
from rolloutfiles import NOW, a_rollout, at_step

MILLION = [f"user-{number}" for number in range(1_000_000)]
HUNDREDTHS = st.integers(0, 10_000).map(lambda hundredths: hundredths * 10)


def chi_square_is_likely(observed: np.ndarray, expected: float, degrees: int) -> bool:
    """Within four standard deviations of what chance gives: wrong once in 15,000 salts."""
    value = float(((observed - expected) ** 2 / expected).sum())
    return abs(value - degrees) < 4 * sqrt(2 * degrees)


# --- uniform, independent


@pytest.mark.parametrize("assignment", ["murmur3-cbor/1", "murmur3-utf8/1"])
def test_a_million_units_fall_evenly(assignment: str) -> None:
    buckets = many_buckets("new-classifier:", MILLION, assignment)  # type: ignore[arg-type]
    assert int(buckets.max()) < TOTAL_PARTS
    counts = np.bincount(buckets // 100, minlength=1_000)
    assert chi_square_is_likely(counts, 1_000, 999)
    for weight in (10, 1_000, 5_000, 50_000):
        treatment = int((buckets < weight).sum())
        control = int(((buckets >= 50_000) & (buckets < 50_000 + weight)).sum())
        share = weight / TOTAL_PARTS
        for count in (treatment, control):
            assert abs(count - 1e6 * share) < 4 * sqrt(1e6 * share * (1 - share))


def test_two_salts_are_independent() -> None:
    one = many_buckets("e1:", MILLION, "murmur3-cbor/1") // 2_000
    other = many_buckets("e2:", MILLION, "murmur3-cbor/1") // 2_000
    table = np.bincount(one * 50 + other, minlength=2_500)
    assert chi_square_is_likely(table, 400, 49 * 49)


def test_the_salt_is_set_off_from_the_unit() -> None:
    assert bucket_of("e1:", "1x", "murmur3-cbor/1") != bucket_of("e11:", "x", "murmur3-cbor/1")


# --- intervals


@given(st.integers(0, TOTAL_PARTS - 1), HUNDREDTHS, HUNDREDTHS)
def test_a_larger_weight_only_adds_units(bucket: int, one: int, other: int) -> None:
    low, high = sorted((one, other))
    if variant_of(bucket, low) == "treatment":
        assert variant_of(bucket, high) == "treatment"
    if variant_of(bucket, low) == "control" and high <= MOST_MONITORED:
        assert variant_of(bucket, high) == "control"


@given(HUNDREDTHS)
def test_arms_are_of_one_size_while_they_can_be(weight: int) -> None:
    edges = {0, weight - 1, weight, 49_999, 50_000, 49_999 + weight, 50_000 + weight, 99_999}
    for bucket in edges & set(range(TOTAL_PARTS)):
        expected = "untracked"
        if bucket < weight:
            expected = "treatment"
        elif weight <= 50_000 and 50_000 <= bucket < 50_000 + weight:
            expected = "control"
        assert variant_of(bucket, weight) == expected


@pytest.mark.parametrize(
    ("coverage", "ranges"),
    [
        # GrowthBook SDK specification 0.8.0, getBucketRange of two even variations.
        (1, [[0, 0.5], [0.5, 1]]),
        (0.5, [[0, 0.25], [0.5, 0.75]]),
        (0, [[0, 0], [0.5, 0.5]]),
    ],
)
def test_intervals_are_those_of_growthbook(coverage: float, ranges: list[list[float]]) -> None:
    weight = round(coverage * MOST_MONITORED)
    for variant, (begin, end) in zip(("treatment", "control"), ranges, strict=True):
        members = {b for b in range(0, TOTAL_PARTS, 10) if variant_of(b, weight) == variant}
        assert members == set(range(round(begin * TOTAL_PARTS), round(end * TOTAL_PARTS), 10))


@pytest.mark.parametrize(
    ("n", "weight", "chosen"),
    [
        # The same, chooseVariation over these ranges: 0, 1 or neither (-1).
        *((0.2, 50_000, 0), (0.4, 50_000, 0), (0.6, 50_000, 1), (0.8, 50_000, 1)),
        *((0, 50_000, 0), (0.5, 50_000, 1)),
        *((0.2, 25_000, 0), (0.4, 25_000, -1), (0.6, 25_000, 1), (0.8, 25_000, -1)),
        *((0.25, 25_000, -1), (0.5, 25_000, 1)),
    ],
)
def test_choices_are_those_of_growthbook(n: float, weight: int, chosen: int) -> None:
    variants = {0: "treatment", 1: "control", -1: "untracked"}
    assert variant_of(round(n * TOTAL_PARTS), weight) == variants[chosen]


# --- rollouts


def test_a_unit_keeps_its_branch_through_every_step() -> None:
    rollouts = [at_step(number) for number in range(1, 7)]
    for unit in (f"ticket-{number}" for number in range(500)):
        branches = [assign(rollout, unit).branch for rollout in rollouts]
        assert branches == sorted(branches, reverse=True)
        assert branches[-1] == "feature/new-classifier"


def test_what_is_answered() -> None:
    rollout = at_step(5)
    found = assign(rollout, "user-1")
    assert found.bucket == bucket_of(rollout.salt, "user-1", rollout.assignment)
    assert found.weight == 50_000
    assert found.variant == ("treatment" if found.bucket < 50_000 else "control")
    assert assign(rollout, "e\u0301") == assign(rollout, "é")


def test_the_smallest_weight() -> None:
    rollout = a_rollout(steps=(Step(10),), state=State("running", 1, 10, NOW))
    units = [f"u{number}" for number in range(40_000)]
    buckets = many_buckets(rollout.salt, units, rollout.assignment)
    chosen = {unit for unit, bucket in zip(units, buckets, strict=True) if bucket < 10}
    assert chosen
    some = [*chosen, *units[:2_000]]
    assert {u for u in some if assign(rollout, u).variant == "treatment"} == chosen


def test_nobody_is_in_treatment_unless_it_is_live() -> None:
    live = at_step(6)
    paused, aborted, promoted = pause(live, NOW), abort(live, NOW), promote(live, NOW)
    assert isinstance(paused, Moved)
    assert assign(paused.rollout, "a").variant == "treatment"
    for over in (a_rollout(), aborted, promoted):
        rollout = over.rollout if isinstance(over, Moved) else over
        assert isinstance(rollout, type(live))
        found = assign(rollout, "a")
        assert (found.branch, found.variant) == ("main", "untracked")


def test_agents_that_are_not_covered_read_control() -> None:
    rollout = at_step(6, agents=("support_*",))
    assert assign(rollout, "a").variant == "treatment"
    assert assign(rollout, "a", "support_v1").variant == "treatment"
    assert assign(rollout, "a", "sales").variant == "untracked"
    by_agent = msgspec.structs.replace(rollout, unit="agent")
    assert assign(by_agent, "support_v1").variant == "treatment"
    assert assign(by_agent, "sales").variant == "untracked"


@pytest.mark.parametrize("unit", ["", True, 1.5, None])
def test_no_unit_no_branch(unit: object) -> None:
    with pytest.raises(BadInput):
        assign(at_step(1), unit)
    with pytest.raises(BadInput):
        Assigner(at_step(1)).branch_for(unit)


@given(st.integers(0, 10**9), st.sampled_from([None, "support_agent_v1", "other"]))
def test_the_quick_way_answers_the_same(unit: int, agent: str | None) -> None:
    for rollout in (at_step(3), at_step(5), at_step(6, unit="agent"), a_rollout()):
        expected = assign(rollout, unit, agent)
        assert Assigner(rollout).branch_for(unit, agent) == expected.branch
