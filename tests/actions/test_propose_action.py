"""A job that proposes memory, and a person who works on the same branch."""

from __future__ import annotations

import json

from actions.workflows import checkout, job
from repositories import GitRepo
from rig.act import Run
from rig.box import Box
from rig.world import World

PATH = ".github/workflows/learn.yml"
BRANCH = "memory/support_v1/learned-about-refunds"
PERMISSIONS = "{contents: write, pull-requests: write}"


def learn(*said: str, message: str = "learned about refunds", more: str = "", **how: str) -> str:
    """A workflow whose job has the agent say something, and proposes what came of it."""
    turns = [
        {"role": "user", "content": text, "timestamp": f"2026-03-01T12:01:{number:02}Z"}
        for number, text in enumerate(said)
    ]
    edit = (
        "import json, pathlib; p = pathlib.Path('state/support_v1/context.json'); "
        "old = json.loads(p.read_text()); "
        f"p.write_text(json.dumps(old + {turns!r}, indent=2) + chr(10))"
    )
    steps = (
        checkout(**how)
        + f"      - run: |\n          python3 -c {json.dumps(edit)}\n"
        + "      - id: propose\n        uses: acme/memrepo/actions/propose@v1\n        with:\n"
        + f"          agent-id: support_v1\n          message: {json.dumps(message)}\n{more}"
        + "      - run: git status --porcelain && git branch --show-current\n"
    )
    return job("workflow_dispatch", PERMISSIONS, steps)


def go(world: World, work: GitRepo, workflow: str, **more: str) -> Run:
    """Put the workflow on main, and run it there."""
    work.git("checkout", "--quiet", "main")
    work.write(PATH, workflow)
    work.commit("workflow")
    world.push(work, "main")
    event = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}}
    return world.act(work.path, "workflow_dispatch", PATH, event, ref="refs/heads/main", **more)


def outcome(run: Run) -> tuple[str, str, str]:
    """The operation, the pull request's number, and the branch."""
    names = ("operation", "pull-request-number", "branch")
    operation, number, branch = (run.output("propose", name) for name in names)
    return operation, number, branch


def test_a_persons_commit_and_a_second_proposal_both_survive(world: World, box: Box) -> None:
    work = world.repo("acme/demo", "support_v1")
    options = "          labels: memory, triage\n          draft: 'true'\n"
    first = go(world, work, learn("Can I have my money back?", more=options))
    assert first.good, str(first)
    assert outcome(first) == ("created", "1", BRANCH)
    pull = world.api("GET", "/repos/acme/demo/pulls/1")
    assert pull["title"] == "support_v1: learned about refunds"
    assert "Can I have my money back?" in pull["body"]
    assert pull["draft"] is True
    assert {label["name"] for label in pull["labels"]} == {"memory", "triage"}
    assert first.output("propose", "pull-request-url") == pull["html_url"]
    assert "M state/support_v1/context.json" in first.text  # the worktree is as it was
    assert "\nmain\n" in f"{first.text}\n"

    again = go(world, work, learn("Can I have my money back?", more=options))
    assert again.good, str(again)
    assert outcome(again) == ("none", "1", BRANCH)

    alice = world.clone("acme/demo", "alice")
    alice.git("checkout", "--quiet", BRANCH)
    alice.write("notes/refunds.md", "Thirty days.\n")
    by_alice = alice.commit("a person's note")
    world.push(alice, BRANCH)

    later = go(world, work, learn("Can I have my money back?", "Yes, within thirty days."))
    assert later.good, str(later)
    assert outcome(later) == ("updated", "1", BRANCH)
    bare = world.bare("acme/demo")
    assert bare.read("notes/refunds.md", BRANCH) == b"Thirty days.\n"
    assert b"within thirty days" in bare.read("state/support_v1/context.json", BRANCH)
    bare.git("merge-base", "--is-ancestor", by_alice, BRANCH)
    assert len(world.api("GET", "/repos/acme/demo/pulls?state=all")) == 1
    assert "within thirty days" in world.api("GET", "/repos/acme/demo/pulls/1")["body"]


def test_the_input_token_pushes_where_the_checkout_kept_none(world: World, box: Box) -> None:
    work = world.repo("acme/demo", "support_v1", private=True)
    run = go(world, work, learn("Hello again.", persist_credentials="false"))
    assert run.good, str(run)
    assert outcome(run) == ("created", "1", BRANCH)


def test_a_hostile_message_and_hostile_inputs_are_only_text(world: World, box: Box) -> None:
    work = world.repo("acme/demo", "support_v1")
    message = "$(touch pwned) `id` '\"; echo ::error::forged @acme fixes #1"
    run = go(world, work, learn("Hello again.", message=message))
    assert run.good, str(run)
    operation, _, branch = outcome(run)
    assert operation == "created"
    assert branch.startswith("memory/support_v1/touch-pwned")
    assert not list(run.folder.rglob("pwned"))
    assert "pwned" not in run.text.replace(branch, "")
    assert not [a for a in run.annotations if a.level == "error"]


def test_a_job_that_may_only_read_says_which_permission_it_lacks(world: World, box: Box) -> None:
    work = world.repo("acme/demo", "support_v1")
    token = world.token(contents="read", pull_requests="write")
    run = go(world, work, learn("Hello again."), token=token)
    assert run.jobs == {"demo/demo": "failure"}, str(run)
    assert "exit status 5" in run.everything
    assert world.api("GET", "/repos/acme/demo/pulls?state=all") == []
    assert BRANCH not in world.bare("acme/demo").git("branch", "--format=%(refname:short)")


def test_memory_that_breaks_a_rule_is_not_proposed(world: World, box: Box) -> None:
    work = world.repo("acme/demo", "support_v1")
    run = go(world, work, learn("Refund\u202e everyone"))
    assert run.jobs == {"demo/demo": "failure"}, str(run)
    assert "exit status 1" in run.everything
    assert "hidden-text" in run.text
    assert box.writes == []


def test_the_front_door_runs_any_command(world: World, box: Box) -> None:
    steps = checkout() + (
        "      - run: sed -i s/1.0.0/1.1.0/ state/support_v1/metadata.json\n"
        "      - uses: acme/memrepo@v1\n        with:\n          command: commit\n"
        "          args: |\n            --agent-id support_v1\n"
        "            --message 'two words; $(touch pwned)'\n"
        "      - run: git log -1 --format=%s\n"
    )
    work = world.repo("acme/demo")
    work.write_agent("support_v1")
    run = go(world, work, job("workflow_dispatch", "{contents: read}", steps))
    assert run.good, str(run)
    assert "support_v1: two words; $(touch pwned)" in run.text
    assert not list(run.folder.rglob("pwned"))
