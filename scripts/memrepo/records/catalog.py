"""Where records are looked up: the index in the Git folder, or one made on the spot.

The index on disk is a convenience. Where it is locked, broken, cannot be written, or stands
for another tree and another process keeps moving it, the files of the addresses that were
asked for are read instead, and the answer is the same.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from memrepo.protocol.record import RECORDS_FOLDER
from memrepo.records.index import Index, WrongTree

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository, TipView

_T = TypeVar("_T")
_NAME = "records.sqlite"
_TRIES = 3


class Catalog:
    """The records of one repository, to be asked at any of its commits."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._folder = repo.git_dir / "memrepo"
        self._disk: Index | None = None
        self._lock: int | None = None
        self._unusable = False
        self._made: tuple[tuple[str, tuple[str, ...] | None], Index] | None = None

    def close(self) -> None:
        """Close what is open."""
        if self._made:
            self._made[1].close()
            self._made = None
        self._let_go()

    def ask(
        self, view: TipView, folders: Iterable[str] | None, question: Callable[[Index], _T]
    ) -> _T:
        """What ``question`` answers of the records that ``view`` holds.

        ``folders`` are those the question is about, None for all.
        """
        entry = view.entry(RECORDS_FOLDER)
        tree = entry.oid.hex() if entry and entry.is_folder else ""
        for _ in range(_TRIES):
            index = self._open()
            if index is None:
                break
            try:
                index.bring_to(self._repo, tree)
                with index.at(tree):
                    return question(index)
            except WrongTree:
                continue
            except sqlite3.OperationalError as error:
                if "no such" not in str(error):  # locked, read-only, a full disk
                    break
                self._discard()
            except sqlite3.DatabaseError:
                self._discard()
        return question(self._made_for(tree, folders))

    def keep(self, store: Callable[[Index], None]) -> None:
        """Write something into the index on disk that may as well be lost."""
        index = self._open()
        if index is not None:
            with suppress(sqlite3.Error):
                store(index)

    def _made_for(self, tree: str, folders: Iterable[str] | None) -> Index:
        """An index in memory over the files of ``folders``, kept for the next question."""
        wanted = (tree, None if folders is None else tuple(sorted(set(folders))))
        if self._made is None or self._made[0] != wanted:
            if self._made:
                self._made[1].close()
            index = Index(":memory:", only=wanted[1])
            index.bring_to(self._repo, tree)
            self._made = (wanted, index)
        return self._made[1]

    def _open(self) -> Index | None:
        if self._disk is None and not self._unusable:
            try:
                self._folder.mkdir(exist_ok=True)
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
                self._lock = os.open(self._folder / f"{_NAME}.lock", flags, 0o600)
                # Held while the database is open: nobody may take it away meanwhile.
                fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                self._disk = Index(str(self._folder / _NAME))
            except sqlite3.OperationalError:
                self._let_go()
            except sqlite3.DatabaseError:
                self._discard()
            except BlockingIOError:  # another process is replacing a broken one
                self._let_go()
            except OSError:
                self._let_go()
                self._unusable = True
        return self._disk

    def _discard(self) -> None:
        """Take a broken index away, if no other process has it open."""
        if self._disk:
            with suppress(sqlite3.Error):
                self._disk.close()
            self._disk = None
        try:
            if self._lock is not None:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for end in ("", "-wal", "-shm"):
                    (self._folder / f"{_NAME}{end}").unlink(missing_ok=True)
        except OSError:
            self._unusable = True
        self._let_go()

    def _let_go(self) -> None:
        if self._disk:
            with suppress(sqlite3.Error):
                self._disk.close()
            self._disk = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
