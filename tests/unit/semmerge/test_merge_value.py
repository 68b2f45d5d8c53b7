"""The merge of JSON values: laws that hold for all of them, and the rules one by one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.semmerge.jsonvalue import frozen, loads, same, shown
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.order import merge_order, weave
from memrepo.semmerge.resolve import decide
from memrepo.semmerge.value import merge_entries, merge_set, merge_value
from memrepo.semmerge.values import ABSENT, Conflict, Labels, Resolution, Take

KEYS = st.sampled_from(["a", "b", "c/d", "~"])
NUMBERS = st.sampled_from(["0", "-0", "1", "1.0", "1.00", "1e0", "12345678901234567890"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.sampled_from(["", "x", "1", "true"])
    | NUMBERS.map(str.encode).map(loads)
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3)
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def merge(base: Any, ours: Any, theirs: Any) -> tuple[Any, list[Conflict]]:
    merging = Merging("a.json")
    return merge_value(merging, "", base, ours, theirs), merging.conflicts


def leaves(value: Any, pointer: str = "") -> dict[str, bytes]:
    """Everything in nested objects by its pointer; an object's own place has no value."""
    if not isinstance(value, dict):
        return {pointer: frozen(value)}
    found = {pointer: b"object"}
    for key, inner in value.items():
        found |= leaves(inner, f"{pointer}/{key}")
    return found


@given(VALUES, VALUES)
def test_a_side_that_did_nothing_leaves_the_other_as_it_is(base: Any, other: Any) -> None:
    for sides in ((base, other, base), (base, base, other), (base, other, other)):
        value, conflicts = merge(*sides)
        assert conflicts == []
        assert same(value, other)


@given(VALUES | st.just(ABSENT), VALUES | st.just(ABSENT), VALUES | st.just(ABSENT))
def test_the_sides_may_be_swapped(base: Any, ours: Any, theirs: Any) -> None:
    value, conflicts = merge(base, ours, theirs)
    turned, turned_conflicts = merge(base, theirs, ours)
    swapped = [(c.pointer, c.kind, c.base, c.theirs, c.ours) for c in turned_conflicts]
    key = lambda c: c[0]  # noqa: E731
    assert sorted(
        ((c.pointer, c.kind, c.base, c.ours, c.theirs) for c in conflicts), key=key
    ) == sorted(swapped, key=key)
    if not conflicts:
        assert same(value, turned)


@given(OBJECTS, OBJECTS, OBJECTS)
def test_nothing_is_lost_doubled_or_invented(base: Any, ours: Any, theirs: Any) -> None:
    value, conflicts = merge(base, ours, theirs)
    if conflicts:
        return
    before, mine, other, result = map(leaves, (base, ours, theirs, value))
    for place in {*before, *mine, *other, *result}:
        versions = (before.get(place), mine.get(place), other.get(place))
        old, left, right = versions
        wanted = left if left == right or old == right else right
        assert old == left or wanted == left
        assert result.get(place) == wanted


def test_a_key_that_is_not_there_is_not_null() -> None:
    assert merge({"a": None}, {}, {"a": None}) == ({}, [])
    assert merge({}, {"a": None}, {}) == ({"a": None}, [])
    _, [conflict] = merge({"a": 1}, {"a": None}, {})
    assert (conflict.pointer, conflict.kind, conflict.theirs) == (
        "/a",
        "changed-and-removed",
        ABSENT,
    )


@pytest.mark.parametrize("pair", [("1", "1.0"), ("1", "true"), ("0", "false"), ("1.0", "1.00")])
def test_values_that_python_holds_equal_are_told_apart(pair: tuple[str, str]) -> None:
    one, other = (loads(f'{{"v": [{text}]}}'.encode()) for text in pair)
    assert not same(one, other)
    assert frozen(one) != frozen(other)
    value, conflicts = merge(one, one, other)
    assert msgspec.json.encode(value).decode() == f'{{"v":[{pair[1]}]}}'
    assert conflicts == []


@pytest.mark.parametrize(
    "text", ["0.10", "1e5", "-0", "123456789012345678901234567890", "1E-400", "-7", "9" * 5000]
)
def test_a_number_keeps_its_text(text: str) -> None:
    assert msgspec.json.encode(loads(text.encode())).decode() == text


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":1}', "NaN", "[Infinity]", '"\\ud800"', "{", "", "\xff"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        loads(text.encode("latin-1"))


def test_conflicts_say_what_each_side_did() -> None:
    merging = Merging("a.json", Labels("main", "knowledge/wiki"))
    base: Any = {"a": 1, "b": 1}
    merge_value(merging, "", base, {"a": 2, "b": 2, "c": 1}, {"a": 3, "c": 2})
    assert [(c.pointer, c.kind, c.message) for c in merging.conflicts] == [
        ("/a", "both-changed", "main and knowledge/wiki changed this, differently"),
        ("/b", "changed-and-removed", "main changed what knowledge/wiki removed"),
        ("/c", "both-added", "main and knowledge/wiki added this, differently"),
    ]
    assert merging.done(b"x").data is None


def test_keys_come_in_the_order_of_ours_with_additions_at_their_neighbours() -> None:
    base = {"a": 1, "b": 1, "c": 1}
    ours = {"c": 1, "new": 1, "b": 1, "a": 1}
    theirs = {"a": 1, "x": 1, "b": 2, "c": 1, "y": 1}
    value, _ = merge(base, ours, theirs)
    assert list(value) == ["c", "new", "y", "b", "a", "x"]
    assert value["b"] == 2


@given(st.permutations("abcde"), st.permutations("abcde"), st.permutations("abcde"))
def test_an_order_is_one_sides_or_both_in_their_stretches(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    order = merge_order(base, ours, theirs, set(base))
    assert order == merge_order(base, theirs, ours, set(base)) or ours == theirs
    if theirs in (base, ours):
        assert order == ours
    if ours == base:
        assert order == theirs
    if order is not None:
        assert sorted(order) == sorted(base)
        places = zip(base, ours, theirs, order, strict=True)
        assert all(o in (b, m, t) for b, m, t, o in places)


def test_moves_in_separate_stretches_do_not_meet() -> None:
    assert merge_order("abcdef", "bacdef", "abcdfe", set("abcdef")) == list("bacdfe")
    assert merge_order("abcdef", "bcadef", "acbdef", set("abcdef")) is None


@given(st.lists(st.integers(0, 9), unique=True), st.lists(st.integers(0, 9), unique=True))
def test_weaving_keeps_the_spine_and_all_of_the_other(spine: list[int], other: list[int]) -> None:
    woven = weave(spine, other)
    assert [key for key in woven if key in spine] == spine
    assert sorted(woven) == sorted({*spine, *other})


@given(*[st.lists(st.sampled_from("abcdef"), unique=True)] * 3)
def test_a_set_has_what_either_added_and_not_what_either_removed(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    merged = merge_set(base, ours, theirs)
    assert merged is not None
    added = ({*ours} | {*theirs}) - {*base}
    assert sorted(merged) == sorted(added | ({*base} & {*ours} & {*theirs}))


def test_a_list_with_a_value_twice_is_no_set() -> None:
    assert merge_set(["a"], ["a", "a"], ["b"]) is None
    assert merge_set([1], [1, True], [1, msgspec.Raw("1.0")]) == [1, True, msgspec.Raw("1.0")]


def entries(*sides: Any, decided: Sequence[Resolution] = ()) -> Any:
    """Merge lists given as dicts of name to value; the result, and the conflicts."""
    merging = Merging("a.json", resolutions=decided)

    def one(name: str, *values: Any) -> Any:
        return merge_value(merging, f"/list/{name}", *values)

    base, ours, theirs = sides
    return merge_entries(merging, "/list", base, ours, theirs, one), merging.conflicts


def test_entries_are_merged_one_by_one_and_stand_at_their_neighbours() -> None:
    base = {"a": {"v": 1}, "b": {"v": 1}}
    theirs = {"c": {}, "b": {"v": 1, "w": 1}}
    _, conflicts = entries(base, {"a": {"v": 2}, "b": {"v": 1}}, theirs)
    assert [(c.pointer, c.kind) for c in conflicts] == [("/list/a", "changed-and-removed")]
    value, conflicts = entries(base, base | {"d": {}}, theirs)
    assert conflicts == []
    assert list(value.items()) == [("c", {}), ("b", {"v": 1, "w": 1}), ("d", {})]


def test_an_order_conflict_can_be_decided() -> None:
    sides = [dict.fromkeys(names, 1) for names in ("abcd", "bcad", "cabd")]
    _, [conflict] = entries(*sides)
    assert (conflict.pointer, conflict.kind, conflict.ours) == ("/list", "order", list("bcad"))
    takes: dict[Take, str] = {"theirs": "cabd", "base": "abcd", "ours": "bcad"}
    for take, wanted in takes.items():
        value, left = entries(*sides, decided=[decide(conflict, take)])
        assert left == []
        assert list(value) == list(wanted)
    value, _ = entries(*sides, decided=[decide(conflict, "value", list("dxcba"))])
    assert list(value) == list("dcba")


def test_a_message_shows_a_value_in_short_and_plain() -> None:
    assert shown({"a": [1, None]}) == '{"a":[1,null]}'
    assert shown("\u202e" + "x" * 100).startswith('"\\u202e')
    assert len(shown("é" * 1000)) <= 60
    assert shown(ABSENT) == "nothing"
    assert json.loads(shown("short")) == "short"
