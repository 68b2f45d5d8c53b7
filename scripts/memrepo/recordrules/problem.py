"""What is wrong with a record, before anyone knows in which file or answer it will be said."""

from __future__ import annotations

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """``code`` is one of the finding codes ``record-…``; ``pointer`` the place in the record."""

    code: str
    pointer: str
    message: str
    hint: str = ""
