"""A new rollout from words, the commit of a change, and what is shown of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import UsageError
from memrepo.gitrepo.log import trailer, trailers
from memrepo.protocol.rollout import DEFAULT_STEPS, Measure, Step
from memrepo.protocol.rolloutmoves import Moved, abort
from memrepo.rollout.message import REASON, TRAILER, VERDICT, WEIGHT, Why, message_of
from memrepo.rollout.options import draft, parse_measure, parse_steps, wanted
from memrepo.rollout.render import duration
from rolloutfiles import NOW, at_step


def test_steps_are_read() -> None:
    assert parse_steps("5:24h, 25:30m,100") == (
        Step(5_000, 86_400), Step(25_000, 1_800), Step(100_000),
    )  # fmt: skip
    assert wanted("a", "b").steps == DEFAULT_STEPS


@pytest.mark.parametrize("text", ["", "5,", "x", "5:", "5:1w", "0", "5:24h:1", "0.001", "101"])
def test_what_is_no_step_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no step"):
        parse_steps(text)


def test_guardrails_and_goals_are_read() -> None:
    assert parse_measure("ok:higher:0.02", "guardrail") == Measure("ok", "rate", "higher", 0.02)
    assert parse_measure("s:mean:lower:5", "guardrail") == Measure("s", "mean", "lower", 5.0)
    assert parse_measure("s:mean:lower", "goal") == Measure("s", "mean", "lower")
    assert parse_measure("s:lower", "goal") == Measure("s", "rate", "lower")


@given(st.text(max_size=30), st.sampled_from(["guardrail", "goal"]))
def test_any_words_are_a_measure_or_refused(text: str, role: str) -> None:
    try:
        found = parse_measure(text, role)  # type: ignore[arg-type]
    except UsageError:
        return
    assert (found.margin is None) is (role == "goal")


@given(st.text(max_size=20), st.lists(st.text(max_size=10), max_size=3), st.text(max_size=10))
def test_any_options_are_a_file_that_reads_the_same_or_refused(
    branch: str, agents: list[str], unit: str
) -> None:
    try:
        made = draft(wanted("a", branch, unit=unit), "main", agents, NOW)
    except UsageError:
        return
    assert (made.treatment, made.unit, made.salt) == (branch, unit, "a:")


def test_the_trailers_are_the_changes_own() -> None:
    rollout = at_step(2)
    why = Why("a line\n\nRollout: other\nRollout-Weight: 99", "alice", "hold", "few\nunits \u202e")
    message = message_of(rollout, "new-classifier: 1 % → 5 %", why)
    assert message.startswith("rollout new-classifier: 1 % → 5 %\n\na line\n\n> Rollout: other\n")
    assert (trailer(message, TRAILER), trailer(message, WEIGHT)) == ("new-classifier", "5")
    assert trailer(message, VERDICT) == "hold"
    assert trailer(message, REASON) == "few units ⟨U+202E⟩"
    assert dict(trailers(message))["Rollout-By"] == "alice"
    loud = message_of(rollout, "x", Why(finding="1 unit was in both arms ([skip ci])"))
    assert "skip ci" not in loud


@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=60))
def test_no_words_change_what_the_trailers_say(reason: str, by: str, finding: str) -> None:
    moved = abort(at_step(2), NOW + timedelta(hours=1))
    assert isinstance(moved, Moved)
    message = message_of(moved.rollout, moved.said, Why(reason, by, "abort", finding))
    assert message.splitlines()[0] == "rollout new-classifier: abort at 5 %"
    found = trailers(message)
    assert [key for key, _ in found].count(TRAILER) == 1
    assert (trailer(message, TRAILER), trailer(message, WEIGHT)) == ("new-classifier", "0")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59, "59s"), (60, "1m"), (3_661, "1h 1m"), (90_000, "1d 1h"), (86_400, "1d")],
)
def test_time_gone_by(seconds: int, text: str) -> None:
    assert duration(seconds) == text
