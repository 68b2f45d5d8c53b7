"""Inputs are text, whatever was meant: read strictly, or refused by name."""

from __future__ import annotations

import pytest

from memrepo.errors import UsageError
from memrepo.report.verdict import Verdict
from memrepo.runner.inputs import PREFIX, FailOn, ProposeInputs, ReviewInputs, read_inputs, stops


def review(**given: str) -> ReviewInputs:
    return read_inputs(ReviewInputs, {f"{PREFIX}{name}": text for name, text in given.items()})


def propose(**given: str) -> ProposeInputs:
    needed = {"AGENT_ID": "a", "MESSAGE": "m"}
    environ = {f"{PREFIX}{name}": text for name, text in {**needed, **given}.items()}
    return read_inputs(ProposeInputs, environ)


def test_what_is_given_is_read() -> None:
    got = review(COMMENT="false", FAIL_ON="never", PULL_REQUEST_NUMBER="7", GITHUB_TOKEN=" t\n")
    assert got == ReviewInputs(
        comment=False, fail_on="never", pull_request_number=7, github_token="t"
    )
    assert propose(LABELS="a, b\nc\n,", REVIEWERS="acme/team").labels == ("a", "b", "c")


def test_what_is_empty_was_not_given() -> None:
    assert review(COMMENT="", FAIL_ON=" ", PULL_REQUEST_NUMBER="") == ReviewInputs()


@pytest.mark.parametrize("text", ["True", "FALSE", "yes", "1", "0", "on", " true", "true\n"])
def test_a_boolean_is_true_or_false_and_nothing_else(text: str) -> None:
    with pytest.raises(UsageError, match=r"comment: .* is neither 'true' nor 'false'"):
        review(COMMENT=text)


@pytest.mark.parametrize("text", ["errors", "Error", "none", "error\nwarning"])
def test_a_level_is_one_of_three(text: str) -> None:
    with pytest.raises(UsageError, match=r"fail-on: .* is none of error, warning, never"):
        review(FAIL_ON=text)


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.0", "١", "9" * 40, "1;2"])
def test_a_pull_request_is_a_number(text: str) -> None:
    with pytest.raises(UsageError, match="pull-request-number"):
        review(PULL_REQUEST_NUMBER=text)


def test_what_is_needed_is_named() -> None:
    with pytest.raises(UsageError, match="the input agent-id is missing"):
        propose(AGENT_ID="")


def test_a_token_is_in_no_traceback() -> None:
    assert "hunter2" not in repr(review(GITHUB_TOKEN="hunter2"))


@pytest.mark.parametrize(
    ("verdict", "stopped_by"),
    [("pass", set()), ("warn", {"warning"}), ("fail", {"error", "warning"})],
)
def test_when_a_verdict_stops(verdict: Verdict, stopped_by: set[str]) -> None:
    levels: tuple[FailOn, ...] = ("error", "warning", "never")
    assert {level for level in levels if stops(verdict, level)} == stopped_by
