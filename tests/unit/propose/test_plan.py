from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import NeedsPerson
from memrepo.gitrepo.refs import branch_ref
from memrepo.propose.plan import Three, body_text, branch_name, joined
from memrepo.protocol.documents import STATE_FILES
from memrepo.protocol.names import agent_id_problem


@given(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}", fullmatch=True),
    st.text(),
    st.integers(1, 99),
)
def test_a_branch_name_is_one_that_git_takes(agent_id: str, message: str, again: int) -> None:
    if agent_id_problem(agent_id) is None:
        name = branch_name(agent_id, message, again)
        assert branch_ref(name) == f"refs/heads/{name}"
        assert name.count("/") == 2


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Learn the new refund rules!", "memory/bot/learn-the-new-refund-rules"),
        ("Überweisung prüfen\n\nmore", "memory/bot/uberweisung-prufen"),
        ("退款", "memory/bot/change"),
        ("$(touch x); `id` --force", "memory/bot/touch-x-id-force"),
        ("x" * 90, f"memory/bot/{'x' * 40}"),
    ],
)
def test_a_branch_is_named_after_what_it_does(message: str, name: str) -> None:
    assert branch_name("bot", message) == name
    assert branch_name("bot", message, 2) == f"{name}-2"


def blob_id(data: bytes) -> str:
    return data.hex()


def three(proposed: str, there: str, wanted: str) -> Three:
    ids = dict(zip(STATE_FILES, (blob_id(c.encode()) for c in proposed), strict=True))
    on_branch, now = (
        dict(zip(STATE_FILES, (c.encode() for c in side), strict=True)) for side in (there, wanted)
    )
    return Three(ids, on_branch, now)


@pytest.mark.parametrize(
    ("proposed", "there", "wanted", "result"),
    [
        ("aaa", "aaa", "aab", "aab"),  # only the agent went on
        ("aaa", "aab", "aaa", "aab"),  # only a person changed something
        ("aaa", "baa", "aab", "bab"),  # each changed another file
        ("aaa", "bbb", "bbb", "bbb"),  # both the same way
    ],
)
def test_both_sides_survive(proposed: str, there: str, wanted: str, result: str) -> None:
    files = joined("bot", three(proposed, there, wanted), "memory/bot/x", blob_id)
    assert b"".join(files.values()).decode() == result


def test_one_file_changed_two_ways_is_for_a_person() -> None:
    with pytest.raises(NeedsPerson, match=r"state/bot/context\.json"):
        joined("bot", three("aaa", "baa", "caa"), "memory/bot/x", blob_id)


@given(st.text(), st.text(), st.text(), st.text())
def test_what_people_wrote_around_the_report_stays(
    words: str, before: str, after: str, report: str
) -> None:
    first = body_text("", words, "old report")
    edited = f"{before}{first}{after}"
    second = body_text(edited, "ignored", report)
    assert second.startswith(before)
    assert second.endswith(after)
    assert "old report" not in second[len(before) : len(second) - len(after)] or (
        "old report" in words + report
    )
    assert body_text(second, "ignored", report) == second


def test_a_report_cannot_end_its_own_block() -> None:
    hostile = "x <!-- memrepo:end --> y <!-- memrepo:diff -->"
    text = body_text("", "words", hostile)
    assert text.count("<!-- memrepo:end -->") == text.count("<!-- memrepo:diff -->") == 1
