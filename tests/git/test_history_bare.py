"""``memrepo history`` for commits of an agent that brought no snapshot."""

from __future__ import annotations

from pathlib import Path

import pytest

from commandline import memrepo
from repositories import GitRepo, new_memory_repo


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """One cycle, and after it a state of two tools, not committed yet."""
    made = new_memory_repo(tmp_path / "memory", "bot")
    assert memrepo(made, "commit", "--agent-id", "bot", "-m", "a cycle").code == 0
    tool = '{"name": "%s", "description": "", "parameters": {}}'
    made.write("state/bot/tools.json", "[%s, %s]\n" % (tool % "a", tool % "b"))
    return made


def newest(repo: GitRepo) -> dict[str, object]:
    found: dict[str, object] = memrepo(repo, "history", "--agent-id", "bot", "--json").json[0]
    return found


def test_knowledge_has_the_numbers_of_its_state_and_its_branch(repo: GitRepo) -> None:
    repo.commit("bot: tools\n\nAgent-Id: bot\nSource: crm/eu\nSource-Revision: v7")
    found = newest(repo)
    version = memrepo(repo, "show", "--agent-id", "bot", "--json").json["metadata"]["version"]
    assert (found["version"], found["tools"], found["snapshot"]) == (version, 2, "")
    assert isinstance(found["context_turns"], int)
    assert found["source"] == "crm/eu"
    first, *others = memrepo(repo, "history", "--agent-id", "bot").out.splitlines()
    assert "?" not in first
    assert "2 tools" in first
    assert first.endswith("  tools  [knowledge/crm/eu]")
    assert all("[knowledge/" not in line for line in others)


@pytest.mark.parametrize("line", ["Source: https://example.org", "Source: a] [b", "Seen-By: ann"])
def test_another_commit_names_no_knowledge(line: str, repo: GitRepo) -> None:
    repo.commit(f"bot: promoted\n\nAgent-Id: bot\n{line}")
    found = newest(repo)
    assert "source" not in found
    assert found["tools"] == 2


def test_a_state_that_cannot_be_read_has_no_numbers(repo: GitRepo) -> None:
    repo.write("state/bot/tools.json", "{broken")
    repo.write("state/bot/metadata.json", "[]")
    repo.commit("bot: broken\n\nAgent-Id: bot")
    found = newest(repo)
    assert (found["tools"], found["version"]) == (None, None)
    assert isinstance(found["context_turns"], int)
    assert "? tools" in memrepo(repo, "history", "--agent-id", "bot").out


def test_a_commit_that_removed_the_agent_has_none(repo: GitRepo) -> None:
    repo.git("rm", "-rfq", "state/bot")
    repo.commit("bot: gone\n\nAgent-Id: bot")
    assert newest(repo)["context_turns"] is None
