"""The merge of context.json, turn by turn."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.check import check_file
from memrepo.semmerge.file import merge_file
from memrepo.semmerge.resolve import decide
from memrepo.semmerge.values import ABSENT, Conflict, Labels, Merged, Resolution

PATH = "state/helper/context.json"
LABELS = Labels("main", "knowledge/wiki")
Turn = dict[str, str]


def turn(minute: int, content: str = "", role: str = "") -> Turn:
    when = f"2026-03-01T{12 + minute // 60:02}:{minute % 60:02}:00Z"
    said = content or f"This was said in minute {minute} of the talk."
    return {
        "role": role or ("assistant" if minute % 2 else "user"),
        "content": said,
        "timestamp": when,
    }


def turns(*minutes: int) -> list[Turn]:
    return [turn(minute) for minute in minutes]


def merge(
    base: list[Turn] | None, ours: list[Turn], theirs: list[Turn], *decided: Resolution
) -> Merged:
    start, *sides = (
        None if side is None else json.dumps(side).encode() for side in (base, ours, theirs)
    )
    return merge_file(PATH, start, *sides, labels=LABELS, resolutions=decided)


def clean(base: list[Turn] | None, ours: list[Turn], theirs: list[Turn]) -> list[Turn]:
    merged = merge(base, ours, theirs)
    assert merged.conflicts == ()
    assert check_file("context", merged.data or b"", agent_id="").faults == []
    found: list[Turn] = json.loads(merged.data or b"")
    return found


def conflicts(base: list[Turn], ours: list[Turn], theirs: list[Turn]) -> list[Conflict]:
    found = merge(base, ours, theirs).conflicts
    assert {(c.pointer, c.kind) for c in found} == {
        (c.pointer, c.kind) for c in merge(base, theirs, ours).conflicts
    }
    return list(found)


def test_what_both_appended_comes_in_the_order_of_time() -> None:
    base = turns(0, 1)
    assert clean(base, turns(0, 1, 3, 6), turns(0, 1, 2, 7)) == turns(0, 1, 2, 3, 6, 7)
    assert clean(None, turns(0, 3), turns(2)) == turns(0, 2, 3)
    assert clean([], turns(0), turns(0, 1)) == turns(0, 1)


def test_at_one_instant_ours_is_first() -> None:
    ours, theirs = [turn(3, "ours")], [turn(3, "theirs")]
    assert clean(turns(0), turns(0) + ours, turns(0) + theirs) == turns(0) + ours + theirs


def test_times_are_compared_as_instants() -> None:
    early = {"role": "user", "content": "early", "timestamp": "2026-03-01T13:01:00+01:00"}
    late = {"role": "user", "content": "late", "timestamp": "2026-03-01T07:02:00-05:00"}
    base = turns(0)
    assert clean(base, [*base, late], [*base, early]) == [*base, early, late]


def test_a_turn_that_both_added_is_there_once() -> None:
    base = turns(0)
    assert clean(base, turns(0, 1, 2), turns(0, 1, 3)) == turns(0, 1, 2, 3)
    twice = [*base, turn(1, "yes"), turn(1, "yes")]
    assert clean(base, twice, [*base, turn(1, "yes"), turn(2)]) == [*twice, turn(2)]


def test_a_turn_that_one_side_removed_is_gone() -> None:
    base = turns(0, 1, 2, 3)
    assert clean(base, turns(2, 3, 4), turns(1, 2, 3, 5)) == turns(2, 3, 4, 5)
    assert clean(base, turns(0, 2, 3), turns(0, 1, 3)) == turns(0, 3)


def test_two_windows_that_moved_on_past_the_whole_base() -> None:
    base = [turn(0, "Hello."), turn(1, "Yes."), turn(2, "Yes.")]
    ours, theirs = [turn(3, "Hello."), turn(4, "Yes.")], [turn(5, "Yes."), turn(6, "Hello.")]
    assert clean(base, ours, theirs) == ours + theirs


def test_an_edit_on_one_side_is_taken_where_the_turn_was() -> None:
    base, edited = turns(0, 1, 2), [turn(0), turn(1, "What was meant."), turn(2)]
    assert clean(base, edited, turns(0, 1, 2, 3)) == [*edited, turn(3)]
    assert clean(base, turns(0, 1, 2, 3), edited) == [*edited, turn(3)]
    assert clean(base, [*edited, turn(3)], [*edited, turn(4)]) == [*edited, turn(3), turn(4)]


def test_one_turn_edited_two_ways_is_a_conflict() -> None:
    base = turns(0, 1, 2)
    ours, theirs = ([turn(0), turn(1, words), turn(2)] for words in ("One way.", "Another."))
    [conflict] = conflicts(base, ours, theirs)
    assert (conflict.pointer, conflict.kind) == ("/1", "both-changed")
    assert (conflict.base, conflict.ours, conflict.theirs) == (base[1], ours[1], theirs[1])
    for take, wanted in (("ours", ours), ("theirs", theirs), ("base", base)):
        merged = merge(base, ours, theirs, decide(conflict, take))  # type: ignore[arg-type]
        assert json.loads(merged.data or b"") == wanted
    merged = merge(base, ours, theirs, decide(conflict, "value", turn(1, "Both.")))
    assert json.loads(merged.data or b"") == [turn(0), turn(1, "Both."), turn(2)]
    [refused] = merge(base, ours, theirs, decide(conflict, "value", "Both.")).conflicts
    assert refused.kind == "invalid-result"


def test_two_fields_of_one_turn_edited_apart_are_a_conflict_too() -> None:
    base = turns(0, 1)
    ours, theirs = [turn(0), turn(1, "Other words.")], [turn(0), turn(1, role="user")]
    assert [(c.pointer, c.kind) for c in conflicts(base, ours, theirs)] == [("/1", "both-changed")]


def test_a_turn_removed_here_and_edited_there_is_a_conflict() -> None:
    base, edited = turns(0, 1, 2), [turn(0), turn(1, "What was meant."), turn(2)]
    [conflict] = conflicts(base, turns(0, 2), edited)
    assert (conflict.pointer, conflict.kind) == ("/1", "changed-and-removed")
    assert (conflict.ours, conflict.theirs) == (ABSENT, edited[1])
    merged = merge(base, turns(0, 2), edited, decide(conflict, "ours"))
    assert json.loads(merged.data or b"") == turns(0, 2)


def test_a_side_that_is_out_of_order_keeps_its_order() -> None:
    base, ours = turns(0, 5, 3), turns(0, 5, 3, 6)
    assert clean_faulty(base, ours, turns(0, 5, 3, 7)) == turns(0, 5, 3, 6, 7)


def clean_faulty(base: list[Turn], ours: list[Turn], theirs: list[Turn]) -> list[Turn]:
    merged = merge(base, ours, theirs)
    assert merged.conflicts == ()
    found: list[Turn] = json.loads(merged.data or b"")
    return found


def test_turns_that_both_put_in_another_order_are_a_conflict() -> None:
    found = conflicts(turns(0, 1, 2), turns(1, 2, 0), turns(2, 0, 1))
    assert [(c.pointer, c.kind) for c in found] == [("", "order")]


@pytest.mark.parametrize("bad", ["", "yesterday", "2026-03-01T12:00:00", "2026-02-30T12:00:00Z"])
def test_a_time_that_is_none_makes_no_valid_result(bad: str) -> None:
    broken = [*turns(0), {"role": "user", "content": "x", "timestamp": bad}]
    found = merge(turns(0), broken, turns(0, 1)).conflicts
    assert [(c.kind, c.pointer) for c in found] == [("invalid-result", "")]
    assert "line " in found[0].message


@pytest.mark.parametrize("bad", [[{"role": "system"}], {}, [None], [[]], [{"role": "user"}]])
def test_a_side_that_is_no_context_is_named(bad: Any) -> None:
    [conflict] = merge(turns(0), bad, turns(0, 1)).conflicts
    assert conflict.kind == "unparseable"
    assert conflict.message.startswith("main cannot be read: line ")


@st.composite
def talks(draw: st.DrawFn) -> tuple[list[Turn], list[Turn], list[Turn]]:
    """A talk, and what two sides made of it: forgot turns, edited turns, went on."""
    length = draw(st.integers(0, 6))
    base = turns(*range(length))
    sides = []
    for label in ("left", "right"):
        side: list[Turn] = []
        for minute in range(length):
            what = draw(st.sampled_from(["keep", "keep", "keep", "forget", "edit"]))
            if what != "forget":
                words = f"{label} says it better, {minute}." if what == "edit" else ""
                side.append(turn(minute, words))
        went_on = draw(st.lists(st.integers(10, 30), unique=True, max_size=3))
        words = draw(st.sampled_from(["", f"{label} goes on."]))
        sides.append(side + [turn(minute, words) for minute in sorted(went_on)])
    return base, sides[0], sides[1]


@given(talks())
def test_nothing_is_lost_doubled_or_invented(talk: tuple[list[Turn], ...]) -> None:
    base, ours, theirs = talk
    one, two = merge(base, ours, theirs), merge(base, theirs, ours)
    assert {(c.pointer, c.kind) for c in one.conflicts} == {
        (c.pointer, c.kind) for c in two.conflicts
    }
    at = [{t["timestamp"]: t for t in side} for side in (base, ours, theirs)]
    disputed = {
        when
        for when, old in at[0].items()
        if at[1].get(when) != at[2].get(when) and old not in (at[1].get(when), at[2].get(when))
    }
    assert {base[int(c.pointer[1:])]["timestamp"] for c in one.conflicts} == disputed
    if disputed:
        return
    result = json.loads(one.data or b"")
    key = lambda t: (t["timestamp"], t["content"])  # noqa: E731
    assert sorted(result, key=key) == sorted(json.loads(two.data or b""), key=key)
    assert [t["timestamp"] for t in result] == sorted(t["timestamp"] for t in result)
    for known in [*base, *ours, *theirs, *result]:
        stays = (known in ours) == (known in theirs) or known not in base
        wanted = known in ours if (known in ours) == (known in theirs) else known not in base
        assert stays or known in base
        assert result.count(known) == (1 if wanted else 0)


@given(talks())
def test_a_side_that_did_nothing_leaves_the_other_as_it_is(talk: tuple[list[Turn], ...]) -> None:
    base, other, _ = talk
    loose = json.dumps(base, indent=4).encode()
    for sides in ((base, other, loose), (base, loose, other), (loose, other, base)):
        texts = [s if isinstance(s, bytes) else json.dumps(s).encode() for s in sides]
        merged = merge_file(PATH, *texts)
        assert merged.conflicts == ()
        assert json.loads(merged.data or b"") == other
