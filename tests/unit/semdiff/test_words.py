from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.semdiff.words import replaced, tokens, word_diff


def diff(before: str, after: str) -> list[tuple[str, str]]:
    words = word_diff(before, after)
    assert "".join(w.text for w in words if w.op != "added") == before
    assert "".join(w.text for w in words if w.op != "removed") == after
    assert all(w.text for w in words)
    assert all(one.op != other.op for one, other in pairwise(words))
    return [(w.op, w.text) for w in words]


def test_one_word_replaced() -> None:
    assert diff("leave at nine today", "leave at noon today") == [
        ("same", "leave at "),
        ("removed", "nine"),
        ("added", "noon"),
        ("same", " today"),
    ]


def test_one_word_put_in_and_taken_out() -> None:
    assert diff("a late flight", "a very late flight") == [
        ("same", "a "),
        ("added", "very "),
        ("same", "late flight"),
    ]
    assert diff("a very late flight", "a late flight")[1] == ("removed", "very ")


def test_white_space_is_part_of_the_difference() -> None:
    assert diff("one two", "one\ntwo") == [
        ("same", "one"),
        ("removed", " "),
        ("added", "\n"),
        ("same", "two"),
    ]
    assert diff("end", "end ") == [("same", "end"), ("added", " ")]


def test_punctuation_is_apart_from_words() -> None:
    assert diff("Yes, please.", "Yes, please!")[0] == ("same", "Yes, please")


def test_han_and_kana_are_compared_by_character() -> None:
    assert diff("我想去北京出差", "我想去南京出差") == [
        ("same", "我想去"),
        ("removed", "北"),
        ("added", "南"),
        ("same", "京出差"),
    ]
    assert tokens("カナ") == ["カ", "ナ"]
    assert tokens("비행기 표") == ["비행기", " ", "표"]


def test_texts_with_little_in_common_are_replaced_whole() -> None:
    before = "the customer asked for a refund of the ticket that was bought in winter"
    after = "please note every agent should wait until a manager has read the letter"
    assert diff(before, after) == [("removed", before), ("added", after)]


def test_empty_texts() -> None:
    assert diff("", "") == []
    assert diff("", "a b") == [("added", "a b")]
    assert diff("a b", "") == [("removed", "a b")]
    assert diff("a b", "a b") == [("same", "a b")]


def test_replaced_is_all_out_and_all_in() -> None:
    assert [(w.op, w.text) for w in replaced("a b", "a c")] == [
        ("removed", "a b"),
        ("added", "a c"),
    ]
    assert replaced("", "") == ()


def test_one_word_in_a_megabyte() -> None:
    before = " ".join(f"word{i * 7919 % 1009}" for i in range(120_000))
    after = before[:500_000] + " new " + before[500_000:]
    added = [text for op, text in diff(before, after) if op == "added"]
    assert len(added) == 1
    assert len(added[0]) < 250


def test_changed_lines_of_a_large_text_are_compared_by_words() -> None:
    lines = [f"line {i} says {i * 31 % 997} things of no great weight" for i in range(4_000)]
    after = [
        line.replace("great", "small") if i % 500 == 7 else line for i, line in enumerate(lines)
    ]
    found = diff("\n".join(lines), "\n".join(after))
    assert [text for op, text in found if op == "removed"] == ["great"] * 8
    assert [text for op, text in found if op == "added"] == ["small"] * 8


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" " * 1_000_000, "\n" * 1_000_000),
        ("!" * 1_000_000, "?" * 1_000_000),
        ("a\n" * 500_000, "b\na\n" * 250_000),
        ("的一" * 500_000, "一的是" * 333_333),
        ("a" * 1_000_000, "a" * 999_999 + "b"),
        ("!a!b" * 5_000, "!b!a!a" * 3_333),
    ],
    ids=["spaces", "marks", "lines", "han", "one-word", "few-words"],
)
def test_hostile_texts_come_back_whole(before: str, after: str) -> None:
    diff(before, after)


pieces = st.sampled_from(["a", "b", "the", "cat", " ", "\n", "\t", ",", ".", "京", "都", "é", "_"])
texts = st.one_of(st.lists(pieces, max_size=40).map("".join), st.text(max_size=40))


@given(texts, texts)
def test_any_two_texts_come_back(before: str, after: str) -> None:
    diff(before, after)


@given(st.text(max_size=60))
def test_tokens_lose_nothing(text: str) -> None:
    assert "".join(tokens(text)) == text


@given(st.lists(pieces, max_size=20), st.lists(pieces, max_size=20), st.integers(0, 4))
def test_large_texts_take_the_same_care(one: list[str], other: list[str], where: int) -> None:
    long = "a line of text to be kept\n" * 900
    before, after = "".join(one), "".join(other)
    diff(long + before + long[: where * 7], long + after + long[: where * 7])
