from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import BadInput
from memrepo.protocol.documents import AgentState, Metadata, Tool, Turn
from memrepo.semdiff.agents import diff_agent
from memrepo.semdiff.asjson import diff_as_json, diff_from_json
from memrepo.semdiff.change import Diff, OtherFile, SnapshotsDiff

BEFORE = AgentState(
    [Turn("user", "I leave at nine", "t1"), Turn("assistant", "Good", "t2")],
    [
        Tool("search", "Search.", {"query": "string"}),
        Tool("book", "Book a seat.", {"seat": "string"}),
    ],
    Metadata("user_1", "1.0.0", "t2"),
)
AFTER = AgentState(
    [
        Turn("user", "I leave at noon", "t1"),
        Turn("assistant", "Good", "t2"),
        Turn("user", "Bye", "t3"),
    ],
    [
        Tool("search", "Search.", {"query": "string", "limit": "integer?"}),
        Tool("book_seat", "Book a seat.", {"seat": "string"}),
        Tool("ping", "", {}),
    ],
    Metadata("user_1", "2.0.0", "t3"),
)
DIFF = Diff(
    agents=(
        diff_agent("user_1", BEFORE, AFTER, limit=50),
        diff_agent("user_2", None, AFTER, limit=50),
    ),
    snapshots=SnapshotsDiff(2, ("history/a.json",), ("history/b.json",)),
    other=(OtherFile("MEMORY.md", "changed", "text", "-a\n+b\n"),),
)


def test_the_public_shape() -> None:
    shape = diff_as_json(DIFF)
    assert json.loads(json.dumps(shape)) == shape
    assert shape["snapshots"] == {
        "added": 2,
        "changed": ["history/a.json"],
        "deleted": ["history/b.json"],
    }
    assert shape["other"] == [
        {
            "path": "MEMORY.md",
            "change": "changed",
            "kind": "text",
            "patch": "-a\n+b\n",
            "truncated": False,
        }
    ]
    agent = shape["agents"][0]
    assert (agent["agent_id"], agent["change"]) == ("user_1", "changed")
    assert agent["context"] == {
        "appended": 1,
        "inserted": 0,
        "edited": 1,
        "removed": 0,
        "moved": 0,
        "trimmed": 0,
        "before_turns": 2,
        "after_turns": 3,
        "changes": [
            {
                "kind": "edited",
                "role": "user",
                "before_index": 0,
                "after_index": 0,
                "before": "I leave at nine",
                "after": "I leave at noon",
                "timestamp": "t1",
                "words": [
                    {"op": "same", "text": "I leave at "},
                    {"op": "removed", "text": "nine"},
                    {"op": "added", "text": "noon"},
                ],
            },
            {
                "kind": "appended",
                "role": "user",
                "after_index": 2,
                "after": "Bye",
                "timestamp": "t3",
            },
        ],
    }
    assert agent["tools"] == {
        "added": [{"name": "ping", "description": "", "parameters": {}}],
        "removed": [],
        "renamed": [{"before": "book", "after": "book_seat", "class": "breaking", "changes": []}],
        "changed": [
            {
                "name": "search",
                "class": "compatible",
                "changes": [
                    {
                        "pointer": "/parameters/limit",
                        "kind": "parameter-added",
                        "class": "compatible",
                        "before": None,
                        "after": "integer?",
                    }
                ],
            }
        ],
        "reordered": False,
        "before_tools": 2,
        "after_tools": 3,
    }
    assert agent["metadata"] == {
        "version": ["1.0.0", "2.0.0"],
        "last_updated": ["t2", "t3"],
        "step": "major",
        "needs": "major",
        "fits": True,
    }
    assert shape["agents"][1]["metadata"]["version"] == [None, "2.0.0"]


def test_there_and_back() -> None:
    assert diff_from_json(json.loads(json.dumps(diff_as_json(DIFF)))) == DIFF
    assert diff_from_json(diff_as_json(Diff())) == Diff()


def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all objects that are ours: not the contents of a tool."""
    found = [path] if isinstance(value, dict) else []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        if isinstance(inner, (dict, list)) and key not in ("parameters", "before", "after"):
            found += nodes(inner, (*path, key))
    return found


@pytest.mark.parametrize("path", nodes(diff_as_json(DIFF)), ids=lambda p: "/".join(map(str, p)))
def test_an_unknown_field_is_refused_everywhere(path: tuple[Any, ...]) -> None:
    value = json.loads(json.dumps(diff_as_json(DIFF)))
    place = value
    for key in path:
        place = place[key]
    place["extra"] = 1
    with pytest.raises(BadInput, match="extra"):
        diff_from_json(value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "Expected `object`"),
        ([], "Expected `object`"),
        ({"agents": [{}]}, "agent_id"),
        ({"agents": [{"agent_id": "a", "change": "moved"}]}, "moved"),
        ({"snapshots": {"added": "1"}}, "snapshots.added"),
        ({"a\n::error::b": 1}, r"a\\n::error::b"),
    ],
)
def test_what_is_no_diff_is_refused_in_one_line(value: Any, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as caught:
        diff_from_json(value)
    assert "\n" not in caught.value.message
    assert caught.value.hint


keys = st.sampled_from(["agents", "snapshots", "other", "added", "agent_id", "x"])
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=10,
)


@given(values)
def test_any_value_is_a_diff_or_refused(value: Any) -> None:
    try:
        found = diff_from_json(value)
    except BadInput:
        return
    assert isinstance(found, Diff)
