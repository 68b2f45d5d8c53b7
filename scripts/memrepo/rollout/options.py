"""A new rollout from the words of a command. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, get_args

import msgspec

from memrepo.errors import UsageError
from memrepo.protocol.rollout import (
    DEFAULT_STEPS,
    Direction,
    Kind,
    Measure,
    Rollout,
    State,
    Step,
    parse_hold,
    parse_weight,
    rollout_path,
    salt_of,
)
from memrepo.protocol.rolloutdump import dump_rollout
from memrepo.protocol.rolloutfile import branch_problem, metric_problem, parse_rollout
from memrepo.protocol.suggest import shown

_GUARDRAIL = "METRIC[:rate|mean]:higher|lower:MARGIN, such as resolved:rate:higher:0.02"
_GOAL = "METRIC[:rate|mean]:higher|lower, such as handling_seconds:mean:lower"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a rollout shall be; None and () for what the caller leaves to the defaults."""

    name: str
    treatment: str
    agents: tuple[str, ...] = ()
    steps: tuple[Step, ...] = DEFAULT_STEPS
    unit: str = "user"
    guardrails: tuple[Measure, ...] = ()
    goals: tuple[Measure, ...] = ()
    layered: bool = False


def wanted(
    name: str,
    treatment: str,
    *,
    agents: Sequence[str] = (),
    steps: str | None = None,
    unit: str = "user",
    guardrails: Sequence[str] = (),
    goals: Sequence[str] = (),
    layered: bool = False,
) -> Wanted:
    """What the options ask for.  Raises UsageError for the first that cannot be."""
    return Wanted(
        name=name,
        treatment=treatment,
        agents=tuple(agents),
        steps=parse_steps(steps) if steps else DEFAULT_STEPS,
        unit=unit,
        guardrails=tuple(parse_measure(text, "guardrail") for text in guardrails),
        goals=tuple(parse_measure(text, "goal") for text in goals),
        layered=layered,
    )


def parse_steps(text: str) -> tuple[Step, ...]:
    """The steps of ``5:24h,25:24h,100``: weights in per cent, each with the time to stay."""
    steps = []
    for part in text.split(","):
        weight, colon, hold = part.strip().partition(":")
        parts, seconds = parse_weight(weight), parse_hold(hold) if colon else 0
        if not parts or seconds is None:
            raise UsageError(
                f"--steps: {shown(part.strip())} is no step", "write them like 5:24h,25:24h,100"
            )
        steps.append(Step(parts, seconds))
    return tuple(steps)


def parse_measure(text: str, role: Literal["guardrail", "goal"]) -> Measure:
    """A guardrail or goal as one word, see ``_GUARDRAIL`` and ``_GOAL``."""
    parts = text.split(":")
    margin: float | None = None
    if role == "guardrail":
        margin = _number(parts.pop())
    if len(parts) == 2:
        parts.insert(1, "rate")
    kinds, directions = get_args(Kind), get_args(Direction)
    if (
        len(parts) != 3
        or metric_problem(parts[0])
        or parts[1] not in kinds
        or parts[2] not in directions
        or (role == "guardrail" and margin is None)
    ):
        raise UsageError(
            f"--{role}: {shown(text)} is none",
            f"write it as {_GUARDRAIL if role == 'guardrail' else _GOAL}",
        )
    return Measure(parts[0], parts[1], parts[2], margin)  # type: ignore[arg-type]


def _number(text: str) -> float | None:
    return float(text) if text.replace(".", "", 1).isdecimal() and text.isascii() else None


def draft(asked: Wanted, control: str, agents: Sequence[str], now: datetime) -> Rollout:
    """The rollout as a draft; ``agents`` are those it covers.

    Raises UsageError for what the file would not be valid with.
    """
    for option, branch in (("--control", control), ("--treatment", asked.treatment)):
        problem = branch_problem(branch)
        if problem:
            raise UsageError(f"{option} {shown(branch)} {problem}", "name a branch")
    rollout = Rollout(
        name=asked.name,
        control=control,
        treatment=asked.treatment,
        agents=tuple(dict.fromkeys(agents)),
        unit=asked.unit,
        salt=salt_of(asked.name),
        layered=asked.layered,
        steps=asked.steps,
        guardrails=asked.guardrails,
        goals=asked.goals,
        state=State("draft", 0, 0, now.replace(microsecond=0)),
    )
    read, findings = parse_rollout(dump_rollout(rollout), rollout_path(asked.name))
    if findings:
        raise UsageError(f"this cannot be a rollout: {findings[0].message}", findings[0].hint)
    if read != rollout:
        raise UsageError("an option holds what no rollout file can keep", "use plain words")
    return rollout
