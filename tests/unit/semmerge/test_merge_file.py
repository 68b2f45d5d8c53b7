"""The merge of one file by its path: whole files, and what goes where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.semmerge.file import merge_file
from memrepo.semmerge.resolve import decide, digest
from memrepo.semmerge.values import ABSENT, Labels, Resolution

LABELS = Labels("main", "knowledge/wiki")
PATHS = [
    "state/helper/tools.json",
    "state/helper/context.json",
    "state/helper/metadata.json",
    "history/20260301-120000-helper.json",
    "records/a.yml",
    "notes.md",
    "data/list.json",
    "data/log.jsonl",
]
BYTES = st.none() | st.sampled_from(
    [b"", b"[]\n", b"{}", b"- a\n", b"\xff\0", b'{"a":1}\n{"a":2}\n']
)


@pytest.mark.parametrize("path", PATHS)
@given(base=BYTES, ours=BYTES, theirs=BYTES)
def test_whatever_the_bytes_there_is_an_outcome(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None
) -> None:
    merged = merge_file(path, base, ours, theirs, labels=LABELS)
    if ours == theirs or theirs == base:
        assert merged.data == ours
        assert merged.clean
    elif ours == base:
        assert merged.data == theirs
        assert merged.clean
    for conflict in merged.conflicts:
        assert conflict.path == path
        assert conflict.message
    assert merged.data is None or merged.clean


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_one_changed_and_the_other_deleted(path: str) -> None:
    for ours, theirs, message in (
        (b"new", None, "main changed the file, knowledge/wiki deleted it"),
        (None, b"new", "knowledge/wiki changed the file, main deleted it"),
    ):
        [conflict] = merge_file(path, b"old", ours, theirs, labels=LABELS).conflicts
        assert (conflict.pointer, conflict.kind, conflict.message) == ("", "delete-modify", message)
        assert conflict.base == "old"
        kept, gone = ("ours", "theirs") if theirs is None else ("theirs", "ours")
        for take, wanted in ((kept, b"new"), (gone, None), ("base", b"old")):
            decided = decide(conflict, take)  # type: ignore[arg-type]
            merged = merge_file(path, b"old", ours, theirs, resolutions=[decided])
            assert (merged.data, merged.conflicts) == (wanted, ())
            assert [note.kind for note in merged.notes] == ["resolved"]


def test_a_snapshot_is_never_merged() -> None:
    path = "history/20260301-120000-helper.json"
    [conflict] = merge_file(path, None, b"{}", b"[]", labels=LABELS).conflicts
    assert (conflict.kind, conflict.base, conflict.ours) == ("snapshot", ABSENT, "{}")
    daily = "history/2026/03/01/20260301-120000-helper.json"
    assert [c.kind for c in merge_file(daily, b"", b"{}", b"[]").conflicts] == ["snapshot"]


def test_bytes_that_are_no_text_can_be_decided_about() -> None:
    [conflict] = merge_file("state/helper/tools.json", b"[]", b"\xff1", b"\xff2").conflicts
    assert conflict.ours.startswith("2 bytes that are no text")
    assert conflict.ours != conflict.theirs
    [again] = merge_file(
        "state/helper/tools.json",
        b"[]",
        b"\xff1",
        b"\xff2",
        resolutions=[decide(conflict, "theirs")],
    ).conflicts
    assert again.kind == "invalid-result"
    assert "cannot be read" in again.message


def test_a_decision_may_give_the_whole_file() -> None:
    path = "state/helper/tools.json"
    [conflict] = merge_file(path, b"[]", b"[", b"{").conflicts
    decided = decide(conflict, "value", [])
    assert merge_file(path, b"[]", b"[", b"{", resolutions=[decided]).data == b"[]\n"
    decided = decide(conflict, "value", "[ ]\n")
    assert merge_file(path, b"[]", b"[", b"{", resolutions=[decided]).data == b"[ ]\n"


def tools(words: str) -> bytes:
    return json.dumps([{"name": "a", "description": words, "parameters": {}}]).encode()


def test_a_decision_is_good_for_its_three_values_in_its_place_only() -> None:
    path = "state/helper/tools.json"
    sides = tools("one"), tools("two"), tools("three")
    [conflict] = merge_file(path, *sides).conflicts
    decided = decide(conflict, "theirs")
    assert (
        json.loads(merge_file(path, *sides, resolutions=[decided]).data or b"")[0]["description"]
        == "three"
    )
    for others in (
        (tools("0"), *sides[1:]),
        (sides[0], tools("0"), sides[2]),
        (*sides[:2], tools("0")),
        (sides[0], sides[2], sides[1]),
    ):
        [again] = merge_file(path, *others, resolutions=[decided]).conflicts
        assert again.message.endswith("; the recorded decision was about other values")
    assert merge_file("state/b/tools.json", *sides, resolutions=[decided]).conflicts
    later = decide(conflict, "ours")
    merged = merge_file(path, *sides, resolutions=[decided, later])
    assert json.loads(merged.data or b"")[0]["description"] == "two"


def test_a_digest_is_of_the_meaning() -> None:
    assert digest({"a": 1, "b": [None]}) == digest({"b": [None], "a": 1})
    values: list[Any] = [ABSENT, None, 0, 1, True, "1", "", [], {}, [1], "null"]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(ABSENT) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_an_unfitting_resolution_for_another_place_says_nothing() -> None:
    three = (digest(None), digest(None), digest(None))
    elsewhere = Resolution("state/helper/tools.json", "/b", *three, "ours")
    [conflict] = merge_file(
        "state/helper/tools.json", tools("1"), tools("2"), tools("3"), resolutions=[elsewhere]
    ).conflicts
    assert "decision" not in conflict.message
