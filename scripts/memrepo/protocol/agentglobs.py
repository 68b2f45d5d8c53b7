"""Which agents a list of ids and shell globs covers, and whether two lists meet.

A glob is made of the characters of agent ids and ``*`` (any run), ``?`` (any one) and
``[abc]``, ``[a-z]``, ``[!abc]`` (one of a set), always in the case it is written in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache
from string import ascii_letters, digits

_ALPHABET = frozenset(ascii_letters + digits + "._@-")
_TOKEN = re.compile(r"\*+|\?|\[(!?)([A-Za-z0-9._@-]+)\]|[A-Za-z0-9._@-]")
_RANGE = re.compile(r"(.)-(.)|(.)")

#: None stands for any run of characters, a set for one character.
_Token = frozenset[str] | None


def agent_glob_problem(pattern: str) -> str | None:
    """Why ``pattern`` can match no agent id, in words, or None when it can be used."""
    if not pattern:
        return "is empty"
    if len(pattern) > 100:
        return f"is {len(pattern)} characters long; 100 is the most"
    end = 0
    while end < len(pattern):
        found = _TOKEN.match(pattern, end)
        if not found:
            if pattern[end] == "[":
                return "has a `[` that is no set of characters"
            return f"holds {pattern[end]!a}, which no agent id has"
        end = found.end()
    if any(token is not None and not token for token in _tokens(pattern)):
        return "has a set `[...]` that no character of an agent id is in"
    return None


def covers(agents: Iterable[str], agent_id: str) -> bool:
    """Whether one of the ids and globs matches ``agent_id``."""
    return any(fnmatchcase(agent_id, pattern) for pattern in agents)


def common_glob(ours: Iterable[str], theirs: Iterable[str]) -> tuple[str, str] | None:
    """The first pair of globs that some agent id matches both of, or None.

    Decided from the globs alone, so that it also holds for agents yet to come.
    """
    others = [(pattern, _tokens(pattern)) for pattern in theirs]
    for pattern in ours:
        tokens = _tokens(pattern)
        for other, other_tokens in others:
            if _meet(tokens, other_tokens):
                return pattern, other
    return None


def _tokens(pattern: str) -> tuple[_Token, ...]:
    return tuple(_token(found) for found in _TOKEN.finditer(pattern))


def _token(found: re.Match[str]) -> _Token:
    text = found.group()
    if text.startswith("*"):
        return None
    if text == "?":
        return _ALPHABET
    if not text.startswith("["):
        return frozenset(text)
    members: set[str] = set()
    for low, high, single in _RANGE.findall(found[2]):
        # A range that runs backwards is empty, as in fnmatch.
        members |= {single} if single else {c for c in _ALPHABET if low <= c <= high}
    return _ALPHABET - members if found[1] else frozenset(members & _ALPHABET)


def _meet(ours: tuple[_Token, ...], theirs: tuple[_Token, ...]) -> bool:
    """Whether one text matches both: each pair of positions is looked at once."""

    @cache
    def from_here(i: int, j: int) -> bool:
        if i == len(ours) or j == len(theirs):
            return all(token is None for token in (*ours[i:], *theirs[j:]))
        one, other = ours[i], theirs[j]
        if one is None or other is None:
            # The run ends here, or takes one more of what the other side has.
            return from_here(i + (one is None), j + (one is not None)) or from_here(
                i + (one is not None), j + (one is None)
            )
        return bool(one & other) and from_here(i + 1, j + 1)

    return from_here(0, 0)
