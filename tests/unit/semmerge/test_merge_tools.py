"""The merge of tools.json, rule by rule."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.check import check_file
from memrepo.semmerge.file import merge_file
from memrepo.semmerge.resolve import decide
from memrepo.semmerge.values import Conflict, Labels, Merged, Resolution, Take

PATH = "state/helper/tools.json"
VERSIONS = Path(__file__).parents[2] / "data" / "tool-versions"
LABELS = Labels("main", "knowledge/wiki")
Tool = dict[str, Any]


def tool(name: str, description: str = "Says what it does.", **parameters: Any) -> Tool:
    return {"name": name, "description": description, "parameters": parameters}


def refund(default: Any = 10, **more: Any) -> Tool:
    amount = {"type": "number", "default": default}
    schema = {"type": "object", "properties": {"order": {"type": "string"}, "amount": amount}}
    return tool("refund", "Gives money back to a customer.", **schema, **more)


def text(tools: list[Tool]) -> bytes:
    return json.dumps(tools, indent=2).encode() + b"\n"


def merge(
    base: list[Tool] | None, ours: list[Tool], theirs: list[Tool], *decided: Resolution
) -> Merged:
    start = None if base is None else text(base)
    merged = merge_file(PATH, start, text(ours), text(theirs), labels=LABELS, resolutions=decided)
    assert merged.clean == (merged.data is not None)
    return merged


def clean(base: list[Tool] | None, ours: list[Tool], theirs: list[Tool]) -> list[Tool]:
    merged = merge(base, ours, theirs)
    assert merged.conflicts == ()
    assert merged.data is not None
    checked = check_file("tools", merged.data, agent_id="helper")
    assert checked.canonical
    assert checked.faults == []
    found: list[Tool] = json.loads(merged.data)
    return found


def conflicts(base: list[Tool] | None, ours: list[Tool], theirs: list[Tool]) -> list[Conflict]:
    found = merge(base, ours, theirs).conflicts
    turned = merge(base, theirs, ours).conflicts
    assert {(c.pointer, c.kind) for c in found} == {(c.pointer, c.kind) for c in turned}
    return list(found)


def places(base: list[Tool] | None, ours: list[Tool], theirs: list[Tool]) -> list[tuple[str, str]]:
    return [(c.pointer, c.kind) for c in conflicts(base, ours, theirs)]


def test_each_side_may_change_another_field_of_one_tool() -> None:
    ours = refund() | {"description": "Gives money back."}
    assert clean([refund()], [ours], [refund(20)]) == [
        refund(20) | {"description": "Gives money back."}
    ]


def test_a_conflict_is_at_the_exact_parameter() -> None:
    [conflict] = conflicts([refund(10)], [refund(15)], [refund(20)])
    assert conflict.pointer == "/refund/parameters/properties/amount/default"
    assert (conflict.base, conflict.ours, conflict.theirs) == (10, 15, 20)
    assert conflict.kind == "both-changed"
    assert conflict.message == "main and knowledge/wiki changed this, differently"


def test_names_in_pointers_are_escaped() -> None:
    sides = [[tool("a/b~c", words)] for words in ("one", "two", "three")]
    assert places(*sides) == [("/a~1b~0c/description", "both-changed")]


def test_a_tool_that_one_removed_and_the_other_changed() -> None:
    assert places([refund()], [], [refund(20)]) == [("/refund", "changed-and-removed")]
    assert clean([refund(), tool("a")], [tool("a")], [refund(), tool("a"), tool("b")]) == [
        tool("a"),
        tool("b"),
    ]


def test_two_tools_added_under_one_name_differ_where_they_differ() -> None:
    assert clean([], [refund()], [refund()]) == [refund()]
    assert clean(None, [refund(), tool("a")], [tool("b"), refund()]) == [
        tool("b"),
        refund(),
        tool("a"),
    ]
    assert places([], [refund(1)], [refund(2)]) == [
        ("/refund/parameters/properties/amount/default", "both-added")
    ]


def test_required_and_enum_are_sets_that_keep_their_order() -> None:
    base = refund(required=["order", "amount"], kind={"enum": ["a", "b"]})
    ours = refund(required=["x", "order", "amount"], kind={"enum": ["b", "a", "c"]})
    theirs = refund(required=["order", "y"], kind={"enum": ["a", "b", "d"]})
    for side in (ours, theirs):
        side["parameters"]["properties"] |= {"x": {}, "y": {}}
    [merged] = clean([base], [ours], [theirs])
    assert merged["parameters"]["required"] == ["x", "order", "y"]
    assert merged["parameters"]["kind"]["enum"] == ["b", "d", "a", "c"]


def test_a_list_that_is_not_there_requires_nothing_but_allows_everything() -> None:
    both: Tool = {"a": {}, "b": {}}
    ours, theirs = (
        tool("t", properties=both, required=["a"]),
        tool("t", properties=both, required=["b"]),
    )
    [merged] = clean([tool("t", properties=both)], [ours], [theirs])
    assert merged["parameters"]["required"] == ["a", "b"]
    base, ours, theirs = (
        tool("t", properties={"a": {"type": "string"} | more})
        for more in ({}, {"enum": ["x"]}, {"enum": ["y"]})
    )
    assert places([base], [ours], [theirs]) == [("/t/parameters/properties/a/enum", "both-added")]


@pytest.mark.parametrize("key", ["examples", "anyOf", "type", "default"])
def test_other_arrays_are_whole(key: str) -> None:
    sides = [[refund(kind={key: value})] for value in (["a"], ["a", "b"], ["a", "c"])]
    assert places(*sides) == [(f"/refund/parameters/kind/{key}", "both-changed")]


def test_what_is_called_enum_inside_of_data_is_no_set_of_choices() -> None:
    sides = [[refund({"enum": value})] for value in (["a"], ["a", "b"], ["a", "c"])]
    [(pointer, _)] = places(*sides)
    assert pointer.endswith("/amount/default/enum")
    named = [
        [tool("t", type="object", properties={"default": {"enum": value}})]
        for value in (["a"], ["a", "b"], ["a", "c"])
    ]
    [merged] = clean(*named)
    assert merged["parameters"]["properties"]["default"]["enum"] == ["a", "b", "c"]


def test_short_maps_are_merged_by_parameter() -> None:
    base = tool("t", query="string", limit="integer")
    ours = tool("t", query="string", limit="integer?")
    theirs = tool("t", query="string", limit="integer", page="integer")
    assert clean([base], [ours], [theirs]) == [
        tool("t", query="string", limit="integer?", page="integer")
    ]
    assert places([base], [ours], [tool("t", query="string", limit="number")]) == [
        ("/t/parameters/limit", "both-changed")
    ]


def test_a_new_spelling_and_a_change_are_not_mixed() -> None:
    short = tool("t", query="string")
    schema = tool("t", type="object", properties={"query": {"type": "string"}})
    longer = tool("t", query="string", page="integer")
    assert clean([short], [schema], [short]) == [schema]
    [conflict] = conflicts([short], [schema], [longer])
    assert (conflict.pointer, conflict.kind) == ("/t/parameters", "both-changed")
    assert "short map" in conflict.message


@pytest.mark.parametrize("required", [[], ["order_id"]])
def test_one_side_that_writes_the_parameters_as_a_schema_is_taken(required: list[str]) -> None:
    base = tool("t", order_id="string")
    reworded = tool("t", "Says more.", order_id="string")
    more = {"required": required} if required else {}
    schema = tool("t", type="object", properties={"order_id": {"type": "string"}}, **more)
    both = tool("t", "Says more.", **schema["parameters"])
    assert clean([base], [reworded], [schema]) == [both]
    assert clean([base], [schema], [reworded]) == [both]


def test_two_spellings_of_one_meaning_become_the_schema_and_that_is_said() -> None:
    base = tool("t", order_id="integer")
    short = tool("t", order_id="string")
    properties = {"order_id": {"type": "string"}}
    schema = tool("t", type="object", properties=properties, required=["order_id"])
    for ours, theirs in ((short, schema), (schema, short)):
        for start in ([base], None):
            merged = merge(start, [ours], [theirs])
            assert merged.data is not None
            assert json.loads(merged.data) == [schema]
            [note] = merged.notes
            assert (note.kind, note.pointer) == ("spelling", "/t/parameters")
    optional = tool("t", type="object", properties=properties)
    [conflict] = conflicts([base], [short], [optional])
    assert conflict.pointer == "/t/parameters"


def test_sides_that_break_a_schema_only_together_disagree() -> None:
    base = refund(required=["order"])
    without = refund(required=["order"])
    del without["parameters"]["properties"]["amount"]
    needed = refund(required=["order", "amount"])
    [conflict] = conflicts([base], [without], [needed])
    assert (conflict.pointer, conflict.kind) == ("/refund/parameters/required", "invalid-result")
    assert '"amount"' in conflict.message
    base, fewer, other = (
        refund(kind={"enum": enum, "default": default})
        for enum, default in ((["a", "b"], "a"), (["a"], "a"), (["a", "b"], "b"))
    )
    assert places([base], [fewer], [other]) == [
        ("/refund/parameters/kind/default", "invalid-result")
    ]


def test_a_rename_alone_is_clean_on_either_side() -> None:
    base, renamed = [tool("a"), refund()], [tool("a"), refund() | {"name": "pay_back"}]
    more = [tool("a", "Something else."), refund()]
    wanted = [tool("a", "Something else."), refund() | {"name": "pay_back"}]
    assert clean(base, renamed, more) == clean(base, more, renamed) == wanted


def test_a_rename_here_and_a_change_there_is_a_conflict_that_says_so() -> None:
    [conflict] = conflicts([refund()], [refund() | {"name": "pay_back"}], [refund(20)])
    assert (conflict.pointer, conflict.kind) == ("/refund", "renamed-and-changed")
    assert conflict.message == 'main renamed it to "pay_back", knowledge/wiki changed it'
    assert (conflict.base, conflict.theirs) == (refund(), refund(20))
    assert conflict.ours == refund() | {"name": "pay_back"}


def test_a_rename_with_an_edit_beside_it_is_still_seen() -> None:
    renamed = refund() | {"name": "pay_back", "description": "Gives money back to a buyer."}
    assert places([refund()], [renamed], [refund(20)]) == [("/refund", "renamed-and-changed")]


def test_both_may_rename_to_one_name_but_not_to_two() -> None:
    one, other = refund() | {"name": "pay_back"}, refund(20) | {"name": "pay_back"}
    assert clean([refund()], [one], [one]) == [one]
    assert clean([refund()], [one], [other]) == [other]
    assert places([refund()], [one], [refund() | {"name": "return"}]) == [
        ("/refund", "renamed-and-changed")
    ]


def test_a_rename_here_and_a_removal_there_is_a_conflict() -> None:
    [conflict] = conflicts([refund()], [refund() | {"name": "pay_back"}], [])
    assert conflict.kind == "renamed-and-changed"
    assert conflict.message.endswith("knowledge/wiki removed it")


def test_a_tool_that_went_and_another_that_came_are_no_rename() -> None:
    base = [tool("a", "Looks up the weather.", city="string")]
    ours, theirs = [tool("b", "Sends a letter.", to="string")], [tool("c", "Plays a song.")]
    assert clean(base, ours, theirs) == [*ours, *theirs]


def test_a_name_that_the_other_side_gave_to_a_tool_of_its_own() -> None:
    base, ours = [refund()], [refund() | {"name": "pay"}]
    theirs = [refund(20), tool("pay", "Pays a bill.")]
    found = places(base, ours, theirs)
    assert ("/refund", "changed-and-removed") in found
    assert ("/pay/description", "both-added") in found


@pytest.mark.parametrize(
    ("take", "wanted"),
    [
        ("ours", refund() | {"name": "pay_back"}),
        ("theirs", refund(20)),
        ("base", refund()),
        ("value", tool("pay", "Pays.")),
    ],
)
def test_a_decision_about_a_rename_leaves_one_tool(take: Take, wanted: Tool) -> None:
    base, ours, theirs = (
        [tool("a"), refund()],
        [tool("a"), refund() | {"name": "pay_back"}],
        [
            tool("a"),
            refund(20),
        ],
    )
    [conflict] = conflicts(base, ours, theirs)
    merged = merge(base, ours, theirs, decide(conflict, take, wanted))
    assert merged.conflicts == ()
    assert json.loads(merged.data or b"") == [tool("a"), wanted]
    assert [note.kind for note in merged.notes] == ["resolved"]


def test_a_decision_that_gives_no_tool_is_refused() -> None:
    base, ours, theirs = [refund()], [refund() | {"name": "pay_back"}], [refund(20)]
    [conflict] = conflicts(base, ours, theirs)
    no_text = {"name": 1, "description": "", "parameters": {}}
    for value in (7, {"name": "a"}, no_text, [refund()]):
        [refused] = merge(base, ours, theirs, decide(conflict, "value", value)).conflicts
        assert refused.kind == "invalid-result"


@pytest.mark.parametrize("value", [7, None, {}])
def test_a_decision_that_gives_no_text_is_refused(value: Any) -> None:
    sides = [[refund() | {"description": words}] for words in ("one", "two", "three")]
    [conflict] = conflicts(*sides)
    base, ours, theirs = sides
    [refused] = merge(base, ours, theirs, decide(conflict, "value", value)).conflicts
    assert refused.kind == "invalid-result"


def test_two_tools_of_one_name_on_a_side_are_ambiguous() -> None:
    doubled = [refund(), refund(20)]
    [conflict] = conflicts([refund()], doubled, [refund(30)])
    assert (conflict.pointer, conflict.kind) == ("/refund", "ambiguous-identity")
    assert conflict.message == 'main has several tools called "refund"'
    assert conflict.ours == doubled
    assert places([refund()], doubled, [refund(), tool("a")]) == [("/refund", "ambiguous-identity")]
    merged = merge([refund()], doubled, [refund(30)], decide(conflict, "theirs"))
    assert json.loads(merged.data or b"") == [refund(30)]
    [refused] = merge([refund()], doubled, [refund(30)], decide(conflict, "ours")).conflicts
    assert refused.kind == "invalid-result"


def test_a_base_with_two_tools_of_one_name_does_not_matter_where_the_sides_agree() -> None:
    assert clean([refund(), refund(1)], [refund(), tool("a")], [tool("b"), refund()]) == [
        tool("b"),
        refund(),
        tool("a"),
    ]


def test_tools_that_both_moved_differently_are_an_order_conflict() -> None:
    base, ours, theirs = ([tool(name, name * 9) for name in side] for side in ("abc", "bca", "cab"))
    [conflict] = conflicts(base, ours, theirs)
    assert (conflict.pointer, conflict.kind, conflict.ours) == ("", "order", ["b", "c", "a"])
    merged = merge(base, ours, theirs, decide(conflict, "theirs"))
    assert [t["name"] for t in json.loads(merged.data or b"")] == ["c", "a", "b"]


def test_numbers_are_written_as_they_were() -> None:
    base = b'[{"name": "a", "description": "", "parameters": {"x": 0.10, "y": 1, "z": 1e400}}]'
    ours = base.replace(b'"y": 1', b'"y": 123456789012345678901234567890')
    theirs = base.replace(b'"x": 0.10', b'"x": 0.100, "w": 2.50')
    merged = merge_file(PATH, base, ours, theirs)
    assert [c.kind for c in merged.conflicts] == ["unparseable"]  # 1e400 is no number to hold
    base, ours, theirs = (side.replace(b"1e400", b"1e4") for side in (base, ours, theirs))
    data = merge_file(PATH, base, ours, theirs).data or b""
    for spelling in (b'"x": 0.100,', b'"w": 2.50', b"123456789012345678901234567890", b'"z": 1e4'):
        assert spelling in data


def test_bytes_of_ours_stay_where_nothing_changed_in_meaning() -> None:
    compact = json.dumps([refund(), tool("a")]).encode()
    reordered = text([refund() | {"description": refund()["description"]}, tool("a")])
    assert merge_file(PATH, b"[]\n", compact, reordered).data == compact
    crlf = text([refund()]).replace(b"\n", b"\r\n")
    assert merge_file(PATH, b"[]\n", crlf, text([refund()])).data == text([refund()])


@pytest.mark.parametrize(
    ("side", "where"),
    [
        (b"[{]", "line 1, column 3"),
        (
            b'[\n{"name": "a", "name": "b", "description": "", "parameters": {}}]',
            "line 2, column 15",
        ),
        (b'[{"name": "a", "description": "", "parameters": {"x": 1, "x": 2}}]', "column 58"),
        (b'[{"name": "a", "description": "", "parameters": []}]', "line 1, column 49"),
        (b'[{"name": "a", "description": ""}]', "line 1, column 2"),
        (b'[{"name": "a", "description": "", "parameters": {}, "more": 1}]', "line 1, column 53"),
        (b"{}", "line 1, column 1"),
        (b"\xff", "line 1, column 1"),
        (b"<<<<<<< ours\n[]\n", "line 1, column 1"),
        (b'[{"name": "a", "description": "\\ud800", "parameters": {}}]', "line 1, column 31"),
        (b"[" * 100_000, "line 1, column 65"),
        (b"", "line 1, column 1"),
    ],
)
def test_a_side_that_cannot_be_read_is_named_with_the_place(side: bytes, where: str) -> None:
    for sides, who in (((side, text([])), "main"), ((text([]), side), "knowledge/wiki")):
        [conflict] = merge_file(PATH, text([refund()]), *sides, labels=LABELS).conflicts
        assert (conflict.pointer, conflict.kind) == ("", "unparseable")
        assert conflict.message.startswith(f"{who} cannot be read: ")
        assert where in conflict.message


def published(version: str) -> list[Tool]:
    found: list[Tool] = json.loads((VERSIONS / f"filesystem@{version}.json").read_bytes())
    return found


def test_a_real_release_joins_with_a_reworded_description_and_meets_a_parameter() -> None:
    base, release = published("2025.3.28"), published("2025.8.21")
    reworded, changed = published("2025.3.28"), published("2025.3.28")
    untouched = next(
        i for i, t in enumerate(base) if any(t["description"] == r["description"] for r in release)
    )
    reworded[untouched]["description"] = "Says it shorter."
    merged = clean(base, release, reworded)
    name = base[untouched]["name"]
    assert len(merged) == len(release)
    assert {t["name"]: t for t in merged} == {
        t["name"]: t | ({"description": "Says it shorter."} if t["name"] == name else {})
        for t in release
    }
    new = {t["name"]: t for t in release}
    both = next(t for t in changed if t["description"] != new[t["name"]]["description"])
    both["description"] = "Something else."
    [conflict] = conflicts(base, release, changed)
    assert conflict.pointer == f"/{both['name']}/description"


@pytest.mark.parametrize("name", ["filesystem", "github"])
def test_a_real_release_joins_with_a_tool_of_ones_own(name: str) -> None:
    releases = [json.loads(path.read_bytes()) for path in sorted(VERSIONS.glob(f"{name}@*.json"))]
    for old, new in pairwise(releases):
        own = tool("my_own", "Does what nobody else does.", what="string")
        assert clean(old, new, [*old, own]) == [*new, own]
        assert {t["name"] for t in clean(old, [own, *old], new)} == {
            "my_own",
            *(t["name"] for t in new),
        }


NAMES = st.sampled_from(["a", "b", "c", "d"])
WORDS = st.sampled_from(["", "Does one thing.", "Does another thing at length."])
SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.just("object"),
        "properties": st.dictionaries(NAMES, st.fixed_dictionaries({"default": st.integers(0, 2)})),
        "required": st.lists(NAMES, unique=True, max_size=2),
    },
)
SHORT = st.dictionaries(NAMES, st.sampled_from(["string", "integer"]), max_size=2)
TOOLS = st.lists(
    st.builds(lambda n, d, p: tool(n, d, **p), NAMES, WORDS, SCHEMAS | SHORT),
    unique_by=lambda t: str(t["name"]),
    max_size=4,
)


@given(TOOLS, TOOLS)
def test_a_side_that_did_nothing_leaves_the_other_as_it_is(base: Any, other: Any) -> None:
    loose = json.dumps(base).encode()  # the same, laid out otherwise
    for sides in ((text(base), text(other), loose), (text(base), loose, text(other))):
        merged = merge_file(PATH, *sides)
        assert merged.conflicts == ()
        assert json.loads(merged.data or b"") == other
    assert clean(base, other, other) == other


def unordered(tools: list[Tool]) -> dict[str, Tool]:
    """Tools by name; whose addition comes first in a set is the side's."""
    found = {}
    for each in tools:
        parameters = dict(each["parameters"])
        if isinstance(parameters.get("required"), list):
            parameters["required"] = sorted(parameters["required"])
        found[each["name"]] = each | {"parameters": parameters}
    return found


@given(TOOLS, TOOLS, TOOLS)
def test_the_sides_may_be_swapped_and_nothing_is_lost(base: Any, ours: Any, theirs: Any) -> None:
    one, two = merge(base, ours, theirs), merge(base, theirs, ours)
    swapped = {(c.pointer, c.kind, str((c.base, c.theirs, c.ours))) for c in two.conflicts}
    assert {(c.pointer, c.kind, str((c.base, c.ours, c.theirs))) for c in one.conflicts} == swapped
    if not one.clean:
        return
    result = json.loads(one.data or b"")
    named = {t["name"]: t for t in result}
    assert unordered(result) == unordered(json.loads(two.data or b""))
    assert len(named) == len(result)
    before, mine, other = ({t["name"]: t for t in side} for side in (base, ours, theirs))
    for name in {*mine, *other}:
        if name in mine and name in other:
            assert name in named
        elif name not in before:
            assert named[name] == mine.get(name, other.get(name))
        else:
            assert name not in named
    assert set(named) <= {*mine, *other}
