"""What a metrics file says about a rollout: arms, differences, bounds, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from typing import Literal

import msgspec

from memrepo.protocol.rollout import Measure, Phase, Rollout
from memrepo.stats.arms import Arm, standard_error
from memrepo.stats.outcomes import Cell, Counts, Outcomes
from memrepo.stats.ratio import Ratio, sample_ratio
from memrepo.stats.sequential import METHOD, half_width

#: How sure each bound is, at all looks together: 1 - ALPHA.
ALPHA = 0.05
#: Units that an arm needs: the bounds rest on the central limit theorem.
LEAST_UNITS = 30

#: ``worse``: wholly on the worse side, and not known to be within the margin. ``fine``: not
#: worse than the margin (a goal: wholly on the better side). ``same``: no unit of either
#: arm differs from another, so that nothing can be estimated.
Standing = Literal["no-data", "too-few", "same", "undecided", "worse", "fine"]
Verdict = Literal["promote", "hold", "abort", "inconclusive"]


class Point(msgspec.Struct, frozen=True):
    """The comparison as it stood at the end of a day (days since 1970, UTC)."""

    day: int
    difference: float
    low: float
    high: float


class Comparison(msgspec.Struct, frozen=True):
    """One metric. ``difference`` is treatment minus control in the metric's own unit.

    Each of ``low`` and ``high`` bounds it on its side at every look (see ``ALPHA``); all
    three are None while an arm has fewer than ``LEAST_UNITS`` units. ``points`` has one
    entry a day, where rows have times.
    """

    measure: Measure
    treatment: Arm
    control: Arm
    standing: Standing
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    points: tuple[Point, ...] = ()


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a report shows. ``may_step``: nothing speaks against the next step.

    ``verdict`` and ``reason`` are ``verdict.decide``'s. ``step`` counts from 1 of ``steps``;
    ``weight`` is in parts of 100,000.
    """

    rollout: str
    phase: Phase
    step: int
    steps: int
    weight: int
    guardrails: tuple[Comparison, ...]
    goals: tuple[Comparison, ...]
    ratio: Ratio
    counts: Counts
    crossed: tuple[str, ...]
    newest: datetime | None
    verdict: Verdict
    reason: str
    may_step: bool
    alpha: float = ALPHA
    method: str = METHOD


class Compared(msgspec.Struct, frozen=True):
    """All comparisons, and what else the verdict is decided on."""

    guardrails: tuple[Comparison, ...]
    goals: tuple[Comparison, ...]
    ratio: Ratio
    crossed: tuple[str, ...]
    newest: datetime | None


def compare_all(rollout: Rollout, outcomes: Outcomes, alpha: float = ALPHA) -> Compared:
    """Every guardrail and goal compared.

    The chance that any guardrail is wrongly found worse is at most ``alpha`` in all, so
    each has its part of it. To be found fine needs no such part: a promotion needs all.
    """
    cells: dict[int, list[tuple[Cell, Arm]]] = {}
    for cell, arm in outcomes.cells.items():
        cells.setdefault(cell.metric, []).append((cell, arm))
    compared = []
    for number, measure in enumerate((*rollout.guardrails, *rollout.goals)):
        many = len(rollout.guardrails) if measure.margin is not None else 1
        compared.append(_compare(measure, cells.get(number, []), (alpha / many, alpha)))
    count = len(rollout.guardrails)
    return Compared(
        tuple(compared[:count]),
        tuple(compared[count:]),
        sample_ratio(outcomes.counts.treatment_units, outcomes.counts.control_units),
        outcomes.crossed,
        outcomes.newest,
    )


def _compare(
    measure: Measure, cells: list[tuple[Cell, Arm]], alphas: tuple[float, float]
) -> Comparison:
    arms = [Arm(), Arm()]
    points = []
    timed = any(cell.day for cell, _ in cells)
    for day, group in _by_day(cells):
        for cell, arm in group:
            arms[cell.is_treatment] = arms[cell.is_treatment].joined(arm)
        bounds = _bounds(measure, arms[1], arms[0], alphas)
        if timed and bounds:
            points.append(Point(day, *bounds))
    control, treatment = arms
    bounds = _bounds(measure, treatment, control, alphas)
    if bounds is None:
        seen = treatment.units or control.units
        return Comparison(measure, treatment, control, "too-few" if seen else "no-data")
    standing = _standing(measure, treatment, control, *bounds[1:])
    return Comparison(measure, treatment, control, standing, *bounds, tuple(points))


def _by_day(
    cells: list[tuple[Cell, Arm]],
) -> Iterable[tuple[int, Iterable[tuple[Cell, Arm]]]]:
    ordered = sorted(cells, key=lambda item: (item[0].day, item[0].is_treatment))
    return groupby(ordered, key=lambda item: item[0].day)


def _bounds(
    measure: Measure, treatment: Arm, control: Arm, alphas: tuple[float, float]
) -> tuple[float, float, float] | None:
    """Difference, low and high; ``alphas`` are for being worse and for being fine."""
    if min(treatment.units, control.units) < LEAST_UNITS:
        return None
    error = standard_error(treatment, control, measure.kind)
    units = treatment.units + control.units
    difference = treatment.mean - control.mean
    # Worse is decided by the bound on the better side, and fine by the other one.
    up, down = alphas if measure.direction == "higher" else alphas[::-1]
    return (
        difference,
        difference - half_width(units, error, down),
        difference + half_width(units, error, up),
    )


def _standing(measure: Measure, treatment: Arm, control: Arm, low: float, high: float) -> Standing:
    if measure.kind == "mean" and not treatment.squares and not control.squares:
        return "same"
    worst, best = (low, high) if measure.direction == "higher" else (-high, -low)
    if measure.margin is None:
        return "worse" if best < 0 else "fine" if worst > 0 else "undecided"
    if worst >= -measure.margin:
        return "fine"
    return "worse" if best < 0 else "undecided"
