"""The look ahead: which rules can have anything to say about a text.

Almost all memory is clean, so each rule names what every text it reports must contain, and
a few passes at C speed over the whole text (sets of words, translate, find) decide which
rules to run. A rule may be named in vain; it is never left out wrongly (the tests hold
this against scans without the look ahead).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from memrepo.protocol.policy import Text
from memrepo.rules import assigned, blobs, hidden, instructions, personal, secrets, sentiment, words
from memrepo.rules.characters import has_invisible
from memrepo.rules.fold import fold
from memrepo.rules.orders import ORDERS, Order

SECRET, ASSIGNED, WORD, PERSONAL, HIDDEN, ORDER, BLOB, SENTIMENT = (1 << bit for bit in range(8))
ALL = 255

#: The rules that a finding code stands for.
FLAGS = {
    secrets.CODE: SECRET | ASSIGNED,
    words.CODE: WORD,
    personal.CODE: PERSONAL,
    hidden.CODE: HIDDEN,
    instructions.CODE: ORDER,
    blobs.CODE: BLOB,
    sentiment.CODE: SENTIMENT,
}


#: Words: ASCII letters (made small) and digits; everything else parts them.
_WORDS = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz0123456789"
    else byte + 32 if 65 <= byte <= 90
    else 32
    for byte in range(256)
)  # fmt: skip
_KEYS = bytes(97 if byte in secrets.KEY_CHARACTERS else 32 for byte in range(256))
_NUMBERS = bytes(
    ord("d") if chr(byte) in "0123456789" else ord("s") if chr(byte) in " -" else ord(".")
    for byte in range(256)
)
#: What may stand in ASCII text without being hidden.
_VISIBLE = bytes(range(0x20, 0x7F)) + b"\n\t"

_KEY_RUN = b"a" * secrets.KEY_RUN
_LONG_RUN = b"a" * secrets.LONG_RUN
_CARD = b"d" * 13
_SSN = b"dddsddsdddd"

#: Words that lead to a rule which has no other gate.
_PRIVATE_KEY = frozenset((b"private", b"putty"))
_NAMED_SSN = frozenset((b"ssn", b"social"))
_ASSIGNED = frozenset(word.encode() for word in assigned.GATE)


class Rules(NamedTuple):
    """A policy's text rules, made ready: see :func:`ready`."""

    enabled: int
    words: re.Pattern[str] | None
    word_gate: frozenset[bytes]
    word_needles: tuple[str, ...]
    gate: frozenset[bytes]
    allow: frozenset[str]
    blob_chars: int
    sentiment: float


class Suspicion(NamedTuple):
    """Rules that can have something to say, as flags, and which forms of orders."""

    flags: int
    orders: tuple[Order, ...] = ()


#: Suspect everything: a scan without the look ahead.
EVERYTHING = Suspicion(ALL, ORDERS)


@lru_cache(maxsize=16)
def ready(text: Text, off: tuple[str, ...] = ()) -> Rules:
    """The rules for the policy's section ``text``, without the codes ``off``."""
    enabled = ALL
    for code in off:
        enabled &= ~FLAGS.get(code, 0)
    pattern = words.compiled(text.sensitive_words)
    word_gate: set[bytes] = set()
    needles: list[str] = []
    for needle in words.needles(text.sensitive_words):
        parts = needle.encode("utf-8", "surrogatepass").translate(_WORDS).split()
        if parts:
            word_gate.add(max(parts, key=len))
        else:
            needles.append(needle)
    gate = instructions.GATE | _ASSIGNED | _PRIVATE_KEY | _NAMED_SSN | word_gate
    return Rules(
        enabled if pattern else enabled & ~WORD,
        pattern,
        frozenset(word_gate),
        tuple(needles),
        gate,
        frozenset(text.allow),
        max(1, text.encoded_blob_chars),
        text.sentiment,
    )


def suspect(text: str, rules: Rules) -> Suspicion:
    """Which rules can have something to say about ``text`` (any number of strings joined
    by newlines); never :data:`SENTIMENT`, which has its own look ahead."""
    plain = text.isascii()
    raw = text.encode("utf-8", "surrogatepass")
    folded, folded_raw = text.lower(), raw
    if not plain:
        folded = fold(text)
        folded_raw = folded.encode("utf-8", "surrogatepass")
    flags = 0

    orders: tuple[Order, ...] = ()
    found = folded_raw.translate(_WORDS).split()
    if not rules.gate.isdisjoint(found) or instructions.is_marked(folded, plain):
        if not rules.word_gate.isdisjoint(found):
            flags |= WORD
        if not _ASSIGNED.isdisjoint(found):
            flags |= ASSIGNED
        if not _PRIVATE_KEY.isdisjoint(found):
            flags |= SECRET
        if not _NAMED_SSN.isdisjoint(found):
            flags |= PERSONAL
        orders = instructions.suspects(found, folded, plain)
        if orders:
            flags |= ORDER
    if rules.word_needles and any(needle in folded for needle in rules.word_needles):
        flags |= WORD

    if b"@" in raw and b"://" in raw:
        flags |= SECRET
    keys = raw.translate(_KEYS)
    if _KEY_RUN in keys and not flags & SECRET:
        lowered = text.lower()
        if _LONG_RUN in keys or any(anchor in lowered for anchor in secrets.ANCHORS):
            flags |= SECRET

    numbers = folded_raw.translate(_NUMBERS)
    if _SSN in numbers or _CARD in numbers.replace(b"s", b""):
        flags |= PERSONAL
    if raw.translate(None, _VISIBLE) if plain else has_invisible(text):
        flags |= HIDDEN
    if _has_unbroken(raw, rules.blob_chars):
        flags |= BLOB
    return Suspicion(flags & rules.enabled, orders)


def _has_unbroken(raw: bytes, chars: int) -> bool:
    """Whether ``chars`` bytes in a row are without a space: hops from space to space."""
    start, end = 0, len(raw)
    while start + chars <= end:
        space = raw.rfind(b" ", start, start + chars)
        if space < 0:
            return True
        start = space + 1
    return False
