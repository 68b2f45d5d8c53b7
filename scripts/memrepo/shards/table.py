"""Many snapshots in little memory: some 40 bytes each instead of 250.

A job of a large repository holds half a million of them at once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import msgspec

from memrepo.errors import BadInput
from memrepo.shards.path import Named, shown, snapshot_at, snapshot_path
from memrepo.shards.values import Archived

#: The size of an :class:`Archived` of which only path and blob id are known.
UNKNOWN_SIZE = -1

_HEX = frozenset("0123456789abcdef")
_MOST_SIZE = 1 << 53
_HASH_SIZE = 32


class _Columns(msgspec.Struct):
    """The fields of snapshots, one after the other, as numbers and raw ids.

    A place is twice the seconds since 1970, and one more in the daily layout; ``whose`` is
    the agent's place in ``agents``; an id takes ``width`` bytes.
    """

    agents: list[str]
    width: int
    places: array[int]
    whose: array[int]
    sizes: array[int]
    ids: bytearray


class _Held(msgspec.Struct, frozen=True):
    """Some of the snapshots in columns: their places there, in the order of paths."""

    columns: _Columns
    order: Sequence[int]


class Snapshots(Sequence[Archived]):
    """Snapshots in the order of their paths, each path once. Never changes.

    Equal to any sequence of the same :class:`Archived`.
    """

    __slots__ = ("_columns", "_order")

    def __init__(self, snapshots: Iterable[Archived] | _Held = ()) -> None:
        """``snapshots`` may come in any order.

        Raises BadInput for a path that is no snapshot's, a path given twice, a blob id that
        is none, or ids of two lengths.
        """
        held = snapshots if isinstance(snapshots, _Held) else _filled(snapshots)
        self._columns, self._order = held.columns, held.order

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Archived: ...
    @overload
    def __getitem__(self, index: slice) -> Snapshots: ...
    def __getitem__(self, index: int | slice) -> Archived | Snapshots:
        if isinstance(index, slice):
            return self._view(self._order[index])
        return next(self._each((self._order[index],)))

    def __iter__(self) -> Iterator[Archived]:
        return self._each(self._order)

    def _each(self, order: Sequence[int]) -> Iterator[Archived]:
        some = self if order is self._order else self._view(order)
        return map(Archived, some.paths(), some.blobs(), some.sizes())

    def paths(self) -> Iterator[str]:
        """Their paths."""
        columns = self._columns
        agents, whose, places = columns.agents, columns.whose, columns.places
        for at in self._order:
            place = places[at]
            yield snapshot_path(place >> 1, agents[whose[at]], daily=place & 1 == 1)

    def pick(self, places: Iterable[int]) -> Snapshots:
        """Those at some places, counted from 0; rising, so that paths stay in order."""
        return self._view(array("I", map(self._order.__getitem__, places)))

    def _view(self, order: Sequence[int]) -> Snapshots:
        return Snapshots(_Held(self._columns, order))

    def times(self) -> Iterator[int]:
        """The times in their names, in seconds since 1970."""
        places = self._columns.places
        return (places[at] >> 1 for at in self._order)

    def agents(self) -> Iterator[str]:
        """Whose each is."""
        agents, whose = self._columns.agents, self._columns.whose
        return (agents[whose[at]] for at in self._order)

    def sizes(self) -> Iterator[int]:
        """Their sizes in bytes."""
        return map(self._columns.sizes.__getitem__, self._order)

    def blobs(self) -> Iterator[str]:
        """Their blob ids, in hex."""
        ids, width = self._columns.ids, self._columns.width
        return (ids[at * width : (at + 1) * width].hex() for at in self._order)

    def sized(self, sizes: Iterable[int]) -> Snapshots:
        """The same snapshots with these sizes, one for each.  Raises ValueError."""
        given = array("q", sizes)
        if len(given) != len(self):
            raise ValueError("there is not one size a snapshot")
        column = array("q", bytes(8 * len(self._columns.places)))
        for at, size in zip(self._order, given, strict=True):
            column[at] = size
        return Snapshots(_Held(msgspec.structs.replace(self._columns, sizes=column), self._order))

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __hash__(self) -> int:
        return hash(tuple(self.blobs()))

    def __repr__(self) -> str:
        return f"Snapshots({list(self)!r})"


class Filling:
    """Takes snapshots one by one, in any order; :meth:`end` gives them in the order of paths."""

    def __init__(self) -> None:
        self._columns = _Columns([], 20, array("q"), array("I"), array("q"), bytearray())
        self._numbers: dict[str, int] = {}
        self._last = ""
        self._in_order = True

    def add(self, snapshot: Archived, named: Named) -> None:
        """Take one more; ``named`` is what its path says.

        Raises BadInput for a blob id that is none or of another length, or a size that is none.
        """
        columns, blob = self._columns, snapshot.blob
        if len(blob) not in (40, 64) or not _HEX.issuperset(blob):
            raise BadInput(f"{shown(snapshot.path)} has no blob id, but {shown(blob)}")
        if not UNKNOWN_SIZE <= snapshot.size < _MOST_SIZE:
            raise BadInput(f"{shown(snapshot.path)} cannot have {snapshot.size} bytes")
        if not columns.places:
            columns.width = len(blob) // 2
        elif len(blob) != 2 * columns.width:
            raise BadInput("the snapshots have blob ids of two kinds, SHA-1 and SHA-256")
        number = self._numbers.setdefault(named.agent_id, len(self._numbers))
        if number == len(columns.agents):
            columns.agents.append(named.agent_id)
        columns.places.append(2 * named.when + named.daily)
        columns.whose.append(number)
        columns.sizes.append(snapshot.size)
        columns.ids += bytes.fromhex(blob)
        if snapshot.path <= self._last:
            self._in_order = False
        self._last = snapshot.path

    def end(self) -> Snapshots:
        """All that was taken.  Raises BadInput for a path that came twice."""
        return Snapshots(self.held())

    def held(self) -> _Held:
        """The same, for :class:`Snapshots` itself."""
        columns = self._columns
        every = range(len(columns.places))
        if self._in_order:
            return _Held(columns, every)
        paths = [one.path for one in Snapshots(_Held(columns, every))]
        order = array("I", sorted(every, key=paths.__getitem__))
        for at, after in pairwise(order):
            if paths[at] == paths[after]:
                raise BadInput(f"{shown(paths[at])} is there twice")
        return _Held(columns, order)


def table_of(snapshots: Iterable[Archived]) -> Snapshots:
    """``snapshots`` as a table, which they may be already.  Raises BadInput."""
    return snapshots if isinstance(snapshots, Snapshots) else Snapshots(snapshots)


def _filled(snapshots: Iterable[Archived]) -> _Held:
    filling = Filling()
    for snapshot in snapshots:
        named = snapshot_at(snapshot.path)
        if named is None:
            raise BadInput(f"{shown(snapshot.path)} is not the path of a snapshot")
        filling.add(snapshot, named)
    return filling.held()


class Members(Sequence[tuple[str, str, int, str]]):
    """Packed snapshots: (path, blob id, size, SHA-256 of the content), as ``snapshots`` lie.

    Equal to any sequence of the same tuples.
    """

    __slots__ = ("_hashes", "snapshots")

    def __init__(self, snapshots: Sequence[Archived], hashes: bytearray) -> None:
        """``hashes`` holds the 32 bytes of each snapshot's SHA-256, one after the other."""
        if len(hashes) != _HASH_SIZE * len(snapshots):
            raise ValueError("there is not one hash a snapshot")
        self.snapshots = snapshots
        self._hashes = hashes

    def __len__(self) -> int:
        return len(self.snapshots)

    @overload
    def __getitem__(self, index: int) -> tuple[str, str, int, str]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[str, str, int, str]]: ...
    def __getitem__(self, index: int | slice) -> Any:
        places = range(len(self))[index]
        return self._get(places) if isinstance(places, int) else tuple(map(self._get, places))

    def __iter__(self) -> Iterator[tuple[str, str, int, str]]:
        return map(self._get, range(len(self)))

    def _get(self, at: int) -> tuple[str, str, int, str]:
        one = self.snapshots[at]
        digest = self._hashes[at * _HASH_SIZE : (at + 1) * _HASH_SIZE].hex()
        return one.path, one.blob, one.size, digest

    def __eq__(self, other: object) -> bool:
        return _equal(self, other)

    def __hash__(self) -> int:
        return hash(bytes(self._hashes))

    def __repr__(self) -> str:
        return f"Members({list(self)!r})"


def _equal(one: Sequence[Any], other: object) -> bool:
    if not isinstance(other, Sequence) or len(one) != len(other):
        return False
    return all(a == b for a, b in zip(one, other, strict=True))
