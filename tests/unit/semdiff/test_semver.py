from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.semver import MAX_CHARS, Version, parse_version


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0", "1.2.3", "10.20.30", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-0.3.7",
        "1.0.0-x.7.z.92", "1.0.0-x-y-z.--", "1.0.0+20130313144700", "1.0.0-beta+exp.sha.5114f85",
        "1.0.0+001", "1.0.0--", "1.0.0-0a", "99999999999999999999.0.0",
    ],
)  # fmt: skip
def test_versions(text: str) -> None:
    assert parse_version(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.02.3", "1.2.3-", "1.2.3+", "1.2.3-01",
        "1.2.3-a..b", "1.2.3 ", " 1.2.3", "1.2.3\n", "1.2.3-a_b", "1.2.3+a+b", "-1.2.3", "1.2.x",
        "١.٢.٣", "1.2.3-é", "latest", "1.2.3+" + "a" * MAX_CHARS,
    ],
)  # fmt: skip
def test_what_is_no_version(text: str) -> None:
    assert parse_version(text) is None


def test_parts() -> None:
    assert parse_version("1.2.3-rc.1+build.5") == Version(1, 2, 3, ("rc", "1"), ("build", "5"))


def test_order() -> None:
    rising = [
        "0.9.9", "1.0.0-0", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1",
        "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0",
        "1.0.1", "1.1.0", "1.10.0", "2.0.0-a", "2.0.0",
    ]  # fmt: skip
    versions = [parse_version(text) for text in rising]
    for low, high in pairwise(versions):
        assert low is not None
        assert high is not None
        assert low.precedence < high.precedence


def test_the_build_has_no_part_in_the_order() -> None:
    one, other = parse_version("1.0.0+a"), parse_version("1.0.0+b")
    assert one is not None
    assert other is not None
    assert one.precedence == other.precedence


@given(st.text(max_size=20))
def test_any_text(text: str) -> None:
    version = parse_version(text)
    assert version is None or text.startswith(f"{version.major}.{version.minor}.{version.patch}")
