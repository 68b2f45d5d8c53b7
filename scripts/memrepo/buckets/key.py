"""From a unit to its bucket: the key's bytes, their hash, and the number they fall on.

The arithmetic is flagd's: ``fractional`` hashes the CBOR encoding (RFC 8949) of the key
since early 2026, and hashed its UTF-8 before. Each way has a name that a rollout file
pins, so that no upgrade moves a unit of a running rollout.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from memrepo.buckets.murmur3 import murmur3
from memrepo.errors import BadInput
from memrepo.protocol.rollout import TOTAL_PARTS, Assignment


def normal_unit(unit: object) -> str:
    """The text that stands for a unit: Unicode NFC; a whole number becomes its digits.

    Raises BadInput for what two programs would write differently, or what stands for
    nobody: an empty text, a boolean, a fraction, null, spaces around, half a character.
    """
    if not isinstance(unit, str):
        if isinstance(unit, int) and not isinstance(unit, bool):
            return str(unit)
        raise BadInput(
            f"a unit must be a text, not {unit!r}", "give the id as the service writes it"
        )
    if not unit:
        raise BadInput("a unit must not be empty", "leave out what has no id")
    if unit.isascii():
        text = unit
    else:
        text = unicodedata.normalize("NFC", unit)
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise BadInput(f"the unit {unit!a} holds half a character")
    if text[0].isspace() or text[-1].isspace():
        raise BadInput(f"the unit {unit!a} has spaces around it", "take them away")
    return text


def cbor_head(size: int) -> bytes:
    """What begins a CBOR text of ``size`` bytes (RFC 8949, major type 3, shortest form)."""
    if size < 24:
        return bytes((0x60 | size,))
    if size < 0x100:
        return bytes((0x78, size))
    if size < 0x10000:
        return b"\x79" + size.to_bytes(2, "big")
    return b"\x7a" + size.to_bytes(4, "big")


def no_head(size: int) -> bytes:  # noqa: ARG001
    """What begins a plain UTF-8 key: nothing."""
    return b""


#: What stands before the UTF-8 of salt and unit, by its length in bytes.
HEADS: dict[Assignment, Callable[[int], bytes]] = {
    "murmur3-cbor/1": cbor_head,
    "murmur3-utf8/1": no_head,
}


def bucket_of(salt: str, unit: str, assignment: Assignment) -> int:
    """The bucket of a normal unit: 0 to ``TOTAL_PARTS`` - 1, each as likely."""
    key = (salt + unit).encode()
    return murmur3(HEADS[assignment](len(key)) + key) * TOTAL_PARTS >> 32
