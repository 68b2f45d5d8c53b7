from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from memrepo.errors import UsageError
from memrepo.protocol.rollout import MOST_MONITORED, Measure, Rollout, Step
from memrepo.protocol.rolloutdump import dump_rollout
from memrepo.protocol.rolloutfile import read_rollout
from memrepo.protocol.rolloutmoves import (
    Move,
    Moved,
    NothingToDo,
    abort,
    pause,
    promote,
    resume,
    start,
    step,
)
from memrepo.protocol.rolloutwords import describe_change, fixed_changes
from rolloutfiles import NOW, a_rollout, at_step

LATER = NOW + timedelta(days=2)
LAST = len(a_rollout().steps)
MOVES: dict[str, Callable[[Rollout, datetime], Move]] = {
    "start": start,
    "step": step,
    "pause": pause,
    "resume": resume,
    "abort": abort,
    "promote": promote,
}


def moved(move: Move) -> Rollout:
    assert isinstance(move, Moved)
    # Whatever a move leaves is a file that can be read.
    path = f".memrepo/rollouts/{move.rollout.name}.yml"
    assert read_rollout(dump_rollout(move.rollout), path) == move.rollout
    return move.rollout


def standing(rollout: Rollout) -> tuple[str, int, int]:
    return rollout.state.phase, rollout.state.step, rollout.state.weight


def test_a_whole_life() -> None:
    rollout = moved(start(a_rollout(), NOW))
    assert standing(rollout) == ("running", 1, 1_000)
    now = NOW
    for number, weight in enumerate((5_000, 10_000, 25_000, 50_000, 100_000), 2):
        now += timedelta(days=1)
        rollout = moved(step(rollout, now, to=number))
        assert standing(rollout) == ("running", number, weight)
        assert rollout.state.since == now
    assert standing(moved(promote(rollout, now))) == ("promoted", LAST, 100_000)


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("phase", ["draft", "running", "paused", "aborted", "promoted"])
def test_every_move_in_every_phase(name: str, phase: str) -> None:
    running = at_step(LAST - 1)
    rollout = {
        "draft": a_rollout(),
        "running": running,
        "paused": moved(pause(running, NOW)),
        "aborted": moved(abort(running, NOW)),
        "promoted": moved(promote(at_step(LAST), NOW)),
    }[phase]
    expected = {
        "start": {"draft": "running", "running": "", "paused": ""},
        "step": {"running": "running"},
        "pause": {"running": "paused", "paused": ""},
        "resume": {"paused": "running", "running": ""},
        "abort": {"draft": "aborted", "running": "aborted", "paused": "aborted", "aborted": ""},
        "promote": {"promoted": ""},
    }[name].get(phase)
    if expected is None:
        with pytest.raises(UsageError) as refused:
            MOVES[name](rollout, LATER)
        assert refused.value.hint
    elif not expected:
        assert isinstance(MOVES[name](rollout, LATER), NothingToDo)
    else:
        assert moved(MOVES[name](rollout, LATER)).state.phase == expected


@pytest.mark.parametrize("name", ["start", "pause", "resume", "abort", "promote"])
def test_a_move_made_twice_is_nothing_to_do(name: str) -> None:
    before = {
        "start": a_rollout(),
        "resume": moved(pause(at_step(1), NOW)),
        "promote": at_step(LAST),
    }.get(name, at_step(1))
    once = moved(MOVES[name](before, LATER))
    assert isinstance(MOVES[name](once, LATER), NothingToDo)


def test_a_step_that_another_schedule_made_is_nothing_to_do() -> None:
    first = moved(step(at_step(1), LATER, to=2))
    assert isinstance(step(first, LATER, to=2), NothingToDo)
    with pytest.raises(UsageError, match="cannot go to step 4"):
        step(first, LATER + timedelta(days=1), to=4)


def test_a_step_waits_for_its_hold() -> None:
    with pytest.raises(UsageError, match=r"holds 1 % until 2026-03-02T12:00:00Z"):
        step(at_step(1), NOW + timedelta(hours=23))
    assert moved(step(at_step(1), NOW + timedelta(hours=24))).state.step == 2
    assert moved(step(at_step(1), NOW, early=True)).state.step == 2


def test_a_resumed_step_holds_anew() -> None:
    resumed = moved(resume(moved(pause(at_step(1), LATER)), LATER))
    assert resumed.due == LATER + timedelta(days=1)
    assert moved(pause(resumed, LATER)).due is None


def test_nothing_follows_the_last_step() -> None:
    assert isinstance(step(at_step(LAST), LATER), NothingToDo)


def test_promotion_waits_for_the_last_step_and_its_hold() -> None:
    with pytest.raises(UsageError, match="step 2 of 6"):
        promote(at_step(2), LATER)
    assert moved(promote(at_step(2), LATER, early=True)).state.phase == "promoted"
    held = at_step(1, steps=(Step(100_000, 3_600),))
    with pytest.raises(UsageError, match="holds 100 %"):
        promote(held, NOW)


def test_an_abort_keeps_the_step_and_takes_the_weight() -> None:
    assert standing(moved(abort(at_step(4), NOW))) == ("aborted", 4, 0)


# --- in words


def test_the_words_of_a_step() -> None:
    assert describe_change(at_step(2), at_step(4)) == (
        "5 % → 25 % of units of support_agent_v1 will read feature/new-classifier."
    )


def test_the_words_of_a_new_rollout() -> None:
    goal = Measure("seconds", "mean", "lower")
    draft = a_rollout(goals=(goal,), steps=(Step(500, 90), Step(100_000)))
    assert describe_change(None, draft).splitlines() == [
        "A rollout of feature/new-classifier in phase draft: nobody reads it yet.",
        "Steps: 0.5 % for 90s, 100 %.",
        "Guardrail resolved (rate, higher is better, margin 0.02).",
        "Goal seconds (mean, lower is better).",
    ]
    running = describe_change(None, at_step(1, guardrails=())).splitlines()
    assert running[0] == "0 % → 1 % of units of support_agent_v1 will read feature/new-classifier."
    assert "No guardrail: nothing would abort it." in running


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (a_rollout(), at_step(1), "It starts.\n0 % → 1 % of units"),
        (at_step(2), moved(pause(at_step(2), NOW)), "It pauses at 5 %."),
        (moved(pause(at_step(2), NOW)), at_step(2), "It resumes."),
        (at_step(2), moved(abort(at_step(2), NOW)), "every unit reads main.\n5 % → 0 % of units"),
        (at_step(LAST), moved(promote(at_step(LAST), NOW)), "which holds the treatment."),
        (at_step(5), at_step(6), "nothing is compared."),
        (at_step(1), None, "1 % → 0 % of units"),
        (a_rollout(), None, "The record of new-classifier (draft) is removed."),
        (None, None, ""),
        (a_rollout(), a_rollout(), ""),
        (a_rollout(), a_rollout(salt="x:"), "salt: new-classifier: → x:."),
        (a_rollout(), a_rollout(agents=("b",)), "It now covers b.\nIt no longer covers"),
        (a_rollout(), a_rollout(layered=True), "beside others"),
        (a_rollout(), a_rollout(steps=(Step(1000),)), "→ now 1 %."),
        (a_rollout(), a_rollout(guardrails=()), "Guardrail resolved (rate, higher is better"),
        (a_rollout(guardrails=()), a_rollout(), "New guardrail resolved"),
        (
            a_rollout(),
            a_rollout(guardrails=(Measure("resolved", margin=0.5),)),
            "→ now resolved (rate, higher is better, margin 0.5).",
        ),
    ],
)
def test_the_words_of_an_edit(old: Rollout | None, new: Rollout | None, words: str) -> None:
    found = describe_change(old, new)
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (at_step(1), at_step(1, salt="x:"), "salt"),
        (at_step(1), at_step(1, assignment="murmur3-utf8/1"), "assignment"),
        (at_step(1), at_step(1, unit="agent"), "unit"),
        (at_step(1), at_step(1, treatment="b"), "treatment"),
        (moved(abort(at_step(1), NOW)), at_step(1), "does not run again"),
        (at_step(1), a_rollout(), "no draft again"),
    ],
)
def test_what_a_started_rollout_keeps(old: Rollout, new: Rollout, words: str) -> None:
    assert any(words in problem for problem in fixed_changes(old, new))


def test_what_may_be_edited() -> None:
    assert fixed_changes(a_rollout(), at_step(1, salt="x:")) == []
    assert fixed_changes(at_step(1), at_step(3, agents=("*",))) == []
    assert fixed_changes(at_step(1), moved(abort(at_step(1), NOW))) == []
    assert at_step(5).state.weight == MOST_MONITORED
