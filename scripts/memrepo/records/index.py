"""The index over records: one SQLite database that stands for exactly one tree of ``records/``.

It holds nothing that the files do not. It is brought from one tree to another by what Git says
differs, in one transaction, and every question is asked in a transaction that has seen for
which tree the index stands.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from memrepo.gitrepo.changes import FileChange, changed_files, iter_blobs
from memrepo.gitrepo.treediff import tree_changes
from memrepo.protocol.record import RECORDS_FOLDER, Address, Record, Status, Trust
from memrepo.protocol.recordfile import parse_record
from memrepo.records.terms import place_word, words_of
from memrepo.rules.strings import texts

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository

#: So many seconds another process may hold the database before the files are read instead.
WAIT = 2.0
#: Another form, or other words: the index is made anew.
_FORM = 1
_TABLES = """
CREATE TABLE about (one INTEGER PRIMARY KEY CHECK (one = 1), tree TEXT NOT NULL);
CREATE TABLE records (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, oid TEXT NOT NULL,
    folder TEXT NOT NULL, id TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
    status TEXT NOT NULL, claimed TEXT NOT NULL, signed INTEGER NOT NULL, agent TEXT NOT NULL,
    model TEXT NOT NULL, confidence REAL NOT NULL, created INTEGER NOT NULL, expires INTEGER,
    address TEXT NOT NULL, summary TEXT NOT NULL
);
CREATE INDEX by_key ON records (folder, key, status);
CREATE INDEX by_place ON records (folder, status, id);
CREATE INDEX by_id ON records (id);
CREATE INDEX by_end ON records (status, expires);
CREATE TABLE trusted (signers TEXT, oid TEXT, trust TEXT, PRIMARY KEY (signers, oid))
    WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (
    place, name, body, tokenize = "porter unicode61 remove_diacritics 2"
);
"""
_COLUMNS = (
    "path, oid, folder, id, key, kind, status, claimed, signed, agent, model, confidence,"
    " created, expires, address, summary"
)
#: A name says more than the text below it.
_RANK = "bm25(words, 0.0, 4.0, 1.0)"
_MOST_BODY = 100_000


class Row(msgspec.Struct, frozen=True):
    """One record as the index has it; times in seconds since 1970, ``claimed`` as written."""

    path: str
    oid: str
    folder: str
    id: str
    key: str
    kind: str
    status: Status
    claimed: Trust
    signed: bool
    agent: str
    model: str
    confidence: float
    created: int
    expires: int | None
    address: str
    summary: str
    score: float = 0.0

    @property
    def place(self) -> Address:
        """The address that the record is about."""
        return msgspec.json.decode(self.address, type=Address)

    def has_ended(self, now: datetime) -> bool:
        """Whether the record is past its end."""
        return self.expires is not None and self.expires <= now.timestamp()

    @property
    def times(self) -> tuple[datetime, datetime | None]:
        """When it was made, and when it ends."""
        ends = None if self.expires is None else datetime.fromtimestamp(self.expires, UTC)
        return datetime.fromtimestamp(self.created, UTC), ends


class WrongTree(Exception):
    """The index stands for another tree by now; bring it up and ask again."""


class Index:
    """The index in one database: a file, or ``:memory:``.

    ``only`` are the folders it is about (from ``records/``); None is all of them. Its methods
    raise ``sqlite3.Error``, which whoever holds it knows how to take.
    """

    def __init__(self, path: str, *, only: Iterable[str] | None = None) -> None:
        self._only = None if only is None else tuple(only)
        self._db = sqlite3.connect(
            path, timeout=WAIT, isolation_level=None, check_same_thread=False
        )
        try:
            if path != ":memory:":
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = NORMAL")
                self._db.execute("PRAGMA cache_size = -65536")  # of a KiB each
        except sqlite3.Error:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def bring_to(self, repo: Repository, tree: str) -> None:
        """Make the index stand for the tree ``tree`` (an id; "" is the empty one)."""
        if self._tree() == tree:
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            before = self._tree()
            if before != tree:
                if before is None or (before and repo.reader.find(before, limit=0) is None):
                    self._make_anew()
                    before = ""
                self._move(repo, before, tree)
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def at(self, tree: str) -> Iterator[Index]:
        """The index as it stands for ``tree``.  Raises WrongTree."""
        self._db.execute("BEGIN")
        try:
            if self._tree() != tree:
                raise WrongTree
            yield self
        finally:
            self._db.execute("COMMIT")

    def active(self, folder: str, key: str) -> list[Row]:
        """The records that are the active ones of a key at one address, past their end or not."""
        return self._rows("folder = ? AND key = ? AND status = 'active' ORDER BY id", (folder, key))

    def of_key(self, folders: list[str], key: str) -> list[Row]:
        """The active records of a key at any of ``folders``."""
        return [row for folder in folders for row in self.active(folder, key)]

    def of_id(self, folders: list[str], record_id: str) -> Row | None:
        """The record of that id, if it lies in one of ``folders``."""
        found = self._rows("id = ?", (record_id,))
        return next((row for row in found if row.folder in folders), None)

    def listed(self, folders: list[str], where: list[tuple[str, object]], limit: int) -> list[Row]:
        """The records of ``folders`` that meet every condition of ``where``, newest first."""
        conditions, values = _conditions(folders, where)
        return self._rows(f"{conditions} ORDER BY id DESC LIMIT ?", (*values, limit))

    def searched(
        self, match: str, folders: list[str], where: list[tuple[str, object]], limit: int
    ) -> list[Row]:
        """The same for those that ``match`` finds, the best first."""
        conditions, values = _conditions(folders, where)
        columns = f"{_COLUMNS}, -{_RANK}"
        asked = (
            f"SELECT {columns} FROM words JOIN records ON number = words.rowid"  # noqa: S608
            f" WHERE words MATCH ? AND {conditions} ORDER BY {_RANK}, id DESC LIMIT ?"
        )
        return [_row(one) for one in self._db.execute(asked, (match, *values, limit))]

    def ended(self, now: datetime) -> list[Row]:
        """The active records that are past their end, in the order of ids."""
        return self._rows("status = 'active' AND expires <= ? ORDER BY id", (int(now.timestamp()),))

    def trusted(self, signers: str, oid: str) -> Trust | None:
        """The trust that was found to count for a file under those signers; None: not looked at."""
        asked = "SELECT trust FROM trusted WHERE signers = ? AND oid = ?"
        found = self._db.execute(asked, (signers, oid)).fetchone()
        return found[0] if found else None

    def keep_trusted(self, signers: str, found: Iterable[tuple[str, Trust]]) -> None:
        """Remember which trust counts, by the ids of files."""
        lines = [(signers, oid, trust) for oid, trust in found]
        self._db.executemany("INSERT OR REPLACE INTO trusted VALUES (?, ?, ?)", lines)

    def _rows(self, where: str, values: tuple[object, ...]) -> list[Row]:
        asked = f"SELECT {_COLUMNS} FROM records WHERE {where}"  # noqa: S608 (ours alone)
        return [_row(one) for one in self._db.execute(asked, values)]

    def _tree(self) -> str | None:
        if self._db.execute("PRAGMA user_version").fetchone()[0] != _FORM:
            return None
        found = self._db.execute("SELECT tree FROM about").fetchone()
        return str(found[0]) if found else None

    def _make_anew(self) -> None:
        for kind, name in self._db.execute(
            "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view')"
            " AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'words_%'"
        ).fetchall():
            self._db.execute(f'DROP {kind} IF EXISTS "{name}"')
        for statement in _TABLES.split(";")[:-1]:
            self._db.execute(statement)
        self._db.execute(f"PRAGMA user_version = {_FORM}")

    def _move(self, repo: Repository, before: str, tree: str) -> None:
        changes = self._changes(repo, before, tree)
        if before:
            for change in changes:
                if change.old_oid:
                    self._remove(f"{RECORDS_FOLDER}/{change.path}")
        added = [c for c in changes if c.new_oid and c.new_mode == 0o100644]
        blobs = iter_blobs(repo, (change.new_oid for change in added))
        for change, (oid, blob) in zip(added, blobs, strict=True):
            path = f"{RECORDS_FOLDER}/{change.path}"
            record = parse_record(blob.data, path)[0] if blob and blob.data else None
            if record:
                self._add(path, oid, record)
        self._db.execute("INSERT OR REPLACE INTO about VALUES (1, ?)", (tree,))

    def _changes(self, repo: Repository, before: str, tree: str) -> Iterable[FileChange]:
        if self._only is None:
            return tree_changes(repo, before, tree)
        old, new = before or None, tree or repo.empty_tree
        inside = [folder.removeprefix(f"{RECORDS_FOLDER}/") for folder in self._only]
        return [one for folder in inside for one in changed_files(repo, old, new, prefix=folder)]

    def _remove(self, path: str) -> None:
        found = self._db.execute("SELECT number FROM records WHERE path = ?", (path,)).fetchone()
        if found:
            self._db.execute("DELETE FROM words WHERE rowid = ?", found)
            self._db.execute("DELETE FROM records WHERE number = ?", found)

    def _add(self, path: str, oid: str, record: Record) -> None:
        folder = path.rsplit("/", 2)[0]
        ends = record.expires_at
        marks = ", ".join("?" for _ in _COLUMNS.split(","))
        done = self._db.execute(
            f"INSERT INTO records ({_COLUMNS}) VALUES ({marks})",  # noqa: S608
            (
                *(path, oid, folder, record.id, record.key, record.kind),
                *(record.lifecycle.status, record.written_by.trust, bool(record.signature)),
                *(record.written_by.agent, record.written_by.model, record.confidence),
                *(int(record.created_at.timestamp()), int(ends.timestamp()) if ends else None),
                *(msgspec.json.encode(record.address).decode(), record.summary),
            ),
        )
        name = " ".join(words_of(f"{record.key}\n{record.summary}"))
        body = " ".join(words_of(_body(record)))
        words = (done.lastrowid, place_word(folder), name, body)
        self._db.execute("INSERT INTO words (rowid, place, name, body) VALUES (?, ?, ?, ?)", words)


def _body(record: Record) -> str:
    """What else a record is found by: all that its writer says beside key and summary."""
    said = {
        "attributes": {k: v for k, v in record.attributes.items() if k != "code_blobs"},
        "content": {k: v for k, v in record.content.items() if k != "summary"},
    }
    found = [text.text for text in texts("record", said) if text.place == "value"]
    return "\n".join([record.written_by.agent, *found])[:_MOST_BODY]


def _row(values: tuple[object, ...]) -> Row:
    return Row(*values)  # type: ignore[arg-type]


def _conditions(
    folders: list[str], where: list[tuple[str, object]]
) -> tuple[str, tuple[object, ...]]:
    marks = ", ".join("?" for _ in folders)
    parts = [f"folder IN ({marks})", *(condition for condition, _ in where)]
    return " AND ".join(parts), (*folders, *(value for _, value in where))
