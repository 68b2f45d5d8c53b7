"""``memrepo blame``: which commit brought every turn and tool as it is, against a plain reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandline import memrepo
from memrepo import MemoryRepo
from memrepo.protocol.documents import AgentState, Metadata, Tool, Turn
from repositories import GitRepo, new_repo

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

_TURNS = st.lists(st.sampled_from("abcd"), max_size=5)
_TOOLS = st.lists(st.sampled_from("tuv"), unique=True, max_size=3)
_NUMBERS = count()


@st.composite
def lives(draw: st.DrawFn) -> list[tuple[list[str], list[tuple[str, str]]]]:
    """Some versions of an agent: its turns, and its tools with their descriptions."""
    versions = []
    for _ in range(draw(st.integers(1, 7))):
        tools = [(name, draw(st.sampled_from(["", "x"]))) for name in draw(_TOOLS)]
        versions.append((draw(_TURNS), tools))
    return versions


def oracle(versions: list[list[Any]]) -> list[int]:
    """For every item of the last version, the version (by number) that brought it to stay.

    Version by version, back from the last: the n-th of equal items came with the oldest of
    the unbroken run of versions that hold n of them.
    """
    origins = []
    seen: Counter[Any] = Counter()
    for item in versions[-1]:
        seen[item] += 1
        number = len(versions) - 1
        while number > 0 and versions[number - 1].count(item) >= seen[item]:
            number -= 1
        origins.append(number)
    return origins


def as_state(turns: list[str], tools: list[tuple[str, str]], number: int) -> AgentState:
    return AgentState(
        [Turn("user", text, "2026-03-01T12:00:00Z") for text in turns],
        [Tool(name, text, {}) for name, text in tools],
        # So that every version is a commit, even of the same turns and tools.
        Metadata("bot", f"1.{number}.0", "2026-03-01T12:00:00Z"),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("blame")


@settings(max_examples=25)
@given(versions=lives())
def test_every_item_belongs_to_the_commit_that_a_plain_reading_finds(
    versions: list[tuple[list[str], list[tuple[str, str]]]], folder: Path
) -> None:
    repo = new_repo(folder / f"{next(_NUMBERS)}.git", bare=True)
    with MemoryRepo(repo.path) as memory, memory.bulk() as batch:
        for number, (turns, tools) in enumerate(versions):
            at = START + timedelta(seconds=number)
            batch.commit("bot", f"{number}", state=as_state(turns, tools, number), at=at)
    commits = repo.git("rev-list", "--reverse", "HEAD").split()
    ran = memrepo(repo, "blame", "--agent-id", "bot", "--json")
    assert ran.code == 0
    for what, part in (("turn", 0), ("tool", 1)):
        found = [each for each in ran.json if each["what"] == what]
        wanted = [commits[n] for n in oracle([list(version[part]) for version in versions])]
        assert [each["commit"] for each in found] == wanted
        assert [each["index"] for each in found] == list(range(len(wanted)))


def test_the_shape(memory_repo: Callable[..., GitRepo]) -> None:
    repo = memory_repo()
    turns = [{"role": "user", "content": "One", "timestamp": "2026-03-01T12:00:00Z"}]
    tools: list[dict[str, object]] = [{"name": "search", "description": "Finds.", "parameters": {}}]
    repo.write_agent("bot", turns=turns, tools=tools)
    first = memrepo(
        repo, "commit", "--agent-id", "bot", "-m", "x", "--at", "2026-03-01"
    ).out.strip()
    turns.append(turns[0] | {"role": "assistant", "content": "Two"})
    repo.write_agent("bot", turns=turns, tools=tools, version="1.1.0")
    second = memrepo(
        repo, "commit", "--agent-id", "bot", "-m", "x", "--at", "2026-03-02"
    ).out.strip()
    seen = memrepo(repo, "blame", "--agent-id", "bot", "--json").json
    assert seen[1] == {
        "what": "turn", "index": 1, "label": "assistant", "text": "Two", "commit": second,
        "time": "2026-03-02T00:00:00+00:00", "author": "Test Person",
    }  # fmt: skip
    assert [(each["what"], each["commit"]) for each in seen] == [
        ("turn", first), ("turn", second), ("tool", first),
    ]  # fmt: skip
    old = memrepo(repo, "blame", "--agent-id", "bot", "--commit", first, "--json").json
    assert old == [seen[0], seen[2]]
    lines = memrepo(repo, "blame", "--agent-id", "bot").out.splitlines()
    assert len(lines) == 3
    assert lines[1].startswith(f"{second[:12]}  2026-03-02T00:00:00+00:00  Test Person  turn 2")


def test_a_terminal_obeys_nothing_that_a_turn_says(memory_repo: Callable[..., GitRepo]) -> None:
    repo = memory_repo()
    turn = {"role": "user", "content": "a\x1b[2J\nb", "timestamp": "2026-03-01T12:00:00Z"}
    repo.write_agent("bot", turns=[turn])
    repo.commit("by plain Git")
    ran = memrepo(repo, "blame", "--agent-id", "bot")
    assert len(ran.out.splitlines()) == 1
    assert "\x1b" not in ran.out


def test_a_version_that_cannot_be_read_breaks_the_run(memory_repo: Callable[..., GitRepo]) -> None:
    repo = memory_repo("bot")
    good = (repo.path / "state/bot/context.json").read_bytes()
    repo.write("state/bot/context.json", b"[broken")
    repo.commit("broken")
    assert memrepo(repo, "blame", "--agent-id", "bot", "--json").json == []
    repo.write("state/bot/context.json", good)
    mended = repo.commit("mended")
    seen = memrepo(repo, "blame", "--agent-id", "bot", "--json").json
    assert {each["commit"] for each in seen} == {mended}


def test_a_window_that_moves_on(memory_repo: Callable[..., GitRepo]) -> None:
    repo = memory_repo()
    texts = [f"turn {n}" for n in range(30)]
    with MemoryRepo(repo.path) as memory, memory.bulk() as batch:
        for end in range(1, 31):
            window = texts[max(0, end - 5) : end]
            at = START + timedelta(seconds=end)
            batch.commit("bot", f"{end}", state=as_state(window, [], end), at=at)
    seen = memrepo(repo, "blame", "--agent-id", "bot", "--json").json
    subjects = repo.git("log", "--format=%H %s", "-n", "5").splitlines()
    assert [each["commit"] for each in reversed(seen)] == [line.split()[0] for line in subjects]


@pytest.mark.parametrize("rev", ["nothing", "HEAD~99", ""])
def test_what_is_not_there(rev: str, memory_repo: Callable[..., GitRepo]) -> None:
    repo = memory_repo("bot")
    assert memrepo(repo, "blame", "--agent-id", "bot", "--commit", rev).code == 2
    assert memrepo(repo, "blame", "--agent-id", "nobody").code == 2
    assert msgspec.json.decode(memrepo(repo, "blame", "--agent-id", "bot", "--json").out)
