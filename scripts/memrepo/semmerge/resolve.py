"""Which recorded decision fits a conflict: one about exactly these three values."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Any

from memrepo.semmerge.jsonvalue import frozen
from memrepo.semmerge.values import ABSENT, Conflict, Resolution, Take


def digest(value: Any) -> str:
    """SHA-256 (hex) of the value's JSON without spaces and with keys sorted.

    ABSENT has the digest of no bytes, which no JSON value has.
    """
    return hashlib.sha256(frozen(value)).hexdigest()


class Decisions:
    """The resolutions about one file, to be asked place by place."""

    def __init__(self, path: str, resolutions: Iterable[Resolution]) -> None:
        self._at: dict[str, list[Resolution]] = {}
        for resolution in resolutions:
            if resolution.path == path:
                self._at.setdefault(resolution.pointer, []).append(resolution)

    def about(self, pointer: str, sides: Collection[str]) -> bool:
        """Whether a decision about one of these sides names the place, whatever the values."""
        return any(r.branch in ("", *sides) for r in self._at.get(pointer, ()))

    def find(self, pointer: str, base: Any, ours: Any, theirs: Any) -> Resolution | None:
        """The decision about these three values at this place, the last one where several."""
        known = self._at.get(pointer)
        if not known:
            return None
        values = (digest(base), digest(ours), digest(theirs))
        fitting = [r for r in known if (r.base, r.ours, r.theirs) == values]
        return fitting[-1] if fitting else None


def decide(conflict: Conflict, take: Take, value: Any = None, branch: str = "") -> Resolution:
    """The resolution that a person's choice about ``conflict`` is; ``value`` for take "value"."""
    digests = (digest(conflict.base), digest(conflict.ours), digest(conflict.theirs))
    given = value if take == "value" else ABSENT
    return Resolution(conflict.path, conflict.pointer, *digests, take, given, branch)
