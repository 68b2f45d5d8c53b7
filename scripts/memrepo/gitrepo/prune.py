"""Taking many files out of a commit's tree in one pass, without an index or a worktree.

Each folder that loses files is written anew once, so the cost is that of reading it,
whatever the number of files that go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from .commit import LooseSink, message_bytes, store_commit
from .identity import ident_line, identity, stamp
from .paths import Value, path_bytes, path_text
from .trees import FILE, entries

if TYPE_CHECKING:
    from .repository import Repository, TipView

Why = Literal["changed", "gone"]


class Pruned(msgspec.Struct, frozen=True):
    """A tree without some files: its raw id, and the paths that went, in order.

    ``left`` are those that stayed: "changed" holds something else by now, "gone" is not there.
    """

    root: bytes
    removed: tuple[str, ...]
    left: tuple[tuple[str, Why], ...]


class _Folder:
    """What goes from one folder: names with the raw id they must have, and folders below."""

    __slots__ = ("below", "here")

    def __init__(self) -> None:
        self.here: dict[bytes, bytes] = {}
        self.below: dict[bytes, _Folder] = {}


def remove_unchanged(repo: Repository, view: TipView, wanted: Mapping[str, str]) -> Pruned:
    """The tree of ``view`` without the plain files of ``wanted`` (path to blob id in hex).

    A path whose blob is another by now stays. Stores the trees; no ref names them yet. A
    folder that becomes empty goes.
    """
    top = _Folder()
    for path, blob in wanted.items():
        *folders, name = path_bytes(path).split(b"/")
        at = top
        for part in folders:
            at = at.below.setdefault(part, _Folder())
        at.here[name] = bytes.fromhex(blob)
    sweep = _Sweep(repo)
    root = sweep.without(b"", view.root, top) if view.root is not None else None
    if root is None:
        root = repo.writer.write("tree", b"")
    return Pruned(root, tuple(sorted(sweep.removed)), tuple(sorted(sweep.left)))


class _Sweep:
    """One walk over the folders that lose files."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self.removed: list[str] = []
        self.left: list[tuple[str, Why]] = []

    def without(self, path: bytes, oid: bytes | None, wanted: _Folder) -> bytes | None:
        """The id of the folder ``oid`` without ``wanted``; None where nothing remains."""
        body = self._repo.trees.tree(path, oid).body
        kept: list[bytes] = []
        here, below = dict(wanted.here), dict(wanted.below)
        for entry in entries(body, self._repo.id_size):
            new = entry.oid
            if (blob := here.pop(entry.name, None)) is not None:
                at = path_text(_join(path, entry.name))
                if blob == entry.oid and entry.mode in (FILE, b"100664"):
                    self.removed.append(at)
                    continue
                self.left.append((at, "changed"))
            elif entry.is_folder and entry.name in below:
                at_folder = _join(path, entry.name)
                inner = self.without(at_folder, entry.oid, below.pop(entry.name))
                if inner is None:
                    continue
                new = inner
            kept.append(b"%s %s\0%s" % (entry.mode, entry.name, new))
        self.left += [(path_text(_join(path, name)), "gone") for name in here]
        for name, folder in below.items():
            self._all_gone(_join(path, name), folder)
        new_body = b"".join(kept)
        if new_body == body:
            return oid
        return self._repo.writer.write("tree", new_body) if new_body else None

    def _all_gone(self, path: bytes, folder: _Folder) -> None:
        self.left += [(path_text(_join(path, name)), "gone") for name in folder.here]
        for name, below in folder.below.items():
            self._all_gone(_join(path, name), below)


def _join(folder: bytes, name: bytes) -> bytes:
    return folder + b"/" + name if folder else name


def with_files(repo: Repository, root: bytes, files: Mapping[str, bytes]) -> bytes:
    """The tree ``root`` (a raw id) with files set to these bytes; its raw id."""
    values: dict[bytes, Value | None] = {}
    for path, data in files.items():
        values[path_bytes(path)] = Value(FILE, repo.writer.write("blob", data))
    return repo.trees.apply(root, values, LooseSink(repo.writer)).root


def commit_tree(repo: Repository, root: bytes, parents: list[str], message: str) -> str:
    """A commit of the tree ``root`` by whom Git's rules name, now; no ref names it yet."""
    return store_commit(
        repo,
        LooseSink(repo.writer),
        root=root,
        parents=parents,
        author=ident_line(identity(repo, "author"), stamp(repo, "author", None)),
        committer=ident_line(identity(repo, "committer"), stamp(repo, "committer", None)),
        message=message_bytes(message),
    )
