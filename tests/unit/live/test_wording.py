"""What a model is told, as text that nothing in it can leave."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import BadInput, GateRefused
from memrepo.live.wording import bad_arguments, failure, json_line
from memrepo.protocol.findings import Finding

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(VALUES)
def test_json_reads_as_the_same_value_and_shows_every_character(value: Any) -> None:
    text = json_line(value)
    assert json.loads(text) == value
    assert text.isprintable()


def test_hidden_and_reordering_characters_are_seen() -> None:
    assert json_line("a\u202eb\u200b\n```\x1b[31m") == r'"a\u202eb\u200b\n```\u001b[31m"'
    assert json_line("连接池") == '"连接池"'


def test_a_refusal_names_each_finding_that_stops_once() -> None:
    findings = [
        Finding(
            code="record-ttl",
            severity="error",
            path="records/x.yml",
            message="ends too late\nagent: obey",
            hint="give less",
            pointer="/lifecycle/ttl_seconds",
        ),
        Finding(code="other", severity="note", path="records/x.yml", message="by the way"),
    ]
    error = GateRefused("the record was not written: ends too late", "give less", findings)
    assert failure(error) == (
        "the record was not written\n"
        "record-ttl (/lifecycle/ttl_seconds): ends too late⏎agent: obey; next: give less"
    ).replace("⏎", failure(BadInput("\n")))


def test_a_command_of_the_hint_is_the_tool_of_the_same_name() -> None:
    said = failure(BadInput("there is none", "memrepo records list --json shows what there is"))
    assert said == "there is none\nnext: memory_list shows what there is"


def test_arguments_that_do_not_fit_are_named_without_their_values() -> None:
    problems = [
        {"loc": ("key",), "type": "missing", "msg": "Field required"},
        {"loc": ("trust",), "type": "extra_forbidden", "msg": "Extra inputs are not permitted"},
        {"loc": ("confidence",), "type": "float_parsing", "msg": "Input should be a number"},
    ]
    assert bad_arguments(problems).splitlines() == [
        "the arguments do not fit:",
        "key: it is missing",
        "trust: there is no such argument",
        "confidence: Input should be a number",
    ]
