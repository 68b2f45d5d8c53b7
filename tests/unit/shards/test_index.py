from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archived import COMMIT, contents, pack_all
from memrepo.errors import BadInput
from memrepo.shards.index import (
    append_lines,
    archived_snapshots,
    index_bytes,
    index_line,
    members_bytes,
    members_path,
    parse_index,
    parse_members,
)
from memrepo.shards.table import UNKNOWN_SIZE
from memrepo.shards.values import IndexLine

TAG = "history-2026-W10"
FILES = {
    "history/20240101-000000-a.json": b"{}",
    "history/20240102-000000-b.json": b"[]",
    "history/20240109-000000-a.json": b"",
    "history/20240116-000000-b.json": b"",
}
SHARDS = pack_all(FILES)[1]
LINES = [index_line(one.packed, tag=TAG, commit=COMMIT, url="https://x.org/y") for one in SHARDS]
MEMBERS = {members_path(TAG, one.shard.name): members_bytes(one.shard.snapshots) for one in SHARDS}


def test_a_line_says_what_the_shard_holds() -> None:
    first = LINES[0]
    assert (first.shard, first.asset) == ("2024-W01", "history-2024-W01.tar.gz")
    assert (first.snapshots, first.bytes, first.agents) == (2, 4, ("a", "b"))
    assert (first.size, first.sha256) == (len(SHARDS[0].data), SHARDS[0].packed.sha256)
    data = MEMBERS[".memrepo/archive/members/history-2026-W10/2024-W01.txt"]
    assert first.members == hashlib.sha256(data).hexdigest()
    assert data.decode().splitlines() == [
        f"{one.blob} {one.path}" for one in SHARDS[0].shard.snapshots
    ]


def test_the_index_is_one_object_a_line() -> None:
    data = index_bytes(LINES)
    assert data.count(b"\n") == len(LINES)
    value = json.loads(data.splitlines()[0])
    assert list(value) == list(IndexLine.__struct_fields__)
    assert value["first"] == "2024-01-01T00:00:00Z"
    assert parse_index(data) == LINES
    assert parse_index(b"") == []


@given(st.lists(st.sampled_from(LINES), max_size=6), st.lists(st.sampled_from(LINES), max_size=6))
def test_appending_again_changes_nothing(there: list[IndexLine], new: list[IndexLine]) -> None:
    data = append_lines(index_bytes(dict.fromkeys(there)), new)
    assert parse_index(data) == list(dict.fromkeys([*there, *new]))
    assert append_lines(data, [*new, *there]) == data


def test_another_line_about_the_same_shard_is_refused() -> None:
    other = msgspec.structs.replace(LINES[0], size=1)
    with pytest.raises(BadInput, match=r"another line about 2024-W01 of history-2026-W10"):
        append_lines(index_bytes(LINES), [other])
    elsewhere = msgspec.structs.replace(LINES[0], tag=TAG + ".2")
    assert parse_index(append_lines(index_bytes(LINES), [elsewhere])) == [*LINES, elsewhere]


def _set(**values: object) -> Callable[[dict[str, Any]], object]:
    return lambda line: line.update(values)


SPOIL: dict[str, Callable[[dict[str, Any]], object]] = {
    "shard": _set(shard="../x"),
    "first part": _set(shard="2024-W01.1"),
    "tag": _set(tag="a/../../b"),
    "tag like an option": _set(tag="-x"),
    "asset": _set(asset="../x.tar.gz"),
    "asset's hash": _set(sha256="0" * 63),
    "tar's hash": _set(tar_sha256="Z" * 64),
    "members' hash": _set(members=""),
    "commit": _set(commit="HEAD"),
    "no snapshots": _set(snapshots=0),
    "size": _set(size=0),
    "bytes": _set(bytes=-1),
    "no agents": _set(agents=[]),
    "agents out of order": _set(agents=["b", "a"]),
    "an agent twice": _set(agents=["a", "a"]),
    "an agent that is none": _set(agents=["../a"]),
    "first after last": _set(first="2025-01-01T00:00:00Z"),
    "no zone": _set(first="2024-01-01T00:00:00", last="2024-01-01T00:00:00"),
    "half a zone": _set(first="2024-01-01T00:00:00"),
    "another zone": _set(first="2024-01-01T00:00:00+01:00"),
    "address": _set(url="https://x.org/\x1b[2J"),
    "long address": _set(url="x" * 2001),
    "a field more": _set(more=1),
    "a field less": lambda line: line.pop("members"),
    "a field with control characters": lambda line: line.update({"\x1b[2J": 1}),
    "another type": _set(size="1"),
}


@pytest.mark.parametrize("spoil", SPOIL.values(), ids=SPOIL)
def test_a_line_that_no_run_wrote_is_refused(spoil: Callable[[dict[str, Any]], object]) -> None:
    value = json.loads(index_bytes(LINES[:1]))
    spoil(value)
    bad = json.dumps(value, separators=(",", ":")).encode() + b"\n"
    with pytest.raises(BadInput, match=r"^\.memrepo/archive/index\.jsonl, line 2: ") as refused:
        parse_index(index_bytes(LINES[1:2]) + bad)
    assert refused.value.message.isprintable()


GOOD = index_bytes(LINES[1:2])


@pytest.mark.parametrize(
    "bad",
    [
        b"\n",
        b"{}\n",
        b"[]\n",
        b"null\n",
        b"\xff\n",
        b"<<<<<<< HEAD\n",
        index_bytes(LINES[:1])[:-1],
        index_bytes(LINES[:1])[:-1] + b"\r\n",
        index_bytes(LINES[:1]).replace(b":", b": "),
        GOOD,
        b"[" * 100_000 + b"\n",
    ],
)
def test_bytes_that_are_no_line_are_refused_with_their_number(bad: bytes) -> None:
    with pytest.raises(BadInput, match=r"^the index, line 2: ") as refused:
        parse_index(GOOD + bad, "the index")
    assert refused.value.message.isprintable()


@given(st.binary(max_size=300))
def test_any_bytes_are_an_index_or_refused(data: bytes) -> None:
    try:
        lines = parse_index(data)
    except BadInput:
        return
    assert index_bytes(lines) == data


@given(contents.filter(bool))
def test_members_come_back_without_their_sizes(given_contents: dict[str, bytes]) -> None:
    for one in pack_all(given_contents)[1]:
        line = index_line(one.packed, tag=TAG, commit=COMMIT)
        back = parse_members(members_bytes(one.shard.snapshots), line)
        assert [(m.path, m.blob) for m in back] == [(s.path, s.blob) for s in one.shard.snapshots]
        assert {member.size for member in back} == {UNKNOWN_SIZE}


def _line_for(data: bytes, **values: object) -> IndexLine:
    members = hashlib.sha256(data).hexdigest()
    return msgspec.structs.replace(LINES[0], members=members, **values)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x\n",
        b"0" * 40 + b" README.md\n",
        b"0" * 40 + b" history/20240101-000000-a.json",
        b"0" * 40 + b"  history/20240101-000000-a.json\n",
        b"0" * 39 + b" history/20240101-000000-a.json\n",
        b"0" * 40 + b" history/20240101-000000-a.json\n\n",
        b"0" * 40 + b" history/20240101-000000-\xc3\xa9.json\n",
        b"".join(reversed(MEMBERS[members_path(TAG, "2024-W01")].splitlines(keepends=True))),
        2 * (b"0" * 40 + b" history/20240101-000000-a.json\n"),
    ],
)
def test_members_that_are_none_are_refused(data: bytes) -> None:
    lines = data.count(b"\n") or 1
    with pytest.raises(BadInput, match=r"members/history-2026-W10/2024-W01\.txt"):
        parse_members(data, _line_for(data, snapshots=lines))


def test_members_must_be_the_file_that_the_line_names() -> None:
    data = MEMBERS[members_path(TAG, "2024-W01")]
    parse_members(data, LINES[0])
    with pytest.raises(BadInput, match="not the file that the archive's index names"):
        parse_members(data, LINES[1])
    with pytest.raises(BadInput, match="does not list the 3 members"):
        parse_members(data, _line_for(data, snapshots=3))


@pytest.mark.parametrize(
    ("tag", "shard"), [("../x", "2024-W01"), ("x", "../x"), ("a/b", "2024-W01")]
)
def test_members_never_lie_elsewhere(tag: str, shard: str) -> None:
    with pytest.raises(BadInput):
        members_path(tag, shard)


def test_all_that_is_archived_is_listed_with_its_shard() -> None:
    found = list(archived_snapshots(LINES, MEMBERS.get))
    assert [(one.path, one.line.shard) for one in found] == [
        ("history/20240101-000000-a.json", "2024-W01"),
        ("history/20240102-000000-b.json", "2024-W01"),
        ("history/20240109-000000-a.json", "2024-W02"),
        ("history/20240116-000000-b.json", "2024-W03"),
    ]
    assert {one.blob for one in found} == {s.blob for one in SHARDS for s in one.shard.snapshots}


def test_for_one_agent_only_its_shards_are_read() -> None:
    asked = []

    def read(path: str) -> bytes | None:
        asked.append(path)
        return MEMBERS.get(path)

    found = list(archived_snapshots(LINES, read, agent_id="a"))
    assert [one.path for one in found] == [path for path in FILES if path.endswith("-a.json")]
    assert asked == [members_path(TAG, "2024-W01"), members_path(TAG, "2024-W02")]
    assert list(archived_snapshots(LINES, read, agent_id="z")) == []


def test_a_missing_members_file_is_named() -> None:
    with pytest.raises(BadInput, match=r"members/history-2026-W10/2024-W01\.txt is missing"):
        list(archived_snapshots(LINES, lambda _: None))


def test_times_are_in_the_lines_as_in_the_names() -> None:
    assert [line.first for line in LINES] == [
        datetime.fromisoformat(f"2024-01-{day}T00:00:00Z") for day in ("01", "09", "16")
    ]
