from __future__ import annotations

from pathlib import Path

import pytest

from memrepo import MemoryRepo
from memrepo.errors import BadInput
from repositories import GitRepo, new_memory_repo


def write(repo: GitRepo) -> None:
    turn = {"role": "user", "content": "$Id: abc $", "timestamp": "2026-03-01T12:00:00Z"}
    repo.write_agent("bot", turns=[turn])


def commit_one(memory: MemoryRepo, state: dict[str, bytes]) -> None:
    memory.commit("bot", "x", state=state)


def commit_in_bulk(memory: MemoryRepo, state: dict[str, bytes]) -> None:
    with memory.bulk() as batch:
        batch.commit("bot", "x", state=state)


@pytest.mark.parametrize(
    "rule",
    ["*.json ident", "state/** filter=up", "history/** filter=up",
     "*.json working-tree-encoding=UTF-16"],
)  # fmt: skip
@pytest.mark.parametrize("place", [".gitattributes", ".git/info/attributes"])
@pytest.mark.parametrize("bulk", [False, True])
def test_what_git_would_rewrite_is_refused(
    rule: str, place: str, bulk: bool, tmp_path: Path
) -> None:
    repo = new_memory_repo(tmp_path / "memory", "bot")
    repo.git("config", "filter.up.clean", "tr a-z A-Z")
    repo.write(place, f"{rule}\n")
    if place == ".gitattributes":
        repo.commit("attributes", place)
    write(repo)
    before = (repo.head(), repo.git("status", "--porcelain"))
    state = {p.name: p.read_bytes() for p in (repo.path / "state/bot").iterdir()}
    with MemoryRepo(repo.path) as memory:
        commit = commit_in_bulk if bulk else commit_one
        with pytest.raises(BadInput, match="would rewrite"):
            commit(memory, state)
    assert (repo.head(), repo.git("status", "--porcelain")) == before


@pytest.mark.parametrize("rule", ["*.md filter=up", "*.json -filter -ident", "# filter"])
def test_a_rule_about_other_files_is_none_of_its_business(rule: str, tmp_path: Path) -> None:
    repo = new_memory_repo(tmp_path / "memory", "bot")
    repo.write(".gitattributes", f"{rule}\n")
    repo.commit("attributes")
    write(repo)
    with MemoryRepo(repo.path) as memory:
        memory.commit("bot", "x")
    assert repo.git("status", "--porcelain") == ""
