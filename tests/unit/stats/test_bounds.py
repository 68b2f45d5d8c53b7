from __future__ import annotations

from math import exp, sqrt
from statistics import NormalDist, mean, pvariance, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.stats import arms
from memrepo.stats.arms import Arm, standard_error
from memrepo.stats.ratio import sample_ratio
from memrepo.stats.sequential import TUNED_FOR, half_width

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def an_arm(values: list[float]) -> Arm:
    found = Arm()
    for value in values:
        found = found.joined(Arm(1, value, 0.0))
    return found


# --- arms


@given(NUMBERS, NUMBERS)
def test_joined_arms_are_as_all_their_units(one: list[float], other: list[float]) -> None:
    found = an_arm(one).joined(an_arm(other))
    both = [*one, *other]
    assert found.units == len(both)
    assert found.mean == pytest.approx(mean(both), abs=1e-6)
    assert found.squares == pytest.approx(pvariance(both) * len(both), rel=1e-9, abs=1e-3)


def test_an_empty_arm_adds_nothing() -> None:
    arm = Arm(3, 2.0, 1.0)
    assert Arm().joined(arm) == arm == arm.joined(Arm())


def test_the_variance_of_a_mean() -> None:
    values = [1.0, 2.0, 4.0, 8.0]
    assert arms.variance(an_arm(values), "mean") == pytest.approx(variance(values))


def test_the_variance_of_a_rate_is_that_of_half_a_success_and_half_a_failure_more() -> None:
    share = 3.5 / 11
    assert arms.variance(an_arm([1.0] * 3 + [0.0] * 7), "rate") == pytest.approx(
        share * (1 - share)
    )
    assert arms.variance(an_arm([0.0] * 100), "rate") > 0


def test_the_standard_error_is_of_the_difference() -> None:
    one, other = an_arm([1.0, 2.0, 3.0]), an_arm([1.0, 5.0])
    assert standard_error(one, other, "mean") == pytest.approx(sqrt(1 / 3 + 8 / 2))


# --- the confidence sequence


@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.01])
@pytest.mark.parametrize("units", [60, 500, 5_000, 1_000_000])
def test_a_bound_is_where_the_mixture_martingale_reaches_its_level(
    alpha: float, units: int
) -> None:
    # The one-sided normal mixture, whose chance to ever reach 1/alpha is alpha (Ville). The
    # closed form lies a little outside of it, never inside.
    two_sided = -2 * np.log(2 * alpha)
    rho2 = (two_sided + np.log(two_sided + 1)) / TUNED_FOR
    total = half_width(units, 1 / sqrt(units), alpha) * units
    grown = units * rho2 + 1
    wealth = 2 / sqrt(grown) * exp(total**2 * rho2 / (2 * grown))
    wealth *= NormalDist().cdf(total * sqrt(rho2 / grown))
    assert 1 / alpha <= wealth < 1.2 / alpha


def test_the_bounds_are_tightest_where_they_are_tuned() -> None:
    def in_errors(units: int) -> float:
        return half_width(units, 1.0, 0.05)

    assert min(range(50, 5_000, 50), key=in_errors) == pytest.approx(TUNED_FOR, rel=0.5)
    assert in_errors(50_000) < 1.25 * in_errors(TUNED_FOR)
    assert in_errors(TUNED_FOR) > NormalDist().inv_cdf(0.95)


def test_a_bound_grows_with_the_error_and_the_certainty() -> None:
    assert half_width(500, 2.0, 0.05) == 2 * half_width(500, 1.0, 0.05)
    assert half_width(500, 1.0, 0.01) > half_width(500, 1.0, 0.05)
    assert half_width(500, 0.0, 0.05) == 0


def test_a_daily_look_alarms_no_more_often_than_said() -> None:
    # Two thousand trials without a difference, thirty looks each: the z-test beside it.
    random = np.random.default_rng(7)
    trials, days, a_day = 2_000, 30, 40
    arms_sums = random.binomial(a_day, 0.3, (2, days, trials)).cumsum(axis=1)
    alarms = np.zeros(trials, bool)
    naive = np.zeros(trials, bool)
    for day in range(1, days):
        units = (day + 1) * a_day
        share = (arms_sums[:, day] + 0.5) / (units + 1)
        error = np.sqrt((share * (1 - share)).sum(axis=0) / units)
        difference = (arms_sums[0, day] - arms_sums[1, day]) / units
        alarms |= difference + half_width(2 * units, 1.0, 0.05) * error < 0
        naive |= difference + 1.645 * error < 0
    assert alarms.mean() < 0.05
    assert naive.mean() > 0.15


# --- sample ratio


@pytest.mark.parametrize(
    ("treatment", "control", "p"),
    [
        # Chi-square of one degree of freedom, from its tables: 3.841, 6.635, 10.828.
        (500, 500, 1.0),
        (531, 469, 0.05),
        (541, 459, 0.0096),
        (552, 448, 0.001),
    ],
)
def test_the_chance_of_uneven_arms(treatment: int, control: int, p: float) -> None:
    assert sample_ratio(treatment, control).p == pytest.approx(p, rel=0.02)
    assert sample_ratio(control, treatment).p == sample_ratio(treatment, control).p


def test_a_mismatch_needs_a_small_chance_and_some_units() -> None:
    assert not sample_ratio(0, 0).is_mismatch
    assert not sample_ratio(7, 0).is_mismatch
    assert sample_ratio(12, 0).is_mismatch
    assert not sample_ratio(550, 450).is_mismatch
    assert sample_ratio(553, 447).is_mismatch


def test_healthy_arms_rarely_mismatch() -> None:
    counts = np.random.default_rng(3).binomial(1_000, 0.5, 2_000).tolist()
    assert sum(sample_ratio(count, 1_000 - count).is_mismatch for count in counts) <= 6
