"""Words to search by: of prose, of code identifiers, and of scripts that put no spaces. Pure.

Both the records and the question go through here, so the index sees plain words alone and
nothing in a question is ever syntax.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

# Han, kana, Hangul, and the scripts of South East Asia.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
_PIECE = re.compile(f"[{_UNSPACED}]+|[^\\W{_UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9_]+")
_LONGEST = 64
#: So many words of one text are taken.
_MOST_WORDS = 20_000
#: So many of one question.
MOST_ASKED = 24


def words_of(text: str) -> list[str]:
    """The words under which ``text`` is found, in its order.

    ``maxPoolSize`` and ``max_pool_size`` give max, pool, size and maxpoolsize; a run of
    Chinese gives each pair of neighbours, and its last character.
    """
    words: list[str] = []
    for piece in _PIECE.findall(text):
        if piece.isascii():
            plain = piece.isalpha() and (piece.islower() or piece[1:].islower())
            words += [piece[:_LONGEST].lower()] if plain else _identifier(piece)
        elif _IS_UNSPACED.match(piece):
            words += [piece[i : i + 2] for i in range(len(piece))]
        else:
            words += _identifier(piece)
        if len(words) > _MOST_WORDS:
            return words[:_MOST_WORDS]
    return words


def _identifier(piece: str) -> list[str]:
    parts = [part.lower()[:_LONGEST] for part in _PARTS.findall(piece)]
    whole = piece.replace("_", "").lower()[:_LONGEST]
    return [*parts, whole] if len(parts) > 1 else [whole] if whole else []


def match_of(query: str, places: Iterable[str]) -> str | None:
    """The question as an expression of SQLite's FTS5, within ``places``; None for no words.

    Any of the words will do, and ranking puts what has more of them first. A single
    character of an unspaced script finds every pair that begins with it.
    """
    words = list(dict.fromkeys(words_of(query)))
    runs = [m.group() for m in _PIECE.finditer(query) if _IS_UNSPACED.match(m.group())]
    alone = {run for run in runs if len(run) == 1}
    last = {run[-1] for run in runs if len(run) > 1}
    asked = [
        f'"{word}"*' if word in alone else f'"{word}"'
        for word in words
        if word in alone or word not in last
    ]
    if not asked:
        return None
    inside = " OR ".join(f'"{place}"' for place in places)
    return f"place : ({inside}) AND {{name body}} : ({' OR '.join(asked[:MOST_ASKED])})"


def place_word(folder: str) -> str:
    """One word that stands for an address folder."""
    # Ends in a digit, which no stemmer touches.
    return f"in{hashlib.sha256(folder.encode()).hexdigest()[:24]}0"
