from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.layout import case_collisions, place_of, state_paths
from memrepo.protocol.names import SnapshotName, agent_id_problem, parse_snapshot_name


@pytest.mark.parametrize(
    "agent_id", ["a", "A1", "support_v1", "0-x", "a.b@c-d_e", "x" * 100, "console", "com10", "nul_"]
)
def test_good_agent_ids(agent_id: str) -> None:
    assert agent_id_problem(agent_id) is None


@pytest.mark.parametrize(
    "agent_id",
    ["", ".a", "-a", "_a", "@a", "a.", "a/b", "a b", "a\n", "é", "x" * 101, "con", "NUL.txt",
     "Com1", "lpt9.x", "a\\b", "a:b", "..", "a\u200b", "$(id)", "a'b"],
)  # fmt: skip
def test_bad_agent_ids_say_why(agent_id: str) -> None:
    problem = agent_id_problem(agent_id)
    assert problem
    assert problem.isascii()
    assert problem.isprintable()


@given(st.text())
def test_an_agent_id_is_one_safe_component(agent_id: str) -> None:
    if agent_id_problem(agent_id) is None:
        assert agent_id.isascii()
        assert not set(agent_id) & set("/\\:\0 \n'\"$`;|&<>*?")
        assert agent_id not in (".", "..")
        assert place_of(state_paths(agent_id)[0]).role == "state"


@given(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)),
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,30}", fullmatch=True),
)
def test_a_snapshot_name_comes_back(when: datetime, agent_id: str) -> None:
    if agent_id_problem(agent_id):
        return
    name = SnapshotName(when.replace(microsecond=0, tzinfo=UTC), agent_id)
    assert parse_snapshot_name(name.file_name) == name
    for layout in ("flat", "daily"):
        place = place_of(name.path(layout))
        assert (place.role, place.snapshot, place.agent_id) == ("snapshot", name, agent_id)


@pytest.mark.parametrize(
    ("path", "role", "problem"),
    [
        ("state/a/context.json", "state", ""),
        ("state/a/notes.md", "misplaced", "unexpected-file"),
        ("state/a/sub/context.json", "misplaced", "unexpected-file"),
        ("state/context.json", "misplaced", "unexpected-file"),
        ("state/.gitkeep", "keep", ""),
        ("state/a b/context.json", "misplaced", "agent-id"),
        ("history/.gitkeep", "keep", ""),
        ("history/20260101-000000-a.json", "snapshot", ""),
        ("history/20260230-000000-a.json", "misplaced", "snapshot-name"),
        ("history/20260101-246000-a.json", "misplaced", "snapshot-name"),
        ("history/20260101-000000-.json", "misplaced", "snapshot-name"),
        ("history/20260101-000000-a.txt", "misplaced", "snapshot-name"),
        ("history/2026/01/01/20260101-000000-a.json", "snapshot", ""),
        ("history/2026/01/02/20260101-000000-a.json", "misplaced", "snapshot-name"),
        ("history/2026/20260101-000000-a.json", "misplaced", "unexpected-file"),
        ("records/.gitkeep", "keep", ""),
        ("records/org/a/01JD/mem_01JDZ9A6S0QG3V6Z1XQ2N5H8KB.yml", "record", ""),
        ("records/org/a/01JD/mem_01JDZ9A6S0QG3V6Z1XQ2N5H8KB.yaml", "misplaced", "unexpected-file"),
        ("records/org/a/01JD/mem_01JDZ9A6S0QG3V6Z1XQ2N5H8KU.yml", "misplaced", "unexpected-file"),
        ("records/org/a/01JD/MEM_01jdz9a6s0qg3v6z1xq2n5h8kb.yml", "misplaced", "case-collision"),
        ("records/org/a/.gitkeep", "misplaced", "unexpected-file"),
        ("records", "misplaced", "unexpected-file"),
        ("Records/x.yml", "misplaced", "case-collision"),
        ("recordsets/x.yml", "other", ""),
        (".memrepo/policy.yml", "policy", ""),
        ("MEMORY.md", "other", ""),
        ("stateful/x", "other", ""),
    ],
)
def test_what_a_path_is_for(path: str, role: str, problem: str) -> None:
    place = place_of(path)
    assert (place.role, place.problem) == (role, problem)


@given(st.text())
def test_any_path_has_a_place(path: str) -> None:
    for start in ("", "state/", "history/", "state/a/", "history/2026/01/01/", "records/"):
        assert place_of(start + path).role


def test_ids_that_collide_when_case_is_folded() -> None:
    assert case_collisions(["Bot", "bot", "other", "BOT"]) == [("BOT", "Bot"), ("BOT", "bot")]
    assert case_collisions(["bot", "bot2"]) == []
