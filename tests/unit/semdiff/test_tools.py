from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.documents import Tool
from memrepo.semdiff.change import ToolsDiff
from memrepo.semdiff.tools import diff_tools

SEARCH = Tool("search", "Search the knowledge base for a text.", {"query": "string"})
REFUND = Tool(
    "refund",
    "Give the money of an order back to the customer.",
    {
        "type": "object",
        "properties": {"order": {"type": "string"}, "amount": {"type": "number"}},
        "required": ["order"],
    },
)
PING = Tool("ping", "", {})


def diff(before: list[Tool], after: list[Tool]) -> ToolsDiff:
    found = diff_tools(before, after)
    check(before, after, found)
    return found


def check(before: list[Tool], after: list[Tool], found: ToolsDiff) -> None:
    """What holds for every difference: each tool is on one list at most, and counts add up."""
    assert (found.before_tools, found.after_tools) == (len(before), len(after))
    assert len(before) - len(found.removed) + len(found.added) == len(after)
    kept = [t.name for t in after]
    for name in [t.name for t in found.added] + [t.after for t in found.renamed]:
        kept.remove(name)
    old = [t.name for t in before]
    for name in [t.name for t in found.removed] + [t.before for t in found.renamed]:
        old.remove(name)
    assert sorted(kept) == sorted(old)
    for changes in (*(t.changes for t in found.changed), *(t.changes for t in found.renamed)):
        assert len({(c.pointer, c.kind) for c in changes}) == len(changes)
    assert all(tool.changes for tool in found.changed)


def replace(tool: Tool, **fields: Any) -> Tool:
    return msgspec.structs.replace(tool, **fields)


def test_equal_tools_have_no_change() -> None:
    assert diff([SEARCH, REFUND], [SEARCH, REFUND]).is_empty
    assert diff([], []).is_empty


def test_an_added_and_a_removed_tool() -> None:
    found = diff([SEARCH], [SEARCH, REFUND])
    [tool] = found.added
    assert (tool.name, tool.description) == (REFUND.name, REFUND.description)
    assert tool.parameters == REFUND.parameters
    assert (found.removed, found.cls) == ((), "compatible")
    found = diff([SEARCH, REFUND], [SEARCH])
    assert ([t.name for t in found.removed], found.added) == (["refund"], ())
    assert found.cls == "breaking"


def test_a_reworded_tool() -> None:
    found = diff([SEARCH], [replace(SEARCH, description="Search for a text.")])
    [tool] = found.changed
    [change] = tool.changes
    assert (tool.name, tool.cls) == ("search", "wording")
    assert (change.pointer, change.kind) == ("/description", "description-changed")
    assert (change.before, change.after) == (SEARCH.description, "Search for a text.")


def test_the_worst_change_gives_the_tool_its_class() -> None:
    changed = replace(
        SEARCH, description="Search.", parameters={"query": "string", "limit": "integer?"}
    )
    [tool] = diff([SEARCH], [changed]).changed
    assert (tool.cls, [c.cls for c in tool.changes]) == ("compatible", ["wording", "compatible"])
    [tool] = diff([changed], [SEARCH]).changed
    assert tool.cls == "breaking"


def test_a_new_name_for_the_same_body() -> None:
    found = diff([SEARCH, REFUND], [SEARCH, replace(REFUND, name="give_back")])
    [tool] = found.renamed
    assert (tool.before, tool.after, tool.cls, tool.changes) == (
        "refund",
        "give_back",
        "breaking",
        (),
    )
    assert (found.added, found.removed, found.changed) == ((), (), ())
    assert found.cls == "breaking"


def test_a_new_name_for_nearly_the_same_body() -> None:
    after = replace(REFUND, name="give_back", description=REFUND.description + " Ask first.")
    [tool] = diff([REFUND], [after]).renamed
    assert [c.pointer for c in tool.changes] == ["/description"]
    parameters = {
        "type": "object",
        "properties": {**REFUND.parameters["properties"], "reason": {"type": "string"}},
        "required": ["order"],
    }
    [tool] = diff([REFUND], [replace(REFUND, name="give_back", parameters=parameters)]).renamed
    assert [c.pointer for c in tool.changes] == ["/parameters/properties/reason"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SEARCH, REFUND),
        (PING, replace(PING, name="pong")),
        (SEARCH, replace(SEARCH, name="buy", description="Order a thing and pay for it.")),
        (REFUND, replace(REFUND, name="x", description="Send a parcel.", parameters={})),
    ],
    ids=["other-body", "no-body", "other-description", "other-everything"],
)
def test_another_tool_is_no_rename(before: Tool, after: Tool) -> None:
    found = diff([before], [after])
    assert (len(found.added), len(found.removed), found.renamed) == (1, 1, ())


def test_renames_are_one_to_one_and_the_best_go_together() -> None:
    other = Tool("find", "Search the knowledge base for a page.", {"query": "string"})
    found = diff(
        [SEARCH, other], [replace(other, name="find_page"), replace(SEARCH, name="search_text")]
    )
    pairs = {(tool.before, tool.after) for tool in found.renamed}
    assert pairs == {("search", "search_text"), ("find", "find_page")}
    assert all(tool.changes == () for tool in found.renamed)
    found = diff([SEARCH], [replace(SEARCH, name="a"), replace(SEARCH, name="search2")])
    assert [tool.after for tool in found.renamed] == ["search2"]
    assert [tool.name for tool in found.added] == ["a"]


def test_many_renames_at_once() -> None:
    def tools(prefix: str) -> list[Tool]:
        return [Tool(f"{prefix}{i}", f"Does thing {i}.", {"a": "string"}) for i in range(300)]

    found = diff(tools("old"), tools("new"))
    assert [(t.before, t.after) for t in found.renamed] == [
        (f"old{i}", f"new{i}") for i in range(300)
    ]


def test_order_alone() -> None:
    found = diff([SEARCH, REFUND], [REFUND, SEARCH])
    assert (found.reordered, found.is_empty, found.cls) == (True, False, None)
    assert not diff([SEARCH, REFUND], [PING, SEARCH, REFUND]).reordered
    assert not diff([SEARCH, PING, REFUND], [SEARCH, REFUND]).reordered


def test_several_tools_of_one_name() -> None:
    second = replace(SEARCH, description="Another one.")
    found = diff([SEARCH], [SEARCH, second])
    assert ([t.description for t in found.added], found.changed) == (["Another one."], ())
    assert diff([SEARCH, second], [SEARCH, second]).is_empty


def read(path: Path) -> list[Tool]:
    return msgspec.json.decode(path.read_bytes(), type=list[Tool])


def test_real_tools_of_github(data_folder: Path) -> None:
    versions = data_folder / "tool-versions"
    before, after = read(versions / "github@0.6.2.json"), read(versions / "github@2025.4.8.json")
    found = diff(before, after)
    assert (len(found.added), found.removed, found.renamed) == (17, (), ())
    assert {tool.name for tool in found.changed} == {tool.name for tool in before}
    schemas = {tool.name: tool.parameters for tool in after}
    for tool in found.changed:
        added = [c for c in tool.changes if c.kind == "parameter-added"]
        schema = schemas[tool.name]
        assert [c.pointer for c in added] == [
            f"/parameters/properties/{name}" for name in schema["properties"]
        ]
        needed = [c.pointer.rpartition("/")[2] for c in added if c.cls == "breaking"]
        assert sorted(needed) == sorted(schema["required"])
        rest = [c.pointer for c in tool.changes if c not in added]
        assert rest == ["/parameters/additionalProperties"]
    back = diff(after, before)
    assert (len(back.removed), back.added, back.renamed) == (17, (), ())


def test_real_tools_of_a_file_system(data_folder: Path) -> None:
    versions = data_folder / "tool-versions"
    first, second, third = (
        read(versions / f"filesystem@{version}.json")
        for version in ("0.6.2", "2025.3.28", "2025.8.21")
    )
    found = diff(first, second)
    assert [tool.name for tool in found.added] == ["edit_file", "directory_tree"]
    assert (found.removed, found.renamed, found.changed) == ((), (), ())
    found = diff(second, third)
    assert [tool.name for tool in found.added] == [
        "read_text_file",
        "read_media_file",
        "list_directory_with_sizes",
    ]
    assert (found.removed, found.renamed) == ((), ())
    assert {(t.name, t.cls, len(t.changes)) for t in found.changed} == {
        ("read_file", "wording", 1),
        ("list_allowed_directories", "wording", 1),
    }


def test_a_real_tool_under_another_name(data_folder: Path) -> None:
    for path in sorted((data_folder / "tool-versions").glob("*.json")):
        before = read(path)
        for i, tool in enumerate(before):
            after = [*before[:i], replace(tool, name="another"), *before[i + 1 :]]
            found = diff(before, after)
            assert [(t.before, t.after) for t in found.renamed] == [(tool.name, "another")]


tools = st.lists(
    st.builds(
        Tool,
        name=st.sampled_from(["a", "b", "c", "d", "search"]),
        description=st.sampled_from(["", "Search.", SEARCH.description, REFUND.description]),
        parameters=st.sampled_from([{}, SEARCH.parameters, REFUND.parameters, {"a": 1}, [], None]),
    ),
    max_size=6,
)


@given(tools, tools)
def test_any_two_lists(before: list[Tool], after: list[Tool]) -> None:
    diff(before, after)


@given(tools)
def test_a_list_and_itself(listed: list[Tool]) -> None:
    assert diff(listed, list(listed)).is_empty
