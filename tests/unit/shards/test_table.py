from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archived import archived, contents
from memrepo.errors import BadInput
from memrepo.protocol.layout import place_of
from memrepo.shards.path import at, snapshot_path
from memrepo.shards.table import Members, Snapshots
from memrepo.shards.values import Archived


@given(contents, st.randoms(use_true_random=False))
def test_a_table_is_the_sorted_sequence(given_: dict[str, bytes], chance: random.Random) -> None:
    plain = sorted(archived(path, data) for path, data in given_.items())
    mixed = list(plain)
    chance.shuffle(mixed)
    table = Snapshots(mixed)
    assert table == tuple(plain)
    assert tuple(plain) == table
    assert list(table) == plain
    assert [table[n] for n in range(-len(plain), len(plain))] == [*plain, *plain]
    assert table[1:3] == plain[1:3]
    assert table[::-1] == plain[::-1]
    assert hash(table) == hash(Snapshots(plain))
    assert [at(when) for when in table.times()] == [
        place.snapshot.when for one in plain if (place := place_of(one.path)).snapshot
    ]
    assert list(table.agents()) == [place_of(one.path).agent_id for one in plain]
    assert list(table.paths()) == [one.path for one in plain]
    assert list(table.blobs()) == [one.blob for one in plain]
    assert list(table.sizes()) == [one.size for one in plain]
    picked = table[1:].pick(range(0, max(len(plain) - 1, 0), 2))
    assert picked == plain[1::2]
    assert picked.sized(range(len(picked))) == [
        Archived(one.path, one.blob, n) for n, one in enumerate(plain[1::2])
    ]
    assert table == plain


def test_a_table_is_not_another() -> None:
    one = archived("history/20240101-000000-a.json", b"a")
    assert Snapshots([one]) != Snapshots()
    assert Snapshots([one]) != (archived(one.path, b"b"),)
    assert Snapshots([one]) != 1
    with pytest.raises(IndexError):
        Snapshots([one])[1]
    with pytest.raises(BadInput, match="not the path of a snapshot"):
        Snapshots([archived("README.md", b"")])


def test_there_is_one_size_a_snapshot() -> None:
    table = Snapshots([archived("history/20240101-000000-a.json", b"a")])
    with pytest.raises(ValueError, match="one size a snapshot"):
        table.sized([1, 2])


def test_members_carry_a_hash_each() -> None:
    table = Snapshots([archived("history/20240101-000000-a.json", b"a")])
    members = Members(table, bytearray(range(32)))
    row = (table[0].path, table[0].blob, 1, bytes(range(32)).hex())
    assert members == [row]
    assert (row,) == members
    assert (members[0], members[-1], members[:1]) == (row, row, (row,))
    with pytest.raises(ValueError, match="one hash a snapshot"):
        Members(table, bytearray(31))


def test_many_take_little_memory() -> None:
    tracemalloc.start()
    try:
        table = Snapshots(
            Archived(snapshot_path(1_704_067_200 + n, f"agent-{n % 40}", daily=True), "a" * 40, n)
            for n in range(20_000)
        )
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(table) == 20_000
    assert most < 60 * 20_000
