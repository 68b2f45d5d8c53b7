"""Processes that change the same files of one clone take turns at its worktree.

Branches move by compare and swap in any case. But of two processes that bring the same file
up to date, one could put it back while the other has already committed it; and one that is
killed leaves files that no commit has. Whoever has the turn notes what it is about to do
there, and who comes next takes back what was left half done.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import MemrepoError

from .follow import undo_follow
from .objects import object_id
from .paths import Value, path_bytes
from .turns import Turn
from .worktree import Staged, parent_folder

if TYPE_CHECKING:
    from .repository import Repository

_LONGEST_WAIT = 30.0
_NOTE = "records.doing"


class Doing(msgspec.Struct, frozen=True):
    """What is about to be done to index and worktree.

    ``paths`` maps each file that is written to the id of its blob; ``commit`` is the commit
    that both are brought to.
    """

    paths: dict[str, str] = {}
    commit: str = ""


class WorktreeTurn:
    """The turn at one worktree; ``place`` is where notes go, None without the turn."""

    def __init__(self, repo: Repository, place: Path | None) -> None:
        self._repo, self._place = repo, place

    def writes(self, changes: Mapping[str, bytes | None]) -> None:
        """Note the files that are about to be written."""
        form = self._repo.object_format
        self._note(
            Doing(
                {
                    path: object_id(form, "blob", data).hex()
                    for path, data in changes.items()
                    if data is not None
                }
            )
        )

    def follows(self, commit: str) -> None:
        """Note the commit that everything is about to be brought to."""
        self._note(Doing(commit=commit))

    def recover(self) -> None:
        """Take back what a killed process left, as far as nobody has changed it since."""
        if self._place is None:
            return
        with suppress(OSError, msgspec.MsgspecError, MemrepoError):
            doing = msgspec.json.decode(self._place.read_bytes(), type=Doing)
            if doing.commit:
                undo_follow(self._repo, doing.commit)
            elif doing.paths:
                self._take_back(doing.paths)
        self.done()

    def done(self) -> None:
        """Nothing is half done any more."""
        if self._place:
            self._place.unlink(missing_ok=True)

    def _take_back(self, paths: dict[str, str]) -> None:
        view = self._repo.view(self._repo.tip())
        staged = Staged(self._repo)
        now: dict[bytes, Value | None] = {}
        for path, oid in paths.items():
            raw = path_bytes(path)
            self._tidy(raw)
            entry = view.entry_at(raw)
            now[raw] = Value(entry.mode, entry.oid) if entry else None
            blob = self._repo.reader.find(oid)
            if blob:
                staged.adopt({raw: (blob.data, view.read(path))})
        staged.undo(now)

    def _tidy(self, path: bytes) -> None:
        """Remove what was being written beside ``path``: nobody else writes there now."""
        with parent_folder(self._repo, path, create=False) as (folder, _):
            for name in os.listdir(folder) if folder is not None else ():  # noqa: PTH208
                if name.startswith(".memrepo-"):
                    os.unlink(name, dir_fd=folder)

    def _note(self, doing: Doing) -> None:
        if self._place is None:
            return
        beside = self._place.with_suffix(f".{os.getpid():x}")
        with suppress(OSError):
            beside.write_bytes(msgspec.json.encode(doing))
            beside.replace(self._place)


@contextmanager
def worktree_turn(repo: Repository) -> Iterator[WorktreeTurn]:
    """The turn at the worktree of ``repo``; goes on without it where it cannot be had."""
    turn: Turn | None = None
    place: Path | None = None
    if repo.has_worktree:
        with suppress(OSError):
            folder = repo.git_dir / "memrepo"
            folder.mkdir(exist_ok=True)
            turn = Turn(folder)
            if turn.wait(lambda: False, _LONGEST_WAIT):
                place = folder / _NOTE
    mine = WorktreeTurn(repo, place)
    try:
        mine.recover()
        yield mine
        mine.done()
    finally:
        if turn:
            turn.close()
