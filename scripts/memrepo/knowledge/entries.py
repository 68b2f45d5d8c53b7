"""One path on three sides: a file, a link, a folder or nothing each. Pure.

Files that both sides changed are merged by what they mean; everything else that both sides
touched is a conflict of its own kind, which a recorded decision may settle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from memrepo.semmerge.file import merge_file
from memrepo.semmerge.lines import LineMerge
from memrepo.semmerge.merging import Merging, whole_text
from memrepo.semmerge.values import (
    ABSENT,
    Conflict,
    ConflictKind,
    Labels,
    Merged,
    Note,
    Resolution,
)

FILES = (b"100644", b"100755")
_LINK, _SUBMODULE, _FOLDER = b"120000", b"160000", b"40000"
#: The mode of a path that a file higher up does not let be.
BLOCKED = b"0"


class Side(msgspec.Struct, frozen=True):
    """What one side has at a path: mode as Git writes it, raw id, and bytes.

    ``data`` is None for a folder, a submodule, and a file that is too large to read.
    """

    mode: bytes
    oid: bytes
    data: bytes | None = None


class PathMerged(msgspec.Struct, frozen=True):
    """What the path should hold: one of the sides, or ``data`` as a file of ``mode``.

    With none of them (``mode`` b"") the path goes; with conflicts nothing is said.
    """

    side: Side | None = None
    mode: bytes = b""
    data: bytes | None = None
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[Note, ...] = ()


def merge_path(
    path: str,
    base: Side | None,
    ours: Side | None,
    theirs: Side | None,
    *,
    labels: Labels,
    resolutions: Sequence[Resolution],
    line_merge: LineMerge,
) -> PathMerged:
    """The merge of a path that both sides changed since ``base``, not to the same."""
    files = [side for side in (base, ours, theirs) if side is not None]
    if all(side.mode in FILES and side.data is not None for side in files):
        return _merge_files(path, base, ours, theirs, labels, resolutions, line_merge)
    kind, message = _why(base, ours, theirs, labels)
    # Taking one side there would take more than this path: people move one of the two.
    merging = Merging(path, labels, resolutions if kind != "file-folder" else ())
    values = [_shown(side) for side in (base, ours, theirs)]
    taken = merging.clash("", kind, message, *values)
    if merging.conflicts:
        return PathMerged(conflicts=tuple(merging.conflicts), notes=tuple(merging.notes))
    for side, value in zip((base, ours, theirs), values, strict=True):
        if taken is value:
            return PathMerged(side=side, notes=tuple(merging.notes))
    data = taken.encode() if isinstance(taken, str) else msgspec.json.encode(taken) + b"\n"
    return PathMerged(mode=FILES[0], data=data, notes=tuple(merging.notes))


def _merge_files(
    path: str,
    base: Side | None,
    ours: Side | None,
    theirs: Side | None,
    labels: Labels,
    resolutions: Sequence[Resolution],
    line_merge: LineMerge,
) -> PathMerged:
    sides = [side.data if side else None for side in (base, ours, theirs)]
    merged = merge_file(path, *sides, labels=labels, resolutions=resolutions, line_merge=line_merge)
    if base is None and ours and theirs and ours.mode != theirs.mode:
        undecided = merge_file(path, *sides, labels=labels, line_merge=line_merge)
        whole = any(not conflict.pointer for conflict in undecided.conflicts)
        return _modes(Merging(path, labels, resolutions), ours, theirs, None if whole else merged)
    if merged.conflicts or merged.data is None:
        return PathMerged(conflicts=merged.conflicts, notes=merged.notes)
    return PathMerged(mode=_mode(base, ours, theirs), data=merged.data, notes=merged.notes)


def _mode(base: Side | None, ours: Side | None, theirs: Side | None) -> bytes:
    """The mode of a plain file: what the side that changed it says."""
    if base is not None and ours and theirs:
        return theirs.mode if ours.mode == base.mode else ours.mode
    side = ours or theirs
    return side.mode if side else FILES[0]


def _modes(merging: Merging, ours: Side, theirs: Side, merged: Merged | None) -> PathMerged:
    """A file that both sides added, one of them executable; what it holds is ``merged``.

    Without ``merged`` what it holds is one decision for the whole file, and then that decides
    the mode with it: two decisions about one place could not be told apart.
    """
    words = f"{merging.labels.ours} and {merging.labels.theirs} added this file"
    message = f"{words}, one of them executable"
    if merged is not None:
        modes = [side.mode.decode() for side in (ours, theirs)]
        mode = str(merging.clash("", "mode", message, ABSENT, *modes)).encode()
        if mode not in FILES:
            merging.refuse(f"a file's mode is {' or '.join(map(bytes.decode, FILES))}")
        conflicts = (*merged.conflicts, *merging.conflicts)
        data = merged.data if not conflicts else None
        notes = (*merged.notes, *merging.notes)
        return PathMerged(mode=mode, data=data, conflicts=conflicts, notes=notes)
    values = [{"mode": s.mode.decode(), "text": whole_text(s.data)} for s in (ours, theirs)]
    taken = merging.clash("", "mode", message, ABSENT, *values)
    side = ours if taken is values[0] else theirs if taken is values[1] else None
    if side is None and taken is not ABSENT:
        merging.refuse("a file and its mode are taken from one of the sides")
    return PathMerged(side, conflicts=tuple(merging.conflicts), notes=tuple(merging.notes))


def _why(
    base: Side | None, ours: Side | None, theirs: Side | None, labels: Labels
) -> tuple[ConflictKind, str]:
    if BLOCKED in _modes_of(ours):
        words = f"{labels.ours} has a file where {labels.theirs} needs a folder"
        return "file-folder", f"{words}; move one of them on its branch"
    if _FOLDER in _modes_of(ours):
        words = f"{labels.ours} has a folder where {labels.theirs} has a file"
        return "file-folder", f"{words}; move one of them on its branch"
    if ours and theirs and _SUBMODULE in _modes_of(base, ours, theirs):
        return "submodule", "a submodule was changed on both sides"
    if ours and theirs and _LINK in _modes_of(base, ours, theirs):
        return "symlink", "a symbolic link was changed on both sides"
    if ours is None or theirs is None:
        gone, kept = (labels.ours, labels.theirs) if ours is None else (labels.theirs, labels.ours)
        return "delete-modify", f"{gone} removed this file, {kept} changed it"
    return "add-add" if base is None else "text", "changed on both sides, and too large to merge"


def _modes_of(*sides: Side | None) -> set[bytes]:
    return {side.mode for side in sides if side is not None}


def _shown(side: Side | None) -> Any:
    """A side as the value that a report shows and a decision is about."""
    if side is None:
        return ABSENT
    if side.mode in (_FOLDER, _SUBMODULE) or side.data is None:
        return {"mode": side.mode.decode(), "object": side.oid.hex()}
    text = whole_text(side.data)
    return {"link": text} if side.mode == _LINK else text
