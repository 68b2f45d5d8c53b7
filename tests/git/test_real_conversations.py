"""Real conversations as agents, every exchange a cycle: what Git then says, and memrepo too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commandline import memrepo
from memrepo import MemoryRepo
from repositories import GitRepo, new_repo

NAMES = ("context.json", "tools.json", "metadata.json")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
WINDOW = 50


class Cycle(msgspec.Struct, frozen=True):
    """One exchange: when it was, what the user wanted, and the three files after it."""

    agent_id: str
    at: datetime
    message: str
    files: dict[str, bytes]


def written(value: Any) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


def exchanges(messages: list[dict[str, Any]]) -> Iterator[list[tuple[str, str]]]:
    """A user's words with the assistant's answers to them; what has no words is left out."""
    part: list[tuple[str, str]] = []
    for message in messages:
        if message["role"] not in ("user", "assistant") or not message["content"]:
            continue
        if message["role"] == "user" and any(role == "assistant" for role, _ in part):
            yield part
            part = []
        part.append((message["role"], message["content"]))
    if part:
        yield part


def cycles(folder: Path) -> list[Cycle]:
    """Every cycle of every conversation, the agents side by side, in order of time."""
    tools = json.loads((folder / "airline-tools.json").read_bytes())
    made = []
    lines = (folder / "airline-conversations.jsonl").read_text(encoding="utf-8").splitlines()
    for place, line in enumerate(lines):
        conversation = json.loads(line)
        agent_id = f"airline_{place + 1}"
        turns: list[dict[str, str]] = []
        for number, exchange in enumerate(exchanges(conversation["messages"])):
            at = START + timedelta(minutes=number, seconds=place % 60)
            stamp = at.strftime("%Y-%m-%dT%H:%M:%SZ")
            turns += [{"role": r, "content": c, "timestamp": stamp} for r, c in exchange]
            turns = turns[-WINDOW:]
            metadata = {"agent_id": agent_id, "version": f"1.0.{number}", "last_updated": stamp}
            parts = [written(part) for part in (turns, tools, metadata)]
            files = dict(zip(NAMES, parts, strict=True))
            made.append(Cycle(agent_id, at, exchange[0][1].replace("\n", " ")[:60], files))
    return sorted(made, key=lambda cycle: cycle.at)


@pytest.fixture(scope="module")
def told(
    data_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[GitRepo, dict[str, list[Cycle]]]:
    """The repository that all of the conversations make, with a worktree, and its cycles."""
    repo = new_repo(tmp_path_factory.mktemp("real") / "memory")
    repo.write(".memrepo/policy.yml", "severity: {sensitive-word: warning}\n")
    repo.commit("begin")
    by_agent: dict[str, list[Cycle]] = {}
    with MemoryRepo(repo.path) as memory, memory.bulk() as batch:
        for cycle in cycles(data_folder):
            batch.commit(cycle.agent_id, cycle.message, state=cycle.files, at=cycle.at)
            by_agent.setdefault(cycle.agent_id, []).append(cycle)
    return repo, by_agent


def test_history_agrees_with_what_was_said_and_with_plain_git(
    told: tuple[GitRepo, dict[str, list[Cycle]]],
) -> None:
    repo, by_agent = told
    by_trailer: dict[str, list[str]] = {}
    for line in repo.git(
        "log", "--format=%H %(trailers:key=Agent-Id,valueonly,separator=)"
    ).splitlines():
        commit, _, agent_id = line.partition(" ")
        by_trailer.setdefault(agent_id, []).append(commit)
    for agent_id, lived in by_agent.items():
        seen = memrepo(repo, "history", "--agent-id", agent_id, "--json").json
        assert [cycle["commit"] for cycle in seen] == by_trailer[agent_id]
        assert [cycle["version"] for cycle in reversed(seen)] == [
            f"1.0.{n}" for n in range(len(lived))
        ]
        turns = [len(json.loads(cycle.files["context.json"])) for cycle in lived]
        assert [cycle["context_turns"] for cycle in reversed(seen)] == turns
        assert max(turns) <= WINDOW
    for agent_id in list(by_agent)[:8]:
        found = repo.git("log", "--format=%H", "--grep", f"^Agent-Id: {agent_id}$").split()
        assert found == by_trailer[agent_id]


def test_every_snapshot_is_the_state_of_its_cycle(
    told: tuple[GitRepo, dict[str, list[Cycle]]],
) -> None:
    repo, by_agent = told
    total = sum(map(len, by_agent.values()))
    snapshots = repo.git("ls-tree", "-r", "--name-only", "HEAD", "history/").splitlines()
    assert len(snapshots) == total == len(repo.git("rev-list", "HEAD").split()) - 1
    with MemoryRepo(repo.path) as memory:
        for agent_id, lived in list(by_agent.items())[::7]:
            for cycle, held in zip(lived, reversed(memory.history(agent_id)), strict=True):
                parts = json.loads(repo.read(held.snapshot))
                assert [written(parts[n.removesuffix(".json")]) for n in NAMES] == [
                    cycle.files[name] for name in NAMES
                ]
                assert memory.show(agent_id, held.commit).files == cycle.files


def test_back_to_the_middle_of_every_conversation(
    told: tuple[GitRepo, dict[str, list[Cycle]]],
) -> None:
    repo, by_agent = told
    assert repo.git("status", "--porcelain") == ""
    with MemoryRepo(repo.path) as memory:
        for agent_id, lived in by_agent.items():
            middle = len(lived) // 2
            back = list(reversed(memory.history(agent_id)))[middle]
            done = memory.revert(agent_id, back.snapshot.rpartition("/")[2])
            assert done.changed is (middle != len(lived) - 1)
            for name, data in lived[middle].files.items():
                assert (repo.path / "state" / agent_id / name).read_bytes() == data
            now = memory.history(agent_id)
            assert len(now) == len(lived) + done.changed
            assert now[0].version == f"1.0.{middle}"
    for agent_id, lived in list(by_agent.items())[::9]:
        for name, data in lived[len(lived) // 2].files.items():
            assert repo.read(f"state/{agent_id}/{name}") == data
    assert repo.git("status", "--porcelain") == ""
    repo.git("fsck", "--strict", "--no-dangling")
