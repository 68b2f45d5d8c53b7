"""Bytes in words, in one way everywhere."""

from __future__ import annotations

import pytest

from memrepo.report.phrases import size


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (1_500_000, "1.5 MB"),
        (10**15, "1000.0 TB"),
    ],
)
def test_sizes(number: int, words: str) -> None:
    assert size(number) == words
