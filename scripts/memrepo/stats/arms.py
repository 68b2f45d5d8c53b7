"""What is kept of an arm: how many units, their mean, and how much they differ."""

from __future__ import annotations

from math import sqrt

import msgspec

from memrepo.protocol.rollout import Kind


class Arm(msgspec.Struct, frozen=True):
    """One outcome a unit: ``units`` many, their ``mean``, their squared deviations' sum."""

    units: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def joined(self, other: Arm) -> Arm:
        """Both groups of units as one (Chan, Golub, LeVeque 1979)."""
        if not self.units or not other.units:
            return other if other.units else self
        units = self.units + other.units
        step = other.mean - self.mean
        return Arm(
            units,
            self.mean + step * other.units / units,
            self.squares + other.squares + step * step * self.units * other.units / units,
        )


def variance(arm: Arm, kind: Kind) -> float:
    """The variance of one unit's outcome, estimated.

    For a rate as if half a success and half a failure more had been seen, so that an
    arm where nothing has failed yet is not taken for one where nothing can.
    """
    if kind == "rate":
        extra = arm.joined(Arm(1, 0.5, 0.25))
        return extra.squares / extra.units
    return arm.squares / (arm.units - 1)


def standard_error(treatment: Arm, control: Arm, kind: Kind) -> float:
    """That of the difference of the two means; both arms hold at least two units."""
    return sqrt(
        variance(treatment, kind) / treatment.units + variance(control, kind) / control.units
    )
