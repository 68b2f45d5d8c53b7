from __future__ import annotations

from functools import lru_cache

from hypothesis import given
from hypothesis import strategies as st

from memrepo.semdiff.align import aligned


def most(before: str, after: str) -> int:
    """The length of the longest common subsequence, by the definition."""

    @lru_cache(None)
    def of(i: int, j: int) -> int:
        if i == len(before) or j == len(after):
            return 0
        if before[i] == after[j]:
            return 1 + of(i + 1, j + 1)
        return max(of(i + 1, j), of(i, j + 1))

    return of(0, 0)


def check(before: str, after: str) -> int:
    pairs = aligned(before, after)
    assert all(before[i] == after[j] for i, j in pairs)
    assert [i for i, _ in pairs] == sorted({i for i, _ in pairs})
    assert [j for _, j in pairs] == sorted({j for _, j in pairs})
    return len(pairs)


@given(st.text("abcd", max_size=20), st.text("abcd", max_size=20))
def test_short_sequences_are_aligned_as_well_as_can_be(before: str, after: str) -> None:
    assert check(before, after) == most(before, after)


def test_a_shifted_window_with_repeats() -> None:
    assert aligned("xayaz", "ayaza") == [(1, 0), (2, 1), (3, 2), (4, 3)]


def test_long_repeating_sequences_are_aligned_in_order() -> None:
    before = "".join("ab"[i * i % 7 % 2] for i in range(4_000))
    after = "".join("ab"[i * i % 11 % 2] for i in range(4_000))
    assert check(before, after) > 1_000


def test_unique_items_hold_long_repeating_sequences_together() -> None:
    block = "ab" * 100
    before = "".join(block + chr(0x4E00 + i) for i in range(20))
    after = "x" + before[:2_000] + "ba" + before[2_000:] + "y"
    assert check(before, after) == len(before)
