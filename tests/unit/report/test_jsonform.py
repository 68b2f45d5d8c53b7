from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given

from memrepo.errors import BadInput
from memrepo.report.jsonform import json_text, review_as_json, review_from_json
from unit.report.hostile import hostile_text
from unit.report.sample import review_of_text, sample_findings, sample_review


def test_the_public_shape() -> None:
    value = review_as_json(sample_review())
    assert list(value) == [
        "verdict",
        "base",
        "head",
        "base_name",
        "head_name",
        "findings",
        "diff",
    ]
    assert value["verdict"] == "fail"
    assert value["findings"] == [finding.as_json() for finding in sample_findings()]
    assert [agent["agent_id"] for agent in value["diff"]["agents"]] == ["support-eu", "support-us"]


def test_a_review_survives_the_way_through_a_file() -> None:
    text = json_text(review_as_json(sample_review()))
    assert text.endswith("}\n")
    assert review_from_json(json.loads(text)) == sample_review()


@given(hostile_text)
def test_any_text_survives_the_way_through_a_file(text: str) -> None:
    encoded = json_text(review_as_json(review_of_text(text))).encode()
    # What is no character at all is named, since a strict reader would refuse it.
    readable = re.sub("[\ud800-\udfff]", lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
    assert review_from_json(msgspec.json.decode(encoded)) == review_of_text(readable)


def _broken(**changes: Any) -> dict[str, Any]:
    return review_as_json(sample_review()) | changes


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        _broken(verdict="fine"),
        _broken(base="main"),
        _broken(head="A" * 40),
        _broken(head=f"{'a' * 40}\n"),
        _broken(base_name=1),
        _broken(findings={}),
        _broken(findings=[{"code": "x"}]),
        _broken(findings=[sample_findings()[0].as_json() | {"severity": "fatal"}]),
        _broken(findings=[sample_findings()[0].as_json() | {"extra": 1}]),
        _broken(diff=[]),
        _broken(diff={"agents": 1}),
        _broken(more=1),
    ],
)
def test_anything_else_is_refused(value: Any) -> None:
    with pytest.raises(BadInput):
        review_from_json(value)


def test_the_refusal_says_where() -> None:
    with pytest.raises(BadInput, match="verdict"):
        review_from_json(_broken(verdict="fine"))


def test_a_lone_surrogate_can_be_written() -> None:
    assert json_text(["é"]) == '[\n  "é"\n]\n'
    assert json_text(["\ud800"]) == '[\n  "⟨U+D800⟩"\n]\n'
