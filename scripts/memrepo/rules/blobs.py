"""``encoded-blob``: long base64, hexadecimal or percent-encoded runs.

A person who reads a review cannot see what such a run says, and a model can.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memrepo.rules.hits import PLACES_PER_STRING, Place

CODE = "encoded-blob"

_HINT = "Keep the data outside memory and refer to it, or list the run under text.allow."

#: Fewer different characters than this are a rule across the page, not data.
_DISTINCT = 8


@lru_cache(maxsize=8)
def _patterns(chars: int) -> tuple[tuple[str, re.Pattern[str]], ...]:
    # Lookbehinds let a run begin only where it begins, so that every scan is linear.
    line, threes, fours = min(chars, 40), max(1, -(-chars // 3)), max(1, -(-chars // 4))
    chars64, hex2 = "[A-Za-z0-9+/_=-]", "[0-9A-Fa-f]{2}"
    return (
        (
            "base64",
            re.compile(rf"(?<!{chars64}){chars64}{{{line},}}(?:\r?\n{chars64}{{2,}})*"),
        ),
        ("percent-encoded", re.compile(f"(?<!%{hex2})(?:%{hex2}){{{threes},}}")),
        ("hexadecimal", re.compile(rf"(?<!\\x{hex2})(?:\\x{hex2}){{{fours},}}")),
        ("hexadecimal", re.compile(f"(?<![0-9A-Fa-f:])(?:{hex2}:){{{threes},}}{hex2}")),
    )


def find(text: str, chars: int, allow: frozenset[str]) -> list[Place]:
    """Runs of at least ``chars`` characters (lines of wrapped base64 are one run)."""
    places: list[Place] = []
    if len(text) < chars:
        return places
    for kind, pattern in _patterns(chars):
        for match in pattern.finditer(text):
            run = match.group()
            if len(run) < chars or run in allow:
                continue
            name = _kind(run) if kind == "base64" else kind
            if not name:
                continue
            message = f"{len(run):,} characters of {name} data"
            places.append(Place(match.start(), match.end(), message, _HINT))
            if len(places) == PLACES_PER_STRING:
                return places
    return places


def _kind(run: str) -> str:
    """What a run of base64 characters is: "" for long names and slugs.

    Data in base64 has capitals, small letters and digits; in base32 capitals and digits;
    names made of words have hardly any digits or only one case.
    """
    used = set(run) - set("\r\n")
    if len(used) < _DISTINCT:
        return ""
    if used <= set("0123456789abcdefABCDEF"):
        return "hexadecimal"
    letters = [c for c in run if c.isalpha()]
    digits = sum(c.isdigit() for c in run)
    upper = sum(c.isupper() for c in letters)
    if digits * 50 < len(run):
        return ""
    if upper == len(letters) and used <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567=\r\n"):
        return "base32"
    tenth = len(letters) / 10
    return "base64" if upper >= tenth and len(letters) - upper >= tenth else ""
