"""The merge of metadata.json."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.semver import parse_version
from memrepo.protocol.timestamps import parse_timestamp
from memrepo.semmerge.file import merge_file
from memrepo.semmerge.resolve import decide
from memrepo.semmerge.values import ABSENT, Labels, Merged, Resolution

PATH = "state/helper/metadata.json"
LABELS = Labels("main", "knowledge/wiki")


def metadata(
    version: str = "1.0.0", when: str = "2026-03-01T12:00:00Z", who: str = "helper"
) -> bytes:
    value = {"agent_id": who, "version": version, "last_updated": when}
    return json.dumps(value, indent=2).encode() + b"\n"


def merge(base: bytes | None, ours: bytes, theirs: bytes, *decided: Resolution) -> Merged:
    return merge_file(PATH, base, ours, theirs, labels=LABELS, resolutions=decided)


def test_the_later_time_is_taken_as_it_is_spelled() -> None:
    ours, theirs = metadata(when="2026-03-02T02:00:00+02:00"), metadata(when="2026-03-02T00:30:00Z")
    merged = merge(metadata(), ours, theirs)
    assert merged.data == merge(metadata(), theirs, ours).data == theirs
    assert [(note.pointer, note.kind) for note in merged.notes] == [("/last_updated", "later-time")]


def test_a_time_that_one_side_changed_is_its_own_even_if_earlier() -> None:
    earlier = metadata(when="2026-02-01T12:00:00Z")
    merged = merge(metadata(), earlier, metadata("1.1.0"))
    assert merged.data == metadata("1.1.0", "2026-02-01T12:00:00Z")
    assert merged.notes == ()


def test_a_version_that_both_changed_is_the_higher_and_is_named() -> None:
    merged = merge(metadata(), metadata("1.10.0"), metadata("1.9.0", "2026-03-02T00:00:00Z"))
    assert merged.data == metadata("1.10.0", "2026-03-02T00:00:00Z")
    [note] = merged.notes
    assert (note.pointer, note.kind) == ("/version", "version-higher")
    assert note.message == (
        'main says "1.10.0" and knowledge/wiki "1.9.0"; the higher one was taken'
    )


def test_both_may_add_the_agent() -> None:
    merged = merge(None, metadata("2.0.0"), metadata("1.0.0", "2026-03-02T00:00:00Z"))
    assert merged.data == metadata("2.0.0", "2026-03-02T00:00:00Z")
    assert merge(b"", metadata("2.0.0"), metadata("1.0.0")).data == metadata("2.0.0")


@pytest.mark.parametrize("pair", [("1.1.0+a", "1.1.0+b"), ("1.1.0", "1.1.0+b")])
def test_versions_that_are_equally_high_are_a_conflict(pair: tuple[str, str]) -> None:
    ours, theirs = map(metadata, pair)
    [conflict] = merge(metadata(), ours, theirs).conflicts
    assert (conflict.pointer, conflict.kind) == ("/version", "both-changed")
    assert (conflict.base, conflict.ours, conflict.theirs) == ("1.0.0", *pair)
    assert merge(metadata(), ours, theirs, decide(conflict, "theirs")).data == theirs
    [refused] = merge(metadata(), ours, theirs, decide(conflict, "value", 2)).conflicts
    assert refused.kind == "invalid-result"
    [refused] = merge(metadata(), ours, theirs, decide(conflict, "value", "2")).conflicts
    assert "no semantic version" in refused.message


def test_the_agent_must_be_the_same() -> None:
    found = merge(metadata(), metadata(who="other"), metadata("1.1.0")).conflicts
    assert [(c.pointer, c.kind) for c in found] == [("/agent_id", "both-changed")]
    found = merge(None, metadata(who="other"), metadata("1.1.0")).conflicts
    assert [(c.pointer, c.base) for c in found] == [("/agent_id", ABSENT)]


def test_what_is_no_version_or_time_is_a_conflict() -> None:
    found = merge(metadata(), metadata("one"), metadata("1.1.0")).conflicts
    assert [c.pointer for c in found] == ["/version"]
    found = merge(metadata(), metadata(when="now"), metadata(when="2026-03-02T00:00:00Z")).conflicts
    assert [c.pointer for c in found] == ["/last_updated"]
    found = merge(metadata(), metadata("one"), metadata(when="2026-03-02T00:00:00Z")).conflicts
    assert [c.kind for c in found] == ["invalid-result"]
    [conflict] = merge(metadata(), b"{}", metadata("1.1.0")).conflicts
    assert (
        conflict.message == 'main cannot be read: line 1, column 1: the metadata has no "agent_id"'
    )


VERSIONS = st.sampled_from(["1.0.0", "1.0.1", "1.2.0-rc.1", "1.2.0", "2.0.0"])
TIMES = st.sampled_from(
    ["2026-03-01T12:00:00Z", "2026-03-01T12:00:01Z", "2026-03-01T13:30:00+02:00"]
)
FILES = st.builds(metadata, VERSIONS, TIMES)


@given(FILES, FILES, FILES)
def test_two_agents_files_always_join(base: bytes, ours: bytes, theirs: bytes) -> None:
    merged = merge(base, ours, theirs)
    assert merged.data == merge(base, theirs, ours).data
    old, left, right, result = (json.loads(x) for x in (base, ours, theirs, merged.data or b""))
    for key in ("version", "last_updated"):
        changed = [side[key] for side in (left, right) if side[key] != old[key]]
        assert result[key] == max(changed or [old[key]], key=rank)


def rank(text: str) -> Any:
    version, time = parse_version(text), parse_timestamp(text)
    return version.precedence if version else time
