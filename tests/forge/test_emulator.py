"""The same over a GitHub that others wrote, with tokens that may no more than they say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.emulated import connect
from memrepo.errors import PermissionDenied
from memrepo.forge.forge import Label
from memrepo.forge.github import GitHubForge
from rig.exchange import Fault, Kind
from rig.fixtures import box, world, world_of_session
from rig.world import World

__all__ = ["box", "connect", "world", "world_of_session"]

MARK = "<!-- memrepo:review -->"


def with_branch(world: World, name: str) -> str:
    work = world.repo("acme/demo", "agent-1")
    work.git("checkout", "--quiet", "-b", name)
    work.write("note.md", "x\n")
    sha = work.commit("note")
    world.push(work, name)
    return sha


def test_from_opening_to_the_second_review(
    world: World, connect: Callable[..., GitHubForge]
) -> None:
    sha = with_branch(world, "memory/agent-1/tidy")
    forge = connect(contents="write", pull_requests="write", issues="write")
    outcome = forge.open_pull_request(
        title="agent-1: tidy", body="Body", head_ref="memory/agent-1/tidy", base_ref="main"
    )
    pull = outcome.pull_request
    assert (outcome.operation, pull.head_sha, pull.state) == ("created", sha, "open")
    again = forge.open_pull_request(
        title="agent-1: tidy", body="Body", head_ref="memory/agent-1/tidy", base_ref="main"
    )
    assert again.operation == "unchanged"
    assert forge.pull_request_for_commit(sha, "acme/demo", "memory/agent-1/tidy") == pull
    assert forge.update_pull_request(pull.number, title="New").operation == "updated"
    author = forge.me()
    first, made = forge.upsert_comment(pull.number, MARK, "One", author)
    second, changed = forge.upsert_comment(pull.number, MARK, "Two", forge.me())
    assert (made, changed, first.id) == ("created", "updated", second.id)
    assert len(forge.list_comments(pull.number)) == 1
    error = Label("memory:error", "b60205", "Findings that stop the gate")
    assert forge.set_labels_in(pull.number, "memory:", [error]) == ("memory:error",)
    assert forge.set_labels_in(pull.number, "memory:", []) == ()
    (note,) = forge.request_reviewers(pull.number, ["nobody-of-that-name"])
    assert "nobody-of-that-name" in note


def test_a_fork_is_found_by_its_commit(world: World, connect: Callable[..., GitHubForge]) -> None:
    world.repo("acme/demo", "agent-1")
    work = world.fork("forker")
    work.git("checkout", "--quiet", "-b", "change")
    work.write("note.md", "x\n")
    sha = work.commit("note")
    world.push(work, "change")
    number = world.pull("change", head_repo="forker/demo").number
    forge = connect(pull_requests="read")
    found = forge.pull_request_for_commit(sha, "forker/demo", "change")
    assert found is not None
    assert (found.number, found.head_repo) == (number, "forker/demo")
    assert forge.pull_request_for_commit(sha, "acme/demo", "change") is None


def test_a_token_that_only_reads(world: World, connect: Callable[..., GitHubForge]) -> None:
    with_branch(world, "change")
    forge = connect(contents="read", pull_requests="read")
    with pytest.raises(PermissionDenied, match="may not open"):
        forge.open_pull_request(title="T", body="B", head_ref="change", base_ref="main")
    number = world.pull("change").number
    with pytest.raises(PermissionDenied, match="may not comment"):
        forge.upsert_comment(number, MARK, "One", forge.me())
    with pytest.raises(PermissionDenied, match="may not label"):
        forge.add_labels(number, [Label("memory:error")])


@pytest.mark.parametrize("kind", ["cut_after", "half"])
def test_a_lost_answer_makes_one_comment(
    world: World, connect: Callable[..., GitHubForge], kind: Kind
) -> None:
    with_branch(world, "change")
    pull = world.pull("change")
    world.box.faults.append(Fault(method="POST", path="/comments$", kind=kind, times=1))
    forge = connect(pull_requests="write", issues="write")
    assert forge.upsert_comment(pull.number, MARK, "One", forge.me())[1] == "created"
    assert len(world.comments(pull)) == 1
