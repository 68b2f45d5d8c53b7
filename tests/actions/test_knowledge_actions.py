"""Knowledge branches in workflows: fetched, merged, decided in a comment, and merged again."""

from __future__ import annotations

import json
from html import unescape
from typing import Any

import pytest

from actions.workflows import checkout, job
from repositories import GitRepo
from rig.act import Run
from rig.box import Box
from rig.events import Pull
from rig.tools import ROOT
from rig.world import World

MERGE, COMMANDS = "knowledge-merge.yml", "memory-commands.yml"
FOLDER = ".github/workflows"
PATH = f"{FOLDER}/demo.yml"
TOOLS = "state/bot/tools.json"
PLACE = f"{TOOLS}#/refund/description"


def tools(**described: str) -> str:
    """A ``tools.json`` with these tools and what is said of them."""
    rows = [
        {"name": name, "description": text, "parameters": {"order": "string"}}
        for name, text in described.items()
    ]
    return json.dumps(rows, indent=2) + "\n"


def memory(world: World, *starters: str) -> GitRepo:
    """A memory repository whose bot has one tool, with starter workflows."""
    files = {f"{FOLDER}/{n}": (ROOT / "workflows" / n).read_text("utf-8") for n in starters}
    work = world.repo("acme/demo", "bot", files=files)
    work.write(TOOLS, tools(refund="Pays back."))
    work.commit("tools")
    world.push(work, "main")
    return work


def source(world: World, work: GitRepo, name: str, text: str) -> str:
    """A commit on ``knowledge/NAME`` by somebody of that name, published."""
    branch = f"knowledge/{name}"
    there = work.git("rev-parse", "--quiet", "--verify", branch, check=False)
    work.git("switch", "--quiet", "--force-create", branch, there or "main")
    work.write(TOOLS, text)
    work.git("add", "--all")
    who = f"{name} <{name}@example.org>"
    work.git("commit", "--quiet", f"--author={who}", "--message", f"what the {name} says")
    made = work.head()
    world.push(work, branch)
    work.git("switch", "--quiet", "main")
    return made


def disagreement(world: World) -> GitRepo:
    """A repository that the wiki only adds to, while the crm and main say another thing each."""
    work = memory(world, MERGE, COMMANDS)
    source(world, work, "wiki", tools(refund="Pays back.", search="Finds."))
    source(world, work, "crm", tools(refund="Pays back within a day."))
    work.write(TOOLS, tools(refund="Pays back within a week."))
    work.commit("a week")
    world.push(work, "main")
    return work


def go(world: World, name: str = MERGE) -> Run:
    """Run a workflow of main by hand."""
    folder = world.checkout("acme/demo", "main")
    event = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    path = f"{FOLDER}/{name}"
    return world.act(folder, "workflow_dispatch", path, event, ref="refs/heads/main")


def say(world: World, pull: Pull, user: str, body: str, **more: Any) -> Run:
    """Comment on a pull request, and run what listens to that; ``more`` changes the event."""
    path = f"/repos/{pull.repo}/issues/{pull.number}/comments"
    comment = world.api("POST", path, user, {"body": body})
    return heard(world, pull, comment, **more)


def heard(world: World, pull: Pull, comment: dict[str, Any], **more: Any) -> Run:
    """Run what listens to a comment, as GitHub does: on main, whatever the pull request holds."""
    issue = {"number": pull.number, "state": "open", "pull_request": {"url": "x"}}
    user = comment["user"]
    event = {"action": "created", "issue": issue, "comment": comment, "sender": user, **more}
    folder = world.checkout("acme/demo", "main")
    path = f"{FOLDER}/{COMMANDS}"
    where = {"ref": "refs/heads/main", "actor": user["login"]}
    return world.act(folder, "issue_comment", path, event, **where)


def knowledge_pull(world: World) -> Pull:
    """The job's open pull request."""
    (pull,) = (p for p in world.open_pulls() if p.branch.startswith("memory/knowledge/"))
    return pull


def described(bare: GitRepo, rev: str) -> dict[str, str]:
    """What is said of each of the bot's tools."""
    return {row["name"]: row["description"] for row in json.loads(bare.read(TOOLS, rev))}


@pytest.fixture
def stuck(world: World, box: Box) -> Pull:
    """The pull request of a run that left one branch out."""
    disagreement(world)
    run = go(world)
    assert run.jobs == {"Knowledge merge/Merge knowledge": "failure"}, str(run)
    box.calm()
    return knowledge_pull(world)


def test_from_the_source_to_main_and_again_with_nothing_to_do(world: World, box: Box) -> None:
    answer = [{"name": "refund", "description": "Pays back.", "parameters": {"order": "string"}}]
    answer.append({"name": "search", "description": "$(touch pwned) @acme", "parameters": {}})
    steps = (
        checkout(persist_credentials="false")
        + '      - run: mv answer.json "$RUNNER_TEMP"\n'
        + "      - id: update\n        uses: acme/memrepo/actions/update-knowledge@v1\n"
        + "        with:\n          source: api\n          agent-id: bot\n"
        + "          file: ${{ runner.temp }}/answer.json\n          revision: v7\n"
        + "      - id: merge\n        uses: acme/memrepo/actions/merge-knowledge@v1\n"
    )
    work = memory(world)
    work.write("answer.json", json.dumps(answer))
    work.write(PATH, job("workflow_dispatch", "{contents: write}", steps))
    work.commit("workflow")
    world.push(work, "main")
    bare = world.bare("acme/demo")

    first = go(world, "demo.yml")
    assert first.good, str(first)
    assert first.output("update", "changed") == "true"
    assert first.output("update", "branch") == "knowledge/api"
    assert first.output("update", "commit") == bare.head("refs/heads/knowledge/api")
    assert first.output("update", "revision") == "v7"
    assert first.output("merge", "merged") == "knowledge/api"
    assert (first.output("merge", "conflicts"), first.output("merge", "commits")) == ("0", "1")
    assert first.output("merge", "pull-request-number") == ""
    assert "1 commit of 1 branch went into main" in first.summary
    assert described(bare, "main").keys() == {"refund", "search"}
    assert bare.git("log", "-1", "--format=%P", "main") == work.head()
    assert "Source-Revision: v7" in bare.git("log", "-1", "--format=%B", "main")
    assert not list(first.folder.rglob("pwned"))

    before = bare.git("for-each-ref")
    again = go(world, "demo.yml")
    assert again.good, str(again)
    assert again.output("update", "changed") == "false"
    assert again.output("merge", "merged") == ""
    assert again.output("merge", "commits") == "0"
    assert "nothing to do" in again.summary
    assert "nothing to do" in again.text
    assert bare.git("for-each-ref") == before
    assert box.writes == []


def test_a_disagreement_is_reported_decided_in_a_comment_and_done(world: World, box: Box) -> None:
    disagreement(world)
    bare = world.bare("acme/demo")
    main = bare.head("refs/heads/main")

    first = go(world)
    assert first.jobs == {"Knowledge merge/Merge knowledge": "failure"}, str(first)
    assert "exit status 3" in first.everything
    assert first.output("merge", "merged") == "knowledge/wiki"
    assert (first.output("merge", "conflicts"), first.output("merge", "commits")) == ("1", "1")
    assert first.output("merge", "pull-request-number") == "1"
    assert "/refund/description" in first.summary
    assert [a for a in first.annotations if a.level == "error" and "must decide" in a.message]
    pull = knowledge_pull(world)
    body = unescape(world.api("GET", "/repos/acme/demo/pulls/1")["body"])
    assert PLACE in body
    assert "Pays back within a day." in body
    assert bare.head("refs/heads/main") == main

    box.calm()
    refs = bare.git("for-each-ref")
    again = go(world)
    assert "exit status 3" in again.everything
    assert again.output("merge", "commits") == "0"
    assert (bare.git("for-each-ref"), box.writes) == (refs, [])

    reader = say(world, pull, "mallory", f"/memrepo take theirs {PLACE}")
    assert reader.good, str(reader)
    assert "mallory may not write here" in reader.everything
    assert (bare.git("for-each-ref"), box.writes) == (refs, [])

    words = f"I asked them; a day it is.\n\n/memrepo take theirs {PLACE}\n\nThanks @acme"
    writer = say(world, pull, "alice", words)
    assert writer.good, str(writer)
    assert writer.output("command", "decided") == "1"
    assert writer.output("command", "merged") == "knowledge/crm"
    assert (writer.output("command", "conflicts"), writer.output("command", "commits")) == (
        "0",
        "1",
    )
    assert writer.output("command", "pull-request-number") == "1"
    assert described(bare, pull.branch) == {
        "refund": "Pays back within a day.",
        "search": "Finds.",
    }
    (record,) = bare.git("ls-tree", "--name-only", pull.branch, ".memrepo/resolutions/").split()
    held = json.loads(bare.read(record, pull.branch))
    assert (held["by"], held["take"], held["branch"]) == ("alice", "theirs", "knowledge/crm")
    assert "comment on pull request 1" in held["reason"]
    answer = unescape(world.comments(pull)[-1]["body"])
    assert PLACE in answer
    assert "theirs is taken" in answer
    assert "@" not in answer
    assert bare.head("refs/heads/main") == main

    refs, said = bare.git("for-each-ref"), len(world.comments(pull))
    comment = next(c for c in world.comments(pull) if c["user"]["login"] == "alice")
    repeated = heard(world, pull, comment)
    assert repeated.good, str(repeated)
    assert repeated.output("command", "decided") == "1"
    assert (bare.git("for-each-ref"), len(world.comments(pull))) == (refs, said)

    settled = go(world)
    assert settled.good, str(settled)
    assert settled.output("merge", "conflicts") == "0"
    assert bare.git("for-each-ref") == refs

    alice = world.clone("acme/demo", "alice")
    world.push(alice, f"origin/{pull.branch}:refs/heads/main")
    world.api("PATCH", "/repos/acme/demo/pulls/1", "acme", {"state": "closed"})
    last = go(world)
    assert last.good, str(last)
    assert "nothing to do" in last.summary
    authors = bare.git("log", "--format=%an", f"{main}..main").split("\n")
    assert {"wiki", "crm"} < set(authors)
    assert bare.git("log", "--merges", "main") == ""


HOSTILE = f"""\
please /memrepo take theirs {PLACE}
/memrepo take theirs {PLACE} now
> /memrepo take theirs {PLACE}
/memrepo take $(touch pwned) a#/b
/memrepo take theirs ../../etc/passwd#/a
'; touch pwned; ' ${{{{ github.token }}}} `touch pwned`
::error::forged
```
/memrepo take theirs {PLACE}
```
"""


def test_a_comment_that_only_looks_like_a_command_does_nothing(
    world: World, box: Box, stuck: Pull
) -> None:
    refs = world.bare("acme/demo").git("for-each-ref")
    run = say(world, stuck, "alice", HOSTILE)
    assert run.good, str(run)
    assert "nothing to do" in run.text
    assert world.bare("acme/demo").git("for-each-ref") == refs
    assert box.requests == []
    assert not list(run.folder.rglob("pwned"))
    assert not [a for a in run.annotations if a.level == "error"]


def test_only_new_comments_on_open_pull_requests_of_the_job_count(
    world: World, box: Box, stuck: Pull
) -> None:
    command = f"/memrepo take theirs {PLACE}"
    refs = world.bare("acme/demo").git("for-each-ref")
    edited = say(world, stuck, "alice", command, action="edited")
    assert edited.good, str(edited)
    issue = {"number": 1, "state": "closed", "pull_request": {"url": "x"}}
    closed = say(world, stuck, "alice", command, issue=issue)
    assert closed.good, str(closed)
    # What an event says of somebody's place there is not what the forge knows.
    comment = world.comments(stuck)[-1]
    stranger = {**comment, "user": {"login": "mallory"}, "author_association": "OWNER"}
    forged = heard(world, stuck, stranger)
    assert forged.good, str(forged)
    assert "mallory may not write here" in forged.everything
    assert world.bare("acme/demo").git("for-each-ref") == refs

    fork = world.fork("forker")
    fork.git("switch", "--quiet", "--create", "memory/knowledge/2026-01-01")
    fork.write("note.md", "From elsewhere.\n")
    fork.commit("note")
    world.push(fork, "memory/knowledge/2026-01-01")
    theirs = world.pull("memory/knowledge/2026-01-01", head_repo="forker/demo")
    run = say(world, theirs, "alice", command)
    assert run.good, str(run)
    assert "brings no knowledge branch" in run.everything
    assert box.writes == []


def test_a_place_that_is_not_open_is_said_and_nothing_else_done(
    world: World, box: Box, stuck: Pull
) -> None:
    refs = world.bare("acme/demo").git("for-each-ref")
    run = say(world, stuck, "alice", f"/memrepo take ours {TOOLS}#/refund/parameters")
    assert run.jobs == {"Memory commands/Obey the comment": "failure"}, str(run)
    assert "exit status 2" in run.everything
    answer = unescape(world.comments(stuck)[-1]["body"])
    assert "there is no conflict at" in answer
    assert PLACE in answer
    assert world.bare("acme/demo").git("for-each-ref") == refs


def test_in_a_pull_request_from_the_branch_itself_the_decision_is_about_that_branch(
    world: World, box: Box
) -> None:
    work = memory(world, MERGE, COMMANDS)
    for name in ("crm", "wiki"):
        source(world, work, name, tools(refund=f"Pays back, says the {name}."))
    work.write(TOOLS, tools(refund="Pays back, says main."))
    work.commit("main")
    world.push(work, "main")
    pull = world.pull("knowledge/crm", author="alice")
    run = say(world, pull, "alice", f"/memrepo take theirs {PLACE}")
    assert run.good, str(run)
    assert run.output("command", "merged") == "knowledge/crm"
    assert run.output("command", "conflicts") == "1"
    made = knowledge_pull(world)
    bare = world.bare("acme/demo")
    assert described(bare, made.branch) == {"refund": "Pays back, says the crm."}
    assert f"#{made.number}" in world.comments(pull)[-1]["body"]


def test_a_job_that_may_only_read_changes_nothing(world: World, box: Box) -> None:
    disagreement(world)
    refs = world.bare("acme/demo").git("for-each-ref")
    folder = world.checkout("acme/demo", "main")
    token = world.token(contents="read", pull_requests="read", metadata="read")
    path = f"{FOLDER}/{MERGE}"
    run = world.act(folder, "workflow_dispatch", path, {}, ref="refs/heads/main", token=token)
    assert run.jobs == {"Knowledge merge/Merge knowledge": "failure"}, str(run)
    assert "exit status 5" in run.everything
    assert world.bare("acme/demo").git("for-each-ref") == refs
