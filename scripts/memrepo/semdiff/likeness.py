"""How alike two texts are, from 0 to 1, cheaply enough to ask for many pairs."""

from __future__ import annotations

from memrepo.semdiff.words import tokens

#: Below this length (characters) texts are compared by letters, above by words.
_SHORT = 120
#: Characters of a long text that are looked at, at each end.
_REACH = 4_096
#: Mean length of words (characters) from which a text is in a script without spaces.
_LONG_WORD = 16


class Sketch:
    """A text with the sets it is compared by, each made when first needed."""

    __slots__ = ("_grams", "_words", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._grams: frozenset[tuple[str, str, str]] | None = None
        self._words: frozenset[str] | None = None

    @property
    def grams(self) -> frozenset[tuple[str, str, str]]:
        """Every three letters in a row, the text's two ends marked by a space."""
        if self._grams is None:
            padded = f" {self.text.casefold()} "
            self._grams = frozenset(zip(padded, padded[1:], padded[2:], strict=False))
        return self._grams

    @property
    def words(self) -> frozenset[str]:
        """The words at the text's beginning and end."""
        if self._words is None:
            text = self.text
            if len(text) > 2 * _REACH:
                text = f"{text[:_REACH]} {text[-_REACH:]}"
            text = text.casefold()
            words = text.split()
            if len(words) * _LONG_WORD < len(text):
                words = tokens(text)
            self._words = frozenset(words)
        return self._words


def likeness(one: Sketch, other: Sketch) -> float:
    """The Dice coefficient of the two texts' words, or letters where a text is short.

    1.0 for equal texts; 0.0 at once where one is over four times as long as the other.
    """
    if one.text == other.text:
        return 1.0
    short, long = sorted((len(one.text), len(other.text)))
    if 4 * short < long:
        return 0.0
    mine: frozenset[object] = one.grams if short < _SHORT else one.words
    theirs: frozenset[object] = other.grams if short < _SHORT else other.words
    return 2 * len(mine & theirs) / ((len(mine) + len(theirs)) or 1)
