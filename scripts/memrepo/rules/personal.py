"""``personal-data``: payment card numbers and US social security numbers.

Cards: ISO/IEC 7812 issuer ranges, lengths and the Luhn check digit. SSN: the numbers the
Social Security Administration may give out (no area 000, 666 or 900 to 999, no group 00,
no serial 0000).
"""

from __future__ import annotations

import re

from memrepo.rules.fold import View
from memrepo.rules.hits import PLACES_PER_STRING, Place

CODE = "personal-data"

_CARD_HINT = "Take the number out; the last four digits are enough to tell cards apart."
_SSN_HINT = "Take the number out: memory is kept for good and copied."

_CARD = re.compile(
    r"(?<![0-9a-z_])(?<![0-9][ .,-])[0-9](?:[ -]?[0-9]){12,18}(?![ .,-]?[0-9])(?![a-z_])"
)
_GROUPS = {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 4, 1), (4, 4, 5)}
_SSN = re.compile(
    r"(?<![0-9a-z_])(?<![0-9]-)([0-9]{3})-([0-9]{2})-([0-9]{4})(?![0-9a-z_])(?!-[0-9])"
)
#: Without the usual dashes only a word before it tells an SSN from any other number.
_NAMED_SSN = re.compile(
    r"(?<![0-9a-z_])(?:ssn|social security(?: (?:number|no\.?|#))?)"
    r"[\s:#=]{1,4}(?:(?:is|was)\s)?([0-9]{3})([ ]?)([0-9]{2})\2([0-9]{4})(?![0-9a-z_])"
)
#: Printed in advertisements and so never given out again.
_RETIRED = {"078051120", "219099999"}


def find(view: View, allow: frozenset[str]) -> list[Place]:
    """Card numbers and SSNs of the string; the numbers are in no message."""
    text = view.folded
    places: list[Place] = []
    for match in _CARD.finditer(text):
        if issuer := _issuer(match.group()):
            length = sum(c.isdigit() for c in match.group())
            message = f"a payment card number ({issuer}, {length} digits, check digit right)"
            _add(places, view, match.span(), message, _CARD_HINT, allow)
    for match in _SSN.finditer(text):
        if _given_out(*match.group(1, 2, 3)):
            _add(places, view, match.span(), "a US social security number", _SSN_HINT, allow)
    for match in _NAMED_SSN.finditer(text):
        if _given_out(*match.group(1, 3, 4)):
            span = (match.start(1), match.end())
            _add(places, view, span, "a US social security number", _SSN_HINT, allow)
    return places


def _add(
    places: list[Place],
    view: View,
    span: tuple[int, int],
    message: str,
    hint: str,
    allow: frozenset[str],
) -> None:
    start, end = view.span(*span)
    written = view.text[start:end]
    if written in allow or re.sub("[ -]", "", written) in allow:
        return
    if len(places) < PLACES_PER_STRING:
        places.append(Place(start, end, message, hint))


def _given_out(area: str, group: str, serial: str) -> bool:
    if area in ("000", "666") or area >= "900" or group == "00" or serial == "0000":
        return False
    return area + group + serial not in _RETIRED


def _issuer(written: str) -> str:
    """The card scheme of a number as written, or "" when it is no card number."""
    separators = set(written) - set("0123456789")
    if len(separators) > 1:
        return ""
    if separators:
        groups = tuple(len(part) for part in written.split(separators.pop()))
        if groups not in _GROUPS:
            return ""
    digits = re.sub("[ -]", "", written)
    scheme = _scheme(digits)
    return scheme if scheme and _luhn(digits) else ""


def _scheme(digits: str) -> str:
    length, two, three, four = len(digits), int(digits[:2]), int(digits[:3]), int(digits[:4])
    if digits[0] == "4" and length in (13, 16, 19):
        return "Visa"
    if length == 16 and (51 <= two <= 55 or 2221 <= four <= 2720):
        return "Mastercard"
    if length == 15 and two in (34, 37):
        return "American Express"
    if length == 14 and (300 <= three <= 305 or two in (36, 38, 39)):
        return "Diners Club"
    if length >= 16 and (four == 6011 or two == 65 or 644 <= three <= 649):
        return "Discover"
    if length >= 16 and 3528 <= four <= 3589:
        return "JCB"
    return "UnionPay" if length >= 16 and two == 62 else ""


def _luhn(digits: str) -> bool:
    """The check digit of ISO/IEC 7812-1, annex B."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
