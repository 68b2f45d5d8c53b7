"""Keeps outcomes in NumPy arrays: 25 bytes a row that counts, for files of millions of rows.

A unit is kept as Python's 64-bit hash of its text, which is keyed anew in each process:
among ten million units two are taken for one with a chance of three in a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memrepo.buckets.assign import is_covered
from memrepo.buckets.many import many_buckets
from memrepo.protocol.rollout import MOST_MONITORED
from memrepo.stats.arms import Arm
from memrepo.stats.metricsfile import Block
from memrepo.stats.outcomes import DAY, MOST_CROSSED, Cell, Counts, Trial

#: The rows are sorted in this many parts (a power of two), so that the sorting takes little memory.
PARTS = 16

_Array = NDArray[Any]


class ArrayKeeper:
    """See :class:`memrepo.stats.outcomes.Keeper`."""

    def __init__(self, trial: Trial) -> None:
        self.counts = Counts()
        self.crossed: set[str] = set()
        self._rollout = trial.rollout
        self._since = np.array([weight.since.timestamp() for weight in trial.weights])
        # The first entry is for what came before the first weight.
        self._weights = np.array([-1, *(weight.weight for weight in trial.weights)], np.int64)
        self._kept: list[tuple[_Array, ...]] = []

    def add(self, block: Block, numbers: Sequence[int], said: Sequence[bool | None] | None) -> None:
        """Take a block."""
        rollout, count = self._rollout, len(block.units)
        buckets = many_buckets(rollout.salt, block.units, rollout.assignment).astype(np.int64)
        if block.at:
            at = np.array(block.at, np.float64)
            weights = self._weights[np.searchsorted(self._since, at, side="right")]
        else:
            at = np.zeros(count)
            weights = np.full(count, self._weights[-1])
        late = weights >= 0
        weights[~late] = 0
        if rollout.unit == "agent":
            known = {unit: is_covered(rollout, unit) for unit in set(block.units)}
            weights[[not known[unit] for unit in block.units]] = 0
        is_treatment = buckets < weights
        is_control = (buckets >= MOST_MONITORED) & (buckets < MOST_MONITORED + weights)
        for row, claim in enumerate(said or ()):
            if claim is not None and claim != is_treatment[row] and late[row]:
                self._cross(block.units[row])
        counted = (is_treatment | is_control) & (weights <= MOST_MONITORED)
        early = count - int(np.count_nonzero(late))
        self.counts.early += early
        self.counts.uncompared += count - early - int(np.count_nonzero(counted))
        units = np.fromiter(map(hash, block.units), np.int64, count)
        keys = np.array(numbers, np.uint8) * np.uint8(2) + is_treatment
        columns = (units, keys, at, np.array(block.values, np.float64))
        self._kept.append(tuple(column[counted] for column in columns))

    def finish(self) -> dict[Cell, Arm]:
        """The arms."""
        cells: dict[Cell, Arm] = {}
        for part in range(PARTS):
            chosen = [(columns[0] & PARTS - 1) == part for columns in self._kept]
            columns = [
                np.concatenate([kept[rows] for kept, rows in zip(column, chosen, strict=True)])
                for column in zip(*self._kept, strict=True)
            ]
            if columns and len(columns[0]):
                self._reduce(columns, cells)
        return cells

    def _reduce(self, columns: list[_Array], cells: dict[Cell, Arm]) -> None:
        """Add what all rows of some units say to ``cells``."""
        order = _order(columns)
        units, keys, at, values = (column[order] for column in columns)
        if at[-1] or at[0]:
            same = _same(units, keys, at, values)
            self.counts.repeated += int(np.count_nonzero(same))
            units, keys, at, values = (column[~same] for column in (units, keys, at, values))
        begins = np.flatnonzero(~_same(units))
        in_treatment = int(np.count_nonzero(keys[begins] % 2))
        self.counts.treatment_units += in_treatment
        self.counts.control_units += len(begins) - in_treatment
        begins = np.flatnonzero(~_same(units, keys))
        outcomes = np.add.reduceat(values, begins) / np.diff(begins, append=len(values))
        days = np.floor(at[begins] / DAY).astype(np.int64)
        groups, member = np.unique(days * 256 + keys[begins], return_inverse=True)
        counts = np.bincount(member)
        means = np.bincount(member, outcomes) / counts
        squares = np.bincount(member, (outcomes - means[member]) ** 2)
        for group, count, mean, square in zip(
            groups.tolist(), counts.tolist(), means.tolist(), squares.tolist(), strict=True
        ):
            cell = Cell(group % 256 // 2, group % 2 == 1, group // 256)
            arm = Arm(count, mean, square)
            cells[cell] = cells[cell].joined(arm) if cell in cells else arm

    def _cross(self, unit: str) -> None:
        if len(self.crossed) < MOST_CROSSED:
            self.crossed.add(unit)


def _order(columns: list[_Array]) -> _Array:
    """Sorts by the first column, and rows that are alike in it by the others."""
    order = np.argsort(columns[0])
    same = _same(columns[0][order])
    alike = same.copy()
    alike[:-1] |= same[1:]
    several = order[alike]
    order[alike] = several[np.lexsort([column[several] for column in columns[::-1]])]
    return order


def _same(*columns: _Array) -> NDArray[np.bool_]:
    """Whether a row is like the one before it, in all of the columns."""
    same = np.zeros(len(columns[0]), np.bool_)
    same[1:] = np.logical_and.reduce([column[1:] == column[:-1] for column in columns])
    return same
