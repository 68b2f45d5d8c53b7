"""A path on three sides: modes, submodules and links, and decisions about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memrepo.knowledge.entries import PathMerged, Side, merge_path
from memrepo.semmerge.resolve import decide
from memrepo.semmerge.values import Labels, Resolution, Take

PLAIN, RUNS, LINK, SUBMODULE = b"100644", b"100755", b"120000", b"160000"
Sides = tuple[Side | None, Side | None, Side | None]
LABELS = Labels("main", "knowledge/wiki")


def unjoined(_base: bytes, _ours: bytes, _theirs: bytes) -> bytes | None:
    """A merge of texts that joins none."""
    return None


def side(mode: bytes, data: bytes | None, oid: bytes = b"\1" * 20) -> Side:
    return Side(mode, oid, data)


def merged(
    base: Side | None, ours: Side | None, theirs: Side | None, made: Sequence[Resolution] = ()
) -> Any:
    return merge_path(
        "tools/run.json", base, ours, theirs, labels=LABELS, resolutions=made, line_merge=unjoined
    )


def settled(take: Take, sides: Sides) -> PathMerged:
    """The merge with the open conflicts decided one after the other."""
    made: list[Resolution] = []
    for _ in range(4):
        result: PathMerged = merged(*sides, made)
        if not result.conflicts:
            return result
        made = [r for r in made if r.pointer != result.conflicts[0].pointer]
        made.append(decide(result.conflicts[0], take))
    raise AssertionError(f"this is never settled: {result.conflicts}")


def test_one_side_made_a_file_executable_and_the_other_changed_it() -> None:
    base, ours = side(PLAIN, b'{"a": 1}'), side(RUNS, b'{"a": 1}')
    result = merged(base, ours, side(PLAIN, b'{"a": 2}'))
    assert (result.mode, result.conflicts) == (RUNS, ())


@pytest.mark.parametrize(("take", "mode"), [("ours", PLAIN), ("theirs", RUNS)])
def test_a_mode_that_both_added_differently_is_decided(take: Take, mode: bytes) -> None:
    sides = None, side(PLAIN, b'{"a": 1}'), side(RUNS, b'{"a": 1}')
    (conflict,) = merged(*sides).conflicts
    assert (conflict.kind, conflict.pointer) == ("mode", "")
    assert (conflict.ours, conflict.theirs) == ("100644", "100755")
    done = settled(take, sides)
    assert (done.mode, done.data) == (mode, b'{"a": 1}')
    assert [note.kind for note in done.notes] == ["resolved"]


def test_what_both_added_is_joined_and_the_mode_decided_apart_from_it() -> None:
    sides = None, side(PLAIN, b'{"a": 1, "c": 3}'), side(RUNS, b'{"a": 2, "b": 2}')
    places = {(c.pointer, c.kind) for c in merged(*sides).conflicts}
    assert places == {("/a", "both-added"), ("", "mode")}
    done = settled("theirs", sides)
    assert done.mode == RUNS
    assert done.data is not None
    assert b'"a": 2' in done.data
    assert b'"b": 2' in done.data


@pytest.mark.parametrize("take", ["ours", "theirs"])
def test_texts_that_cannot_be_joined_take_their_mode_along(take: Take) -> None:
    sides = None, side(PLAIN, b"one\n"), side(RUNS, b"two\n")
    (conflict,) = merge_path(
        "run.md", *sides, labels=LABELS, resolutions=(), line_merge=unjoined
    ).conflicts
    assert (conflict.kind, conflict.ours) == ("mode", {"mode": "100644", "text": "one\n"})
    done = merge_path(
        "run.md", *sides, labels=LABELS, resolutions=[decide(conflict, take)], line_merge=unjoined
    )
    assert done.side == (sides[1] if take == "ours" else sides[2])


@pytest.mark.parametrize("value", ["100600", 7, {"mode": "100755"}])
def test_a_mode_that_git_does_not_know_is_refused(value: Any) -> None:
    sides = None, side(PLAIN, b"{}"), side(RUNS, b"{}")
    (conflict,) = merged(*sides).conflicts
    refused = merged(*sides, [decide(conflict, "value", value)])
    assert [c.kind for c in refused.conflicts] == ["invalid-result"]
    assert refused.data is None


@pytest.mark.parametrize(("mode", "kind"), [(SUBMODULE, "submodule"), (LINK, "symlink")])
def test_links_and_submodules_are_told_apart_and_decided(mode: bytes, kind: str) -> None:
    data = b"there" if mode == LINK else None
    sides = side(mode, data), side(mode, data and b"a", b"\2" * 20), side(PLAIN, b"{}", b"\3" * 20)
    (conflict,) = merged(*sides).conflicts
    assert conflict.kind == kind
    assert settled("ours", sides).side == sides[1]
    assert settled("theirs", sides).side == sides[2]
