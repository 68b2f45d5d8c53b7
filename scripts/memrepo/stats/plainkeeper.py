"""Keeps outcomes in dictionaries: for files of some hundred thousand rows, without NumPy."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from memrepo.buckets.assign import is_covered, variant_of
from memrepo.buckets.key import bucket_of
from memrepo.protocol.rollout import MOST_MONITORED
from memrepo.stats.arms import Arm
from memrepo.stats.metricsfile import Block
from memrepo.stats.outcomes import DAY, MOST_CROSSED, Cell, Counts, Trial


class _Outcome(msgspec.Struct):
    """One unit's rows of one metric."""

    is_treatment: bool
    first: float
    count: int = 0
    total: float = 0.0


class PlainKeeper:
    """See :class:`memrepo.stats.outcomes.Keeper`."""

    def __init__(self, trial: Trial) -> None:
        self.counts = Counts()
        self.crossed: set[str] = set()
        self._rollout = trial.rollout
        self._since = [weight.since.timestamp() for weight in trial.weights]
        # The first entry is for what came before the first weight.
        self._weights = [-1, *(weight.weight for weight in trial.weights)]
        self._outcomes: dict[tuple[int, str], _Outcome] = {}
        self._seen: set[tuple[int, str, float, float]] = set()

    def add(self, block: Block, numbers: Sequence[int], said: Sequence[bool | None] | None) -> None:
        """Take a block."""
        rollout = self._rollout
        for row, unit in enumerate(block.units):
            when = block.at[row] if block.at else 0.0
            weight = self._weights[bisect_right(self._since, when) if block.at else -1]
            if weight < 0:
                self.counts.early += 1
                continue
            if not is_covered(rollout, unit):
                weight = 0
            variant = variant_of(bucket_of(rollout.salt, unit, rollout.assignment), weight)
            claim = said[row] if said else None
            if claim is not None and claim != (variant == "treatment"):
                self._cross(unit)
            if variant == "untracked" or weight > MOST_MONITORED:
                self.counts.uncompared += 1
                continue
            self._keep(numbers[row], unit, variant == "treatment", when, block.values[row])

    def finish(self) -> dict[Cell, Arm]:
        """The arms."""
        cells: dict[Cell, Arm] = {}
        arms: tuple[set[str], set[str]] = (set(), set())
        for (number, unit), outcome in self._outcomes.items():
            arms[outcome.is_treatment].add(unit)
            cell = Cell(number, outcome.is_treatment, int(outcome.first // DAY))
            one = Arm(1, outcome.total / outcome.count, 0.0)
            cells[cell] = cells[cell].joined(one) if cell in cells else one
        self.counts.control_units, self.counts.treatment_units = map(len, arms)
        return cells

    def _keep(self, number: int, unit: str, is_treatment: bool, when: float, value: float) -> None:
        if when:
            if (number, unit, when, value) in self._seen:
                self.counts.repeated += 1
                return
            self._seen.add((number, unit, when, value))
        outcome = self._outcomes.get((number, unit))
        if outcome is None:
            outcome = self._outcomes[number, unit] = _Outcome(is_treatment, when)
        outcome.first = min(outcome.first, when)
        outcome.count += 1
        outcome.total += value

    def _cross(self, unit: str) -> None:
        if len(self.crossed) < MOST_CROSSED:
            self.crossed.add(unit)
