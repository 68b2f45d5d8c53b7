"""Tree objects as bytes: looked up, spliced and put in Git's order without unpacking them.

A tree body is a row of ``mode SP name NUL id`` entries, sorted by name, where a folder
sorts as if its name ended in a slash. Ids are arbitrary bytes, so a match of a name is
only taken for an entry when it is proven to be one; where the cheap proof fails, the whole
body is read from its start.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

import msgspec

FILE = b"100644"
FOLDER = b"40000"

_MODE = re.compile(rb"(?:10(?:0644|0755|0664)|120000|160000|40000) ")
_MOST_STEPS = 200
_PARSE_UNDER = 2048


class Splice(msgspec.Struct, frozen=True):
    """One edit of a body: ``removed`` bytes at ``start`` give way to ``inserted``."""

    start: int
    removed: int
    inserted: bytes


class Entry(msgspec.Struct, frozen=True):
    """One entry: mode as Git writes it (b"40000" is a folder), name, and raw id."""

    mode: bytes
    name: bytes
    oid: bytes

    @property
    def is_folder(self) -> bool:
        """Whether the entry is a tree."""
        return self.mode == FOLDER


def entries(body: bytes, id_size: int) -> Iterator[Entry]:
    """Every entry of a tree body, in order.  Raises ValueError for a body that is none."""
    start = 0
    while start < len(body):
        space = body.index(b" ", start)
        end = body.index(b"\0", space)
        after = end + 1 + id_size
        if after > len(body):
            raise ValueError("truncated tree")
        yield Entry(body[start:space], body[space + 1 : end], body[end + 1 : after])
        start = after


def sort_key(name: bytes, mode: bytes) -> bytes:
    """What Git sorts an entry by."""
    return name + b"/" if mode == FOLDER else name


class Tree:
    """One version of a tree, never changed: edits give a new one that reuses what is known."""

    __slots__ = ("_index", "_size", "body")

    def __init__(self, body: bytes, id_size: int, index: dict[bytes, int] | None = None) -> None:
        self.body = body
        self._size = id_size
        self._index = index

    def get(self, name: bytes) -> Entry | None:
        """The entry called ``name``."""
        start = self._find(name)
        if start < 0:
            return None
        space = self.body.index(b" ", start)
        oid_at = space + len(name) + 2
        return Entry(self.body[start:space], name, self.body[oid_at : oid_at + self._size])

    def entries(self) -> Iterator[Entry]:
        """Every entry, in Git's order."""
        return entries(self.body, self._size)

    def put(self, name: bytes, mode: bytes, oid: bytes) -> tuple[Tree, Splice | None]:
        """The tree with ``name`` set, and the edit (None when it is there as such).

        An entry of that name and of the other sort (file or folder) must be removed before.
        """
        new = b"%s %s\0%s" % (mode, name, oid)
        start = self._find(name)
        if start >= 0:
            size = self.body.index(b"\0", start) + 1 + self._size - start
            if self.body[start : start + size] == new:
                return self, None
            return self._edit(Splice(start, size, new), keeps_places=size == len(new))
        start = self._place(sort_key(name, mode))
        at_end = start == len(self.body)
        if at_end and self._index is not None:
            self._index[name] = start  # moves on to the new version at once
        return self._edit(Splice(start, 0, new), keeps_places=at_end)

    def remove(self, name: bytes) -> tuple[Tree, Splice | None]:
        """The tree without ``name``, and the edit (None when it was not there)."""
        start = self._find(name)
        if start < 0:
            return self, None
        size = self.body.index(b"\0", start) + 1 + self._size - start
        return self._edit(Splice(start, size, b""), keeps_places=False)

    def _edit(self, edit: Splice, *, keeps_places: bool) -> tuple[Tree, Splice]:
        index, self._index = self._index if keeps_places else None, None
        body = b"".join(
            (self.body[: edit.start], edit.inserted, self.body[edit.start + edit.removed :])
        )
        return Tree(body, self._size, index), edit

    def _find(self, name: bytes) -> int:
        """Where the entry called ``name`` starts, or -1."""
        if self._index is None and len(self.body) >= _PARSE_UNDER:
            needle = b" %s\0" % name
            at = self.body.find(needle)
            # Inside an id there is no room for a name this long and its two delimiters, so
            # the NUL that was found ends an entry; which one is then known from its start.
            while at >= 0 and len(name) > self._size - 2:
                start = self._entry_ending(at + len(needle) + self._size)
                if start is None:
                    break
                if _MODE.fullmatch(self.body, start, at + 1):
                    return start
                at = self.body.find(needle, at + 1)
            if at < 0:
                return -1
        return self._names().get(name, -1)

    def _names(self) -> dict[bytes, int]:
        if self._index is None:
            self._index = {name: start for start, _mode, name in self._walk()}
        return self._index

    def _walk(self) -> Iterator[tuple[int, bytes, bytes]]:
        body, start, step = self.body, 0, self._size + 1
        while start < len(body):
            space = body.index(b" ", start)
            end = body.index(b"\0", space)
            yield start, body[start:space], body[space + 1 : end]
            start = end + step

    def _entry_ending(self, end: int) -> int | None:
        """Where the entry that ends at ``end`` starts; None when the bytes leave it open.

        The entry before it ends with an id, behind a NUL, so the start lies at most one id
        behind the last NUL; it is proven when only one place there looks like a mode.
        """
        nul = end - self._size - 1
        before = self.body.rfind(b"\0", 0, nul)
        if before < 0:
            return 0
        starts = [
            start
            for start in range(before + 1, min(before + 1 + self._size, nul) + 1)
            if _MODE.match(self.body, start)
        ]
        return starts[0] if len(starts) == 1 else None

    def _place(self, key: bytes) -> int:
        """Where an entry that sorts by ``key`` belongs; new names mostly go near the end."""
        end = len(self.body)
        for _ in range(_MOST_STEPS):
            if end == 0:
                return 0
            start = self._entry_ending(end)
            if start is None:
                break
            space = self.body.index(b" ", start)
            name = self.body[space + 1 : end - self._size - 1]
            if sort_key(name, self.body[start:space]) < key:
                return end
            end = start
        places = [(sort_key(name, mode), start) for start, mode, name in self._walk()]
        at = bisect_left(places, (key, 0))
        return places[at][1] if at < len(places) else len(self.body)
