"""Each change of a JSON Schema: where it is, what it is, and what it means for a caller."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.semdiff.change import ParameterChange
from memrepo.semdiff.jsonvalue import frozen, same
from memrepo.semdiff.schema import diff_parameters

Q = "/parameters/properties/q"


def tool_schema(q: Any, **rest: Any) -> dict[str, Any]:
    """Parameters with one parameter ``q``."""
    return {"type": "object", "properties": {"q": q}, **rest}


def diff(before: Any, after: Any) -> list[ParameterChange]:
    found = diff_parameters(before, after)
    assert len({(c.pointer, c.kind) for c in found}) == len(found)
    return found


def brief(changes: list[ParameterChange]) -> list[tuple[str, str, str]]:
    return [(c.pointer, c.kind, c.cls) for c in changes]


CHANGES: list[tuple[str, Any, Any, str, str, str]] = [
    # name, q before, q after, pointer below q, kind, class
    ("another type", {"type": "string"}, {"type": "integer"}, "/type", "type-changed", "breaking"),
    ("wider number", {"type": "integer"}, {"type": "number"}, "/type", "type-changed",
     "compatible"),
    ("narrower number", {"type": "number"}, {"type": "integer"}, "/type", "type-changed",
     "breaking"),
    (
        "or null",
        {"type": "string"},
        {"type": ["string", "null"]},
        "/type",
        "type-changed",
        "compatible",
    ),
    (
        "no longer null",
        {"type": ["string", "null"]},
        {"type": "string"},
        "/type",
        "type-changed",
        "breaking",
    ),
    ("a type at last", {}, {"type": "string"}, "/type", "type-changed", "breaking"),
    ("any type", {"type": "string"}, {}, "/type", "type-changed", "compatible"),
    ("any type, as true", {"type": "string"}, True, "/type", "type-changed", "compatible"),
    ("no type", {"type": "string"}, {"type": 5}, "/type", "type-changed", "breaking"),
    ("nullable", {}, {"nullable": True}, "/nullable", "type-changed", "compatible"),
    ("not nullable", {"nullable": True}, {}, "/nullable", "type-changed", "breaking"),
    ("fewer values", {"enum": ["a", "b"]}, {"enum": ["a"]}, "/enum", "enum-narrowed", "breaking"),
    ("more values", {"enum": ["a"]}, {"enum": ["b", "a"]}, "/enum", "enum-widened", "compatible"),
    ("other values", {"enum": ["a", "b"]}, {"enum": ["a", "c"]}, "/enum", "enum-changed",
     "breaking"),
    ("values at last", {}, {"enum": ["a"]}, "/enum", "enum-narrowed", "breaking"),
    ("any value", {"enum": ["a"]}, {}, "/enum", "enum-widened", "compatible"),
    ("true is not 1", {"enum": [1]}, {"enum": [1, True]}, "/enum", "enum-widened", "compatible"),
    ("const to enum", {"const": "a"}, {"enum": ["a", "b"]}, "/enum", "enum-widened", "compatible"),
    ("enum to const", {"enum": ["a", "b"]}, {"const": "b"}, "/const", "enum-narrowed", "breaking"),
    ("const beside enum", {"enum": [1, 2]}, {"enum": [1, 2], "const": 1}, "/const", "enum-narrowed",
     "breaking"),
    ("odd enum", {"enum": ["a"]}, {"enum": "a"}, "/enum", "schema-changed", "breaking"),
    ("a default", {}, {"default": 3}, "/default", "default-changed", "compatible"),
    ("another default", {"default": 3}, {"default": 4}, "/default", "default-changed", "breaking"),
    ("true for 1", {"default": 1}, {"default": True}, "/default", "default-changed", "breaking"),
    ("no default", {"default": 3}, {}, "/default", "default-changed", "breaking"),
    ("reworded", {"description": "a"}, {"description": "b"}, "/description", "description-changed",
     "wording"),
    ("described", {}, {"description": "a"}, "/description", "description-changed", "wording"),
    ("not described", {"title": "a"}, {}, "/title", "description-changed", "wording"),
    ("an example", {}, {"examples": ["a"]}, "/examples", "schema-changed", "wording"),
    ("unknown keyword", {"x-ui": 1}, {"x-ui": 2}, "/x-ui", "schema-changed", "wording"),
    *(
        (f"{word} {name}", {word: 2}, {word: after}, f"/{word}", "constraint-changed", cls)
        for word in ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
        for name, after, cls in (("raised", 3, "breaking"), ("lowered", 1, "compatible"))
    ),
    *(
        (f"{word} {name}", {word: 2}, {word: after}, f"/{word}", "constraint-changed", cls)
        for word in ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
        for name, after, cls in (("raised", 3, "compatible"), ("lowered", 1, "breaking"))
    ),
    ("bounded", {}, {"maximum": 9}, "/maximum", "constraint-changed", "breaking"),
    ("unbounded", {"minimum": 1}, {}, "/minimum", "constraint-changed", "compatible"),
    ("odd bound", {"minimum": 1}, {"minimum": "a"}, "/minimum", "constraint-changed", "breaking"),
    ("bound of draft 4", {"exclusiveMinimum": False}, {"exclusiveMinimum": True},
     "/exclusiveMinimum", "constraint-changed", "breaking"),
    ("fewer matches", {}, {"minContains": 0}, "/minContains", "constraint-changed", "compatible"),
    *(
        (f"{word} {name}", before, after, f"/{word}", "constraint-changed", cls)
        for word in ("pattern", "format")
        for name, before, after, cls in (
            ("added", {}, {word: "a"}, "breaking"),
            ("removed", {word: "a"}, {}, "compatible"),
            ("changed", {word: "a"}, {word: "b"}, "breaking"),
        )
    ),
    ("finer step", {"multipleOf": 4}, {"multipleOf": 2}, "/multipleOf", "constraint-changed",
     "compatible"),
    ("coarser step", {"multipleOf": 2}, {"multipleOf": 4}, "/multipleOf", "constraint-changed",
     "breaking"),
    ("unique", {}, {"uniqueItems": True}, "/uniqueItems", "constraint-changed", "breaking"),
    ("not unique", {"uniqueItems": True}, {"uniqueItems": False}, "/uniqueItems",
     "constraint-changed", "compatible"),
    ("not", {}, {"not": {"const": 1}}, "/not", "constraint-changed", "breaking"),
    ("condition", {"if": {"const": 1}}, {}, "/if", "constraint-changed", "breaking"),
    ("reference", {"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}, "/$ref", "constraint-changed",
     "breaking"),
    ("closed", {"type": "object"}, {"type": "object", "additionalProperties": False},
     "/additionalProperties", "constraint-changed", "breaking"),
    ("closed, said open", {"additionalProperties": True}, {"additionalProperties": False},
     "/additionalProperties", "constraint-changed", "breaking"),
    ("opened", {"additionalProperties": False}, {}, "/additionalProperties", "constraint-changed",
     "compatible"),
    ("opened for some", {"additionalProperties": False}, {"additionalProperties": {"type": "null"}},
     "/additionalProperties", "constraint-changed", "compatible"),
    ("others typed", {}, {"additionalProperties": {"type": "string"}},
     "/additionalProperties/type", "type-changed", "breaking"),
    ("item type", {"items": {"type": "integer"}}, {"items": {"type": "number"}}, "/items/type",
     "type-changed", "compatible"),
    ("items at last", {"type": "array"}, {"type": "array", "items": {"type": "string"}},
     "/items/type", "type-changed", "breaking"),
    ("no items", {}, {"items": False}, "/items", "constraint-changed", "breaking"),
    ("item by place", {"items": [{"type": "string"}]}, {"items": [{"type": "null"}]},
     "/items/0/type", "type-changed", "breaking"),
    ("first item", {}, {"prefixItems": [{"type": "string"}]}, "/prefixItems/0/type",
     "type-changed", "breaking"),
    ("first item free", {"prefixItems": [{"type": "string"}]}, {}, "/prefixItems/0/type",
     "type-changed", "compatible"),
    ("items of another kind", {"items": [{}]}, {"items": {}}, "/items", "schema-changed",
     "breaking"),
    ("member added", {"properties": {}}, {"properties": {"a": {"type": "null"}}}, "/properties/a",
     "parameter-added", "compatible"),
    ("needed member added", {}, {"properties": {"a": {}}, "required": ["a"]}, "/properties/a",
     "parameter-added", "breaking"),
    ("member removed", {"properties": {"a": {}}}, {"properties": {}}, "/properties/a",
     "parameter-removed", "breaking"),
    ("member needed", {"properties": {"a": {}}}, {"properties": {"a": {}}, "required": ["a"]},
     "/properties/a", "became-required", "breaking"),
    ("name needed", {}, {"required": ["a"]}, "/required/0", "parameter-added", "breaking"),
    ("odd properties", {"properties": {}}, {"properties": 7}, "/properties", "schema-changed",
     "breaking"),
    ("odd required", {"required": True}, {"required": False}, "/required", "schema-changed",
     "breaking"),
    ("odd member", {"properties": {"a": 1}}, {"properties": {"a": 2}}, "/properties/a",
     "schema-changed", "breaking"),
    ("by pattern", {"patternProperties": {"^a": {"type": "null"}}},
     {"patternProperties": {"^a": {"type": ["null", "string"]}}}, "/patternProperties/^a/type",
     "type-changed", "compatible"),
    ("new pattern", {}, {"patternProperties": {"^a": {}}}, "/patternProperties/^a",
     "constraint-changed", "breaking"),
    ("definition", {"$defs": {"a": {"enum": [1, 2]}}}, {"$defs": {"a": {"enum": [1]}}},
     "/$defs/a/enum", "enum-narrowed", "breaking"),
    ("new definition", {}, {"$defs": {"a": {}}}, "/$defs/a", "schema-changed", "compatible"),
    ("definition gone", {"definitions": {"a": {}}}, {}, "/definitions/a", "schema-changed",
     "breaking"),
    ("alternative changed", {"anyOf": [{"type": "integer"}, {"type": "null"}]},
     {"anyOf": [{"type": "null"}, {"type": "number"}]}, "/anyOf/1/type", "type-changed",
     "compatible"),
    ("alternative added", {"oneOf": [{"const": "a"}]}, {"oneOf": [{"const": "b"}, {"const": "a"}]},
     "/oneOf/0", "type-changed", "compatible"),
    ("alternative removed", {"anyOf": [{"const": "a"}, {"const": "b"}]},
     {"anyOf": [{"const": "b"}]},
     "/anyOf/0", "type-changed", "breaking"),
    ("alternatives at last", {}, {"anyOf": [{"type": "null"}]}, "/anyOf", "type-changed",
     "breaking"),
    ("no alternatives", {"anyOf": [{"type": "null"}]}, {}, "/anyOf", "type-changed", "compatible"),
    ("or null, in full", {"type": "string", "description": "a"},
     {"description": "a", "anyOf": [{"type": "string"}, {"type": "null"}]}, "/anyOf/1",
     "type-changed", "compatible"),
    ("no longer null, in full", {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
     {"type": "string"}, "/anyOf/1", "type-changed", "breaking"),
    ("alternatives beside a rule", {"type": "string"},
     {"type": "string", "anyOf": [{"minLength": 2}]}, "/anyOf", "type-changed", "breaking"),
    ("exactly one", {"anyOf": [{"const": "a"}]}, {"oneOf": [{"const": "a"}]}, "/oneOf",
     "constraint-changed", "breaking"),
    ("one more rule", {"allOf": [{"minLength": 1}]}, {"allOf": [{"maxLength": 9},
     {"minLength": 1}]},
     "/allOf/0", "constraint-changed", "breaking"),
    ("one rule less", {"allOf": [{"minLength": 1}, {"pattern": "a"}]},
     {"allOf": [{"minLength": 1}]},
     "/allOf/1", "constraint-changed", "compatible"),
    ("nothing goes", {"type": "string"}, False, "", "constraint-changed", "breaking"),
    ("anything goes again", False, True, "", "constraint-changed", "compatible"),
    ("no schema", {"type": "string"}, 5, "", "schema-changed", "breaking"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "below", "kind", "cls"),
    [c[1:] for c in CHANGES],
    ids=[c[0] for c in CHANGES],
)
def test_one_change_is_listed_once(
    before: Any, after: Any, below: str, kind: str, cls: str
) -> None:
    assert brief(diff(tool_schema(before), tool_schema(after))) == [(Q + below, kind, cls)]


@pytest.mark.parametrize(
    ("before", "after", "below", "kind", "cls"),
    [c[1:] for c in CHANGES],
    ids=[c[0] for c in CHANGES],
)
def test_one_change_is_listed_once_however_deep(
    before: Any, after: Any, below: str, kind: str, cls: str
) -> None:
    def deep(value: Any) -> dict[str, Any]:
        inner = {"properties": {"a/b": {"items": value}}}
        return tool_schema({"anyOf": [{"type": "null"}, {"$defs": {"~": inner}, "type": "object"}]})

    place = f"{Q}/anyOf/1/$defs/~0/properties/a~1b/items{below}"
    assert brief(diff(deep(before), deep(after))) == [(place, kind, cls)]


MEANS_THE_SAME: list[tuple[Any, Any]] = [
    ({"type": "string"}, {"type": ["string"]}),
    ({"type": ["string", "null"]}, {"type": ["null", "string"]}),
    ({"type": ["integer", "number"]}, {"type": "number"}),
    ({"enum": ["a", "b"]}, {"enum": ["b", "a", "a"]}),
    ({"const": 1}, {"enum": [1.0]}),
    ({"minLength": 0}, {}),
    ({"uniqueItems": False}, {}),
    ({"default": None}, {}),
    ({"additionalProperties": True}, {"additionalProperties": {}}),
    ({"items": True}, {}),
    (True, {}),
    ({"properties": {"a": {}, "b": {}}}, {"properties": {"b": {}, "a": True}}),
    ({"required": ["a", "b"]}, {"required": ["b", "a"]}),
    ({"anyOf": [{"const": 1}, {"const": 2}]}, {"anyOf": [{"const": 2}, {"const": 1}]}),
    ({"type": "string"}, {"anyOf": [{"type": "string"}]}),
    ({"minimum": 1}, {"minimum": 1.0}),
]


@pytest.mark.parametrize(("before", "after"), MEANS_THE_SAME)
def test_what_means_the_same_is_no_change(before: Any, after: Any) -> None:
    assert diff(tool_schema(before), tool_schema(after)) == []
    assert diff(tool_schema(after), tool_schema(before)) == []


def test_values_are_shown_as_they_stand() -> None:
    [change] = diff(tool_schema({"type": "string"}), tool_schema({"type": ["string", "null"]}))
    assert (change.before, change.after) == ("string", ["string", "null"])
    [change] = diff(tool_schema({}), tool_schema({}, required=["q"]))
    assert (change.kind, change.before, change.after) == ("became-required", False, True)
    [change] = diff(tool_schema({}, required=["q"]), tool_schema({}))
    assert (change.kind, change.before, change.after) == ("became-optional", True, False)
    [change] = diff({}, tool_schema({"type": "string"}))
    assert (change.before, change.after) == (None, {"type": "string"})


def test_several_changes_of_one_parameter_are_each_listed() -> None:
    before = tool_schema({"type": "string", "description": "a", "maxLength": 9})
    after = tool_schema({"type": "integer", "description": "b", "default": 1}, required=["q"])
    assert brief(diff(before, after)) == [
        (Q + "/type", "type-changed", "breaking"),
        (Q + "/description", "description-changed", "wording"),
        (Q + "/default", "default-changed", "compatible"),
        (Q + "/maxLength", "constraint-changed", "compatible"),
        (Q, "became-required", "breaking"),
    ]


def test_an_empty_schema_that_got_parameters() -> None:
    empty = {"$schema": "http://json-schema.org/draft-07/schema#"}
    real = tool_schema({"type": "string"}, required=["q"], additionalProperties=False, **empty)
    # Nobody was told of a parameter, so nobody gave one that is refused now.
    assert brief(diff(empty, real)) == [
        (Q, "parameter-added", "breaking"),
        ("/parameters/additionalProperties", "constraint-changed", "compatible"),
    ]
    assert brief(diff(real, empty)) == [
        (Q, "parameter-removed", "breaking"),
        ("/parameters/additionalProperties", "constraint-changed", "compatible"),
    ]


def test_a_root_that_was_closed() -> None:
    before, after = tool_schema({}), tool_schema({}, additionalProperties=False)
    place = "/parameters/additionalProperties"
    assert brief(diff(before, after)) == [(place, "constraint-changed", "breaking")]


def test_the_dialect_is_wording() -> None:
    before = tool_schema({}, **{"$schema": "http://json-schema.org/draft-07/schema#"})
    after = tool_schema({}, **{"$schema": "https://json-schema.org/draft/2020-12/schema"})
    assert brief(diff(before, after)) == [("/parameters/$schema", "schema-changed", "wording")]


def test_parameters_that_are_no_object() -> None:
    assert diff([1], [1]) == []
    assert brief(diff({}, [1])) == [("/parameters", "schema-changed", "breaking")]


def test_equality_of_json_values() -> None:
    assert same({"a": 1, "b": [1.0]}, {"b": [1], "a": 1})
    assert not same({"a": True}, {"a": 1})
    assert not same([0], [False])
    assert not same([1], [1, 2])
    assert not same({"a": None}, {})
    assert not same("1", 1)


WORDS = (
    "type", "properties", "required", "items", "enum", "const", "anyOf", "oneOf", "allOf", "not",
    "$ref", "$defs", "minimum", "maxLength", "uniqueItems", "multipleOf", "additionalProperties",
    "description", "default", "string", "object", "null", "nullable", "prefixItems", "$schema",
    "patternProperties", "string?", "string[]", "optional", "a", "", "~/",
)  # fmt: skip
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 3), st.floats(allow_nan=False), st.sampled_from(WORDS)
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values, values)
def test_any_two_values(before: Any, after: Any) -> None:
    for change in diff(before, after):
        assert change.pointer == "/parameters" or change.pointer.startswith("/parameters/")
    assert same(before, after) == (frozen(before) == frozen(after))


@given(values)
def test_a_value_and_itself(value: Any) -> None:
    assert diff(value, value) == []


known = st.sampled_from(
    [before for _, before, *_ in CHANGES if before is not False and before != 5]
)


@given(
    st.dictionaries(st.sampled_from("abcde"), known, max_size=4),
    st.sampled_from(CHANGES),
)
def test_a_change_among_other_parameters(
    others: dict[str, Any], change: tuple[str, Any, Any, str, str, str]
) -> None:
    _, before, after, below, kind, cls = change
    found = diff(
        {"type": "object", "properties": {**others, "q": before}},
        {"type": "object", "properties": {"q": after, **others}},
    )
    assert brief(found) == [(Q + below, kind, cls)]


def test_deep_schemas_are_walked_once() -> None:
    def deep(leaf: str) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": leaf}
        for _ in range(30):
            schema = {"anyOf": [schema, {"type": "null"}], "items": {"type": "string"}}
        return tool_schema(schema)

    [change] = diff(deep("integer"), deep("number"))
    assert change.pointer == Q + "/anyOf/0" * 30 + "/type"
