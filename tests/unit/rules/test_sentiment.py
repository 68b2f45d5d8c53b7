"""``sentiment``: the scorer's answer, whether or not the scorer was asked."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.protocol.documents import Turn
from memrepo.protocol.policy import Policy, Text
from memrepo.rules import sentiment
from memrepo.rules.text import scan_document

UPSET = "I hate you, you stupid worthless idiot. This is horrible and disgusting!"
CALM = "Sorry, there is no seat left on that flight. Shall I look for another?"


def found(role: str, content: str, policy: Policy | None = None) -> list[tuple[str, str]]:
    turns = [{"role": role, "content": content, "timestamp": "2026-03-01T12:00:00Z"}]
    data = json.dumps(turns).encode()
    values = (turns, msgspec.convert(turns, list[Turn]))
    answers = [scan_document("context", data, value, policy or Policy()) for value in values]
    assert answers[0] == answers[1]
    return [(h.pointer, h.message) for h in answers[0] if h.code == "sentiment"]


def test_an_upset_assistant_is_found_and_an_upset_user_is_not() -> None:
    ((pointer, message),) = found("assistant", UPSET)
    assert pointer == "/0/content"
    assert "0.97" in message
    assert found("user", UPSET) == []
    assert found("assistant", CALM) == []


def test_the_policy_sets_the_threshold() -> None:
    assert found("assistant", UPSET, Policy(text=Text(sentiment=0.99))) == []
    assert found("assistant", UPSET, Policy(text=Text(sentiment=1.0))) == []
    assert found("assistant", "That is bad.", Policy(text=Text(sentiment=0.5)))
    assert found("assistant", "That is bad.") == []
    assert found("assistant", UPSET, Policy(severity={"sentiment": "off"})) == []


def test_a_turn_is_judged_by_its_beginning() -> None:
    assert found("assistant", UPSET + " word" * 5_000)
    assert found("assistant", "word " * 5_000 + UPSET) == []


_LEXICON = sorted(sentiment._scorer().lexicon)
_CHANGERS = [*sorted(sentiment._scorer().changers), "but", "this", "so", "doubt", "of", "enough"]
_PHRASES = ["the shit", "bus stop", "yeah right", "in the red", "can't stand", "fed up", "kind of"]
_WORDS = st.one_of(
    st.sampled_from(_LEXICON),
    st.sampled_from(_LEXICON).map(str.upper),
    st.sampled_from(_CHANGERS),
    st.sampled_from([*_CHANGERS, "no", "NOT", "VERY", "kind"]).map(str.upper),
    st.sampled_from(_PHRASES),
    st.sampled_from(["!", "?!", "😡", "💔", "’tis", "don’t", "--", ":(!!", "(bad)", "'worst'"]),
    st.text(max_size=6),
)


@settings(max_examples=200)
@given(st.lists(_WORDS, max_size=9).map(" ".join))
def test_the_bound_is_never_below_what_the_scorer_says(text: str) -> None:
    score = -float(sentiment._scorer().analyzer.polarity_scores(text)["compound"])
    for threshold in (0.1, 0.5, 0.8, score - 0.0001, score):
        if score > threshold > 0:
            assert sentiment.bound(text) > sentiment._raw(threshold)


@given(st.lists(_WORDS, max_size=9).map(" ".join), st.sampled_from([0.0, 0.3, 0.8, 0.95, 1.0]))
def test_the_answer_is_the_scorers(text: str, threshold: float) -> None:
    score = -float(sentiment._scorer().analyzer.polarity_scores(text)["compound"])
    expected = score if score > threshold else None
    assert sentiment.negative_score(text, threshold) == expected


@pytest.mark.parametrize("text", [CALM, "Your order is on its way.", ""])
def test_calm_text_does_not_reach_the_scorer(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentiment._scorer(), "analyzer", None)
    assert sentiment.negative_score(text, 0.8) is None
