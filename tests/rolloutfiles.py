"""Rollouts to test with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from memrepo.protocol.rollout import DEFAULT_STEPS, Measure, Phase, Rollout, State

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RESOLVED = Measure("resolved", "rate", "higher", 0.02)

_ROLLOUT = Rollout(
    name="new-classifier",
    control="main",
    treatment="feature/new-classifier",
    agents=("support_agent_v1",),
    salt="new-classifier:",
    steps=DEFAULT_STEPS,
    guardrails=(RESOLVED,),
    state=State("draft", 0, 0, NOW),
)


def a_rollout(**changes: Any) -> Rollout:
    """A draft, with other values where they are given."""
    return msgspec.structs.replace(_ROLLOUT, **changes)


def at_step(number: int, phase: Phase = "running", **changes: Any) -> Rollout:
    """A rollout at one of its steps (from 1)."""
    rollout = a_rollout(**changes)
    weight = rollout.steps[number - 1].weight
    return msgspec.structs.replace(rollout, state=State(phase, number, weight, NOW))
