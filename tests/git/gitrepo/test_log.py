"""An agent's history by trailers that count, and nothing that only looks like one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memrepo.errors import UnknownRevision
from memrepo.gitrepo.log import (
    agent_log,
    iso_time,
    log_paths,
    messages_between,
    trailer,
    trailers,
)
from memrepo.gitrepo.repository import Repository
from repositories import GitRepo, new_repo


def cycle(made: GitRepo, agent: str, number: int, message: str | None = None) -> str:
    made.write(f"state/{agent}/context.json", f"{number}\n")
    text = message or f"{agent}: {number}\n\nAgent-Id: {agent}\nSnapshot: history/{number}.json\n"
    made.git("add", ".")
    date = f"{1_772_366_400 + number} +0130"
    env = ["-c", "core.commentChar=;"]
    subprocess.run(
        ["git", *env, "commit", "-q", "--cleanup=verbatim", "-F", "-", f"--date={date}"],
        cwd=made.path,
        input=text.encode(),
        check=True,
    )
    return made.head()


def test_ids_are_matched_whole(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo()
    ids = ["user_1", "user_12", "user.1", "userx1", "a@b-c", "User_1"]
    commits = {agent: cycle(made, agent, number) for number, agent in enumerate(ids)}
    with Repository.open(made.path) as repo:
        for agent, commit in commits.items():
            assert [entry.commit for entry in agent_log(repo, agent)] == [commit]
        entry = agent_log(repo, "user_12")[0]
    assert entry.time == "2026-03-01T13:30:01+01:30"
    assert (entry.author, entry.email) == ("Test Person", "test@example.org")
    assert (entry.subject, entry.snapshot) == ("user_12: 1", "history/1.json")
    assert entry.body == "Agent-Id: user_12\nSnapshot: history/1.json"


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        ("x\n\nAgent-Id: a1\n", True),
        ("x\n\nsome words\n\nAgent-Id: a1\nSnapshot: s\n", True),
        ("x\n\nSigned-off-by: A <a@b>\nAgent-Id: a1", True),
        ("x\n\nAgent-Id: b2\nAgent-Id: a1\n", True),
        ("x\n\nAgent-Id: a1\n\nAgent-Id: b2\n", False),
        ("x\n\nAgent-Id: a1\nAgent-Id: b2\n", False),
        ("x\n\nAgent-Id: a1\n\njust words\n", False),
        ("Agent-Id: a1\n", False),
        ("x\nAgent-Id: a1\n", False),
        ("x\n\nwords\nAgent-Id: a1\n", False),
        ("x\n\n> Agent-Id: a1\n", False),
        ("x\n\nNot-Agent-Id: a1\n", False),
        ("x\n\nAgent-Id: a1 b\n", False),
        ("x\n\nKey: v\n Agent-Id: a1\n", False),
    ],
)
def test_only_the_last_paragraph_counts(
    memory_repo: Callable[..., GitRepo], message: str, counts: bool
) -> None:
    made = memory_repo()
    cycle(made, "a1", 1, message)
    with Repository.open(made.path) as repo:
        assert bool(agent_log(repo, "a1")) == counts


def test_bounds_and_limits(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo()
    order = [5, 1, 9, 3]
    commits = {number: cycle(made, "a1", number) for number in order}
    at = {n: datetime.fromtimestamp(1_772_366_400 + n, UTC) for n in (1, 3, 5, 9)}
    with Repository.open(made.path) as repo:

        def found(**more: object) -> list[int]:
            entries = agent_log(repo, "a1", **more)  # type: ignore[arg-type]
            numbers = {commit: number for number, commit in commits.items()}
            return [numbers[entry.commit] for entry in entries]

        assert found() == [3, 9, 1, 5]
        assert found(limit=2) == [3, 9]
        assert found(limit=0) == []
        assert found(since=at[5]) == [9, 5]
        assert found(until=at[3]) == [3, 1]
        assert found(since=at[3], until=at[5], limit=1) == [3]
        assert found(rev=commits[9]) == [9, 1, 5]
        with pytest.raises(UnknownRevision):
            found(rev="--all")


def test_a_repository_without_commits(tmp_path: Path) -> None:
    made = new_repo(tmp_path / "empty")
    with Repository.open(made.path) as repo:
        assert agent_log(repo, "a1") == []
        with pytest.raises(UnknownRevision):
            log_paths(repo, ["state/a1/context.json"])


def test_hostile_ids_find_nothing(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo()
    cycle(made, "a1", 1)
    with Repository.open(made.path) as repo:
        for agent in ("", ".*", "a1\nAgent-Id: a1", "a1$", "--all", "[a]1"):
            assert agent_log(repo, agent) == []


def test_many_commits_are_read_in_pieces(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo()
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {1_772_366_400 + n} +0000\n"
        f"data <<END\na1: {n} {'x' * (n % 97) * 10}\n\nAgent-Id: a1\nEND\n"
        + (f"from {made.head()}\n" if n == 0 else "")
        for n in range(1500)
    )
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=made.path, input=stream.encode(), check=True
    )
    with Repository.open(made.path) as repo:
        entries = agent_log(repo, "a1")
        assert len(agent_log(repo, "a1", limit=3)) == 3
    assert [entry.seconds for entry in entries] == [1_772_366_400 + n for n in range(1500)][::-1]


def test_log_of_paths_and_messages(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo("a1")
    begin = made.head()
    first = cycle(made, "a1", 1)
    cycle(made, "b2", 2)
    third = cycle(made, "a1", 3, "a1: odd\n\nbody\nmore\n\nAgent-Id: a1\n")
    made.write(":(glob)*", "x")
    odd = made.commit("odd path")
    with Repository.open(made.path) as repo:
        paths = ["state/a1/context.json"]
        assert [e.commit for e in log_paths(repo, paths)] == [third, first, begin]
        assert [e.commit for e in log_paths(repo, paths, limit=1)] == [third]
        assert [e.commit for e in log_paths(repo, [":(glob)*"])] == [odd]
        said = messages_between(repo, first, third)
    assert [text for _, text in said] == [
        "a1: odd\n\nbody\nmore\n\nAgent-Id: a1",
        "b2: 2\n\nAgent-Id: b2\nSnapshot: history/2.json",
    ]


def test_trailers_that_go_on() -> None:
    message = "x\n\nKey: one\n two\nAgent-Id: a1\n"
    assert trailers(message) == [("Key", "one two"), ("Agent-Id", "a1")]
    assert trailer(message, "agent-id") == "a1"
    assert trailer("x", "Agent-Id") == ""


def test_times() -> None:
    assert iso_time("0 +0000") == "1970-01-01T00:00:00+00:00"
    assert iso_time("1772366400 -0930") == "2026-03-01T02:30:00-09:30"
    assert iso_time("99999999999999999 +9999") == "9999-12-31T00:00:00+00:00"
    assert iso_time("99999999999999999 +1400") == "9999-12-31T14:00:00+14:00"
    assert iso_time("-5 -1200") == "1969-12-31T12:00:00-12:00"
