from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.canonical import canonical_bytes, dump, snapshot_bytes, split_snapshot
from memrepo.protocol.check import check_file
from memrepo.protocol.documents import AgentState, Kind, Metadata, Tool, Turn

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
TIMES = st.sampled_from(
    ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00.5+01:00", "2026-03-02T00:00Z"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
TURNS = st.lists(st.builds(Turn, st.sampled_from(["user", "assistant"]), TEXT, TIMES), max_size=4)
TOOLS = st.lists(
    st.builds(Tool, TEXT.filter(bool), TEXT, st.dictionaries(TEXT, VALUES, max_size=3)),
    max_size=3,
    unique_by=lambda tool: tool.name,
)
METADATA = st.builds(Metadata, st.just("bot"), st.just("1.2.3"), TIMES)
TURN = {"role": "user", "content": "hi", "timestamp": "2026-03-01T12:00:00Z"}
TOOL: dict[str, Any] = {"name": "t", "description": "d", "parameters": {}}
META = {"agent_id": "bot", "version": "1.0.0", "last_updated": "2026-03-01T12:00:00Z"}


def codes(kind: Kind, data: bytes) -> set[str]:
    checked = check_file(kind, data, agent_id="bot")
    return {p.code for p in checked.problems} | {f.code for f in checked.faults}


def laid_out(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


@given(TURNS, TOOLS, METADATA)
def test_what_memrepo_writes_is_what_it_accepts(
    turns: list[Turn], tools: list[Tool], metadata: Metadata
) -> None:
    files = dump(turns), dump(tools), dump(metadata)
    for kind, data in zip(("context", "tools", "metadata"), files, strict=True):
        assert codes(kind, data) <= {"context-order"}  # type: ignore[arg-type]
        assert canonical_bytes(kind, data) == data  # type: ignore[arg-type]
    snapshot = snapshot_bytes(*files)
    assert codes("snapshot", snapshot) <= {"context-order"}
    assert snapshot == dump(AgentState(turns, tools, metadata))
    assert split_snapshot(snapshot) == files
    # Another reader of JSON sees the same values.
    assert json.loads(files[1]) == msgspec.to_builtins(tools)


@given(st.sampled_from(["context", "tools", "metadata", "snapshot"]), st.binary(max_size=200))
def test_any_bytes_are_judged(kind: Kind, data: bytes) -> None:
    checked = check_file(kind, data, agent_id="bot")
    assert checked.value is not None or checked.problems or checked.faults


@given(st.data())
def test_damaged_files_are_judged(data: st.DataObject) -> None:
    files = {"context": dump([Turn("user", "hello\n<<<", "2026-03-01T12:00:00Z")] * 2),
             "tools": dump([Tool("t", "d", {"a": [1.5, {"b": None}]})])}  # fmt: skip
    kind = data.draw(st.sampled_from(sorted(files)))
    good = files[kind]
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 5)))
    bad = good[:start] + data.draw(st.binary(max_size=4)) + good[end:]
    checked = check_file(kind, bad, agent_id="bot")  # type: ignore[arg-type]
    if checked.value is not None and not checked.problems and not checked.faults:
        assert json.loads(bad) == msgspec.to_builtins(checked.value)


BOM = b"\xef\xbb\xbf"
DEEP = json.loads("[" * 61 + "]" * 61)


@pytest.mark.parametrize(
    ("kind", "bad", "code", "good"),
    [
        ("context", BOM + b"[]\n", "encoding", b"[]\n"),
        ("context", b'[\n  "\xff"\n]\n', "encoding", b"[]\n"),
        ("context", b"\xff\xfe[\0]\0", "encoding", b"[]\n"),
        ("context", b"[]\r\n", "line-endings", b"[]\n"),
        ("context", b"[,]\n", "json-syntax", b"[]\n"),
        (
            "tools",
            b'[{"name":"t","description":"d","parameters":{"a":1,"a":1}}]',
            "duplicate-key",
            laid_out([TOOL | {"parameters": {"a": 1, "b": 1}}]),
        ),
        ("tools", laid_out([TOOL | {"parameters": {"a": float("nan")}}]), "non-finite-number",
         laid_out([TOOL | {"parameters": {"a": 1e308}}])),
        ("tools", laid_out([TOOL | {"parameters": {"a": [DEEP]}}]), "depth",
         laid_out([TOOL | {"parameters": {"a": DEEP}}])),
        ("context", json.dumps([TURN]).encode(), "format", laid_out([TURN])),
        ("context", laid_out([TURN])[:-1], "format", laid_out([TURN])),
        ("context", laid_out([dict(reversed(TURN.items()))]), "format", laid_out([TURN])),
        ("context", b"<<<<<<< ours\n[]\n=======\n[]\n>>>>>>> theirs\n", "conflict-marker",
         laid_out([TURN | {"content": "<<<<<<< not at the start of a line"}])),
        ("context", b"{}\n", "schema", b"[]\n"),
        ("context", laid_out([{"role": "user", "content": "x"}]), "schema", laid_out([TURN])),
        ("context", laid_out([TURN | {"role": "system"}]), "schema",
         laid_out([TURN | {"role": "assistant"}])),
        ("context", laid_out([TURN | {"content": None}]), "schema",
         laid_out([TURN | {"content": ""}])),
        ("tools", laid_out([TOOL | {"parameters": []}]), "schema",
         laid_out([TOOL | {"parameters": {"query": "string"}}])),
        ("tools", laid_out([TOOL | {"name": ""}]), "schema", laid_out([TOOL])),
        ("context", laid_out([TURN | {"name": "x"}]), "unknown-field", laid_out([TURN])),
        ("metadata", laid_out(META | {"tags": []}), "unknown-field", laid_out(META)),
        ("context", laid_out([TURN | {"timestamp": "2026-03-01T12:00:00"}]), "timestamp",
         laid_out([TURN | {"timestamp": "2026-03-01T12:00:00+00:00"}])),
        ("context", laid_out([TURN | {"timestamp": "2026-02-30T12:00:00Z"}]), "timestamp",
         laid_out([TURN | {"timestamp": "2026-02-28T12:00:00Z"}])),
        ("context", laid_out([TURN | {"timestamp": "yesterday"}]), "timestamp", laid_out([TURN])),
        ("metadata", laid_out(META | {"last_updated": "2026-03-01"}), "timestamp",
         laid_out(META | {"last_updated": "2026-03-01T12:00:00"})),
        ("metadata", laid_out(META | {"version": "1.0"}), "version",
         laid_out(META | {"version": "1.0.0-rc.1+build"})),
        ("metadata", laid_out(META | {"agent_id": "Bot"}), "agent-id", laid_out(META)),
        ("tools", laid_out([TOOL, TOOL]), "duplicate-tool",
         laid_out([TOOL, TOOL | {"name": "T"}])),
        ("context", laid_out([TURN, TURN | {"timestamp": "2026-03-01T11:59:59Z"}]),
         "context-order", laid_out([TURN, TURN | {"timestamp": "2026-03-01T13:00:00+01:00"}])),
        ("snapshot", laid_out({"context": [], "tools": [], "metadata": META | {"agent_id": "b"}}),
         "snapshot-mismatch", laid_out({"context": [], "tools": [], "metadata": META})),
        ("snapshot", laid_out({"context": [], "tools": []}), "schema",
         laid_out({"context": [], "tools": [], "metadata": META})),
    ],
)  # fmt: skip
def test_each_code_and_its_nearest_good_input(
    kind: Kind, bad: bytes, code: str, good: bytes
) -> None:
    assert codes(kind, bad) == {code}
    assert codes(kind, good) == set()


def test_a_number_keeps_its_spelling() -> None:
    data = b'[{"name":"t","description":"d","parameters":{"a":1e5,"b":0.10,"c":%d}}]' % 10**40
    canonical = canonical_bytes("tools", data)
    for spelling in (b"1e5", b"0.10", b"1" + b"0" * 40):
        assert spelling in canonical
    assert codes("tools", canonical) == set(), "another spelling of a number is no fault"


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_json_cannot_hold_is_refused_not_changed(number: float) -> None:
    with pytest.raises(ValueError, match="NaN or Infinity"):
        dump([Tool("t", "d", {"a": [{"b": number}]})])


def test_unknown_fields_are_guessed_at() -> None:
    checked = check_file("context", laid_out([TURN | {"contents": "x"}]), agent_id="bot")
    assert checked.faults[0].hint == 'did you mean "content"?'
    assert checked.faults[0].at_key
