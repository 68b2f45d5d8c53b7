"""Recorded decisions as files: ``.memrepo/resolutions/<place>-<values>.json``. Pure.

A file names the place, the digests of the three values it was decided about, and what was
taken; the values themselves, who, when and why stand beside them for whoever reviews it. A
value that stands there is the one that the digest is of: a file that shows another is no record.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from memrepo.semmerge.jsonvalue import loads
from memrepo.semmerge.resolve import decide, digest
from memrepo.semmerge.values import ABSENT, Conflict, Resolution, Take

FOLDER = ".memrepo/resolutions"
#: In characters of JSON; of a longer value the file has the digest alone.
_MOST_SHOWN = 20_000
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Record(msgspec.Struct, frozen=True):
    """A decision, and who took it when and why; ``branch`` is the knowledge branch it is about."""

    resolution: Resolution
    branch: str
    by: str
    when: str
    reason: str = ""


class _Side(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    sha256: str
    value: Any = msgspec.UNSET
    absent: bool = False


class _File(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    path: str
    pointer: str
    branch: str
    take: Take
    base: _Side
    ours: _Side
    theirs: _Side
    by: str
    when: str
    reason: str = ""
    value: Any = msgspec.UNSET


def record_of(
    conflict: Conflict,
    take: Take,
    value: Any = None,
    *,
    branch: str,
    by: str,
    when: str,
    reason: str = "",
) -> Record:
    """The record of a person's choice about ``conflict``; ``value`` counts for take "value"."""
    return Record(decide(conflict, take, value, branch), branch, by, when, reason)


def record_path(resolution: Resolution) -> str:
    """Where the record of a decision lies: one place and three values, one file."""
    named = (resolution.path, resolution.pointer, resolution.base, resolution.ours)
    named_by = hashlib.sha256("\0".join((*named, resolution.theirs)).encode("utf-8", "replace"))
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{resolution.path}{resolution.pointer}").strip("-")
    return f"{FOLDER}/{words[:60].strip('-')}-{named_by.hexdigest()[:16]}.json"


def record_bytes(record: Record, conflict: Conflict) -> bytes:
    """The file of a record, laid out as memrepo writes JSON."""
    decided = record.resolution
    file = _File(
        path=decided.path,
        pointer=decided.pointer,
        branch=record.branch,
        take=decided.take,
        base=_side(decided.base, conflict.base),
        ours=_side(decided.ours, conflict.ours),
        theirs=_side(decided.theirs, conflict.theirs),
        by=record.by,
        when=record.when,
        reason=record.reason,
        value=decided.value if decided.take == "value" else msgspec.UNSET,
    )
    return msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n"


def _side(sha256: str, value: Any) -> _Side:
    if value is ABSENT:
        return _Side(sha256, absent=True)
    if len(msgspec.json.encode(value).decode()) > _MOST_SHOWN:
        return _Side(sha256)
    return _Side(sha256, value=value)


def _is_true(side: _Side) -> bool:
    """Whether what a side shows is what its digest is of."""
    if side.absent:
        return side.value is msgspec.UNSET and side.sha256 == digest(ABSENT)
    if side.value is not msgspec.UNSET:
        return side.sha256 == digest(side.value)
    return _DIGEST.fullmatch(side.sha256) is not None


def read_record(data: bytes) -> Record | None:
    """The record in a file, or None where it is none."""
    try:
        file = msgspec.convert(loads(data), _File)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    if not all(map(_is_true, (file.base, file.ours, file.theirs))):
        return None
    digests = (file.base.sha256, file.ours.sha256, file.theirs.sha256)
    if (file.take == "value") != (file.value is not msgspec.UNSET):
        return None
    value = file.value if file.take == "value" else ABSENT
    resolution = Resolution(file.path, file.pointer, *digests, file.take, value, file.branch)
    return Record(resolution, file.branch, file.by, file.when, file.reason)
