"""Reading shared records: one, a list, a search, and the brief an agent gets at its start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from memrepo.errors import BadInput, UsageError
from memrepo.protocol.record import Address, Record
from memrepo.protocol.recordplace import (
    address_folder,
    address_words,
    key_problem,
    record_id_problem,
)
from memrepo.records.brief import Candidate, write_brief
from memrepo.records.catalog import Catalog
from memrepo.records.index import Index, Row
from memrepo.records.scope import folders
from memrepo.records.terms import match_of, place_word
from memrepo.records.values import Answer, Brief, Filters, Found, Summary
from memrepo.records.worth import Worth, weight

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import TipView

_EVERYTHING = -1
#: So many active records of one address and those around it go into the choice for a brief.
_MOST_BRIEFED = 2_000


class Lookup:
    """Questions to the records that one commit holds, ``view``, at one time, ``now``."""

    def __init__(self, catalog: Catalog, worth: Worth, view: TipView, now: datetime) -> None:
        self._catalog, self._worth, self._view, self._now = catalog, worth, view, now

    def read(self, key_or_id: str, address: Address) -> Answer:
        """The record of that id, or the one that holds for that key.

        Raises UsageError for what is neither, BadInput when there is none.
        """
        where = folders(address)
        if record_id_problem(key_or_id) is None:
            row = self._rows(where, lambda index: _one(index.of_id(where, key_or_id)))
            if not row:
                raise _nothing(f"no record {key_or_id}", address)
            return self._worth.answer(self._worth.read(row[0]), self._now)
        problem = key_problem(key_or_id)
        if problem:
            raise UsageError(
                f"{key_or_id[:120]!a} is no id of a record and no key: it {problem}",
                "give a key like pool-size, or an id like mem_01ARZ3NDEKTSV4RRFFQ69G5FAV",
            )
        rows = self._rows(where, lambda index: index.of_key(where, key_or_id))
        holding = [row for row in rows if not row.has_ended(self._now)]
        if not holding:
            ended = f"; {rows[0].id} is past its end" if rows else ""
            raise _nothing(f"no active record of the key {key_or_id}{ended}", address)
        first, *rest = self._weighed(holding, where)
        notes = [f"{row.id} says something for {address_words(row.place)}, too" for row in rest]
        return self._worth.answer(self._worth.read(first), self._now, notes=notes)

    def active_at(self, record: Record) -> list[Record]:
        """The active records of the address and key of ``record``, past their end or not."""
        folder = address_folder(record.address)
        rows = self._rows([folder], lambda index: index.active(folder, record.key))
        return [self._worth.read(row) for row in rows]

    def listed(self, filters: Filters, address: Address) -> list[Summary]:
        """What meets ``filters``, newest first."""
        where = folders(address, inherited=filters.inherited)
        conditions, most = self._conditions(filters), _most(filters)
        rows = self._rows(where, lambda index: index.listed(where, conditions, most))
        trusts = self._worth.trusts(rows)
        found = [
            self._worth.summary(row, trust, self._now)
            for row, trust in zip(rows, trusts, strict=True)
            if filters.trust in (None, trust)
        ]
        return found[: filters.limit] if filters.limit else found

    def search(self, query: str, filters: Filters, address: Address) -> list[Found]:
        """What meets ``filters`` and holds words of ``query``, the best first."""
        where = folders(address, inherited=filters.inherited)
        match = match_of(query, map(place_word, where))
        if match is None:
            return []
        conditions, most = self._conditions(filters), _most(filters)
        rows = self._rows(where, lambda index: index.searched(match, where, conditions, most))
        found: list[Found] = []
        for row in rows:
            trust = self._worth.trusts([row])[0]
            if filters.trust in (None, trust):
                record = self._worth.read(row)
                found.append(Found(self._worth.answer(record, self._now, trust=trust), row.score))
            if filters.limit and len(found) == filters.limit:
                break
        return found

    def brief(self, max_tokens: int, address: Address) -> Brief:
        """The active conclusions for an address, the most trusted first, in so many tokens."""
        where = folders(address)
        conditions = self._conditions(Filters())
        rows = self._rows(where, lambda index: index.listed(where, conditions, _MOST_BRIEFED))
        by_key: dict[str, Row] = {}
        for row in self._weighed(rows, where):
            by_key.setdefault(row.key, row)
        kept = list(by_key.values())
        trusts = self._worth.trusts(kept)
        candidates = [
            Candidate(self._worth.summary(row, trust, self._now), row, where.index(row.folder))
            for row, trust in zip(kept, trusts, strict=True)
        ]

        def answer(row: Row) -> Answer:
            return self._worth.answer(self._worth.read(row), self._now)

        return write_brief(candidates, answer, address_words(address), max_tokens)

    def ended(self) -> list[Record]:
        """The active records that are past their end, of all addresses."""
        rows = self._catalog.ask(self._view, None, lambda index: index.ended(self._now))
        return [self._worth.read(row) for row in rows]

    def _rows(self, where: Sequence[str], question: Callable[[Index], list[Row]]) -> list[Row]:
        """Rows of the index, with what it remembers of their trust taken over."""

        def ask(index: Index) -> list[Row]:
            rows = question(index)
            digest = self._worth.digest
            self._worth.recall(lambda oid: index.trusted(digest, oid), rows)
            return rows

        return self._catalog.ask(self._view, where, ask)

    def _weighed(self, rows: Sequence[Row], where: Sequence[str]) -> list[Row]:
        """Rows in the order in which they count: what someone vouches for, then the nearest."""
        trusts = dict(zip((row.id for row in rows), self._worth.trusts(rows), strict=True))
        newest = sorted(rows, key=lambda row: row.id, reverse=True)
        return sorted(newest, key=lambda r: (-weight(trusts[r.id]), where.index(r.folder)))

    def _conditions(self, filters: Filters) -> list[tuple[str, object]]:
        now = int(self._now.timestamp())
        found: list[tuple[str, object]] = []
        if filters.status != "any":
            found.append(("status = ?", filters.status))
        if not filters.expired and filters.status in ("active", "any"):
            found.append(("(status <> 'active' OR expires IS NULL OR expires > ?)", now))
        for name, wanted in (
            ("kind", filters.kind),
            ("agent", filters.agent),
            ("key", filters.key),
            ("claimed", None if filters.trust == "session" else filters.trust),
        ):
            if wanted is not None:
                found.append((f"{name} = ?", wanted))
        return found


def _one(row: Row | None) -> list[Row]:
    return [row] if row else []


def _most(filters: Filters) -> int:
    """How many rows to ask for: all where the trust that counts decides, which no row knows."""
    return filters.limit if filters.limit > 0 and filters.trust is None else _EVERYTHING


def _nothing(what: str, address: Address) -> BadInput:
    return BadInput(
        f"there is {what} for {address_words(address)} or what it inherits",
        "memrepo records list shows what there is",
    )
