from __future__ import annotations

from typing import Any

import pytest

from memrepo.protocol.findings import Finding
from memrepo.report.parameters import (
    Parameter,
    change_values,
    parameter_label,
    parameters_of,
    rest_of,
    value_phrase,
)
from memrepo.report.phrases import (
    headline,
    listed,
    place,
    shortened,
    turn_label,
    version_phrase,
    worst_first,
)
from memrepo.semdiff.change import AgentDiff, Diff, MetadataDiff, ParameterChange, TurnChange, Word


@pytest.mark.parametrize(
    ("items", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_listed(items: list[str], text: str) -> None:
    assert listed(items) == text


def test_headline_of_nothing() -> None:
    assert headline(Diff()) == "nothing changed"


@pytest.mark.parametrize(
    ("line", "column", "text"), [(0, 0, "p"), (3, 0, "p:3"), (3, 7, "p:3:7"), (0, 7, "p")]
)
def test_place(line: int, column: int, text: str) -> None:
    finding = Finding(code="c", severity="note", path="p", message="", line=line, column=column)
    assert place(finding) == text


@pytest.mark.parametrize(
    ("pointer", "label"),
    [
        ("/parameters/properties/query", "query"),
        ("/parameters/query", "query"),
        ("/parameters/properties/a/properties/b", "a.b"),
        ("/parameters/properties/a/items/properties/b", "a[].b"),
        ("/parameters/properties/properties", "properties"),
        ("/parameters/properties/items", "items"),
        ("/parameters/properties", "properties"),
        ("/parameters", "parameters"),
        ("/description", "description"),
        ("/parameters/a~1b~0c", "a/b~c"),
        ("", "tool"),
    ],
)
def test_parameter_label(pointer: str, label: str) -> None:
    assert parameter_label(pointer) == label


@pytest.mark.parametrize(
    ("parameters", "rows"),
    [
        ({"query": "string"}, [Parameter("query", "string", True, "")]),
        (
            {
                "type": "object",
                "properties": {
                    "a": {"type": "string", "description": "An a."},
                    "b": {"type": "array", "items": {"type": "number"}},
                    "c": {"enum": ["x", 1, None]},
                    "d": True,
                },
                "required": ["a"],
            },
            [
                Parameter("a", "string", True, "An a."),
                Parameter("b", "array of number", False, ""),
                Parameter("c", "x | 1 | null", False, ""),
                Parameter("d", "true", False, ""),
            ],
        ),
        ({"type": "object"}, []),
        ({"type": "string"}, [Parameter("type", "string", True, "")]),
        ({"properties": "string"}, [Parameter("properties", "string", True, "")]),
        (
            {"type": "object", "properties": {"a": {}}, "required": "a"},
            [Parameter("a", "any", False, "")],
        ),
        ({"a": "string?"}, [Parameter("a", "string?", False, "")]),
        ({"a": {"type": "string", "default": ""}}, [Parameter("a", "string", False, "")]),
        ({}, []),
    ],
)
def test_parameters_of_both_spellings(parameters: dict[str, Any], rows: list[Parameter]) -> None:
    assert parameters_of(parameters) == rows


@pytest.mark.parametrize(
    ("parameters", "complete"),
    [
        ({"query": "string"}, True),
        ({"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}}, True),
        ({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}, False),
        ({"type": "object", "properties": {"a": {"type": "array", "items": {}}}}, False),
        ({"type": "object", "properties": {}, "description": "x"}, False),
        ({"query": {"type": "object", "properties": {}}}, False),
    ],
)
def test_what_a_table_cannot_say_is_shown_in_full(
    parameters: dict[str, Any], complete: bool
) -> None:
    assert rest_of(parameters) == ({} if complete else parameters)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string", "description": "A city."}, "string: A city."),
        ({"type": "string"}, "string"),
        ("string", "string"),
        ({"type": "string", "default": "x"}, '{"type": "string", "default": "x"}'),
    ],
)
def test_an_added_parameter_in_words(schema: Any, text: str) -> None:
    change = ParameterChange("/parameters/a", "parameter-added", "compatible", None, schema)
    assert change_values(change) == ("", text)


def test_value_phrase() -> None:
    assert value_phrase(None) == ""
    assert value_phrase("as it is") == "as it is"
    assert value_phrase({"a": [1, "é"]}) == '{"a": [1, "é"]}'
    assert value_phrase([1, 2, 3], 4) == "[1,  … (5 more characters)"


@pytest.mark.parametrize(
    ("change", "label"),
    [
        (TurnChange(kind="appended", role="user", after_index=4), "turn 5"),
        (TurnChange(kind="removed", role="user", before_index=4), "was turn 5"),
        (TurnChange(kind="moved", role="user", before_index=1, after_index=4), "turn 5 (was 2)"),
        (TurnChange(kind="edited", role="user", before_index=4, after_index=4), "turn 5"),
    ],
)
def test_turn_label(change: TurnChange, label: str) -> None:
    assert turn_label(change) == label


@pytest.mark.parametrize(
    ("metadata", "phrase"),
    [
        (MetadataDiff(), ""),
        (MetadataDiff(version=("1.0.0", "1.0.0")), ""),
        (
            MetadataDiff(version=("1.0.0", "1.0.0"), needs="major", fits=False),
            "1.0.0 unchanged where a major step is needed",
        ),
        (MetadataDiff(version=("1.0.0", "1.1.0"), step="minor"), "1.0.0 → 1.1.0, a minor step"),
        (MetadataDiff(version=("1.1.0", "1.0.0"), step="backward"), "1.1.0 → 1.0.0, a step back"),
        (MetadataDiff(version=(None, "1.0.0")), "1.0.0 (new)"),
        (MetadataDiff(version=("1.0.0", None)), "1.0.0 (gone)"),
    ],
)
def test_version_phrase(metadata: MetadataDiff, phrase: str) -> None:
    assert version_phrase(metadata) == phrase


def test_long_unchanged_runs_are_cut_in_their_middle() -> None:
    words = [Word("same", "a" * 100), Word("added", "X"), Word("same", "b" * 100)]
    words += [Word("removed", "Y"), Word("same", "c" * 100)]
    assert list(shortened(words, 5)) == [
        ("gap", " … "),
        ("same", "aaaaa"),
        ("added", "X"),
        ("same", "bbbbb"),
        ("gap", " … "),
        ("same", "bbbbb"),
        ("removed", "Y"),
        ("same", "ccccc"),
        ("gap", " … "),
    ]


def test_short_runs_and_changes_are_kept_whole() -> None:
    words = [Word("same", "a" * 30), Word("added", "X" * 900)]
    assert list(shortened(words, 5)) == [("same", "a" * 30), ("added", "X" * 900)]


def test_agents_with_the_worst_findings_come_first() -> None:
    agents = [AgentDiff(name, "changed") for name in ("a", "b", "c", "d")]
    findings = [
        Finding(code="x", severity="warning", path="", message="", agent_id="c"),
        Finding(code="x", severity="note", path="", message="", agent_id="d"),
        Finding(code="x", severity="error", path="", message="", agent_id="d"),
    ]
    assert [agent.agent_id for agent in worst_first(agents, findings)] == ["d", "c", "a", "b"]
