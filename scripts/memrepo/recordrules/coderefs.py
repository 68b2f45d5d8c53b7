"""Whether the code that a record cites is still what its writer saw. Pure.

A reference is ``path``, or ``path:line``; the blobs that were seen stand in the record under
``attributes.code_blobs``. Where the code itself comes from is the caller's business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, Protocol

import msgspec

from memrepo.protocol.record import CodeRef, Record

State = Literal["valid", "moved", "changed", "missing", "unverifiable"]

#: What is left of a record's confidence for the worst state among its references.
FACTORS: dict[State, float] = {
    "valid": 1.0,
    "moved": 1.0,
    "unverifiable": 1.0,
    "changed": 0.5,
    "missing": 0.25,
}
_REF = re.compile(r"(?P<path>[^\s:]+)(?::(?P<line>[1-9][0-9]{0,6})(?:-[0-9]{1,7})?)?")
#: A line with fewer letters and digits than this (a lone bracket) is nowhere to be found again.
_TELLING = 6
_BLOB = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class CodeState(msgspec.Struct, frozen=True):
    """What became of one reference: ``now`` is where a moved one is, ``why`` says it in words."""

    ref: str
    state: State
    now: str = ""
    why: str = ""

    def as_json(self) -> dict[str, str]:
        """The public JSON shape: ``now`` and ``why`` only where there is something to say."""
        value = {"ref": self.ref, "state": self.state, "now": self.now, "why": self.why}
        return {name: text for name, text in value.items() if text}


class Checkout(Protocol):
    """The code of one project. ``branch`` "" is whatever is checked out."""

    def blob_of(self, branch: str, path: str, /) -> str | None:
        """The id of the blob at ``path``; None when there is no such file."""

    def text(self, blob: str, /) -> str | None:
        """The text of a blob; None when it is not there, too large, or no text."""

    def places_of(self, branch: str, blob: str, /) -> list[str]:
        """Paths at which exactly this blob lies."""

    def named(self, branch: str, name: str, /) -> list[str]:
        """A few paths whose last part is ``name``."""


def parse_ref(text: str) -> CodeRef | None:
    """The place that a reference names; None for what is no path inside a repository."""
    found = _REF.fullmatch(text)
    if not found or found["path"].startswith(("/", "~")) or "\\" in text:
        return None
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in found["path"].split("/")):
        return None
    return CodeRef(found["path"], int(found["line"]) if found["line"] else None)


def seen_refs(record: Record) -> list[tuple[str, CodeRef | None]]:
    """The references of a record as written, each with its place and the blob that was seen."""
    blobs: Any = record.attributes.get("code_blobs")
    known = blobs if isinstance(blobs, dict) else {}
    found: list[tuple[str, CodeRef | None]] = []
    for text in record.attributes.get("code_refs", []):
        ref = parse_ref(text)
        blob = known.get(ref.path) if ref else None
        if ref and isinstance(blob, str) and _BLOB.fullmatch(blob):
            ref = msgspec.structs.replace(ref, blob=blob)
        found.append((text, ref))
    return found


def blobs_seen(refs: Sequence[str], checkout: Checkout, branch: str) -> dict[str, str]:
    """The blob that lies at each reference's path now, for the record to remember."""
    found = {}
    for text in refs:
        ref = parse_ref(text)
        blob = checkout.blob_of(branch, ref.path) if ref else None
        if ref and blob:
            found[ref.path] = blob
    return found


def code_states(
    record: Record, checkout: Checkout | None, *, why: str = ""
) -> tuple[CodeState, ...]:
    """The state of each reference of ``record``, in its order.

    ``why`` is said where there is no ``checkout``.
    """
    branch = record.address.branch
    found = []
    for text, ref in seen_refs(record):
        if ref is None:
            found.append(CodeState(text, "unverifiable", why="it names no path"))
        elif checkout is None:
            found.append(CodeState(text, "unverifiable", why=why or "no checkout of this code"))
        else:
            found.append(_state(text, ref, checkout, branch))
    return tuple(found)


def factor(states: Sequence[CodeState]) -> float:
    """What the states leave of a record's confidence (0 to 1): the worst of them counts."""
    return min((FACTORS[one.state] for one in states), default=1.0)


def _state(text: str, ref: CodeRef, checkout: Checkout, branch: str) -> CodeState:
    now = checkout.blob_of(branch, ref.path)
    if not ref.blob:
        if now is None and ("/" in ref.path or ref.line):  # no bare name, such as pool.acquire
            return CodeState(text, "missing", why="there is no such file")
        why = "the writer had no checkout to compare with" if now else "it names no file"
        return CodeState(text, "unverifiable", why=why)
    if now == ref.blob:
        return CodeState(text, "valid")
    before = checkout.text(ref.blob)
    if now is None:
        return _gone(text, ref, before, checkout, branch)
    after = checkout.text(now)
    if ref.line is None:
        return CodeState(text, "changed", why="the file has changed")
    if before is None or after is None:
        return CodeState(text, "changed", why="the file has changed, and cannot be compared")
    line = find_line(before, after, ref.line)
    if line is None:
        return CodeState(text, "changed", why="that line has changed")
    if line == ref.line:
        return CodeState(text, "valid")
    return CodeState(text, "moved", now=f"{ref.path}:{line}", why="it is on another line now")


def _gone(
    text: str, ref: CodeRef, before: str | None, checkout: Checkout, branch: str
) -> CodeState:
    line = f":{ref.line}" if ref.line else ""
    same = checkout.places_of(branch, ref.blob)
    if same:
        return CodeState(text, "moved", now=f"{same[0]}{line}", why="the file was renamed")
    if ref.line and before is not None:
        for path in checkout.named(branch, ref.path.rpartition("/")[2]):
            after = checkout.text(checkout.blob_of(branch, path) or "")
            place = find_line(before, after, ref.line) if after is not None else None
            if place:
                return CodeState(text, "moved", now=f"{path}:{place}", why="the file was moved")
    return CodeState(text, "missing", why="the file is gone")


def find_line(before: str, after: str, line: int) -> int | None:
    """The line (from 1) of ``after`` that is line ``line`` of ``before``; None when it is gone.

    Looked for with its two neighbours first, then alone where it is told apart from others.
    """
    old = [one.strip() for one in before.split("\n")]
    new = [one.strip() for one in after.split("\n")]
    if line > len(old):
        return None
    around = old[max(line - 2, 0) : line + 1]
    back = line - 1 - max(line - 2, 0)
    places = [
        start + back + 1
        for start in range(len(new) - len(around) + 1)
        if new[start + back] == old[line - 1] and new[start : start + len(around)] == around
    ]
    wanted = old[line - 1]
    if not places and len(re.findall(r"\w", wanted)) >= _TELLING:
        alone = [number for number, one in enumerate(new, 1) if one == wanted]
        places = alone if len(alone) == 1 and old.count(wanted) == 1 else []
    return min(places, key=lambda place: abs(place - line), default=None)
