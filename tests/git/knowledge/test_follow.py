"""The clone that merges: it follows what was published, or says how far it is behind."""

from __future__ import annotations

from functools import partial

import pytest

from commandline import memrepo_process
from knowledgework import merge_now, on_branch, origin, tools, tools_of
from repositories import GitRepo

TOOLS = "state/bot/tools.json"


@pytest.fixture
def ready(work: GitRepo) -> GitRepo:
    """A clone on main, and one commit of the wiki that could go in."""
    more = tools("find", "refund", "wiki")
    on_branch(work, "wiki", partial(work.write_agent, "bot", tools=more))
    return work


def test_main_that_is_checked_out_follows_and_what_else_lies_there_stays(ready: GitRepo) -> None:
    ready.write("notes.txt", "mine\n")
    done = merge_now(ready)
    assert done.notes == ()
    assert ready.head() == origin(ready).head("main") == done.after
    assert list(tools_of(ready, "HEAD")) == ["find", "refund", "wiki"]
    assert ready.git("status", "--porcelain") == "?? notes.txt"


def test_a_run_with_nothing_to_do_catches_up_with_one_that_was_cut_short(ready: GitRepo) -> None:
    at = ready.head()
    merge_now(ready)
    ready.git("reset", "--quiet", "--hard", at)
    done = merge_now(ready)
    assert (done.moved, done.notes) == (False, ())
    assert ready.head() == origin(ready).head("main") != at
    assert ready.git("status", "--porcelain") == ""


def test_changes_in_the_way_stay_and_the_distance_is_said(ready: GitRepo) -> None:
    ready.write_agent("bot", tools=tools("mine"))
    at, mine = ready.head(), (ready.path / TOOLS).read_bytes()
    said = memrepo_process(ready.path, "knowledge", "merge")
    assert (said.code, said.err) == (0, "your main is 1 commit behind; git pull\n")
    assert origin(ready).head("main") != at
    assert (ready.head(), (ready.path / TOOLS).read_bytes()) == (at, mine)


def test_commits_that_are_not_published_stay_and_the_distance_is_said(ready: GitRepo) -> None:
    ready.write("MEMORY.md", "Mine.\n")
    mine = ready.commit("mine")
    assert merge_now(ready).notes == ("your main is 1 commit behind; git pull",)
    assert ready.head() == mine


def test_a_decision_that_is_pushed_is_here_too(ready: GitRepo) -> None:
    ready.write_agent("bot", tools=tools("find", "refund", find="A."))
    ready.commit("by hand")
    ready.git("push", "--quiet", "origin", "main")
    change = partial(ready.write_agent, "bot", tools=tools("find", "refund", find="B."))
    ready.git("push", "--quiet", "origin", "main~1:refs/heads/knowledge/crm")
    on_branch(ready, "crm", change)
    place = ("--path", TOOLS, "--pointer", "/find/description")
    memrepo_process(ready.path, "knowledge", "resolve", *place, "--take", "theirs")
    assert ready.head() == origin(ready).head("main")
    assert ready.git("status", "--porcelain") == ""


def test_dry_run_is_the_mode_of_that_name(ready: GitRepo) -> None:
    tip = origin(ready).head("main")
    asked = [("--dry-run",), ("--mode", "dry-run"), ("--mode", "pr", "--dry-run")]
    said = {memrepo_process(ready.path, "knowledge", "merge", *how).out for how in asked}
    assert len(said) == 1
    assert "would go into main" in said.pop()
    assert origin(ready).head("main") == tip
    assert origin(ready).git("branch", "--list", "memory/*") == ""


def test_what_the_gate_refuses_comes_with_the_ways_out(ready: GitRepo) -> None:
    bad = [{"name": "find", "description": "x", "parameters": []}]
    on_branch(ready, "crm", partial(ready.write_agent, "bot", tools=bad))
    said = memrepo_process(ready.path, "knowledge", "merge", "--dry-run")
    assert said.code == 3
    (hint,) = [line for line in said.out.splitlines() if line.startswith("    hint: ")]
    for way in ("update knowledge/crm again", "policy.yml by a reviewed change", "a pull request"):
        assert way in hint
