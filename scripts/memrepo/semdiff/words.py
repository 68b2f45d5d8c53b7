"""The word by word difference of two texts; nothing of either text is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memrepo.semdiff.align import aligned
from memrepo.semdiff.change import Word

#: Characters of a text up to which single words are compared; above, whole lines.
_WORDS_UP_TO = 20_000
#: Lines of a text up to which lines are compared; above, the text is one piece.
_LINES_UP_TO = 20_000
#: Characters of changed lines that are compared word by word after all.
_WORDS_BUDGET = 200_000
#: Share of the shorter text that must be kept, or the text counts as replaced whole:
#: a few shared "the" and "to" would only scatter the two texts among each other.
_KEPT_AT_LEAST = 0.2

# Scripts written without spaces: kana, bopomofo, Han with its extensions.
_SINGLE = "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_SINGLE += "\uff66-\uff9f\U00020000-\U0003ffff"
# ASCII punctuation without "_", then Latin-1's, the general block's and the CJK block's.
_MARK = r"!-/:-@\[-\^`{-~\u00a1\u00ab\u00bb\u00bf\u2010-\u2027\u2030-\u205e\u3001-\u3003"
_MARK += r"\u3008-\u3011\uff01-\uff0f\uff1a-\uff20"
_TOKEN = re.compile(rf"\s+|[{_SINGLE}{_MARK}]|[^\s{_SINGLE}{_MARK}]+")
_NOT_A_WORD = re.compile(rf"[\s{_MARK}]")

Piece = tuple[str, str]


def tokens(text: str) -> list[str]:
    """The text cut into words, runs of white space, punctuation marks and single Han or kana."""
    return _TOKEN.findall(text)


def word_diff(before: str, after: str) -> tuple[Word, ...]:
    """What was kept, taken out and put in, as runs of words in reading order.

    The ``same`` and ``removed`` runs joined are ``before``, the ``same`` and ``added``
    ones ``after``, exactly. Neighbouring runs differ in ``op``; none is empty. Texts
    above 20,000 characters are compared by lines first, and those of more than 20,000
    changed lines not inside.
    """
    if before == after:
        return _joined([("same", before)])
    if len(before) <= _WORDS_UP_TO and len(after) <= _WORDS_UP_TO:
        return _joined(_by_words(before, after))
    return _joined(_by_lines(before, after))


def replaced(before: str, after: str) -> tuple[Word, ...]:
    """All of ``before`` taken out, all of ``after`` put in: the difference that costs nothing."""
    return _joined([("removed", before), ("added", after)])


def _joined(pieces: Iterator[Piece] | list[Piece]) -> tuple[Word, ...]:
    words: list[Word] = []
    held: dict[str, list[str]] = {"same": [], "removed": [], "added": []}

    def flush(*ops: str) -> None:
        for op in ops:
            if held[op]:
                words.append(Word(op, "".join(held[op])))  # type: ignore[arg-type]
                held[op] = []

    for op, text in pieces:
        if not text:
            continue
        flush(*(("removed", "added") if op == "same" else ("same",)))
        held[op].append(text)
    flush("same", "removed", "added")
    return tuple(words)


def _by_words(before: str, after: str) -> Iterator[Piece]:
    return _by_tokens(tokens(before), tokens(after))


def _by_tokens(before: list[str], after: list[str]) -> Iterator[Piece]:
    head, tail = _common_ends(before, after)
    yield "same", "".join(before[:head])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    yield from _middle(old, new)
    yield "same", "".join(before[len(before) - tail :])


def _middle(old: list[str], new: list[str]) -> Iterator[Piece]:
    """Pair the words only; white space and punctuation are kept where they touch a kept word."""
    old_words = [i for i, token in enumerate(old) if not _NOT_A_WORD.match(token)]
    new_words = [j for j, token in enumerate(new) if not _NOT_A_WORD.match(token)]
    pairs = [
        (old_words[i], new_words[j])
        for i, j in aligned([old[i] for i in old_words], [new[j] for j in new_words])
    ]
    kept = sum(len(old[i]) for i, _ in pairs)
    if kept < _KEPT_AT_LEAST * min(sum(map(len, old)), sum(map(len, new))):
        pairs = []
    i = j = 0
    for next_i, next_j in [*pairs, (len(old), len(new))]:
        gap_old, gap_new = old[i:next_i], new[j:next_j]
        head, tail = _common_ends(gap_old, gap_new)
        yield "same", "".join(gap_old[:head])
        yield "removed", "".join(gap_old[head : len(gap_old) - tail])
        yield "added", "".join(gap_new[head : len(gap_new) - tail])
        yield "same", "".join(gap_old[len(gap_old) - tail :] + old[next_i : next_i + 1])
        i, j = next_i + 1, next_j + 1


def _by_lines(before: str, after: str) -> Iterator[Piece]:
    head = _boundary(before, _common_prefix(before, after))
    old, new = before[head:], after[head:]
    backwards = old[::-1]
    tail = _boundary(backwards, _common_prefix(backwards, new[::-1]))
    yield "same", before[:head]
    old, new, end = old[: len(old) - tail], new[: len(new) - tail], old[len(old) - tail :]
    if len(old) <= _WORDS_UP_TO and len(new) <= _WORDS_UP_TO:
        yield from _by_words(old, new)
    else:
        yield from _inside_lines(old.splitlines(keepends=True), new.splitlines(keepends=True))
    yield "same", end


def _inside_lines(old: list[str], new: list[str]) -> Iterator[Piece]:
    pairs = aligned(old, new) if max(len(old), len(new)) <= _LINES_UP_TO else []
    budget = _WORDS_BUDGET
    i = j = 0
    for next_i, next_j in [*pairs, (len(old), len(new))]:
        gap_old, gap_new = "".join(old[i:next_i]), "".join(new[j:next_j])
        size = len(gap_old) + len(gap_new)
        if gap_old and gap_new and size <= min(budget, _WORDS_UP_TO):
            budget -= size
            yield from _by_words(gap_old, gap_new)
        else:
            yield "removed", gap_old
            yield "added", gap_new
        yield "same", "".join(old[next_i : next_i + 1])
        i, j = next_i + 1, next_j + 1


def _common_ends(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many tokens both begin with, and how many of the rest both end with."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail


def _common_prefix(before: str, after: str) -> int:
    """Characters that both begin with, by halving: slices compare faster than a loop."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[low:middle] == after[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _boundary(text: str, end: int) -> int:
    """``end`` moved back to the beginning of its word, 100 characters at most."""
    for start in range(end, max(0, end - 100), -1):
        if text[start - 1].isspace():
            return start
    return end
