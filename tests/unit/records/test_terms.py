from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.records.terms import match_of, place_word, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Pool size", ["pool", "size"]),
        ("maxPoolSize", ["max", "pool", "size", "maxpoolsize"]),
        ("max_pool_size", ["max", "pool", "size", "maxpoolsize"]),
        ("HTTPServer2", ["http", "server", "2", "httpserver2"]),
        ("src/pool.py:20", ["src", "pool", "py", "20"]),
        ("__init__", ["init"]),
        ("连接池", ["连接", "接池", "池"]),
        ("池", ["池"]),
        ("用maxPool连接", ["用", "max", "pool", "maxpool", "连接", "接"]),
        ("___", []),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_a_word_with_letters_beyond_ascii_is_found_whole() -> None:
    assert "größe" in words_of("Größe über")
    assert "über" in words_of("Größe über")


def database() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5(place, name, body)")
    db.execute("INSERT INTO words VALUES (?, 'pool', '')", (place_word("records/org/acme"),))
    return db


@settings(max_examples=200)
@given(
    st.text(max_size=60) | st.sampled_from(['"', "NEAR(a b)", "a AND", "*", "name:x", "-a", "^"])
)
def test_no_question_is_syntax(query: str) -> None:
    match = match_of(query, [place_word("records/org/acme")])
    if match is not None:
        database().execute("SELECT rowid FROM words WHERE words MATCH ?", (match,)).fetchall()


def test_a_question_stays_in_its_places() -> None:
    db = database()
    found = [
        db.execute(
            "SELECT count(*) FROM words WHERE words MATCH ?",
            (match_of(query, [place_word(place)]),),
        ).fetchone()[0]
        for query, place in [
            ("pool", "records/org/acme"),
            ("pool", "records/org/other"),
            (place_word("records/org/acme"), "records/org/acme"),
            ('pool" OR place:"x', "records/org/other"),
        ]
    ]
    assert found == [1, 0, 0, 0]
