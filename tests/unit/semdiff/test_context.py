from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.documents import Turn
from memrepo.semdiff.change import ContextDiff, TurnChange
from memrepo.semdiff.context import diff_context

LINES = (
    "Hi, I would like to change my flight to Boston.",
    "Of course. May I have your reservation number, please?",
    "It is HAT276, booked under the name Sara Doe.",
    "Thank you. That flight leaves on May 17 at nine in the morning.",
    "Is there anything later on the same day?",
    "There are two: one at noon and one at six in the evening.",
    "I take the one at noon, then.",
    "Done. A confirmation is on its way to you by mail.",
    "Great, thanks a lot for the help!",
    "You are welcome. Have a good trip.",
)


def turn(index: int, content: str | None = None, *, at: int | None = None) -> Turn:
    """Turn ``index`` of a talk, a minute after the one before."""
    minute = index if at is None else at
    return Turn(
        role="user" if index % 2 == 0 else "assistant",
        content=LINES[index] if content is None else content,
        timestamp=f"2026-03-01T10:{minute:02d}:00Z",
    )


TALK = [turn(i) for i in range(len(LINES))]


def diff(before: list[Turn], after: list[Turn], limit: int = 50) -> ContextDiff:
    found = diff_context(before, after, limit=limit)
    check(before, after, found)
    return found


def check(before: list[Turn], after: list[Turn], found: ContextDiff) -> None:
    """What holds for every difference: counts add up, and it leads from old to new."""
    kinds = [change.kind for change in found.changes]
    for kind in ("appended", "inserted", "edited", "removed", "moved"):
        assert getattr(found, kind) == kinds.count(kind)
    assert (found.before_turns, found.after_turns) == (len(before), len(after))
    assert found.before_turns - found.removed + found.appended + found.inserted == len(after)
    assert 0 <= found.trimmed <= found.removed
    assert rebuilt(before, found) == after
    places = [change.after_index for change in found.changes if change.after_index >= 0]
    assert places == sorted(set(places))
    origins = [change.before_index for change in found.changes if change.before_index >= 0]
    assert len(origins) == len(set(origins))
    for change in found.changes:
        if change.kind == "edited":
            joined = "".join(word.text for word in change.words if word.op != "added")
            assert joined == (change.before if change.before != change.after else "")


def rebuilt(before: list[Turn], found: ContextDiff) -> list[Turn]:
    """The new context, made from the old one and the changes alone."""
    placed = {c.after_index: c for c in found.changes if c.after_index >= 0}
    touched = {c.before_index for c in found.changes}
    rest = iter([t for i, t in enumerate(before) if i not in touched])
    return [
        Turn(role=placed[j].role, content=placed[j].after, timestamp=placed[j].timestamp)  # type: ignore[arg-type]
        if j in placed
        else next(rest)
        for j in range(found.after_turns)
    ]


def only(found: ContextDiff) -> TurnChange:
    assert len(found.changes) == 1
    return found.changes[0]


def test_equal_contexts_have_no_change() -> None:
    assert diff(TALK, list(TALK)).is_empty
    assert diff([], []).is_empty


def test_one_appended_turn() -> None:
    change = only(diff(TALK[:4], TALK[:5]))
    assert (change.kind, change.before_index, change.after_index) == ("appended", -1, 4)
    assert (change.role, change.after, change.before) == ("user", LINES[4], "")
    assert change.timestamp == TALK[4].timestamp


def test_into_an_empty_context_everything_is_appended() -> None:
    assert diff([], TALK[:3]).appended == 3


def test_one_inserted_turn_is_one_insertion() -> None:
    change = only(diff(TALK[:6], [*TALK[:2], turn(2, "By the way, hello."), *TALK[2:6]]))
    assert (change.kind, change.after_index) == ("inserted", 2)


def test_a_turn_before_all_others_is_inserted() -> None:
    change = only(diff(TALK[1:4], TALK[:4]))
    assert (change.kind, change.after_index) == ("inserted", 0)


def test_one_removed_turn() -> None:
    found = diff(TALK[:6], [*TALK[:2], *TALK[3:6]])
    change = only(found)
    assert (change.kind, change.before_index, change.before) == ("removed", 2, LINES[2])
    assert (change.after, found.trimmed) == ("", 0)


def test_one_edited_turn_is_one_edit_shown_word_by_word() -> None:
    edited = turn(3, LINES[3].replace("nine", "seven"))
    change = only(diff(TALK[:6], [*TALK[:3], edited, *TALK[4:6]]))
    assert (change.kind, change.before_index, change.after_index) == ("edited", 3, 3)
    assert (change.before, change.after) == (LINES[3], edited.content)
    assert [(w.op, w.text) for w in change.words if w.op != "same"] == [
        ("removed", "nine"),
        ("added", "seven"),
    ]
    assert (change.before_role, change.before_timestamp) == ("", "")


def test_the_same_role_and_time_are_one_turn_however_much_was_rewritten() -> None:
    change = only(diff(TALK[:6], [*TALK[:3], turn(3, "No."), *TALK[4:6]]))
    assert change.kind == "edited"


def test_a_similar_text_at_another_time_is_an_edit() -> None:
    edited = turn(3, LINES[3].replace("nine", "seven"), at=40)
    change = only(diff(TALK[:6], [*TALK[:3], edited, *TALK[4:6]]))
    assert (change.kind, change.before_timestamp) == ("edited", TALK[3].timestamp)


def test_another_text_at_another_time_is_another_turn() -> None:
    found = diff(TALK[:6], [*TALK[:3], turn(3, "No flights today.", at=40), *TALK[4:6]])
    assert [change.kind for change in found.changes] == ["removed", "inserted"]


def test_a_changed_time_alone_is_an_edit_without_words() -> None:
    change = only(diff(TALK[:6], [*TALK[:3], turn(3, at=40), *TALK[4:6]]))
    assert (change.kind, change.before, change.after) == ("edited", LINES[3], LINES[3])
    assert (change.before_timestamp, change.words) == (TALK[3].timestamp, ())


def test_a_changed_role_alone_is_an_edit() -> None:
    other = Turn(role="user", content=LINES[3], timestamp=TALK[3].timestamp)
    change = only(diff(TALK[:6], [*TALK[:3], other, *TALK[4:6]]))
    assert (change.kind, change.role, change.before_role) == ("edited", "user", "assistant")
    assert change.words == ()


def test_all_times_rewritten_is_an_edit_of_each_turn() -> None:
    found = diff(TALK, [turn(i, at=i + 30) for i in range(len(TALK))])
    assert (found.edited, len(found.changes)) == (len(TALK), len(TALK))


def test_one_moved_turn_is_one_move() -> None:
    change = only(diff(TALK[:8], [*TALK[:2], *TALK[3:6], TALK[2], *TALK[6:8]]))
    assert (change.kind, change.before_index, change.after_index) == ("moved", 2, 5)
    assert change.after == LINES[2]


def test_a_turn_moved_to_the_end_leaves_a_later_one_appended() -> None:
    found = diff(TALK[:4], [*TALK[1:4], TALK[0], TALK[4]])
    assert [change.kind for change in found.changes] == ["moved", "appended"]


def test_removed_and_appended_come_in_the_order_of_reading() -> None:
    found = diff(TALK[:4], [*TALK[:2], TALK[3], TALK[4]])
    assert [change.kind for change in found.changes] == ["removed", "appended"]


def test_the_oldest_turns_leave_a_full_context() -> None:
    found = diff(TALK[:8], TALK[2:10], limit=8)
    assert (found.removed, found.trimmed, found.appended) == (2, 2, 2)
    assert (found.edited, found.inserted, found.moved) == (0, 0, 0)


def test_leaving_a_context_with_room_is_no_trimming() -> None:
    assert diff(TALK[:8], TALK[2:10], limit=10).trimmed == 0
    assert diff(TALK[:8], TALK[2:10], limit=9).trimmed == 2  # the answer left with its question
    assert diff(TALK[1:8], TALK[3:10], limit=8).trimmed == 1


def test_more_than_had_to_leave_is_not_all_trimming() -> None:
    found = diff(TALK[:8], TALK[6:10], limit=8)
    assert (found.removed, found.trimmed) == (6, 2)


def test_a_turn_removed_inside_is_no_trimming() -> None:
    found = diff(TALK[:8], [TALK[0], *TALK[3:10]], limit=8)
    assert (found.removed, found.trimmed) == (2, 0)


def test_an_agent_that_lost_everything_was_not_trimmed() -> None:
    found = diff(TALK, [], limit=4)
    assert (found.removed, found.trimmed) == (10, 0)


def test_a_turn_that_left_a_full_context_did_not_move_to_its_end() -> None:
    yes = Turn(role="user", content="yes", timestamp="2026-03-01T10:00:00Z")
    before, after = [yes, *TALK[:3]], [*TALK[:3], yes]
    assert diff(before, after, limit=4).appended == 1
    assert diff(before, after, limit=5).moved == 1


def test_a_wholly_new_talk_has_no_edited_turn_though_it_repeats_a_word() -> None:
    before = [turn(0, "yes"), turn(1), turn(2), turn(3)]
    after = [turn(4), turn(5), turn(6, "yes"), turn(7)]
    found = diff(before, after, limit=4)
    assert (found.removed, found.appended, found.trimmed) == (4, 4, 4)


def test_turns_that_are_all_the_same() -> None:
    ok = Turn(role="user", content="ok", timestamp="2026-03-01T10:00:00Z")
    found = diff([ok] * 40, [ok] * 45)
    assert (found.appended, len(found.changes)) == (5, 5)
    found = diff([ok] * 45, [ok] * 40)
    assert (found.removed, len(found.changes)) == (5, 5)
    change = only(diff([ok] * 40, [*[ok] * 20, TALK[0], *[ok] * 20]))
    assert (change.kind, change.after_index) == ("inserted", 20)


def test_a_summary_in_place_of_the_oldest_turns_is_inserted() -> None:
    summary = turn(0, "Summary so far: a customer wants another flight.", at=20)
    found = diff(TALK, [summary, *TALK[6:]])
    assert (found.removed, found.inserted, found.trimmed) == (6, 1, 0)


def test_edits_beyond_a_budget_are_shown_whole() -> None:
    long = "one word after another " * 5_000
    before = [turn(i, f"{i} {long}") for i in range(8)]
    found = diff(before, [turn(i, f"{i} {long}!") for i in range(8)])
    assert [w.text for w in found.changes[0].words if w.op != "same"] == ["!"]
    assert [w.op for w in found.changes[7].words] == ["removed", "added"]


def test_five_thousand_turns_are_matched() -> None:
    def talk(size: int, word: str, stamp: str) -> list[Turn]:
        return [Turn("user", f"{word * 4} {i * 7919}", f"{stamp}{i}") for i in range(size)]

    before = talk(5_000, "old", "a")
    other = [Turn("user", "quite another matter altogether", f"b{i}") for i in range(5_000)]
    assert diff(before, other).edited == 0
    assert diff(before, talk(5_000, "new", "a")).edited == 5_000
    assert diff(before, talk(5_000, "old", "b")).edited == 5_000
    assert diff(before, before[::-1], limit=10_000).moved == 4_999
    changed = [*before[:2_500], *other[:3], *before[2_510:], *other[3:5]]
    found = diff(before, changed)
    assert (found.inserted, found.removed, found.appended) == (3, 10, 2)


def test_five_thousand_turns_of_two_words_are_matched() -> None:
    before = [Turn(role="user", content="ab"[i * i % 7 % 2], timestamp="t") for i in range(5_000)]
    after = [Turn(role="user", content="ab"[i * i % 11 % 2], timestamp="t") for i in range(5_000)]
    diff(before, after)


turns = st.builds(
    Turn,
    role=st.sampled_from(["user", "assistant"]),
    content=st.sampled_from(["", "ok", "yes", *LINES[:4], *(line + " Now." for line in LINES[:4])]),
    timestamp=st.sampled_from(["t", "", *(t.timestamp for t in TALK[:4])]),
)
contexts = st.lists(turns, max_size=14)


@given(contexts, contexts, st.integers(0, 12))
def test_any_two_contexts(before: list[Turn], after: list[Turn], limit: int) -> None:
    diff(before, after, limit)


@given(contexts)
def test_a_context_and_itself(context: list[Turn]) -> None:
    assert diff(context, list(context)).is_empty


@given(contexts, contexts)
def test_what_was_appended_only(before: list[Turn], more: list[Turn]) -> None:
    found = diff(before, before + more)
    assert (found.appended, len(found.changes)) == (len(more), len(more))


@given(st.lists(turns, min_size=1, max_size=14, unique=True), st.data())
def test_one_turn_taken_out(before: list[Turn], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(before) - 1))
    change = only(diff(before, before[:place] + before[place + 1 :]))
    assert (change.kind, change.before_index) == ("removed", place)


@given(st.lists(turns, min_size=2, max_size=14, unique=True), st.data())
def test_one_turn_moved(before: list[Turn], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(before) - 1))
    target = data.draw(st.integers(0, len(before) - 1).filter(lambda t: t != place))
    after = before[:place] + before[place + 1 :]
    after.insert(target, before[place])
    assert only(diff(before, after)).kind == "moved"
