from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archived import paths
from memrepo.protocol.layout import place_of
from memrepo.shards.path import at, shown, snapshot_at, snapshot_path, week_of

DIGITS = st.text("0123456789", min_size=8, max_size=8)
NEARLY = st.builds(
    "{}{}-{}-{}{}".format,
    st.sampled_from(["history/", "history/2024/02/29/", "history/2024/2/29/", "state/", ""]),
    st.sampled_from(["20240229", "20230229", "20241301", "00000101", "99991231"]) | DIGITS,
    st.sampled_from(["235959", "240000", "236000", "235960", "000000", "12345", "１２００００"]),
    st.sampled_from(["a", "con", "NUL.x", "x" * 100, "x" * 101, "a.", "a/b", "-a", "é", "a\n", ""]),
    st.sampled_from([".json", ".JSON", ".json\n", ".jsonl", ""]),
)


@given(paths | NEARLY | st.text(max_size=40))
@example("history/20240229-235959-a.json")
@example("history/2024/02/29/20240229-235959-a.json")
@example("history/2024/02/28/20240229-235959-a.json")
@example("history/20240229-235959-a.b.json.json")
@example("history/2024/02/29/x/20240229-235959-a.json")
def test_a_path_says_what_the_protocol_reads_in_it(path: str) -> None:
    place = place_of(path)
    expected = place.snapshot if place.role == "snapshot" else None
    named = snapshot_at(path)
    assert (named is None) == (expected is None)
    if named and expected:
        assert (at(named.when), named.agent_id) == (expected.when, expected.agent_id)
        assert expected.path("daily" if named.daily else "flat") == path
        assert snapshot_path(named.when, named.agent_id, daily=named.daily) == path


@pytest.mark.parametrize(
    ("day", "week"),
    [
        ((2026, 1, 1), "2026-W01"),
        ((2027, 1, 1), "2026-W53"),
        ((2024, 12, 30), "2025-W01"),
        ((1, 1, 1), "0001-W01"),
    ],
)
def test_a_week_is_the_iso_week(day: tuple[int, int, int], week: str) -> None:
    when = int(datetime(*day, 23, 59, 59, tzinfo=UTC).timestamp())
    assert week_of(when) == week


@given(st.text())
def test_what_is_shown_is_one_short_line_of_ascii(text: str) -> None:
    text = shown(text)
    assert text.isascii()
    assert text.isprintable()
    assert len(text) <= 1300
