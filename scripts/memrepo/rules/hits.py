"""What a rule says about one place, before the caller adds path, line and severity."""

from __future__ import annotations

import msgspec

#: Places one rule reports in one string; hostile text must not be able to make more.
PLACES_PER_STRING = 10


class Hit(msgspec.Struct, frozen=True):
    """One place a rule speaks about.

    ``pointer`` is an RFC 6901 JSON pointer into the document ("" in a plain text file).
    ``offset`` counts characters from 0 into the string at that pointer, or into the
    plain text file; -1 where the place is not inside such a string (a key of an object,
    a number, a whole tool).
    """

    code: str
    message: str
    hint: str = ""
    pointer: str = ""
    offset: int = -1


class Place(msgspec.Struct, frozen=True):
    """One place inside one string: ``start`` and ``end`` count characters from 0."""

    start: int
    end: int
    message: str
    hint: str = ""
