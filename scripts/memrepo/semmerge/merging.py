"""One file's merge under way: the conflicts and notes so far, and the decisions it may use."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from memrepo.semmerge.resolve import Decisions
from memrepo.semmerge.values import (
    ABSENT,
    Conflict,
    ConflictKind,
    Labels,
    Merged,
    Note,
    NoteKind,
    Resolution,
)

_TAKEN = {"ours": "{ours}'s value", "theirs": "{theirs}'s value", "base": "the value before both"}


class Merging:
    """Collects what one file's merge has to say; a place is told apart by its JSON pointer."""

    def __init__(
        self, path: str, labels: Labels | None = None, resolutions: Sequence[Resolution] = ()
    ) -> None:
        self.path = path
        self.labels = labels or Labels()
        self.conflicts: list[Conflict] = []
        self.notes: list[Note] = []
        self._decisions = Decisions(path, resolutions)

    def clash(
        self,
        pointer: str,
        kind: ConflictKind,
        message: str,
        base: Any = ABSENT,
        ours: Any = ABSENT,
        theirs: Any = ABSENT,
    ) -> Any:
        """A place that a person must decide: the recorded decision's value, else ``ours``.

        Without a decision a conflict is kept, and what stands in the result is of no account.
        """
        decided = self._decisions.find(pointer, base, ours, theirs)
        if decided is not None:
            taken = _TAKEN.get(decided.take, "a value of its own")
            words = taken.format(ours=self.labels.ours, theirs=self.labels.theirs)
            self.note(pointer, "resolved", f"a recorded decision takes {words}")
            choice = {"base": base, "ours": ours, "theirs": theirs, "value": decided.value}
            return choice[decided.take]
        if self._decisions.about(pointer, (self.labels.ours, self.labels.theirs)):
            message += "; the recorded decision was about other values"
        self.conflicts.append(Conflict(self.path, pointer, kind, message, base, ours, theirs))
        return ours

    def disagree(self, pointer: str, base: Any, ours: Any, theirs: Any) -> Any:
        """A clash of three different values, with the kind and words that they ask for."""
        if ours is ABSENT or theirs is ABSENT:
            changed, removed = self.labels.ours, self.labels.theirs
            if ours is ABSENT:
                changed, removed = removed, changed
            message = f"{changed} changed what {removed} removed"
            return self.clash(pointer, "changed-and-removed", message, base, ours, theirs)
        if base is ABSENT:
            message = f"{self.labels.ours} and {self.labels.theirs} added this, differently"
            return self.clash(pointer, "both-added", message, base, ours, theirs)
        message = f"{self.labels.ours} and {self.labels.theirs} changed this, differently"
        return self.clash(pointer, "both-changed", message, base, ours, theirs)

    def clash_whole(
        self,
        kind: ConflictKind,
        message: str,
        base: bytes | None,
        ours: bytes | None,
        theirs: bytes | None,
    ) -> bytes | None:
        """As :meth:`clash` about a whole file; None is no file."""
        files = (base, ours, theirs)
        texts = [whole_text(data) for data in files]
        chosen = self.clash("", kind, message, *texts)
        for text, data in zip(texts, files, strict=True):
            if chosen is text:
                return data
        if chosen is ABSENT:
            return None
        if isinstance(chosen, str):
            return chosen.encode()
        return msgspec.json.format(msgspec.json.encode(chosen), indent=2) + b"\n"

    def refuse(self, message: str) -> None:
        """A recorded decision that leads to no valid file."""
        self.conflicts.append(Conflict(self.path, "", "invalid-result", message))

    def clashes_below(self, pointer: str) -> bool:
        """Whether something inside of the place is in conflict."""
        return any(conflict.pointer.startswith(f"{pointer}/") for conflict in self.conflicts)

    def note(self, pointer: str, kind: NoteKind, message: str, count: int = 1) -> None:
        """Name something that was decided without a person."""
        self.notes.append(Note(self.path, pointer, kind, message, count))

    def done(self, data: bytes | None) -> Merged:
        """The outcome: ``data`` only where nobody has to decide."""
        if self.conflicts:
            return Merged(None, tuple(self.conflicts), tuple(self.notes))
        return Merged(data, (), tuple(self.notes))


def whole_text(data: bytes | None) -> Any:
    """A whole file as the value of a conflict: its text, or ABSENT where there is none."""
    if data is None:
        return ABSENT
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"{len(data):,} bytes that are no text, SHA-256 {hashlib.sha256(data).hexdigest()}"
