"""Plain Git merges and cycles: an unfinished merge is said, a merged state gets its snapshot."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from commandline import Ran, memrepo
from repositories import GitRepo

AGENT = "bot"


def cycle(repo: GitRepo, message: str, *more: str, agent: str = AGENT) -> Ran:
    return memrepo(repo, "commit", "--agent-id", agent, "-m", message, *more)


def told(repo: GitRepo, what: str, second: int) -> None:
    """A cycle of the agent, which describes its tool anew."""
    repo.write_agent(AGENT, tools=[{"name": "find", "description": what, "parameters": {}}])
    assert cycle(repo, what, "--at", f"2026-03-01T12:00:{second:02}Z").code == 0


@pytest.fixture
def repo(memory_repo: Callable[..., GitRepo]) -> GitRepo:
    """Two branches, each with a cycle of the agent that the other does not have."""
    made = memory_repo(AGENT, "other")
    told(made, "Finds.", 1)
    made.git("branch", "theirs")
    return made


def diverge(repo: GitRepo) -> None:
    told(repo, "Ours.", 2)
    repo.git("switch", "--quiet", "theirs")
    told(repo, "Theirs.", 3)
    repo.git("switch", "--quiet", "main")


def snapshots(repo: GitRepo) -> list[str]:
    listed = repo.git("ls-tree", "--name-only", "HEAD", "history/").split()
    return [name for name in listed if name.endswith(f"-{AGENT}.json")]


def test_an_unfinished_merge_is_said_and_committed_by_git(repo: GitRepo) -> None:
    diverge(repo)
    assert repo.git("merge", "theirs", check=False) is not None
    refused = cycle(repo, "goes on")
    assert refused.code == 2
    assert "a merge is not finished, and it changes bot" in refused.err
    assert "git add state/bot, then git commit" in refused.err
    # Resolved to our side is still unfinished, though the state is that of the tip.
    repo.git("checkout", "--ours", "state")
    assert "not finished" in cycle(repo, "goes on").err
    # Whom the merge does not change may go on.
    repo.write_agent("other", tools=[{"name": "n", "description": "d", "parameters": {}}])
    assert cycle(repo, "another agent", agent="other").code == 0


def test_a_merge_that_does_not_change_the_agent_is_not_in_its_way(repo: GitRepo) -> None:
    repo.git("switch", "--quiet", "theirs")
    repo.write("notes.md", "theirs\n")
    repo.commit("notes")
    repo.git("switch", "--quiet", "main")
    told(repo, "Ours.", 2)
    repo.git("merge", "--no-commit", "--no-ff", "theirs")
    repo.write_agent(AGENT, tools=[])
    assert cycle(repo, "goes on").code == 0


def test_a_merged_state_without_a_snapshot_gets_one_once(repo: GitRepo) -> None:
    diverge(repo)
    repo.git("merge", "theirs", check=False)
    joined = [{"name": "find", "description": "Both.", "parameters": {}}]
    repo.write_agent(AGENT, tools=joined)
    repo.git("add", "state")
    repo.git("commit", "--quiet", "--no-edit")
    count = len(snapshots(repo))
    assert cycle(repo, "merged", "--dry-run").out.startswith("would commit state/bot/")
    done = cycle(repo, "merged", "--json").json
    assert (done["changed"], len(snapshots(repo))) == (True, count + 1)
    assert json.loads(repo.read(done["snapshot"]))["tools"] == joined
    changed = repo.git("show", "--name-only", "--format=", "HEAD").split()
    assert changed == [done["snapshot"]]
    for more in ((), ("--at", "2020-01-01T00:00:00Z")):
        again = cycle(repo, "merged", *more)
        assert (again.code, again.out.strip()) == (0, done["commit"])
        assert "nothing to commit" in again.err


def test_a_merge_that_took_one_side_needs_no_snapshot(repo: GitRepo) -> None:
    diverge(repo)
    repo.git("merge", "--quiet", "-s", "ours", "theirs")
    assert "nothing to commit" in cycle(repo, "merged").err


@pytest.mark.parametrize("archived", [False, True])
def test_a_state_without_any_snapshot_gets_one_unless_they_are_archived(
    memory_repo: Callable[..., GitRepo], archived: bool
) -> None:
    repo = memory_repo(AGENT)
    repo.git("rm", "-r", "--quiet", "--ignore-unmatch", "history")
    if archived:
        repo.write(".memrepo/archive/index.jsonl", "")
    repo.commit("no history")
    done = cycle(repo, "x", "--json").json
    assert done["changed"] is not archived
