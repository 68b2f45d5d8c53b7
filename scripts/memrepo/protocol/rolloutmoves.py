"""How a rollout moves on: a value in, the next value out, or the word that nothing is to do.

Every move says which state it expects; another one is refused with words, so that a
move that is made twice, or by two schedules at once, happens once.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from memrepo.errors import UsageError
from memrepo.protocol.rollout import TOTAL_PARTS, Phase, Rollout, State, percent
from memrepo.protocol.timestamps import iso


class Moved(msgspec.Struct, frozen=True):
    """The rollout after a move, and what the move did in a few words (a commit's subject)."""

    rollout: Rollout
    said: str


class NothingToDo(msgspec.Struct, frozen=True):
    """The rollout is where the move would bring it; ``said`` says so."""

    said: str


Move = Moved | NothingToDo


def start(rollout: Rollout, now: datetime) -> Move:
    """From draft to the first step.  Raises UsageError for a rollout that has ended."""
    if rollout.is_live:
        return NothingToDo(f"{rollout.name} has started")
    if rollout.state.phase != "draft":
        raise UsageError(
            f"{rollout.name} was {rollout.state.phase} at {iso(rollout.state.since)}",
            "write a new rollout under another name",
        )
    weight = rollout.steps[0].weight
    return _moved(rollout, "running", 1, weight, now, f"start at {percent(weight)}")


def step(rollout: Rollout, now: datetime, *, to: int | None = None, early: bool = False) -> Move:
    """To the next step; ``to`` is the step (from 1) that the caller means to reach.

    With ``to`` a step that is reached already is nothing to do: whoever decided on it and
    lost a race asks again with the same number. Raises UsageError when the rollout is not
    running, when ``to`` is further than the next step, or when the hold is not over
    (unless ``early``).
    """
    state = rollout.state
    if to is not None and state.phase == "running" and state.step >= to:
        return NothingToDo(f"{rollout.name} is at step {state.step} of {len(rollout.steps)}")
    _expect(rollout, "step", "running")
    if rollout.is_last_step:
        return NothingToDo(f"{rollout.name} is at its last step: promote or abort it")
    if to is not None and to != state.step + 1:
        raise UsageError(
            f"{rollout.name} is at step {state.step}, so it cannot go to step {to}",
            f"the next one is step {state.step + 1}",
        )
    _held(rollout, now, early)
    weight = rollout.steps[state.step].weight
    said = f"{percent(state.weight)} → {percent(weight)}"
    return _moved(rollout, "running", state.step + 1, weight, now, said)


def pause(rollout: Rollout, now: datetime) -> Move:
    """Stay at this weight until it is resumed.  Raises UsageError when it is not running."""
    if rollout.state.phase == "paused":
        return NothingToDo(f"{rollout.name} is paused")
    _expect(rollout, "pause", "running")
    state = rollout.state
    return _moved(rollout, "paused", state.step, state.weight, now, "pause")


def resume(rollout: Rollout, now: datetime) -> Move:
    """Run again; the step's hold begins anew.  Raises UsageError when it is not paused."""
    if rollout.state.phase == "running":
        return NothingToDo(f"{rollout.name} is running")
    _expect(rollout, "resume", "paused")
    state = rollout.state
    return _moved(rollout, "running", state.step, state.weight, now, "resume")


def abort(rollout: Rollout, now: datetime) -> Move:
    """Every unit back to the control branch.  Raises UsageError once it is promoted."""
    if rollout.state.phase == "aborted":
        return NothingToDo(f"{rollout.name} is aborted")
    _expect(rollout, "abort", "draft", "running", "paused")
    said = f"abort at {percent(rollout.state.weight)}"
    return _moved(rollout, "aborted", rollout.state.step, 0, now, said)


def promote(rollout: Rollout, now: datetime, *, early: bool = False) -> Move:
    """Done: the control branch holds the treatment, and every unit reads it there.

    To be made in the change that brings the treatment into the control branch, or after
    it. Raises UsageError when the rollout is not running, not at its last step, or the
    hold is not over (the last two unless ``early``).
    """
    if rollout.state.phase == "promoted":
        return NothingToDo(f"{rollout.name} is promoted")
    _expect(rollout, "promote", "running")
    if not rollout.is_last_step and not early:
        raise UsageError(
            f"{rollout.name} is at step {rollout.state.step} of {len(rollout.steps)}",
            "step it to the last one first",
        )
    _held(rollout, now, early)
    said = f"promote {rollout.treatment}"
    return _moved(rollout, "promoted", rollout.state.step, TOTAL_PARTS, now, said)


def _moved(
    rollout: Rollout, phase: Phase, step_number: int, weight: int, now: datetime, said: str
) -> Moved:
    state = State(phase, step_number, weight, now.replace(microsecond=0))
    return Moved(msgspec.structs.replace(rollout, state=state), f"{rollout.name}: {said}")


def _expect(rollout: Rollout, verb: str, *phases: Phase) -> None:
    phase = rollout.state.phase
    if phase in phases:
        return
    hints: dict[Phase, str] = {
        "draft": "start it first",
        "running": "it is running",
        "paused": "resume it first",
        "promoted": "its treatment is in the control branch; revert the commits there",
        "aborted": "write a new rollout under another name",
    }
    raise UsageError(f"cannot {verb} {rollout.name}: it is {phase}", hints[phase])


def _held(rollout: Rollout, now: datetime, early: bool) -> None:
    due = rollout.due
    if due is not None and now < due and not early:
        raise UsageError(
            f"{rollout.name} holds {percent(rollout.state.weight)} until {iso(due)}",
            "wait, or say that it shall go on early",
        )
