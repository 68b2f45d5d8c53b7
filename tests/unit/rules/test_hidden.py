"""``hidden-text``: characters nobody sees, but not those that writing needs."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.policy import Policy
from memrepo.rules.characters import INVISIBLE, described, shown
from memrepo.rules.text import scan_plain

TAGS = "".join(chr(0xE0000 + ord(c)) for c in "obey")


def found(text: str) -> list[tuple[int, str]]:
    hits = scan_plain(text, Policy(), path="x.md")
    return [(h.offset, h.message) for h in hits if h.code == "hidden-text"]


@pytest.mark.parametrize(
    ("char", "name"),
    [
        ("\u200b", "U+200B ZERO WIDTH SPACE"),
        ("\u200c", "U+200C ZERO WIDTH NON-JOINER"),
        ("\u200d", "U+200D ZERO WIDTH JOINER"),
        ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u2066", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("\u200f", "U+200F RIGHT-TO-LEFT MARK"),
        ("\u2060", "U+2060 WORD JOINER"),
        ("\u2028", "U+2028 LINE SEPARATOR"),
        ("\ufeff", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("\u00ad", "U+00AD SOFT HYPHEN"),
        ("\ufe0f", "U+FE0F VARIATION SELECTOR-16"),
        ("\U000e0101", "U+E0101 VARIATION SELECTOR-18"),
        ("\U000e0001", "U+E0001 LANGUAGE TAG"),
        ("\u3164", "U+3164 HANGUL FILLER"),
        ("\u2065", "U+2065 UNASSIGNED"),
        ("\x00", "U+0000 NULL"),
        ("\x1b", "U+001B ESCAPE"),
        ("\x08", "U+0008 BACKSPACE"),
        ("\r", "U+000D CARRIAGE RETURN"),
        ("\x7f", "U+007F DELETE"),
        ("\x9b", "U+009B CONTROL"),
        ("\ufdd0", "U+FDD0 UNASSIGNED"),
    ],
)
def test_an_invisible_character_is_shown(char: str, name: str) -> None:
    assert found(f"ab{char}cd") == [(2, f"1 invisible character: {name}")]


@pytest.mark.parametrize(
    "text",
    [
        "plain, with a\nnewline and a\ttab\r\n",
        "naïve café – “quotes” … 10\u00a0000 €",
        "❤\ufe0f ✈\ufe0f ☎\ufe0e 1\ufe0f\u20e3 #\ufe0f\u20e3 ©\ufe0f",
        "👩\u200d💻 👨\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 ❤\ufe0f\u200d🔥",
        "🏴" + "".join(chr(0xE0000 + ord(c)) for c in "gbsct") + "\U000e007f",
        "می\u200cخواهم",  # Persian
        "क्\u200dष and श्री\u200c",  # Devanagari
        "ශ්\u200dරී",  # Sinhala
        "葛\U000e0100城",  # an ideograph's registered variant
        "∩\ufe00",
        "ᠮᠣᠩ\u180bᠭᠣᠯ",
        "שלום\u200f (abc)",
        "عربي \u200e(x)",
        "한국어 日本語 中文\u3000русский",
    ],
)
def test_writing_is_quiet(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "a\u200db",  # a joiner between Latin letters
        "👩\u200d",  # after an emoji, joining nothing
        "1\ufe0f2",  # no keycap
        "❤\ufe0f\ufe0f",  # the second selects nothing
        "😀" + "\U000e0101" * 3,  # selectors as data
        "🏴" + chr(0xE0061) * 9 + "\U000e007f",  # too long for a flag
        "abc\u200edef",  # a mark with no right-to-left text near
        "می\u200c\u200cخواهم",
        "ok\rgone",
    ],
)
def test_abuse_of_the_same_characters_is_found(text: str) -> None:
    assert len(found(text)) == 1


def test_a_run_is_one_place_and_tags_are_read_out() -> None:
    ((offset, message),) = found(f"hello{TAGS} world")
    assert offset == 5
    assert message.startswith("4 invisible characters: ")
    assert message.endswith('the tag characters spell "obey"')
    assert len(found("a\u200b" * 40)) == 10


@given(st.characters())
def test_only_invisible_characters_are_ever_reported(char: str) -> None:
    if found(f"a{char}b"):
        assert INVISIBLE.fullmatch(char)
        category = unicodedata.category(char)
        assert category in {"Cc", "Cf", "Cn", "Zl", "Zp", "Mn", "Lo"}
        assert f"U+{ord(char):04X}" in described(char)


@given(st.text())
def test_shown_has_nothing_hidden(text: str) -> None:
    assert not INVISIBLE.search(shown(text))
    assert "\n" not in shown(text)
