"""``history``, ``show`` and ``revert`` know what the archive took."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from archiving import FIRST, archive, forge_at, new_remote
from commandline import Ran, memrepo_process
from memrepo import MemoryRepo
from memrepo.errors import UnknownRevision
from memrepo.history.archived import SnapshotArchived
from repositories import GitRepo, new_memory_repo

WEEKS = 10
OLD = 8
TAG = "history-2026-W30"


def files(agent_id: str, week: int, when: datetime) -> dict[str, bytes]:
    stamp = f"{when:%Y-%m-%dT%H:%M:%SZ}"
    parts: dict[str, Any] = {
        "context.json": [{"role": "user", "content": f"week {week}", "timestamp": stamp}],
        "tools.json": [],
        "metadata.json": {"agent_id": agent_id, "version": f"1.{week}.0", "last_updated": stamp},
    }
    return {
        n: msgspec.json.format(msgspec.json.encode(v), indent=2) + b"\n" for n, v in parts.items()
    }


@pytest.fixture
def work(tmp_path: Path) -> GitRepo:
    """Ten weekly cycles of two agents, of which the oldest eight weeks are archived."""
    repo = new_memory_repo(tmp_path / "work")
    with MemoryRepo(repo.path) as memory:
        for week in range(WEEKS):
            for agent_id in ("ada", "bob"):
                when = FIRST + timedelta(weeks=week)
                memory.commit(agent_id, f"week {week}", state=files(agent_id, week, when), at=when)
    remote = new_remote(tmp_path / "remote.git", repo)
    archive(repo, forge_at(tmp_path / "forge", remote))
    return repo


@pytest.fixture
def shallow(work: GitRepo, tmp_path: Path) -> GitRepo:
    url = f"file://{tmp_path / 'remote.git'}"
    work.git("clone", "-q", "--depth=1", url, str(tmp_path / "shallow"))
    return GitRepo(tmp_path / "shallow")


def run(repo: GitRepo, *args: str, agent_id: str = "ada") -> Ran:
    command, *rest = args
    return memrepo_process(repo.path, command, "--agent-id", agent_id, *rest)


def history(repo: GitRepo, *args: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run(repo, "history", "--json", *args).json
    return found


def test_cycles_are_marked_where_their_snapshot_left(work: GitRepo) -> None:
    cycles = history(work)
    assert [c["version"] for c in cycles] == [f"1.{week}.0" for week in reversed(range(WEEKS))]
    assert [c.get("archived") for c in cycles] == [None] * (WEEKS - OLD) + [TAG] * OLD
    lines = run(work, "history").out.splitlines()
    assert [line.endswith(f"[archived in {TAG}]") for line in lines] == [
        bool(c.get("archived")) for c in cycles
    ]


def test_a_shallow_clone_lists_them_all_the_same(work: GitRepo, shallow: GitRepo) -> None:
    archived = [c for c in history(work) if c.get("archived")]
    seen = history(shallow)
    assert [c["snapshot"] for c in seen] == [c["snapshot"] for c in archived]
    assert all(c["commit"] == "" and c["archived"] == TAG for c in seen)
    assert [c["timestamp"] for c in seen] == [c["timestamp"] for c in archived]
    assert run(shallow, "history").out.count(f"[archived in {TAG}]") == OLD


@pytest.mark.parametrize(
    "bounds",
    [
        ("-n", "3"),
        ("-n", "5"),
        ("--since", "2026-03-10"),
        ("--until", "2026-03-20"),
        ("--since", "2026-03-10", "--until", "2026-04-01", "-n", "2"),
    ],
)
def test_bounds_hold_with_and_without_commits(
    bounds: tuple[str, ...], work: GitRepo, shallow: GitRepo
) -> None:
    seen = history(work, *bounds)
    assert 0 < len(seen) < WEEKS
    every = {c["snapshot"]: c for c in history(work)}
    assert [every[c["snapshot"]] for c in seen] == seen
    in_shallow = [c["snapshot"] for c in history(shallow, *bounds)]
    if "-n" not in bounds:
        assert in_shallow == [c["snapshot"] for c in seen if c.get("archived")]
    else:
        assert in_shallow == sorted(in_shallow, reverse=True)
        assert len(in_shallow) == len(seen)


def test_another_agents_lists_are_not_read(work: GitRepo) -> None:
    for path in (work.path / ".memrepo/archive/members").rglob("*.txt"):
        path.write_text("broken")
    (index,) = (work.path / ".memrepo/archive").glob("index.jsonl")
    rows = [msgspec.json.decode(line) for line in index.read_bytes().splitlines()]
    assert all(row["agents"] == ["ada", "bob"] for row in rows)
    work.commit("broken lists")
    assert run(work, "history", agent_id="carol").code == 0
    newest = f"{FIRST + timedelta(weeks=WEEKS - 1):%Y-%m-%d}"
    assert run(work, "history", "--since", newest).code == 0
    assert run(work, "history").code == 2


def test_show_fetches_what_only_the_archive_has(work: GitRepo, shallow: GitRepo) -> None:
    oldest = history(work)[-1]["snapshot"]
    forge = f"local:{work.path.parent / 'forge'}"
    ran = run(shallow, "show", "--commit", oldest, "--json", "--forge", forge)
    assert ran.json["metadata"]["version"] == "1.0.0"
    # It is here now, so that the next look needs no forge.
    again = run(shallow, "show", "--commit", oldest.rpartition("/")[2], "--json")
    assert again.json == ran.json
    whole = run(work, "show", "--commit", oldest, "--json", "--forge", "local:none").json
    assert {**whole, "commit": ""} == {**ran.json, "commit": ""}


def test_revert_goes_back_to_an_archived_snapshot(work: GitRepo, shallow: GitRepo) -> None:
    oldest = history(work)[-1]["snapshot"]
    forge = f"local:{work.path.parent / 'forge'}"
    ran = run(shallow, "revert", "--commit", oldest, "--forge", forge)
    assert ran.code == 0
    for name, data in files("ada", 0, FIRST).items():
        assert shallow.read(f"state/ada/{name}") == data
    assert shallow.git("status", "--porcelain") == ""


def test_another_agents_snapshot_is_not_shown(shallow: GitRepo, work: GitRepo) -> None:
    oldest = history(work)[-1]["snapshot"]
    ran = run(shallow, "show", "--commit", oldest, agent_id="bob")
    assert ran.code == 2
    assert "is not one of bob" in ran.err


def test_the_api_says_it_by_type(work: GitRepo, shallow: GitRepo) -> None:
    oldest = history(work)[-1]["snapshot"]
    with MemoryRepo(shallow.path) as memory:
        with pytest.raises(SnapshotArchived) as raised:
            memory.show("ada", oldest)
        assert (raised.value.found.path, raised.value.found.line.tag) == (oldest, TAG)
        with pytest.raises(UnknownRevision, match="no snapshot"):
            memory.show("ada", "20010101-000000-ada.json")
