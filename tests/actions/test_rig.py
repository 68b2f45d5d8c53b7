"""The rig itself: that it is the GitHub and the runner that the other tests take it for."""

from __future__ import annotations

import http.client
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from repositories import GitRepo
from rig import openapi
from rig.act import permissions
from rig.box import Box
from rig.client import Response, send
from rig.events import Pull
from rig.exchange import Fault, Kind, secondary_limit
from rig.lint import lint_problems
from rig.world import Refused, World

SAMPLES = Path(__file__).parents[1] / "rig" / "samples"
PULL, AFTER, PUSH = (f".github/workflows/{name}.yml" for name in ("pull", "after", "push"))
HOSTILE = "x$(touch pwned)`id`\n::error::forged"


def sample(world: World) -> GitRepo:
    """A repository that uses an action of another one, which act gets from the box."""
    tool = world.repo("acme/tool", source=SAMPLES / "tool")
    tool.git("tag", "v1")
    world.push(tool, "v1")
    return world.repo("acme/demo", source=SAMPLES / "consumer")


def change(world: World, work: GitRepo, branch: str, *, files: int = 1) -> str:
    """Push a branch with one commit, and answer the commit's id."""
    work.git("checkout", "--quiet", "-B", branch)
    for number in range(files):
        work.write(f"new/{number:03}.txt", f"{branch} {number}\n")
    commit = work.commit(f"change {branch}")
    world.push(work, branch)
    return commit


def ask(box: Box, method: str, path: str, token: str, body: object = None) -> Response:
    """A request as a program under test would send it."""
    return send(method, box.url + path, token, body)


def plain_pull(world: World, **options: Any) -> Pull:
    work = world.repo("acme/demo", files={"README.md": "# demo\n"})
    change(world, work, "feature")
    return world.pull("feature", **options)


def test_a_pull_request_from_a_fork_runs_on_its_merge_and_may_only_read(world: World) -> None:
    sample(world)
    fork = world.fork("forker")
    head = change(world, fork, "feature")
    pull = world.pull("feature", head_repo="forker/demo", title=HOSTILE)
    merge = world.bare(pull.repo).head("refs/pull/1/merge")

    run = world.act_on(pull, PULL)

    assert run.good, str(run)
    assert run.jobs == {"pull/comment": "success"}
    assert json.loads(run.output("comment", "seen")) == [merge, 1, HOSTILE]
    assert run.output("comment", "status") == "403"
    assert run.summary == "The comment was answered 403.\n"
    assert world.comments(pull) == []
    assert world.bare(pull.repo).git("log", "-1", "--format=%P", merge).split()[1] == head

    after = world.act_after(pull, run, AFTER)
    assert after.good, str(after)
    assert after.output("read", "head") == merge


def test_a_pull_request_of_the_same_repository_may_comment_as_the_app(world: World) -> None:
    change(world, sample(world), "feature")
    pull = world.pull("feature", author="alice")
    run = world.act_on(pull, PULL, action="synchronize")
    assert run.good, str(run)
    assert run.output("comment", "status") == "201"
    assert world.open_pulls() == [pull]
    (comment,) = world.comments(pull)
    assert comment["user"]["login"] == "github-actions[bot]"
    assert world.box.writes == ["POST /repos/acme/demo/issues/1/comments 201"]


def test_a_job_pushes_over_http_and_not_without_the_permission(world: World) -> None:
    work = sample(world)
    event = {"ref": "refs/heads/main"}
    run = world.act(work.path, "push", PUSH, event)
    assert run.good, str(run)
    pushed = world.bare("acme/demo").head("main")
    assert world.bare("acme/demo").read("run.txt", "main") == f"{run.id}\n".encode()
    assert world.api("GET", "/repos/acme/demo/branches/main")["commit"]["sha"] == pushed

    token = world.token(contents="read")
    refused = world.act(work.path, "push", PUSH, event, token=token)
    assert not refused.good
    assert refused.jobs == {"push/push": "failure"}
    assert "403" in refused.text
    assert world.bare("acme/demo").head("main") == pushed


def test_a_token_does_what_its_permissions_say(world: World) -> None:
    pull = plain_pull(world)
    path = f"/repos/acme/demo/issues/{pull.number}"
    comment = {"body": "hello"}
    reader = world.token(contents="read", pull_requests="read")
    writer = world.token(pull_requests="write")
    assert ask(world.box, "POST", f"{path}/comments", reader, comment).status == 403
    assert ask(world.box, "POST", f"{path}/comments", writer, comment).status == 201
    assert ask(world.box, "POST", f"{path}/labels", reader, {"labels": ["a"]}).status == 403
    assert ask(world.box, "POST", f"{path}/labels", writer, {"labels": ["a"]}).status == 200
    assert ask(world.box, "GET", "/user", writer).status == 403
    assert ask(world.box, "GET", "/repos/acme/demo", "nobody's").status == 401
    too_long = {"body": "x" * 65_537}
    assert ask(world.box, "POST", f"{path}/comments", writer, too_long).status == 422
    assert [row["body"] for row in world.comments(pull)] == ["hello"]
    assert world.labels(pull) == {"a"}


def test_a_pull_request_follows_git(world: World) -> None:
    work = world.repo("acme/demo", files={"README.md": "# demo\n"})
    change(world, work, "feature", files=120)
    pull = world.pull("feature")
    with pytest.raises(Refused, match="A pull request already exists for acme:feature"):
        world.pull("feature")
    with pytest.raises(Refused, match="No commits between main and main"):
        world.pull("main")
    with pytest.raises(Refused, match="invalid"):
        world.pull("nowhere")

    head = change(world, work, "feature", files=121)
    token = world.token(pull_requests="read", contents="read")
    shown = ask(world.box, "GET", "/api/v3/repos/acme/demo/pulls/1", token).json()
    assert (shown["head"]["sha"], shown["changed_files"]) == (head, 121)
    assert shown["url"] == f"{world.url}/api/v3/repos/acme/demo/pulls/1"
    assert shown["mergeable"] is True
    of_head = ask(world.box, "GET", f"/repos/acme/demo/commits/{head}/pulls", token).json()
    assert [row["number"] for row in of_head] == [pull.number]
    path, names = "/repos/acme/demo/pulls/1/files?per_page=100", []
    while path:
        page = ask(world.box, "GET", path, token)
        names += [row["filename"] for row in page.json()]
        following = page.headers.get("Link", "").partition(">")[0]
        path = following.removeprefix(f"<{world.url}")
    assert names == [f"new/{number:03}.txt" for number in range(121)]

    work.git("checkout", "--quiet", "main")
    work.write("new/000.txt", "in the way\n")
    work.commit("other")
    world.push(work, "main")
    shown = ask(world.box, "GET", "/repos/acme/demo/pulls/1", token).json()
    assert (shown["mergeable"], shown["merge_commit_sha"]) == (False, None)


def test_what_the_api_commits_is_in_git(world: World) -> None:
    world.repo("acme/demo", files={"folder/a.txt": "a\n"})
    new = {"message": "by the API", "content": "Ygo=", "branch": "main"}
    world.api("PUT", "/repos/acme/demo/contents/folder/b.txt", "acme", new)
    bare = world.bare("acme/demo")
    assert bare.read("folder/b.txt", "main") == b"b\n"
    assert bare.git("log", "-1", "--format=%s", "main") == "by the API"
    bare.git("fsck", "--strict")


@pytest.mark.parametrize(
    ("kind", "status", "comments"),
    [
        ("status", 502, 0),
        ("status_after", 502, 1),
        ("cut", None, 0),
        ("cut_after", None, 1),
        ("half", None, 1),
        ("delay", 201, 1),
    ],
)
def test_each_fault_strikes_once(
    world: World, kind: Kind, status: int | None, comments: int
) -> None:
    pull = plain_pull(world)
    token = world.token(pull_requests="write")
    path = f"/repos/acme/demo/issues/{pull.number}/comments"
    world.box.faults.append(
        Fault(path="/comments$", kind=kind, method="POST", seconds=0.01, times=1)
    )
    try:
        got: int | None = ask(world.box, "POST", path, token, {"body": "one"}).status
    except (OSError, http.client.HTTPException):
        got = None
    assert got == status
    assert len(world.comments(pull)) == comments
    assert [row.fault for row in world.box.log] == [kind]
    assert ask(world.box, "POST", path, token, {"body": "two"}).status == 201


def test_a_secondary_limit_says_how_long_to_wait(world: World) -> None:
    pull = plain_pull(world)
    world.box.faults.append(secondary_limit("/comments$", seconds=7))
    path = f"/repos/acme/demo/issues/{pull.number}/comments"
    answer = ask(world.box, "GET", path, world.token(pull_requests="read"))
    assert (answer.status, answer.headers["Retry-After"]) == (403, "7")
    assert "secondary rate limit" in answer.json()["message"]


def test_a_strangers_artifact_can_be_any_bytes(world: World) -> None:
    pull = plain_pull(world)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../up.txt", "out")
    shown = world.api("GET", f"/repos/acme/demo/pulls/{pull.number}")
    world.finished(pull, 7, PULL, "success")
    world.box.artifacts.store(7, "report", packed.getvalue())
    token, reader = world.token(actions="read"), world.token(contents="read")
    runs = "/repos/acme/demo/actions/runs/7"
    assert ask(world.box, "GET", runs, token).json()["head_sha"] == shown["head"]["sha"]
    (row,) = ask(world.box, "GET", f"{runs}/artifacts", token).json()["artifacts"]
    address = row["archive_download_url"].removeprefix(world.url)
    assert ask(world.box, "GET", address, reader).status == 403
    assert ask(world.box, "GET", address, token).body == packed.getvalue()


@pytest.mark.parametrize(
    ("method", "path", "body", "problem"),
    [
        ("GET", "/repos/acme/demo/pulls?page_size=9", None, "the query's page_size is not desc"),
        ("GET", "/repos/acme/demo/pulls?state=gone", None, "the query's state: 'gone' is not one"),
        ("GET", "/repos/acme/demo/nothing", None, "GitHub describes no such operation"),
        ("POST", "/repos/acme/demo/issues/1/comments", {"text": "x"}, "'body' is a required pro"),
        ("POST", "/repos/acme/demo/issues/1/comments", {"body": 1}, "the body/body: 1 is not of"),
        ("POST", "/repos/acme/demo/issues/1/labels", ["x"], "['x'] is not valid under any"),
        ("PATCH", "/repos/acme/demo/pulls/1", {"draft": True}, "the body's draft is not descr"),
    ],
)
def test_a_request_that_github_does_not_describe_is_found(
    world: World, method: str, path: str, body: object, problem: str
) -> None:
    plain_pull(world)
    token = world.token(pull_requests="write")
    ask(world.box, "GET", "/api/v3/repos/acme/demo/pulls?state=all&per_page=100", token)
    ask(world.box, "PATCH", "/repos/acme/demo/pulls/1", token, {"title": "New", "body": "x"})
    assert openapi.problems(world.box.log) == []
    ask(world.box, method, path, token, body)
    found = openapi.problems(world.box.log)
    assert len([what for what in found if problem in what]) == 1, found
    world.box.calm()


def test_permissions_are_what_the_workflow_declares(tmp_path: Path) -> None:
    assert permissions(SAMPLES / "consumer" / PULL) == {
        "metadata": "read",
        "contents": "read",
        "pull_requests": "write",
    }
    undeclared = tmp_path / "ci.yml"
    undeclared.write_text("jobs:\n  a:\n    runs-on: ubuntu-latest\n")
    with pytest.raises(AssertionError, match="declares no permissions"):
        permissions(undeclared)


GOOD_ACTION = """\
name: greet
description: Greet somebody
inputs:
  who:
    description: Whom
    required: true
runs:
  using: composite
  steps:
    - shell: bash
      env:
        WHO: ${{ inputs.who }}
      run: echo "$WHO"
"""
GOOD_WORKFLOW = """\
name: greet
on: pull_request
permissions: {}
concurrency:
  group: greet-${{ github.ref }}
  cancel-in-progress: true
jobs:
  greet:
    name: greet
    runs-on: ubuntu-latest
    timeout-minutes: 5
    steps:
      - uses: acme/memrepo/actions/greet@8b5a2f5a0d5b7a4c8f3a1a5b9e0d1c2b3a4f5e6d # v1.0.0
        with:
          who: world
"""


# What each linter is there for: who says it, what is said, and what is changed above to earn it.
FAULTS = (
    ("zizmor", "overly broad permissions", "permissions: {}\n", ""),
    (
        "zizmor",
        "unpinned action reference",
        "@8b5a2f5a0d5b7a4c8f3a1a5b9e0d1c2b3a4f5e6d # v1.0.0",
        "@main",
    ),
    ("jactionlint", '"whom" is not defined', "inputs.who", "inputs.whom"),
    (
        "language service",
        "Invalid action input 'whom'",
        "          who: world",
        "          whom: world",
    ),
    (
        "vendor.github-actions",
        "'description' is a required property",
        "    description: Whom\n",
        "",
    ),
    ("custom.github-workflows-require-timeout", "jobs.greet", "    timeout-minutes: 5\n", ""),
)


def test_each_linter_sees_what_it_is_there_for(tmp_path: Path) -> None:
    files = {"actions/greet/action.yml": GOOD_ACTION, "workflows/greet.yml": GOOD_WORKFLOW}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    assert lint_problems(tmp_path) == []

    for name, text in files.items():
        for *_, old, new in FAULTS:
            text = text.replace(old, new)
        (tmp_path / name).write_text(text)
    found = lint_problems(tmp_path)
    unseen = [
        (linter, said)
        for linter, said, *_ in FAULTS
        if not any(f"({linter}" in what and said in what for what in found)
    ]
    assert unseen == [], "\n".join(found)
