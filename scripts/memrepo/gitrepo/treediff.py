"""What differs between two trees that are nearly the same, without a process for the question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .changes import FileChange, changed_files
from .paths import path_text
from .trees import Entry, entries

if TYPE_CHECKING:
    from .repository import Repository

#: So many pairs of folders are compared here; where more differ, Git is faster.
_MOST_FOLDERS = 32


def tree_changes(repo: Repository, old: str, new: str) -> list[FileChange]:
    """The files that differ between two trees (ids; "" is the empty one), by path in each.

    The same as :func:`changed_files`, in no particular order.
    """
    if old and new:
        near = _near(repo, old, new)
        if near is not None:
            return near
    return changed_files(repo, old or None, new or repo.empty_tree)


def _near(repo: Repository, old: str, new: str) -> list[FileChange] | None:
    """The changes where few folders differ; None where many do."""
    found: list[FileChange] = []
    waiting: list[tuple[bytes, str, str]] = [(b"", old, new)]
    compared = 0
    while waiting:
        folder, before, after = waiting.pop()
        compared += 1
        if compared > _MOST_FOLDERS:
            return None
        was, now = _entries(repo, before), _entries(repo, after)
        for name in was.keys() | now.keys():
            one, other = was.get(name), now.get(name)
            if one == other:
                continue
            path = folder + name
            if _folder(one) or _folder(other):
                waiting.append((path + b"/", _folder(one), _folder(other)))
            if not (_folder(one) and _folder(other)):
                change = _change(path, _file(one), _file(other))
                found += [change] if change.old_oid or change.new_oid else []
    return found


def _folder(entry: Entry | None) -> str:
    return entry.oid.hex() if entry and entry.is_folder else ""


def _file(entry: Entry | None) -> Entry | None:
    return None if entry and entry.is_folder else entry


def _entries(repo: Repository, tree: str) -> dict[bytes, Entry]:
    body = repo.reader.read(tree)[1] if tree else b""
    return {entry.name: entry for entry in entries(body, repo.id_size)}


def _change(path: bytes, old: Entry | None, new: Entry | None) -> FileChange:
    return FileChange(
        path_text(path),
        int(old.mode, 8) if old else 0,
        int(new.mode, 8) if new else 0,
        old.oid.hex() if old else "",
        new.oid.hex() if new else "",
        "A" if old is None else "D" if new is None else "M",
    )
