"""Fields that say when something was last changed, and which of two values is the later."""

from __future__ import annotations

import re
from datetime import UTC, date
from decimal import Decimal
from typing import Any

from memrepo.protocol.timestamps import parse_timestamp

_NAMES = frozenset(["updated", "updatedat", "lastupdated"])
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9:]+)(?:\.([0-9]{1,12}))?(.*)", re.DOTALL)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
#: Seconds since 1970 of a day in 1973: a smaller number is a counter, not a time.
_FIRST_EPOCH = 100_000_000
#: Seconds, milliseconds and microseconds lie a thousand apart; times of one unit do not.
_ONE_UNIT = 100

Instant = tuple[str, Any]


def is_update_time(key: str) -> bool:
    """Whether a field of this name says when its object was last changed.

    ``updated``, ``updated_at``, ``last_updated`` and their spellings (``updatedAt``).
    """
    return key.replace("_", "").replace("-", "").lower() in _NAMES


def later(base: Any, ours: Any, theirs: Any) -> bool | None:
    """Whether ``theirs`` is the later, None unless both moved forward from ``base``.

    Values are scalars of a tree; ``base`` is None where the field is new on both sides.
    Times with an offset, times without, dates and numbers are never compared with each
    other. Two spellings of one instant are told by their text, so that the sides may be
    swapped.
    """
    left, right = _instant(ours), _instant(theirs)
    start = _instant(base) if base is not None else left
    if left is None or right is None or start is None:
        return None
    if not left[0] == right[0] == start[0]:
        return None
    if base is not None and (left[1] < start[1] or right[1] < start[1]):
        return None
    if left[0] == "number" and max(left[1], right[1]) > _ONE_UNIT * min(left[1], right[1]):
        return None
    return bool((right[1], str(theirs)) > (left[1], str(ours)))


def _instant(value: Any) -> Instant | None:
    if isinstance(value, tuple):  # a YAML scalar with a tag, such as an unquoted time
        value = value[1]
    if isinstance(value, bool):
        return None
    if isinstance(value, int | Decimal):
        return ("number", value) if value >= _FIRST_EPOCH else None
    if not isinstance(value, str):
        return None
    if _DATE.fullmatch(value):
        try:
            return "date", date.fromisoformat(value)
        except ValueError:
            return None
    found = _TIME.fullmatch(value)
    if found is None:
        return None
    offset = found[4].strip().upper()
    when = parse_timestamp(f"{found[1]}T{found[2]}{offset}", need_offset=False)
    if when is None:
        return None
    fraction = (found[3] or "").ljust(12, "0")
    return ("instant" if offset else "local"), (when.astimezone(UTC), fraction)
