"""Ages and times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.ages import parse_age, parse_moment

NOW = datetime(2026, 7, 22, 2, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("90d", timedelta(days=90)),
        ("12w", timedelta(weeks=12)),
        ("48h", timedelta(hours=48)),
        ("0d", timedelta()),
        ("99999w", timedelta(weeks=99999)),
    ],
)
def test_ages(text: str, age: timedelta) -> None:
    assert parse_age(text) == age
    assert parse_moment(text, NOW) == NOW - age


@pytest.mark.parametrize(
    "text", ["", "d", "90", "90 d", "-1d", "1.5d", "९d", "1y", "100000d", "1D"]
)
def test_what_is_no_age(text: str) -> None:
    assert parse_age(text) is None
    assert parse_moment(text, NOW) is None


def test_moments() -> None:
    assert parse_moment("2026-03-01", NOW) == datetime(2026, 3, 1, tzinfo=UTC)
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert parse_moment("2026-03-01T12:00:00Z", NOW) == noon
    assert parse_moment("2026-03-01T14:00:00+02:00", NOW) == noon
    assert parse_moment("2026-03-01T12:00:00", NOW) is None


@given(st.text(max_size=8))
def test_any_text_is_read_or_refused(text: str) -> None:
    age = parse_age(text)
    assert age is None or text[:-1].isdecimal()
    parse_moment(text, NOW)
