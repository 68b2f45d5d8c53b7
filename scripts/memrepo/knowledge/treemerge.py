"""One change merged into a tree: ids where only one side moved, meaning where both did."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import msgspec

from memrepo.gate.sides import READ_LIMIT
from memrepo.gitrepo.paths import Value, path_text
from memrepo.gitrepo.threeway import PathChange
from memrepo.gitrepo.trees import FOLDER
from memrepo.gitrepo.workshop import Workshop
from memrepo.knowledge.entries import BLOCKED, PathMerged, Side, merge_path
from memrepo.semmerge.lines import LineMerge
from memrepo.semmerge.values import Conflict, Labels, Note, Resolution

#: Files whose three sides are in memory at once.
_AT_ONCE = 128
_SUBMODULE = b"160000"


class Joined(msgspec.Struct):
    """What a change comes to on a tip: paths to set or remove (None), and what stood in the way.

    ``clashing`` are the paths with a conflict; they are not among ``wanted``.
    """

    wanted: dict[bytes, Value | None] = {}
    conflicts: list[Conflict] = []
    notes: list[Note] = []
    clashing: set[bytes] = set()


_Met = tuple[PathChange, Value | None]


class TreeMerge:
    """Merges changes into trees of one workshop; decisions that fit are used and noted."""

    def __init__(
        self,
        shop: Workshop,
        labels: Labels,
        line_merge: LineMerge,
        resolutions: Sequence[Resolution] = (),
    ) -> None:
        self._shop, self._labels = shop, labels
        self._line_merge = line_merge
        self._resolutions: dict[str, list[Resolution]] = {}
        for resolution in resolutions:
            self._resolutions.setdefault(resolution.path, []).append(resolution)

    def merge(
        self, root: bytes, changes: Sequence[PathChange], without: Container[bytes] = ()
    ) -> Joined:
        """What ``changes`` come to on the tree ``root``; paths of ``without`` are left alone."""
        joined = Joined()
        both: list[_Met] = []
        self._shop.read_ahead(root, (change.path for change in changes))
        for change in changes:
            if change.path in without:
                continue
            now = self._shop.value(root, change.path)
            if now is None:
                now = self._file_above(root, change, joined.wanted)
            if now == change.after:
                continue
            if now == change.before:
                joined.wanted[change.path] = change.after
            else:
                both.append((change, now))
        # A folder can be found empty only when all else is settled.
        both.sort(key=_is_folder)
        for start in range(0, len(both), _AT_ONCE):
            self._meet(both[start : start + _AT_ONCE], root, joined)
        return joined

    def _file_above(
        self, root: bytes, change: PathChange, wanted: dict[bytes, Value | None]
    ) -> Value | None:
        """The file of the tip that stands where a new file needs a folder, and stays there."""
        if change.after is None:
            return None
        parts = change.path.split(b"/")
        for end in range(1, len(parts)):
            above = b"/".join(parts[:end])
            value = self._shop.value(root, above)
            if value is None or value.mode != FOLDER:
                stays = wanted.get(above, value)
                return Value(BLOCKED, stays.oid) if stays else None
        return None

    def _meet(self, group: Sequence[_Met], root: bytes, joined: Joined) -> None:
        read = self._shop.files(_ids(group), READ_LIMIT)

        def side(value: Value | None) -> Side | None:
            return Side(value.mode, value.oid, read.get(value.oid)) if value else None

        for change, now in group:
            if now is not None and now.mode == FOLDER and self._empties(root, change, joined):
                joined.wanted[change.path] = change.after
                continue
            path = path_text(change.path)
            merged = merge_path(
                path,
                side(change.before),
                side(now),
                side(change.after),
                labels=self._labels,
                resolutions=self._resolutions.get(path, ()),
                line_merge=self._line_merge,
            )
            joined.notes += merged.notes
            if merged.conflicts:
                joined.conflicts += merged.conflicts
                joined.clashing.add(change.path)
            elif (value := self._stored(merged)) != now:
                joined.wanted[change.path] = value

    def _stored(self, merged: PathMerged) -> Value | None:
        if merged.side is not None:
            return Value(merged.side.mode, merged.side.oid)
        if merged.data is None:
            return None
        return Value(merged.mode, self._shop.write_file(merged.data))

    def _empties(self, root: bytes, change: PathChange, joined: Joined) -> bool:
        """Whether the change removes all that the folder at its path holds."""
        return all(
            path in joined.wanted and joined.wanted[path] is None
            for path in self._shop.paths_below(root, change.path)
        )


def _is_folder(met: _Met) -> bool:
    return met[1] is not None and met[1].mode == FOLDER


def _ids(group: Sequence[_Met]) -> Iterator[bytes]:
    for change, now in group:
        for value in (change.before, now, change.after):
            if value is not None and value.mode not in (FOLDER, BLOCKED, _SUBMODULE):
                yield value.oid
