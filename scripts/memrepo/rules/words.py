"""``sensitive-word``: the policy's words, as whole words.

A word is bounded by characters that are not part of one; letters, digits and the
underscore are. So ``token`` is found in ``Token:``, ``token-based`` and ``TOKEN`` but not
in ``tokens``, ``token_id`` or ``tokenise``. Case, full-width letters and invisible
characters inside a word make no difference; spaces in a listed phrase match any run of
white space.
"""

from __future__ import annotations

import re

from memrepo.rules.characters import shown
from memrepo.rules.fold import View, fold
from memrepo.rules.hits import PLACES_PER_STRING, Place

CODE = "sensitive-word"

_HINT = "Take it out, or change text.sensitive_words in .memrepo/policy.yml."


def compiled(words: tuple[str, ...]) -> re.Pattern[str] | None:
    """The pattern for folded text, or None for a list without words."""
    phrases = {r"\s+".join(re.escape(part) for part in fold(word).split()) for word in words}
    phrases.discard("")
    if not phrases:
        return None
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    # A combining accent makes another letter of the last one, so it goes on the word.
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?![\w\u0300-\u036f])")


def needles(words: tuple[str, ...]) -> tuple[str, ...]:
    """For each word a folded part without white space, which every match contains."""
    parts = (max(fold(word).split(), key=len, default="") for word in words)
    return tuple(sorted({part for part in parts if part}))


def find(view: View, pattern: re.Pattern[str]) -> list[Place]:
    """The listed words of the string."""
    places: list[Place] = []
    for match in pattern.finditer(view.folded):
        start, end = view.span(*match.span())
        word = shown(view.text[start:end])
        message = f'"{word}" is on this repository\'s list of sensitive words'
        places.append(Place(start, end, message, _HINT))
        if len(places) == PLACES_PER_STRING:
            break
    return places
