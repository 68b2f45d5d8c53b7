"""Which branch a unit reads under a rollout. Deterministic and sticky.

Treatment is the interval [0, w) of the buckets, so a larger weight only adds units. While
w is at most a half, an interval as large, [50000, 50000 + w), is the control arm, and the
rest reads the control branch without being compared.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from memrepo.buckets.key import HEADS, bucket_of, normal_unit
from memrepo.buckets.murmur3 import murmur3
from memrepo.protocol.agentglobs import covers
from memrepo.protocol.rollout import MOST_MONITORED, TOTAL_PARTS, Rollout

Variant = Literal["treatment", "control", "untracked"]


class Assigned(msgspec.Struct, frozen=True):
    """What a unit gets: the branch to read, its arm, its bucket and the rollout's weight.

    ``bucket`` and ``weight`` are parts of ``TOTAL_PARTS``.
    """

    branch: str
    variant: Variant
    weight: int
    bucket: int


def variant_of(bucket: int, weight: int) -> Variant:
    """The arm that a bucket belongs to at a weight, both in parts of ``TOTAL_PARTS``."""
    if bucket < weight:
        return "treatment"
    if weight <= MOST_MONITORED <= bucket < MOST_MONITORED + weight:
        return "control"
    return "untracked"


def is_covered(rollout: Rollout, unit: str, agent_id: str | None = None) -> bool:
    """Whether the rollout is about this agent; where the unit is the agent, about this unit."""
    if agent_id is None:
        return rollout.unit != "agent" or covers(rollout.agents, unit)
    return covers(rollout.agents, agent_id)


def weight_in_force(rollout: Rollout) -> int:
    """The parts that read the treatment branch: none unless running or paused.

    After a promotion the control branch holds the treatment, so everyone reads that.
    """
    return rollout.state.weight if rollout.is_live else 0


def assign(rollout: Rollout, unit: object, agent_id: str | None = None) -> Assigned:
    """What ``unit`` gets.  Raises BadInput for what cannot be a unit.

    A unit of an agent that the rollout does not cover reads the control branch, untracked.
    """
    text = normal_unit(unit)
    bucket = bucket_of(rollout.salt, text, rollout.assignment)
    weight = weight_in_force(rollout) if is_covered(rollout, text, agent_id) else 0
    variant = variant_of(bucket, weight)
    branch = rollout.treatment if variant == "treatment" else rollout.control
    return Assigned(branch, variant, rollout.state.weight, bucket)


class Assigner:
    """Answers for one rollout many times: what does not depend on the unit is done once."""

    def __init__(self, rollout: Rollout) -> None:
        self.rollout = rollout
        self._salt = rollout.salt
        self._head = HEADS[rollout.assignment]
        self._weight = weight_in_force(rollout)
        self._by_unit = rollout.unit == "agent"

    def assign(self, unit: object, agent_id: str | None = None) -> Assigned:
        """As :func:`assign`."""
        return assign(self.rollout, unit, agent_id)

    def covers(self, unit: object, agent_id: str | None = None) -> bool:
        """Whether the rollout is about this agent.  Raises BadInput for what is no unit."""
        return is_covered(self.rollout, normal_unit(unit), agent_id)

    def branch_for(self, unit: object, agent_id: str | None = None) -> str:
        """The branch that ``unit`` reads.  Raises BadInput for what cannot be a unit."""
        text = normal_unit(unit)
        rollout = self.rollout
        if (self._by_unit or agent_id is not None) and not is_covered(rollout, text, agent_id):
            return rollout.control
        key = (self._salt + text).encode()
        bucket = murmur3(self._head(len(key)) + key) * TOTAL_PARTS >> 32
        return rollout.treatment if bucket < self._weight else rollout.control
