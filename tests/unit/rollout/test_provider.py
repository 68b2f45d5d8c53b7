from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from openfeature import api
from openfeature.client import OpenFeatureClient
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode

from memrepo.buckets.assign import assign
from memrepo.rollout.provider import RolloutProvider
from rolloutfiles import a_rollout, at_step

LIVE = at_step(5)
DRAFT = a_rollout(name="later")


@pytest.fixture
def client() -> Iterator[OpenFeatureClient]:
    api.set_provider(RolloutProvider(lambda: [LIVE, DRAFT]))
    yield api.get_client()
    api.clear_providers()


def test_any_call_of_the_sdk_gives_the_branch(client: OpenFeatureClient) -> None:
    for number in range(200):
        context = EvaluationContext(f"user-{number}")
        expected = assign(LIVE, f"user-{number}")
        found = client.get_string_details("new-classifier", "none", context)
        assert (found.value, found.variant) == (expected.branch, expected.variant)
        assert found.flag_metadata["bucket"] == expected.bucket
        in_treatment = client.get_boolean_value("new-classifier", False, context)
        assert in_treatment == (expected.variant == "treatment")


def test_a_draft_is_control(client: OpenFeatureClient) -> None:
    assert client.get_string_value("later", "none", EvaluationContext("a")) == "main"


def test_the_agent_is_an_attribute(client: OpenFeatureClient) -> None:
    unit = next(f"u{n}" for n in range(99) if assign(LIVE, f"u{n}").variant == "treatment")
    for agent, branch in (("support_agent_v1", LIVE.treatment), ("sales", "main")):
        context = EvaluationContext(unit, {"agent_id": agent})
        assert client.get_string_value("new-classifier", "none", context) == branch


@pytest.mark.parametrize(
    ("flag", "context", "code"),
    [
        ("other", EvaluationContext("a"), ErrorCode.FLAG_NOT_FOUND),
        ("new-classifier", EvaluationContext(), ErrorCode.TARGETING_KEY_MISSING),
        ("new-classifier", EvaluationContext(" a"), ErrorCode.INVALID_CONTEXT),
        ("new-classifier", EvaluationContext("a", {"agent_id": 1}), ErrorCode.INVALID_CONTEXT),
    ],
)
def test_a_question_that_cannot_be_answered_gets_the_default(
    client: OpenFeatureClient, flag: str, context: EvaluationContext, code: ErrorCode
) -> None:
    found = client.get_string_details(flag, "main", context)
    assert (found.value, found.error_code) == ("main", code)


def test_other_types_are_a_mismatch(client: OpenFeatureClient) -> None:
    context = EvaluationContext("a")
    answers = (
        client.get_integer_details("new-classifier", 7, context),
        client.get_float_details("new-classifier", 7.5, context),
        client.get_object_details("new-classifier", {}, context),
    )
    assert {found.error_code for found in answers} == {ErrorCode.TYPE_MISMATCH}


def test_without_the_sdk_it_says_how_to_get_it() -> None:
    code = (
        "import sys; sys.modules['openfeature'] = None\n"
        "from memrepo.errors import UsageError\n"
        "try:\n    import memrepo.rollout.provider\n"
        "except UsageError as error:\n    print(error.message, '/', error.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("the OpenFeature SDK is not installed / ")
    assert "openfeature" in done.stdout.partition("/")[2]
