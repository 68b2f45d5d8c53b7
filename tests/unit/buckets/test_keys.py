from __future__ import annotations

import cbor2
import mmh3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.buckets.key import bucket_of, cbor_head, normal_unit
from memrepo.buckets.many import many_buckets
from memrepo.buckets.murmur3 import murmur3
from memrepo.errors import BadInput
from memrepo.protocol.rollout import TOTAL_PARTS, Assignment

UNITS = st.text(min_size=1, max_size=40).filter(
    lambda text: text == text.strip() and not any("\ud800" <= c <= "\udfff" for c in text)
)
BOTH: tuple[Assignment, ...] = ("murmur3-cbor/1", "murmur3-utf8/1")


@given(st.binary(max_size=300))
def test_the_hash_is_murmur3(data: bytes) -> None:
    assert murmur3(data) == mmh3.hash(data, signed=False)


@pytest.mark.parametrize("size", [*range(20), 23, 24, 251, 252, 253, 255, 256, 257, 4_000])
def test_the_hash_at_every_length(size: int) -> None:
    data = bytes(n * 37 % 256 for n in range(size))
    assert murmur3(data) == mmh3.hash(data, signed=False)


@pytest.mark.parametrize("size", [0, 1, 23, 24, 255, 256, 65_535, 65_536, 70_000])
def test_the_key_is_cbor(size: int) -> None:
    assert cbor_head(size) + b"x" * size == cbor2.dumps("x" * size, canonical=True)


@given(UNITS)
def test_a_bucket_is_as_published(unit: str) -> None:
    unit = normal_unit(unit)
    key = "e1:" + unit
    hashed = mmh3.hash(cbor2.dumps(key, canonical=True), signed=False)
    assert bucket_of("e1:", unit, "murmur3-cbor/1") == hashed * TOTAL_PARTS >> 32
    hashed = mmh3.hash(key.encode(), signed=False)
    assert bucket_of("e1:", unit, "murmur3-utf8/1") == hashed * TOTAL_PARTS >> 32


@pytest.mark.parametrize(
    ("unit", "hashed", "bucket"),
    [
        ("ejOoVL", 0, 0),
        ("bY9fO-", 1, 0),
        ("SI7p-", 0x7FFFFFFF, 49_999),
        ("6LvT0", 0x80000000, 50_000),
        ("ceQdGm", 0xFFFFFFFF, 99_999),
    ],
)
def test_hashes_at_the_edges_have_a_bucket(unit: str, hashed: int, bucket: int) -> None:
    """The keys with which flagd's own tests look at the edges (fractional, version 2)."""
    assert murmur3(unit.encode()) == hashed
    assert bucket_of("", unit, "murmur3-utf8/1") == bucket


# Pinned for good: a change of one of these moves units of running rollouts.
@pytest.mark.parametrize(
    ("unit", "cbor", "utf8"),
    [
        ("user-1", 38_265, 8_051),
        ("user-2", 81_502, 73_282),
        ("42", 5_949, 82_385),
        ("a", 52_370, 71_192),
        ("550e8400-e29b-41d4-a716-446655440000", 80_617, 96_221),
        ("ticket/9", 88_188, 25_078),
        ("é", 60_626, 8_679),
        ("名前", 29_067, 89_191),
        ("x" * 300, 54_044, 10_883),
    ],
)
def test_buckets_never_change(unit: str, cbor: int, utf8: int) -> None:
    assert bucket_of("new-classifier:", unit, "murmur3-cbor/1") == cbor
    assert bucket_of("new-classifier:", unit, "murmur3-utf8/1") == utf8


@pytest.mark.parametrize("assignment", BOTH)
@given(st.lists(UNITS, max_size=30))
def test_many_at_once_are_the_same(assignment: Assignment, units: list[str]) -> None:
    units = [normal_unit(unit) for unit in units]
    expected = [bucket_of("s:", unit, assignment) for unit in units]
    assert many_buckets("s:", units, assignment).tolist() == expected


@pytest.mark.parametrize("assignment", BOTH)
def test_many_of_every_length_are_the_same(assignment: Assignment) -> None:
    units = ["u" * size for size in (*range(1, 60), 255, 256, 300, 70_000)]
    expected = [bucket_of("salt:", unit, assignment) for unit in units]
    assert many_buckets("salt:", units, assignment).tolist() == expected


# --- units


@pytest.mark.parametrize(
    ("unit", "text"), [("a", "a"), (42, "42"), (-1, "-1"), ("e\u0301", "é"), ("Å", "Å")]
)
def test_a_unit_is_one_text(unit: object, text: str) -> None:
    assert normal_unit(unit) == text


@pytest.mark.parametrize(
    "unit", ["", True, False, 1.0, 1.5, None, b"a", ["a"], " a", "a\n", "\ud800"]
)
def test_what_is_no_unit(unit: object) -> None:
    with pytest.raises(BadInput):
        normal_unit(unit)
