"""``memrepo history`` and ``memrepo show``: what an agent was, cycle by cycle."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commandline import memrepo, memrepo_process
from memrepo import MemoryRepo
from repositories import GitRepo, new_repo

MakeRepo = Callable[..., GitRepo]
NAMES = ("context.json", "tools.json", "metadata.json")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
#: Ids of which one is part of another, or matches another as a pattern.
IDS = ("user_1", "user_12", "user_1.", "a.b", "aXb", "a.b-c", "b", "x@y")
AGENTS = tuple(agent_id for agent_id in IDS if not agent_id.endswith("."))


def state(agent_id: str, number: int) -> dict[str, bytes]:
    turn = {"role": "user", "content": f"turn of {agent_id}", "timestamp": "2026-03-01T12:00:00Z"}
    tool = {"name": "t", "description": "", "parameters": {}}
    parts: dict[str, Any] = {
        "context.json": [turn] * (number + 1),
        "tools.json": [tool | {"name": f"t{n}"} for n in range(number)],
        "metadata.json": {
            "agent_id": agent_id,
            "version": f"1.{number}.0",
            "last_updated": "2026-03-01T12:00:00Z",
        },
    }
    return {
        n: msgspec.json.format(msgspec.json.encode(v), indent=2) + b"\n" for n, v in parts.items()
    }


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """Three cycles of every agent in turn, a day between them, in a bare repository."""
    made = new_repo(tmp_path_factory.mktemp("history") / "memory.git", bare=True)
    with MemoryRepo(made.path) as memory, memory.bulk() as batch:
        for number in range(3):
            for place, agent_id in enumerate(AGENTS):
                at = START + timedelta(days=number, seconds=place)
                said = f"cycle {number} of Agent-Id: {AGENTS[place - 1]}"
                batch.commit(agent_id, said, state=state(agent_id, number), at=at)
    return made


def history(repo: GitRepo, agent_id: str, *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = memrepo(
        repo, "history", "--agent-id", agent_id, "--json", *more
    ).json
    return found


@pytest.mark.parametrize("agent_id", AGENTS)
def test_an_id_is_matched_whole(agent_id: str, repo: GitRepo) -> None:
    seen = history(repo, agent_id)
    assert [cycle["version"] for cycle in seen] == ["1.2.0", "1.1.0", "1.0.0"]
    pattern = "^Agent-Id: " + agent_id.replace(".", "[.]") + "$"
    assert [c["commit"] for c in seen] == repo.git("log", "--format=%H", "--grep", pattern).split()


def test_the_shape(repo: GitRepo) -> None:
    newest = history(repo, "user_1")[0]
    assert newest == {
        "commit": repo.git("log", "-1", "--format=%H", "--grep", "^Agent-Id: user_1$"),
        "timestamp": "2026-03-03T12:00:00+00:00",
        "message": f"cycle 2 of Agent-Id: {AGENTS[-1]}",
        "snapshot": "history/20260303-120000-user_1.json",
        "context_turns": 3,
        "tools": 2,
        "version": "1.2.0",
    }
    assert list(newest) == [
        "commit", "timestamp", "message", "snapshot", "context_turns", "tools", "version",
    ]  # fmt: skip


def test_one_line_each_newest_first(repo: GitRepo) -> None:
    lines = memrepo(repo, "history", "--agent-id", "user_1").out.splitlines()
    assert [line.split()[0] for line in lines] == [c["timestamp"] for c in history(repo, "user_1")]
    assert all(
        cycle["commit"][:12] in line
        for cycle, line in zip(history(repo, "user_1"), lines, strict=True)
    )


def test_no_cycles(repo: GitRepo, tmp_path: Path) -> None:
    ran = memrepo(repo, "history", "--agent-id", "user")
    assert (ran.code, ran.out) == (0, "")
    assert "no cycles" in ran.err
    assert history(new_repo(tmp_path / "empty"), "bot") == []


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (["-n", "1"], [2]),
        (["-n", "2"], [2, 1]),
        (["-n", "99"], [2, 1, 0]),
        (["--since", "2026-03-02T12:00:00Z"], [2, 1]),
        (["--since", "2026-03-02T12:00:01Z"], [2]),
        (["--until", "2026-03-02T12:00:00Z"], [1, 0]),
        (["--until", "2026-03-02T13:59:59+02:00"], [0]),
        (["--since", "2026-03-02", "--until", "2026-03-03"], [1]),
        (["--until", "2026-03-03", "-n", "1"], [1]),
        (["--since", "1h"], []),
        (["--since", "9999w"], [2, 1, 0]),
        (["--since", "2030-01-01"], []),
    ],
)
def test_bounds(options: list[str], numbers: list[int], repo: GitRepo) -> None:
    assert [cycle["tools"] for cycle in history(repo, "user_1", *options)] == numbers


@pytest.mark.parametrize(
    "options", [["-n", "0"], ["-n", "x"], ["--since", "soon"], ["--until", "d"]]
)
def test_bounds_that_are_none(options: list[str], repo: GitRepo) -> None:
    ran = memrepo(repo, "history", "--agent-id", "user_1", *options)
    assert (ran.code, ran.out) == (2, "")


def test_commits_whose_times_go_backwards_are_still_all_found(memory_repo: MakeRepo) -> None:
    repo = memory_repo()
    with MemoryRepo(repo.path) as memory:
        for number, year in enumerate((2026, 2020, 2024)):
            memory.commit(
                "bot", "x", state=state("bot", number), at=datetime(year, 1, 1, tzinfo=UTC)
            )
    assert [cycle["tools"] for cycle in history(repo, "bot")] == [2, 1, 0]
    assert [cycle["tools"] for cycle in history(repo, "bot", "--since", "2021-01-01")] == [2, 0]


def test_the_person_s_own_git_settings_change_nothing(repo: GitRepo) -> None:
    seen = history(repo, "user_1")
    settings = {
        "log.showSignature": "true", "log.date": "relative", "log.follow": "true",
        "color.ui": "always", "format.pretty": "oneline", "log.decorate": "full",
        "grep.patternType": "perl", "i18n.logOutputEncoding": "latin1", "core.abbrev": "4",
        "log.mailmap": "true", "diff.noprefix": "true", "core.quotePath": "false",
        "grep.extendedRegexp": "true", "core.commentChar": "A", "diff.renames": "copies",
    }  # fmt: skip
    for key, value in settings.items():
        repo.git("config", key, value)
    try:
        assert history(repo, "user_1") == seen
        assert memrepo(repo, "blame", "--agent-id", "user_1", "--json").code == 0
    finally:
        for key in settings:
            repo.git("config", "--unset", key)


def test_a_snapshot_that_cannot_be_read_leaves_its_numbers_open(memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    for data in (b"{}", b"\xff", b"[" * 50_000, b'{"context": 1}'):
        path = f"history/20260301-12000{len(data) % 10}-bot.json"
        repo.write(path, data)
        repo.commit(f"bot: x\n\nAgent-Id: bot\nSnapshot: {path}")
        newest = history(repo, "bot")[0]
        assert newest["snapshot"] == path
        assert (newest["context_turns"], newest["tools"], newest["version"]) == (None, None, None)
        assert " ? turns" in memrepo(repo, "history", "--agent-id", "bot").out
        repo.git("rm", "--quiet", path)


def test_merges_and_rebases_keep_the_history(memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot", "other")
    repo.git("checkout", "--quiet", "-b", "side")
    for agent_id, branch in (("bot", "side"), ("other", "main")):
        repo.git("checkout", "--quiet", branch)
        repo.write_agent(agent_id, version="1.1.0")
        assert memrepo(repo, "commit", "--agent-id", agent_id, "-m", branch).code == 0
    repo.git("merge", "--quiet", "--no-edit", "side")
    assert [cycle["message"] for cycle in history(repo, "bot")] == ["side"]
    assert [cycle["message"] for cycle in history(repo, "other")] == ["main"]


def test_a_pipe_that_closes_early_is_no_error(repo: GitRepo) -> None:
    ran = memrepo_process(repo.path, "history", "--agent-id", "user_1", "-n", "1")
    assert len(ran.out.splitlines()) == 1


# --- show


@pytest.mark.parametrize("rev", ["HEAD", "HEAD~99", "snapshot", "path"])
def test_show(rev: str, repo: GitRepo) -> None:
    oldest = history(repo, "a.b")[-1]
    names = {"snapshot": oldest["snapshot"][8:], "path": oldest["snapshot"]}
    ran = memrepo(repo, "show", "--agent-id", "a.b", "--commit", names.get(rev, rev), "--json")
    if rev == "HEAD~99":
        assert ran.code == 2
        return
    number = 2 if rev == "HEAD" else 0
    wanted = {
        name.removesuffix(".json"): msgspec.json.decode(data)
        for name, data in state("a.b", number).items()
    }
    assert ran.json == {"commit": repo.head() if rev == "HEAD" else oldest["commit"]} | wanted
    text = memrepo(repo, "show", "--agent-id", "a.b", "--commit", names.get(rev, rev)).out
    assert f"context ({number + 1} turn" in text


def test_show_is_json_even_where_the_memory_is_not(memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    for data in (
        b"[NaN]",
        b"[1e999]",
        b"[-Infinity]",
        b"{",
        b"\xff\xfe",
        b'["\\ud800"]',
        b"9" * 5000,
    ):
        repo.write("state/bot/tools.json", data)
        repo.commit("broken")
        shown = memrepo(repo, "show", "--agent-id", "bot", "--json").json
        assert shown.keys() == {"commit", "context", "tools", "metadata"}
        assert memrepo(repo, "show", "--agent-id", "bot").code == 0
