"""``sentiment``: an assistant turn that sounds hostile or upset.

The score is VADER's compound score (Hutto & Gilbert 2014), turned round so that 1 is most
negative; the scorer is the package ``nltk-vader-sentiment``, which carries its lexicon. It
takes some 300 microseconds a turn, so an upper bound that takes a few keeps calm turns
from it and never changes an answer.
"""

from __future__ import annotations

import math
import string
from functools import lru_cache
from typing import Any

from memrepo.rules.hits import Place

CODE = "sentiment"

_HINT = "Ask a person to read this turn before the agent learns from it."

#: What the scorer takes for an apostrophe.
_APOSTROPHES = frozenset("\u2019\u02bc\u2018")

#: A turn is judged by so many characters from its start: the compound score saturates on
#: long text, and the scorer takes quadratic time on one endless word.
JUDGED_CHARS = 8_000


def find(text: str, threshold: float) -> list[Place]:
    """A place for the whole turn when its negative score is above ``threshold``."""
    score = negative_score(text, threshold)
    if score is None:
        return []
    message = f"this turn has a negative score of {score:.2f} (above {threshold:g})"
    return [Place(0, 0, message, _HINT)]


def negative_score(text: str, threshold: float) -> float | None:
    """The negative score (0 to 1) of the turn when it is above ``threshold``, or None."""
    text = text[:JUDGED_CHARS]
    if bound(text) <= _raw(threshold):
        return None
    score = -float(_scorer().analyzer.polarity_scores(text)["compound"])
    return score if score > threshold else None


def _raw(threshold: float) -> float:
    """The sum of valences below which the compound score cannot pass ``threshold``.

    The inverse of VADER's normalisation s / sqrt(s^2 + 15), with room for its rounding to
    four digits.
    """
    score = threshold - 0.0001
    if score >= 1:
        return math.inf
    return score * math.sqrt(15 / (1 - score * score)) if score > 0 else -1.0


class _Scorer:
    """The analyzer, and what the bound needs to know of its word lists."""

    def __init__(self) -> None:
        from vader import SentimentIntensityAnalyzer, constants
        from vader.data.emoji import EMOJI

        analyzer: Any = SentimentIntensityAnalyzer()
        self.analyzer = analyzer
        self.lexicon: dict[str, float] = dict(analyzer.lexicon)
        self.longest = max(map(len, self.lexicon))
        self.emoji = frozenset(key[0] for key in EMOJI if key)
        phrases = {*analyzer.special_cases, *analyzer.idioms, *analyzer.multiword}
        #: One word, the one least used elsewhere, of every phrase with a score of its own.
        self.phrase_words = frozenset(
            max(p.split()[::-1], key=lambda word: (word in self.lexicon, len(word)))
            for p in phrases
        )
        #: Words that make one of the next three stronger or weaker, alone or in a pair.
        self.boosters = frozenset(analyzer.booster)
        self.pair_words = frozenset(p.split()[0] for p in analyzer.booster if " " in p)
        #: Words that turn one of the next three round.
        self.turners = frozenset(analyzer.negations) | {"no", "least"}
        self.changers = self.boosters | self.pair_words | self.turners
        #: Turners that always turn, wherever among the three words they stand.
        self.sure_turners = (self.turners - self.lexicon.keys()) - {"least", "never", "without"}
        self.boost: float = max(map(abs, analyzer.booster.values()))
        self.turned: float = abs(constants.N_SCALAR)
        self.never: float = constants.NEVER_BOOST**2
        self.capital: float = constants.C_INCR
        self.before_but: float = constants.BUT_BEFORE
        self.after_but: float = constants.BUT_AFTER
        self.mark: float = constants.EP_AMPLIFY
        self.marks: int = constants.EP_CAP
        self.questions: float = constants.QM_CAP

    def cleaned(self, word: str) -> str:
        """The word as the scorer looks it up: without edges, but for emoticons."""
        if word in self.lexicon:
            return word
        stripped = word.strip(string.punctuation)
        if stripped:
            return stripped
        for end in range(min(len(word) - 1, self.longest), 0, -1):
            if word[:end] in self.lexicon:
                return word[:end]
        return word

    def least(self, value: float, capital: float, before: list[str], written: list[str]) -> float:
        """A number that the valence of a word is never below.

        ``value`` is the word's own, ``before`` the three words before it; ``capital`` what
        its capitals add, ``written`` the words of the text in their capitals.
        """
        changers = [word for word in before if word in self.changers or word.endswith("n't")]
        if not changers:
            return value - capital if value < 0 else value
        if len(changers) == 1 and changers[0] in self.sure_turners:
            return -self.turned * (value + capital if value > 0 else value)
        boosters = sum(word in self.boosters for word in changers)
        loud = boosters and any(len(word) > 1 and word.isupper() for word in written)
        added = boosters * (self.boost + (self.capital if loud else 0.0))
        added += 2 * self.boost * (not self.pair_words.isdisjoint(before))
        if boosters == len(changers):
            return value - added - (capital if value < 0 else 0.0)
        times = self.never if "never" in before else 1.0
        factor = self.turned if value > 0 else 1.0
        return -times * (factor * (abs(value) + capital) + added)


@lru_cache(maxsize=1)
def _scorer() -> _Scorer:
    return _Scorer()


def bound(text: str) -> float:
    """A number that the negated sum of VADER's valences is never above.

    Each word of the lexicon counts as the worst that the words before it can make of it;
    what the bound does not model (emoji, phrases with scores of their own) is infinite, so
    that the scorer judges it.
    """
    scorer = _scorer()
    if not text.isascii():
        if not scorer.emoji.isdisjoint(text):
            return math.inf
        if not _APOSTROPHES.isdisjoint(text):
            from vader.text import normalize_apostrophes

            text = normalize_apostrophes(text)
    lowered = text.lower()
    words = [w if w.isalpha() else scorer.cleaned(w) for w in lowered.split()]
    if not scorer.phrase_words.isdisjoint(words):
        return math.inf
    values = list(map(scorer.lexicon.get, words))
    if not any(values):
        return 0.0
    written = text.split()
    changed = not scorer.changers.isdisjoint(words) or "n't" in lowered
    but = words.index("but") if "but" in words else None
    total = 0.0
    for at, value in enumerate(values):
        word = words[at]
        if not value or word in scorer.boosters:
            continue
        least = value
        capital = scorer.capital if written[at].isupper() else 0.0
        if changed:
            least = scorer.least(value, capital, words[max(0, at - 3) : at], written)
        elif value < 0:
            least -= capital
        if word == "kind":  # which counts for nothing in "kind of"
            least = min(least, 0.0)
        if but is not None and at != but:
            least *= scorer.before_but if at < but else scorer.after_but
        total -= least
    if total <= 0:
        return 0.0
    total += min(text.count("!"), scorer.marks) * scorer.mark
    return total + (scorer.questions if text.count("?") > 1 else 0.0)
