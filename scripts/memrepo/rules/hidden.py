"""``hidden-text``: characters that a person does not see and a model reads.

Zero-width characters, bidirectional controls (Trojan Source, CVE-2021-42574), tag
characters, variation selectors used as data, soft hyphens, C0 and C1 controls. Quiet where
the same characters are part of writing: emoji sequences (UTS #51), joiners within
scripts that join, selectors after the character they select, direction marks beside
right-to-left text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from unicodedata import bidirectional, category

from memrepo.rules.characters import INVISIBLE, described, shown
from memrepo.rules.fold import View
from memrepo.rules.hits import PLACES_PER_STRING, Place

CODE = "hidden-text"

_HINT = "Delete them: what a person cannot see in a review must not reach the model."


def _within(*ranges: tuple[int, int]) -> Callable[[str], bool]:
    """A test for characters of these ranges; the empty string is in none."""

    @lru_cache(maxsize=4096)
    def is_within(char: str) -> bool:
        return char != "" and any(first <= ord(char) <= last for first, last in ranges)

    return is_within


#: Scripts in which ZWNJ and ZWJ decide how letters join: Arabic to N'Ko, the Indic scripts,
#: Tibetan and Myanmar, Khmer and Mongolian, and the Arabic presentation forms.
_joins = _within(
    *((0x0600, 0x07FF), (0x0840, 0x08FF), (0x0900, 0x0DFF), (0x0F00, 0x109F)),
    *((0x1780, 0x18AF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)),
)
_is_emoji_sign = _within(
    *((0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122)),
    *((0x2139, 0x2139), (0x2190, 0x21FF), (0x2300, 0x23FF), (0x2460, 0x24FF), (0x25A0, 0x27BF)),
    *((0x2900, 0x297F), (0x2B00, 0x2BFF), (0x3030, 0x3030), (0x303D, 0x303D), (0x3297, 0x3297)),
    *((0x3299, 0x3299), (0x1F000, 0x1FAFF)),
)
_is_ideograph = _within(
    *((0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
#: Flags of England, Scotland, Wales: a black flag, tag letters, a cancel tag (UTS #51).
_FLAG = re.compile("\\U0001f3f4[\\U000e0030-\\U000e0039\\U000e0061-\\U000e007a]{3,6}\\U000e007f")
_TAGS = re.compile("[\\U000e0020-\\U000e007e]+")


def find(view: View) -> list[Place]:
    """Runs of invisible characters that no script or emoji asks for."""
    text = view.text
    if text.isascii() and text.isprintable():
        return []
    flags = [m.span() for m in _FLAG.finditer(text)] if "\U0001f3f4" in text else []
    places: list[Place] = []
    for match in INVISIBLE.finditer(text):
        start, end = match.span()
        hidden = [i for i in range(start, end) if not _belongs(text, i, start)]
        if flags:
            hidden = [i for i in hidden if not any(a <= i < b for a, b in flags)]
        if not hidden:
            continue
        first, last = hidden[0], hidden[-1] + 1
        places.append(Place(first, last, _message([text[i] for i in hidden]), _HINT))
        if len(places) == PLACES_PER_STRING:
            break
    return places


def _message(chars: list[str]) -> str:
    counted = Counter(chars).most_common()
    names = [described(c) + (f" ({n} times)" if n > 1 else "") for c, n in counted[:3]]
    if len(counted) > 3:
        names.append(f"and {len(counted) - 3} more kinds")
    many = "1 invisible character" if len(chars) == 1 else f"{len(chars)} invisible characters"
    message = f"{many}: {', '.join(names)}"
    tags = "".join(chr(ord(c) - 0xE0000) for c in "".join(_TAGS.findall("".join(chars[:200]))))
    return f'{message}; the tag characters spell "{shown(tags)}"' if tags else message


def _belongs(text: str, at: int, start: int) -> bool:
    """Whether the invisible character at ``at`` is part of ordinary writing.

    ``start`` is where its run of invisible characters begins.
    """
    char = text[at]
    before = text[at - 1] if at else ""
    after = text[at + 1] if at + 1 < len(text) else ""
    if char == "\r":
        return after == "\n"
    if char in "\u200c\u200d" and _joins(before):
        return True
    if char == "\u200d":
        return _is_emoji_sign(after) and _is_emoji(text, at - 1)
    if char in "\ufe0e\ufe0f":
        # A keycap is the one use after ASCII: digit, selector, U+20E3.
        keycap = before in "0123456789#*" and before != "" and after == "\u20e3"
        return keycap or _is_emoji_sign(before) or _takes_selector(before)
    if "\ufe00" <= char <= "\ufe0d":
        return _is_ideograph(before) or _takes_selector(before)
    if "\U000e0100" <= char <= "\U000e01ef":
        return _is_ideograph(before)
    if char in "\u180b\u180c\u180d\u180e\u180f":
        return "\u1800" <= before <= "\u18af"
    if char in "\u200e\u200f\u061c":
        around = text[max(0, start - 20) : at] + text[at + 1 : at + 20]
        return at == start and any(bidirectional(c) in ("R", "AL") for c in around)
    return False


def _takes_selector(char: str) -> bool:
    """Mathematical signs have standardized variants."""
    return char != "" and char > "\x7f" and category(char) == "Sm"


def _is_emoji(text: str, at: int) -> bool:
    """Whether an emoji ends at ``at``, with or without its selector."""
    if at >= 0 and text[at] == "\ufe0f":
        at -= 1
    return at >= 0 and _is_emoji_sign(text[at])
