from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.agentglobs import agent_glob_problem, common_glob, covers

IDS = ["".join(letters) for size in range(1, 5) for letters in product("ab-", repeat=size)]
PIECES = st.sampled_from(["a", "b", "-", "*", "?", "[ab]", "[!a]", "[a-b]", "**"])
GLOBS = st.lists(PIECES, min_size=1, max_size=4).map("".join)


@pytest.mark.parametrize("glob", ["a", "support_*", "*", "?x", "[abc]*", "[!a-z]1", "a.b@c-d"])
def test_globs_of_agent_ids(glob: str) -> None:
    assert agent_glob_problem(glob) is None


@pytest.mark.parametrize(
    ("glob", "words"),
    [
        ("", "empty"),
        ("a b", "' '"),
        ("a/b", "'/'"),
        ("[ab", "no set of characters"),
        ("a]", "']'"),
        ("[z-a]", "no character"),
        ("é*", "no agent id has"),
        ("x" * 101, "100 is the most"),
    ],
)
def test_globs_that_match_nothing_are_refused(glob: str, words: str) -> None:
    assert words in (agent_glob_problem(glob) or "")


@given(GLOBS, GLOBS)
def test_two_globs_meet_when_an_id_matches_both(one: str, other: str) -> None:
    common = [a for a in IDS if fnmatchcase(a, one) and fnmatchcase(a, other)]
    found = common_glob([one], [other])
    if common:
        assert found == (one, other)
    elif found:
        # They meet in an id longer than those listed, or of other letters.
        assert "*" in one or "*" in other or "!" in one or "!" in other or "?" in one + other


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ("support_*", "*_v1", True),
        ("support_*", "sales_*", False),
        ("a*b", "a*c", False),
        ("a?c", "abc", True),
        ("a[bc]", "a[!bc]", False),
        ("*a*", "b*", True),
        ("a", "a?", False),
        ("*", "x", True),
    ],
)
def test_what_meets(one: str, other: str, meet: bool) -> None:
    assert (common_glob([one], [other]) is not None) is meet
    assert (common_glob([other], ["zzz", one]) is not None) is meet


def test_many_stars_are_decided_quickly() -> None:
    assert common_glob(["*a" * 40], ["*b" * 40]) is None
    assert common_glob(["*a" * 40], ["*b*a" * 20]) is not None


def test_covers_keeps_the_case() -> None:
    assert covers(["support_*", "x"], "support_v1")
    assert not covers(["support_*"], "Support_v1")
    assert not covers([], "a")
