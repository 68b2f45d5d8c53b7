"""Mode "pr": one pull request, built on and kept up to date, with people's commits on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from knowledgework import (
    forge_of,
    on_branch,
    on_main,
    origin,
    propose_now,
    subjects,
    tools,
    tools_of,
)
from memrepo import MemoryRepo
from memrepo.errors import NeedsPerson
from memrepo.knowledge.abort import abort
from memrepo.knowledge.command import commands_in
from memrepo.knowledge.render import report_lines
from memrepo.knowledge.resolve import Choice, resolve
from repositories import GitRepo

Make = Callable[..., GitRepo]
TODAY = f"memory/knowledge/{datetime.now(UTC):%Y-%m-%d}"


def write_tools(repo: GitRepo, *names: str, agent: str = "bot", **described: str) -> None:
    repo.write_agent(agent, tools=tools(*names, **described))


def abort_now(repo: GitRepo, **options: Any) -> Any:
    with MemoryRepo(repo.path) as memory:
        return abort(memory, forge_of(repo), remote="origin", **options)


def a_persons_commit(repo: GitRepo, clone: Make) -> str:
    person = clone(origin(repo), "person")
    person.git("switch", "--quiet", TODAY)
    person.write("MEMORY.md", "A person was here.\n")
    made = person.commit("a person's touch")
    person.git("push", "--quiet", "origin", TODAY)
    return made


@pytest.fixture
def open_one(work: GitRepo) -> GitRepo:
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", "wiki"))
    assert propose_now(work).number == 1
    return work


def test_one_pull_request_and_main_stays(open_one: GitRepo) -> None:
    remote = origin(open_one)
    assert subjects(remote, f"main..{TODAY}") == ["from wiki 0"]
    pull = forge_of(open_one).get_pull_request(1)
    assert (pull.head_ref, pull.base_ref, pull.title) == (TODAY, "main", "Knowledge: wiki")
    assert "knowledge/wiki" in pull.body
    assert "from wiki 0" in pull.body
    assert "Memory review" in pull.body


def test_again_with_nothing_new_does_nothing(open_one: GitRepo) -> None:
    before = forge_of(open_one).get_pull_request(1)
    refs = origin(open_one).git("for-each-ref")
    again = propose_now(open_one)
    assert (again.moved, again.number, again.commits, again.exit_code) == (False, 1, 0, 0)
    assert forge_of(open_one).get_pull_request(1) == before
    assert origin(open_one).git("for-each-ref") == refs


def test_nothing_to_bring_opens_nothing(work: GitRepo) -> None:
    on_branch(work, "wiki")
    done = propose_now(work)
    assert (done.number, done.branch, done.moved) == (0, "", False)
    assert origin(work).git("branch", "--list", "memory/*") == ""


def test_the_next_run_adds_to_it_and_words_of_people_stay(open_one: GitRepo) -> None:
    forge = forge_of(open_one)
    edited = "Please look at wiki.\n\n" + forge.get_pull_request(1).body
    forge.update_pull_request(1, title="A better title", body=edited)
    on_branch(open_one, "crm", lambda: write_tools(open_one, "crm", agent="crm"), author="Crm")
    done = propose_now(open_one)
    assert (done.number, done.merged) == (1, ("knowledge/crm",))
    pull = forge.get_pull_request(1)
    assert pull.title == "A better title"
    assert pull.body.startswith("Please look at wiki.")
    assert "from crm 0" in pull.body
    assert "from wiki 0" in pull.body


def test_a_persons_commit_survives_when_main_stays(open_one: GitRepo, clone: Make) -> None:
    theirs = a_persons_commit(open_one, clone)
    on_branch(open_one, "crm", lambda: write_tools(open_one, "crm", agent="crm"))
    propose_now(open_one)
    remote = origin(open_one)
    assert remote.git("merge-base", "--is-ancestor", theirs, TODAY) == ""
    assert subjects(remote, f"main..{TODAY}")[-1] == "from crm 0"


def test_a_persons_commit_survives_when_main_moves(open_one: GitRepo, clone: Make) -> None:
    a_persons_commit(open_one, clone)
    on_main(open_one, lambda: write_tools(open_one, "find", "refund", refund="Pays."))
    done = propose_now(open_one)
    assert (done.number, done.exit_code) == (1, 0)
    remote = origin(open_one)
    assert subjects(remote, f"main..{TODAY}") == ["from wiki 0", "a person's touch"]
    assert remote.git("merge-base", "main", TODAY) == remote.head("main")
    texts = [tool["description"] for tool in tools_of(remote, TODAY).values()]
    assert texts == ["Does find.", "Pays.", "Does wiki."]
    assert propose_now(open_one).moved is False


def test_what_no_longer_fits_stays_and_is_said(open_one: GitRepo) -> None:
    tip = origin(open_one).head(TODAY)
    on_main(open_one, lambda: write_tools(open_one, "find", "refund", "wiki", wiki="Other."))
    done = propose_now(open_one)
    assert (done.exit_code, done.branches[0].branch) == (3, TODAY)
    assert origin(open_one).head(TODAY) == tip
    # No decision can be recorded about the job's own branch, so none is asked for.
    assert any(f"rebase {TODAY} by hand" in line for line in report_lines(done))
    assert not any("knowledge resolve" in line for line in report_lines(done))
    assert "left out" in forge_of(open_one).get_pull_request(1).body


def test_merged_it_is_done_with_and_the_next_one_is_new(open_one: GitRepo) -> None:
    remote = origin(open_one)
    remote.git("update-ref", "refs/heads/main", remote.head(TODAY))
    state = open_one.path.parent / "forge/pulls/0001/pull.yml"
    state.write_text(re.sub("state: open", "state: merged", state.read_text()))
    assert propose_now(open_one).moved is False
    on_branch(open_one, "crm", lambda: write_tools(open_one, "crm", agent="crm"))
    done = propose_now(open_one)
    assert (done.number, done.branch) == (2, f"{TODAY}-2")


def test_a_branch_whose_pull_request_was_never_opened_is_taken_up(open_one: GitRepo) -> None:
    """As a run leaves it that is killed between the push and the request."""
    for file in sorted((open_one.path.parent / "forge/pulls").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    tip = origin(open_one).head(TODAY)
    done = propose_now(open_one)
    assert (done.number, done.branch, origin(open_one).head(TODAY)) == (1, TODAY, tip)


def test_a_comment_decides_and_the_next_run_completes(work: GitRepo) -> None:
    on_branch(work, "api", lambda: write_tools(work, "api", agent="api"))
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", refund="B."))
    on_main(work, lambda: write_tools(work, "find", "refund", refund="A."))
    assert propose_now(work).exit_code == 3
    body = forge_of(work).get_pull_request(1).body
    assert "/refund/description" in body
    assert commands_in(body) == ()  # what shows the command is none
    (command,) = commands_in(
        "I checked.\n\n/memrepo take theirs state/bot/tools.json#/refund/description\n"
    )
    choice = Choice(command.path, command.pointer, command.take, by="octocat")
    with MemoryRepo(work.path) as memory:
        done = resolve(memory, choice, mode="pr", remote="origin", forge=forge_of(work))
    assert (done.branch, done.number) == (TODAY, 1)
    after = propose_now(work)
    assert (after.exit_code, after.number) == (0, 1)
    assert tools_of(origin(work), TODAY)["refund"]["description"] == "B."


def test_a_decision_opens_a_pull_request_where_there_is_none(work: GitRepo) -> None:
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", refund="B."))
    on_main(work, lambda: write_tools(work, "find", "refund", refund="A."))
    assert propose_now(work).number == 0
    choice = Choice("state/bot/tools.json", "/refund/description", "theirs")
    with MemoryRepo(work.path) as memory:
        done = resolve(memory, choice, mode="pr", remote="origin", forge=forge_of(work))
    assert (done.branch, done.number) == (TODAY, 1)
    assert propose_now(work).merged == ("knowledge/wiki",)


def test_abort_takes_back_what_the_job_made(open_one: GitRepo) -> None:
    assert abort_now(open_one, dry_run=True).branch == TODAY
    done = abort_now(open_one)
    assert (done.branch, done.number) == (TODAY, 1)
    assert origin(open_one).git("branch", "--list", "memory/*") == ""
    assert abort_now(open_one).branch == ""


def test_abort_keeps_what_a_person_made(open_one: GitRepo, clone: Make) -> None:
    a_persons_commit(open_one, clone)
    with pytest.raises(NeedsPerson, match="a person's touch"):
        abort_now(open_one)
    assert origin(open_one).git("branch", "--list", "memory/*") != ""
