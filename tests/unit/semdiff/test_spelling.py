"""Short maps, JSON Schema, and tools that go from one to the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.semdiff.schema import diff_parameters
from memrepo.semdiff.spelling import from_word, is_json_schema


@pytest.mark.parametrize(
    ("word", "schema", "optional"),
    [
        ("string", {"type": "string"}, False),
        ("String ", {"type": "string"}, False),
        ("str", {"type": "string"}, False),
        ("int", {"type": "integer"}, False),
        ("bool", {"type": "boolean"}, False),
        ("string?", {"type": "string"}, True),
        ("string ?", {"type": "string"}, True),
        ("optional int", {"type": "integer"}, True),
        ("integer, optional", {"type": "integer"}, True),
        ("integer (optional)", {"type": "integer"}, True),
        ("integer (required)", {"type": "integer"}, False),
        ("string - the city", {"type": "string", "description": "the city"}, False),
        ("string: optional, the city", {"type": "string", "description": "the city"}, True),
        ("string: an optional city", {"type": "string", "description": "an optional city"}, False),
        ("string[]", {"type": "array", "items": {"type": "string"}}, False),
        ("list<int>", {"type": "array", "items": {"type": "integer"}}, False),
        ("list[str]?", {"type": "array", "items": {"type": "string"}}, True),
        ("string | null", {"type": ["string", "null"]}, False),
        ("string[]|null", {"anyOf": [{"type": "array", "items": {"type": "string"}},
                                     {"type": "null"}]}, False),
        ("any", {}, False),
        ("any | string", {}, False),
        ("date", {"type": "date"}, False),
        ("the name of a city", {"description": "the name of a city"}, False),
        ("", {}, False),
        ("??", {"description": "??"}, False),
    ],
)  # fmt: skip
def test_words(word: str, schema: dict[str, Any], optional: bool) -> None:
    assert from_word(word) == (schema, optional)


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {}},
        {"type": "object"},
        {"type": "object", "description": "nothing to give"},
        {"type": ["object", "null"]},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        {"properties": {"a": {}}},
        {"anyOf": [{}]},
        {"$ref": "#/$defs/a"},
        {"$defs": {}},
        {"additionalProperties": False},
    ],
)
def test_json_schemas(parameters: dict[str, Any]) -> None:
    assert is_json_schema(parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"query": "string"},
        {"type": "string"},
        {"type": "string", "query": "string"},
        {"type": "object", "query": "string"},
        {"title": "string", "description": "string", "format": "string"},
        {"query": {"type": "string"}},
        {"properties": "string"},
    ],
)
def test_short_maps(parameters: dict[str, Any]) -> None:
    assert not is_json_schema(parameters)


def brief(before: Any, after: Any) -> list[tuple[str, str, str]]:
    return [(c.pointer, c.kind, c.cls) for c in diff_parameters(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({}, {"q": "string"}, ("/parameters/q", "parameter-added", "breaking")),
        ({}, {"q": "string?"}, ("/parameters/q", "parameter-added", "compatible")),
        ({"q": "string"}, {}, ("/parameters/q", "parameter-removed", "breaking")),
        ({"q": "string"}, {"q": "integer"}, ("/parameters/q", "type-changed", "breaking")),
        ({"q": "integer"}, {"q": "number"}, ("/parameters/q", "type-changed", "compatible")),
        ({"q": "int[]"}, {"q": "number[]"}, ("/parameters/q", "type-changed", "compatible")),
        ({"q": "string"}, {"q": "string | null"}, ("/parameters/q", "type-changed", "compatible")),
        ({"q": "int[]|null"}, {"q": "string"}, ("/parameters/q", "type-changed", "breaking")),
        ({"q": "string?"}, {"q": "string"}, ("/parameters/q", "became-required", "breaking")),
        ({"q": "string"}, {"q": "string?"}, ("/parameters/q", "became-optional", "compatible")),
        ({"q": "string: a"}, {"q": "string: b"},
         ("/parameters/q", "description-changed", "wording")),
        ({"a/b": "string"}, {"a/b": "null"}, ("/parameters/a~1b", "type-changed", "breaking")),
        ({"q": {"type": "string", "required": False}}, {"q": {"type": "string", "required": True}},
         ("/parameters/q", "became-required", "breaking")),
        ({"q": {"type": "string"}}, {"q": {"type": "string", "optional": True}},
         ("/parameters/q", "became-optional", "compatible")),
        ({"q": {"type": "string"}}, {"q": {"type": "integer"}},
         ("/parameters/q/type", "type-changed", "breaking")),
        ({"f": {"a": "string"}}, {"f": {"a": "string", "b": "string?"}},
         ("/parameters/f/b", "parameter-added", "compatible")),
        ({"f": {"a": "string"}}, {"f": {"a": "null"}},
         ("/parameters/f/a", "type-changed", "breaking")),
    ],
)  # fmt: skip
def test_one_change_of_a_short_map(before: Any, after: Any, change: tuple[str, str, str]) -> None:
    assert brief(before, after) == [change]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"q": "str"}, {"q": "string"}),
        ({"q": "integer?"}, {"q": "optional int"}),
        ({"a": "string", "b": "string"}, {"b": "string", "a": "string"}),
        ({"q": "string"}, {"q": {"type": "string"}}),
        ({"q": "string?"}, {"q": {"type": "string", "required": False}}),
    ],
)
def test_what_means_the_same_in_a_short_map(before: Any, after: Any) -> None:
    assert brief(before, after) == []


SHORT = {"query": "string", "limit": "integer?", "tags": "string[]?"}
LONG = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["query"],
    "additionalProperties": False,
}
RESPELLED = ("/parameters", "schema-changed", "wording")


def test_another_spelling_of_the_same_is_one_wording_change() -> None:
    assert brief(SHORT, LONG) == [RESPELLED]
    assert brief(LONG, SHORT) == [RESPELLED]
    [change] = diff_parameters(SHORT, LONG)
    assert (change.before, change.after) == ("short map", "JSON Schema")


def test_another_spelling_with_another_meaning() -> None:
    assert brief({**SHORT, "query": "integer", "page": "integer"}, LONG) == [
        RESPELLED,
        ("/parameters/properties/query/type", "type-changed", "breaking"),
        ("/parameters/page", "parameter-removed", "breaking"),
    ]
    assert brief(LONG, {**SHORT, "limit": "integer: at most"}) == [
        RESPELLED,
        ("/parameters/limit", "description-changed", "wording"),
        ("/parameters/limit", "became-required", "breaking"),
    ]


def test_no_parameters_are_spelled_in_no_way() -> None:
    assert brief({}, {"type": "object", "properties": {}}) == []
    assert brief({}, SHORT)[0] == ("/parameters/query", "parameter-added", "breaking")
    assert brief({"$schema": LONG["$schema"]}, {"q": "string"}) == [
        ("/parameters/q", "parameter-added", "breaking")
    ]


@given(st.text("strings?[]|<>:-, optional(x)", max_size=30))
def test_any_word(word: str) -> None:
    schema, _ = from_word(word)
    assert schema.keys() <= {"type", "items", "description", "anyOf"}


def test_hostile_words() -> None:
    for word in (
        "[]" * 100_000,
        "a" + "[]" * 100_000,
        " " * 100_000 + "?",
        "a|" * 50_000,
        "a " * 50_000,
    ):
        from_word(word)
