"""From rows to arms: which rows count, whose they are, and one outcome a unit.

The arm of a row is computed from the rollout's salt and the weight in force when the row
came to be; what the row says of itself is only compared with it. A unit with several
rows of one metric has their mean as its outcome, so that the units compared stay
independent of each other whatever happens within one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from math import isfinite
from typing import BinaryIO, Protocol

import msgspec

from memrepo.buckets.assign import weight_in_force
from memrepo.protocol.rollout import Rollout
from memrepo.protocol.suggest import closest, shown
from memrepo.stats.arms import Arm
from memrepo.stats.metricsfile import Block, read_blocks

DAY = 86_400
#: Beyond this no sum of squares is sure to stay finite.
MOST_VALUE = 1e100
#: The year 9999, from where on not every time has a name.
_LATEST = 253_370_764_800.0
#: A clock may be a little ahead of ours.
_AHEAD = timedelta(minutes=5)
#: As many units as are kept by name when they were seen in both arms.
MOST_CROSSED = 10_000


class Weight(msgspec.Struct, frozen=True):
    """From ``since`` on, units were assigned at ``weight`` parts (0 while not running)."""

    since: datetime
    weight: int


class Cell(msgspec.Struct, frozen=True):
    """Which units an arm holds: of one metric, by the day of a unit's first row.

    ``metric`` is the measure's place among guardrails and goals, ``day`` a number of days
    since 1970, 0 where rows have no times.
    """

    metric: int
    is_treatment: bool
    day: int


class Counts(msgspec.Struct):
    """``rows`` in the file, of which do not count: ``early`` (before the first weight),
    ``uncompared`` (no arm, or no control arm of equal size at that weight), ``repeated``
    (same unit, metric, value and time as another).
    """

    rows: int = 0
    early: int = 0
    uncompared: int = 0
    repeated: int = 0
    treatment_units: int = 0
    control_units: int = 0


class Outcomes(msgspec.Struct, frozen=True):
    """What a metrics file holds about a rollout.

    ``crossed`` are units that were seen in both arms, at most ``MOST_CROSSED``. ``newest``
    is the time of the last row, 1970 at least, None where rows have no times.
    """

    cells: dict[Cell, Arm]
    counts: Counts
    crossed: tuple[str, ...] = ()
    newest: datetime | None = None


class Trial(msgspec.Struct, frozen=True):
    """What rows are judged by: the rollout, and its weights in the order of time."""

    rollout: Rollout
    weights: tuple[Weight, ...]


class Keeper(Protocol):
    """Holds rows until all have come."""

    counts: Counts
    crossed: set[str]

    def add(self, block: Block, numbers: Sequence[int], said: Sequence[bool | None] | None) -> None:
        """Take a block: the rows' measures, and whether each claims to be of the treatment."""

    def finish(self) -> dict[Cell, Arm]:
        """The arms, with one outcome a unit; counts are complete after it."""


def weights_of(rollout: Rollout) -> tuple[Weight, ...]:
    """The one weight that the file itself knows: the present one, since it began."""
    return (Weight(rollout.state.since, weight_in_force(rollout)),)


def has_numpy() -> bool:
    """Whether the extra ``memrepo[stats]`` is there."""
    return find_spec("numpy") is not None


def read_outcomes(
    stream: BinaryIO,
    rollout: Rollout,
    weights: Sequence[Weight] | None = None,
    *,
    now: datetime | None = None,
    arrays: bool | None = None,
) -> Outcomes:
    """The outcomes in a metrics file, for a rollout whose ``weights`` were these.

    Without ``weights`` the present one holds, since the state's ``since``. A row without a
    time is taken to have come at the last weight. ``arrays`` says whether to work with
    NumPy (by default where it is there): the same answers, far sooner and in less memory.
    Raises BadInput with the line of the first mistake; a time after ``now`` is one.
    """
    trial = Trial(rollout, tuple(weights) if weights is not None else weights_of(rollout))
    keeper = _keeper(trial, has_numpy() if arrays is None else arrays)
    check = _Check(rollout, now)
    newest: float | None = None
    timed: bool | None = None
    for block in read_blocks(stream):
        if timed is not None and timed != (block.at is not None):
            raise block.bad(0, f"{'no' if timed else 'an'} `at`, unlike the rows before")
        timed = block.at is not None
        numbers, said = check.numbers(block), check.said(block)
        check.values(block)
        if block.at:
            newest = max(newest or 0.0, check.times(block))
        keeper.counts.rows += len(block.units)
        keeper.add(block, numbers, said)
    cells = keeper.finish()
    when = datetime.fromtimestamp(newest, UTC) if newest is not None else None
    return Outcomes(cells, keeper.counts, tuple(sorted(keeper.crossed)), when)


def _keeper(trial: Trial, arrays: bool) -> Keeper:
    if arrays:
        from memrepo.stats.arraykeeper import ArrayKeeper

        return ArrayKeeper(trial)
    from memrepo.stats.plainkeeper import PlainKeeper

    return PlainKeeper(trial)


class _Check:
    """What can be wrong with a row's words, whoever keeps it."""

    def __init__(self, rollout: Rollout, now: datetime | None) -> None:
        measures = (*rollout.guardrails, *rollout.goals)
        self._number = {measure.metric: number for number, measure in enumerate(measures)}
        self._rates = {measure.metric for measure in measures if measure.kind == "rate"}
        self._latest = (now + _AHEAD).timestamp() if now else _LATEST
        self._said: dict[str, bool | None] = {rollout.control: False, rollout.treatment: True}
        self._said |= {"": None, "control": False, "untracked": False, "treatment": True}

    def numbers(self, block: Block) -> list[int]:
        try:
            return list(map(self._number.__getitem__, block.metrics))
        except KeyError:
            pass
        known = tuple(self._number)
        row = next(n for n, metric in enumerate(block.metrics) if metric not in self._number)
        hint = closest(block.metrics[row], known)
        hint = hint or f"the rollout's guardrails and goals are: {', '.join(known) or 'none'}"
        raise block.bad(row, f"the rollout has no metric {shown(block.metrics[row])}", hint)

    def said(self, block: Block) -> list[bool | None] | None:
        if block.variants is None:
            return None
        try:
            return list(map(self._said.__getitem__, block.variants))
        except KeyError:
            pass
        row = next(n for n, word in enumerate(block.variants) if word not in self._said)
        message = f"{shown(block.variants[row])} is no variant of the rollout"
        raise block.bad(row, message, "it has treatment, control and untracked")

    def values(self, block: Block) -> None:
        values = block.values
        if not all(map(isfinite, values)):
            row = next(n for n, value in enumerate(values) if not isfinite(value))
            hint = "leave out what was not measured"
            raise block.bad(row, f"`value` is not finite: {values[row]}", hint)
        if values and not -MOST_VALUE < min(values) <= max(values) < MOST_VALUE:
            row = next(n for n, value in enumerate(values) if not abs(value) < MOST_VALUE)
            raise block.bad(row, f"`value` is beyond every range: {values[row]}")
        if self._rates and not set(values) <= {0.0, 1.0}:
            for row, (metric, value) in enumerate(zip(block.metrics, values, strict=True)):
                if metric in self._rates and value not in (0.0, 1.0):
                    message = f"{metric} is a rate, so `value` is 0 or 1, not {value:g}"
                    raise block.bad(row, message, "a number of any size needs `kind: mean`")

    def times(self, block: Block) -> float:
        at = block.at or ()
        newest = max(at)
        if newest > self._latest:
            raise block.bad(
                at.index(newest), "`at` is in the future", "look at the clock it is from"
            )
        return newest
