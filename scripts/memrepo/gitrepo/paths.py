"""Trees by path: looking up, and applying changes of nested paths to a root tree.

The bodies of folders that were touched stay in memory between commits, so that a commit
on an open repository reads nothing again that did not change under it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from memrepo.errors import BadInput, GitFailed

from .process import plain
from .trees import FOLDER, Entry, Splice, Tree

_MOST_FOLDERS = 8192
_GIT_FOLDERS = (b".git", b"git~1")


class Sink(Protocol):
    """Where new objects go: loose files, or one pack."""

    def write(self, kind: str, body: bytes) -> bytes:
        """Store an object; its raw id."""

    def write_tree(
        self, path: bytes, body: bytes, before: bytes | None, edits: Sequence[Splice]
    ) -> bytes:
        """Store a tree that came from ``before`` by ``edits``; its raw id."""


class Reader(Protocol):
    """Where objects come from."""

    def read(self, name: str) -> tuple[str, bytes]:
        """Kind and bytes of the object with that id in hex."""


class Value(msgspec.Struct, frozen=True):
    """What a path holds: mode as Git writes it, and raw object id."""

    mode: bytes
    oid: bytes


class Applied(msgspec.Struct, frozen=True):
    """What changes did to a root tree.

    ``root`` is the new root's raw id. ``before`` gives the old value (None: absent) of
    each changed file and of each folder on the way to one; ``after`` the new value of
    each changed file.
    """

    root: bytes
    before: dict[bytes, Value | None]
    after: dict[bytes, Value | None]


class _Folder:
    """Changes that concern one folder: names set or removed here, and folders below."""

    __slots__ = ("below", "here")

    def __init__(self) -> None:
        self.here: dict[bytes, Value | None] = {}
        self.below: dict[bytes, _Folder] = {}


def path_bytes(path: str) -> bytes:
    """A path inside the repository as bytes.  Raises BadInput for one that Git refuses."""
    raw = path.encode("utf-8", "surrogateescape")
    for part in raw.split(b"/"):
        if part in (b"", b".", b"..") or part.lower().rstrip(b" .") in _GIT_FOLDERS:
            raise BadInput(f"{plain(path)} cannot be a path in a repository")
    if b"\0" in raw:
        raise BadInput(f"{plain(path)} cannot be a path in a repository")
    return raw


def path_text(raw: bytes) -> str:
    """A path from Git as text; bytes that are no UTF-8 survive as surrogates."""
    return raw.decode("utf-8", "surrogateescape")


class PathTrees:
    """The trees of one repository, kept by path."""

    def __init__(self, reader: Reader, id_size: int) -> None:
        self._reader = reader
        self.id_size = id_size
        self._kept: dict[bytes, tuple[bytes, Tree]] = {}

    def tree(self, path: bytes, oid: bytes | None) -> Tree:
        """The tree ``oid``, which lies at ``path``; None is the empty one."""
        if oid is None:
            return Tree(b"", self.id_size)
        kept = self._kept.get(path)
        if kept and kept[0] == oid:
            return kept[1]
        kind, body = self._reader.read(oid.hex())
        if kind != "tree":
            raise GitFailed(f"{oid.hex()} is a {kind}, not a tree", "run git fsck")
        tree = Tree(body, self.id_size)
        self._keep(path, oid, tree)
        return tree

    def blob(self, oid: bytes) -> bytes:
        """The bytes of the file with that raw id."""
        kind, data = self._reader.read(oid.hex())
        if kind != "blob":
            raise GitFailed(f"{oid.hex()} is a {kind}, not a file", "run git fsck")
        return data

    def _keep(self, path: bytes, oid: bytes, tree: Tree) -> None:
        self._kept.pop(path, None)
        self._kept[path] = (oid, tree)
        if len(self._kept) > _MOST_FOLDERS:
            del self._kept[next(iter(self._kept))]

    def get(self, root: bytes | None, path: bytes) -> Entry | None:
        """The entry at ``path`` below the tree ``root``; None when there is none."""
        folder, _, name = path.rpartition(b"/")
        tree = self.folder(root, folder)
        return tree.get(name) if tree else None

    def folder(self, root: bytes | None, path: bytes) -> Tree | None:
        """The folder at ``path`` (b"" is the root); None when there is none."""
        tree, at = self.tree(b"", root), b""
        for name in path.split(b"/") if path else ():
            entry = tree.get(name)
            if entry is None or not entry.is_folder:
                return None
            at = at + b"/" + name if at else name
            tree = self.tree(at, entry.oid)
        return tree

    def apply(
        self, root: bytes | None, changes: Mapping[bytes, Value | None], sink: Sink
    ) -> Applied:
        """Set or remove (None) files below ``root`` and store the trees that change.

        A folder that becomes empty goes. Raises BadInput where a file stands in the place
        of a folder, or a folder in the place of a file.
        """
        top = _Folder()
        for path, value in changes.items():
            *folders, name = path.split(b"/")
            at = top
            for part in folders:
                at = at.below.setdefault(part, _Folder())
            at.here[name] = value
        applied = Applied(b"", {}, {})
        new = self._apply(b"", root, top, sink, applied)
        if new is None:
            new = sink.write_tree(b"", b"", root, ())
        return msgspec.structs.replace(applied, root=new)

    def _apply(
        self, path: bytes, oid: bytes | None, changes: _Folder, sink: Sink, applied: Applied
    ) -> bytes | None:
        tree = self.tree(path, oid)
        edits: list[Splice] = []
        wanted = dict(changes.here)
        for name, below in changes.below.items():
            at = path + b"/" + name if path else name
            old = tree.get(name)
            if old is not None and not old.is_folder:
                raise BadInput(f"{plain(path_text(at))} is a file in the commit, not a folder")
            applied.before[at] = Value(FOLDER, old.oid) if old else None
            new = self._apply(at, old.oid if old else None, below, sink, applied)
            wanted[name] = None if new is None else Value(FOLDER, new)
        for name, value in wanted.items():
            at = path + b"/" + name if path else name
            old = tree.get(name)
            if name in changes.here:
                if old is not None and old.is_folder:
                    raise BadInput(f"{plain(path_text(at))} is a folder in the commit")
                applied.before[at] = Value(old.mode, old.oid) if old else None
                applied.after[at] = value
            if value is None:
                tree, edit = tree.remove(name)
            else:
                tree, edit = tree.put(name, value.mode, value.oid)
            if edit:
                edits.append(edit)
        if not tree.body:
            return None
        if not edits and oid is not None:
            return oid
        new_oid = sink.write_tree(path, tree.body, oid, edits)
        self._keep(path, new_oid, tree)
        return new_oid
