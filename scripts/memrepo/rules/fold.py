"""One spelling for every way to write a word, with the way back to the place.

``PASSWORD``, a full-width ``ｐａｓｓｗｏｒｄ`` and a ``pass`` and ``word`` with a zero-width space
between are the same word to a reader, so the word rules look at folded text.
"""

from __future__ import annotations

from unicodedata import normalize

from memrepo.rules.characters import FORMAT


class _Folds(dict[str, str]):
    """What each character folds to, filled as characters are met."""

    def __missing__(self, char: str) -> str:
        folded = "" if FORMAT.match(char) else normalize("NFKC", char).casefold()
        self[char] = folded
        return folded


class _Odd(dict[str, bool]):
    """Whether a character folds to something else than its casefold."""

    def __missing__(self, char: str) -> bool:
        odd = char > "\x7f" and _FOLDS[char] != char.casefold()
        self[char] = odd
        return odd


_FOLDS = _Folds()
_ODD = _Odd()

#: More odd characters than this are folded one by one.
_FEW = 20


def fold(text: str) -> str:
    """Case and compatibility forms folded (per character NFKC, then casefold), format
    characters left out.

    Folding is per character, so the fold of two texts joined is their folds joined.
    """
    if text.isascii():
        return text.lower()
    odd = list(filter(_ODD.__getitem__, set(text)))
    if len(odd) > _FEW:
        return "".join(map(_FOLDS.__getitem__, text))
    for char in odd:
        # What these fold to is never odd itself, so the order makes no difference.
        text = text.replace(char, _FOLDS[char])
    return text.casefold()


class View:
    """One string as the rules see it: as it is, and folded when a rule asks for that."""

    __slots__ = ("_folded", "_offsets", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: str | None = None
        self._offsets: list[int] | None = None

    @property
    def folded(self) -> str:
        """The text as :func:`fold` gives it."""
        if self._folded is None:
            self._folded = fold(self.text)
        return self._folded

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in :attr:`text` of the folded characters from ``start`` to ``end``."""
        if self.text.isascii():
            return start, end
        if self._offsets is None:
            lengths = enumerate(map(len, map(_FOLDS.__getitem__, self.text)))
            self._offsets = [offset for offset, length in lengths for _ in range(length)]
        return self._offsets[start], self._offsets[end - 1] + 1
