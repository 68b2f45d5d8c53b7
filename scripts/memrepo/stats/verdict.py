"""Promote, hold, abort or inconclusive: decided from what was found, with one sentence why.

What cannot be trusted holds before anything else is read out of it; harm aborts, however
old or small the rest of the data is; too little, too old or no data holds, and is never
success; only then may a rollout go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import BinaryIO

from memrepo.protocol.rollout import MOST_MONITORED, Rollout
from memrepo.stats.analysis import (
    ALPHA,
    LEAST_UNITS,
    Analysis,
    Compared,
    Comparison,
    Verdict,
    compare_all,
)
from memrepo.stats.outcomes import Weight, read_outcomes


def analyze(
    stream: BinaryIO,
    rollout: Rollout,
    weights: Sequence[Weight] | None = None,
    *,
    now: datetime,
    stale_after: timedelta | None = None,
    alpha: float = ALPHA,
) -> Analysis:
    """The outcomes in a metrics file, and what they mean for the rollout.

    ``weights`` as for :func:`memrepo.stats.outcomes.read_outcomes`. Outcomes of which the
    newest is older than ``stale_after`` never let a rollout go on. Raises BadInput with
    the line of the first mistake.
    """
    outcomes = read_outcomes(stream, rollout, weights, now=now)
    found = compare_all(rollout, outcomes, alpha)
    verdict, reason = decide(rollout, found, now=now, stale_after=stale_after)
    state = rollout.state
    return Analysis(
        rollout=rollout.name,
        phase=state.phase,
        step=state.step,
        steps=len(rollout.steps),
        weight=state.weight,
        guardrails=found.guardrails,
        goals=found.goals,
        ratio=found.ratio,
        counts=outcomes.counts,
        crossed=outcomes.crossed,
        newest=outcomes.newest,
        verdict=verdict,
        reason=reason,
        may_step=verdict == "inconclusive" and _may_step(rollout, found),
        alpha=alpha,
    )


def decide(
    rollout: Rollout,
    found: Compared,
    *,
    now: datetime | None = None,
    stale_after: timedelta | None = None,
) -> tuple[Verdict, str]:
    """The verdict and its reason, one sentence. Names in it are shown as they are."""
    verdict, reason = _decide(rollout, found, now, stale_after)
    if verdict == "hold" or (verdict == "inconclusive" and _open_ones(found)):
        reason += _no_more(rollout, verdict)
    return verdict, f"{reason}."


def _may_step(rollout: Rollout, found: Compared) -> bool:
    """Whether an inconclusive rollout may take its next step.

    The bounds narrow with compared units only, and above ``MOST_MONITORED`` there are none:
    what is open when such a step is taken stays open, so it is to be decided before.
    """
    if rollout.state.phase != "running" or rollout.is_last_step:
        return False
    return _next_weight(rollout) <= MOST_MONITORED or not _open_ones(found)


def _next_weight(rollout: Rollout) -> int:
    return rollout.steps[rollout.state.step].weight


def _open_ones(found: Compared) -> list[Comparison]:
    return [compared for compared in found.guardrails if compared.standing != "fine"]


def _no_more(rollout: Rollout, verdict: Verdict) -> str:
    """What a reason goes on with where outcomes can, or soon could, add nothing to it."""
    if not rollout.is_live:
        return ""
    if rollout.state.weight > MOST_MONITORED:
        return "; above 50 % nothing more is compared: promote or abort"
    if verdict == "hold" or rollout.is_last_step or _next_weight(rollout) <= MOST_MONITORED:
        return ""
    return "; decide that before the next step: above 50 % nothing more is compared"


def _decide(
    rollout: Rollout, found: Compared, now: datetime | None, stale_after: timedelta | None
) -> tuple[Verdict, str]:
    worse = [compared for compared in found.guardrails if compared.standing == "worse"]
    doubt = _doubt(found)
    if doubt:
        also = f"; {worse[0].measure.metric} looks worse, so look soon" if worse else ""
        return "hold", f"{doubt}{also}"
    if worse:
        return "abort", _harm(worse[0])
    missing = _missing(rollout, found, now, stale_after)
    if missing:
        return "hold", missing
    for goal in found.goals:
        if goal.standing == "worse":
            return "hold", f"{_harm(goal)}, which is a goal and no guardrail: a person decides"
    open_ones = _open_ones(found)
    if open_ones:
        return "inconclusive", _open(open_ones[0])
    if not rollout.is_last_step:
        place = f"step {rollout.state.step} of {len(rollout.steps)}"
        return "inconclusive", f"No guardrail is worse than its margin, at {place}"
    return "promote", "No guardrail is worse than its margin, at the last step"


def _doubt(found: Compared) -> str:
    """Why the arms cannot be compared, or ""."""
    if found.crossed:
        count = len(found.crossed)
        some = ", ".join(found.crossed[:3]) + (", …" if count > 3 else "")
        units = "1 unit was" if count == 1 else f"{count:,} units were"
        return f"{units} in both arms ({some}): the service gave another arm than the rollout"
    if found.ratio.is_mismatch:
        ratio = found.ratio
        return (
            f"The arms should be of one size and have {ratio.treatment:,} and {ratio.control:,}"
            f" units (p = {ratio.p:.2g}): outcomes are lost on one side"
        )
    return ""


def _missing(
    rollout: Rollout, found: Compared, now: datetime | None, stale_after: timedelta | None
) -> str:
    """What is lacking for the rollout to go on, or ""."""
    if not rollout.guardrails:
        return "The rollout has no guardrail, so nothing can be said for it"
    if stale_after is not None and now is not None:
        if found.newest is None and any(c.standing != "no-data" for c in found.guardrails):
            return "The outcomes have no `at`, so nobody knows how old they are"
        age = now - found.newest if found.newest is not None else timedelta(0)
        if age > stale_after:
            return f"The newest outcome is {_hours(age)} old, and {_hours(stale_after)} is the most"
    for compared in found.guardrails:
        metric = compared.measure.metric
        if compared.standing == "no-data":
            return f"There is no outcome of {metric} that can be compared"
        if compared.standing == "too-few":
            sides = f"{compared.treatment.units:,} treatment and {compared.control.units:,} control"
            return f"{metric} has {sides} units, and each arm needs {LEAST_UNITS}"
        if compared.standing == "same":
            return f"Every unit has the same {metric}, so nothing can be estimated from it"
    return ""


def _hours(time: timedelta) -> str:
    hours = time.total_seconds() / 3_600
    return f"{hours / 24:.1f} days" if hours >= 48 else f"{hours:.1f} hours"


def _harm(compared: Comparison) -> str:
    low, high = compared.low, compared.high
    side = "lower" if compared.measure.direction == "higher" else "higher"
    by = f"{abs(compared.difference or 0):.4g} (between {low:+.4g} and {high:+.4g})"
    return f"{compared.measure.metric} is {side} in the treatment by {by}"


def _open(compared: Comparison) -> str:
    measure = compared.measure
    worst = compared.low if measure.direction == "higher" else compared.high
    return (
        f"{measure.metric} may still be worse by {abs(worst or 0):.4g},"
        f" and its margin is {measure.margin:g}"
    )
