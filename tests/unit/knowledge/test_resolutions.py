"""Records of decisions: they come back as written, and show what they decide or are none."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.knowledge.resolutions import Record, read_record, record_bytes, record_of
from memrepo.semmerge.jsonvalue import loads, same
from memrepo.semmerge.resolve import Decisions
from memrepo.semmerge.values import ABSENT, Conflict, Take

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner),
    max_leaves=6,
)
SIDES = st.just(ABSENT) | JSON.map(lambda value: loads(json.dumps(value).encode()))


def conflict(base: Any, ours: Any, theirs: Any) -> Conflict:
    return Conflict("state/a/tools.json", "/refund", "both-changed", "why", base, ours, theirs)


def recorded(about: Conflict, take: Take = "theirs", value: Any = None) -> tuple[Record, bytes]:
    made = record_of(
        about, take, value, branch="knowledge/api", by="anna", when="2026-03-01T12:00:00Z"
    )
    return made, record_bytes(made, about)


@given(SIDES, SIDES, SIDES, JSON)
def test_a_record_comes_back_and_fits_its_conflict(
    base: Any, ours: Any, theirs: Any, value: Any
) -> None:
    value = loads(json.dumps(value).encode())
    about = conflict(base, ours, theirs)
    made, data = recorded(about, "value", value)
    read = read_record(data)
    assert read is not None
    assert msgspec.structs.replace(read.resolution, value=0) == msgspec.structs.replace(
        made.resolution, value=0
    )
    assert same(read.resolution.value, value)
    found = Decisions(about.path, [read.resolution]).find(about.pointer, base, ours, theirs)
    assert found is read.resolution


@pytest.mark.parametrize("text", ["1.0", "0.10", "1e5", "123456789012345678901234567890", "-0"])
def test_a_number_is_decided_as_it_is_written(text: str) -> None:
    value = loads(text.encode())
    _, data = recorded(conflict(1, 2, 3), "value", value)
    read = read_record(data)
    assert read is not None
    assert msgspec.json.encode(read.resolution.value) == text.encode()


SIDES_SHOWN = conflict(ABSENT, "a refund takes two days", {"days": 2})


def changed(**sides: Any) -> bytes:
    _, data = recorded(SIDES_SHOWN)
    file = json.loads(data)
    for name, change in sides.items():
        file[name] = change(file[name]) if callable(change) else change
    return json.dumps(file).encode()


def test_the_unchanged_file_is_a_record() -> None:
    assert read_record(changed()) is not None


@pytest.mark.parametrize(
    "sides",
    [
        {"ours": lambda side: {**side, "value": "a refund takes ten days"}},
        {"theirs": lambda side: {**side, "value": {"days": 2.0}}},
        {"base": lambda side: {**side, "value": None}},
        {"base": lambda side: {"sha256": side["sha256"], "value": None}},
        {"ours": lambda side: {"sha256": side["sha256"], "absent": True}},
        {"ours": lambda side: {"sha256": side["sha256"], "shown": "a refund takes ten days"}},
        {"ours": lambda side: {**side, "sha256": side["sha256"].upper()}},
        {"ours": lambda side: {**side, "sha256": "0" * 64}},
        {"ours": lambda _: {"sha256": "0" * 63}},
        {"take": "value"},
        {"take": "theirs", "value": 1},
        {"take": "mine"},
        {"more": 1},
    ],
    ids=" ".join,
)
def test_what_shows_other_than_it_decides_is_no_record(sides: dict[str, Any]) -> None:
    assert read_record(changed(**sides)) is None


def test_a_side_that_stands_there_twice_is_no_record() -> None:
    _, data = recorded(SIDES_SHOWN)
    twice = data.replace(b'"value": "a refund', b'"value": "harmless", "value": "a refund')
    assert twice != data
    assert read_record(twice) is None


def test_of_a_long_value_the_record_shows_nothing_but_its_digest() -> None:
    about = conflict("short", "x" * 30_000, "y" * 300)
    _, data = recorded(about)
    file = json.loads(data)
    assert file["ours"].keys() == {"sha256"}
    assert file["theirs"]["value"] == "y" * 300
    read = read_record(data)
    assert read is not None
    assert Decisions(about.path, [read.resolution]).find("/refund", "short", about.ours, "y" * 300)


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b"\xff", b"[" * 100_000, b"NaN"])
def test_bytes_that_are_no_record(data: bytes) -> None:
    assert read_record(data) is None
