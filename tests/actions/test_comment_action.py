"""The half of a review that may write, and artifacts that are not what the other half makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actions.workflows import REVIEW, starters
from memrepo.errors import BadInput, PermissionDenied
from memrepo.forge.rest.artifacts import Artifacts
from memrepo.memory import MemoryRepo
from memrepo.report.jsonform import review_as_json
from memrepo.runner.comment import run
from memrepo.runner.inputs import CommentInputs
from memrepo.runner.job import Job, read_job
from repositories import GitRepo
from rig.box import Box
from rig.events import workflow_run_completed
from rig.exchange import Fault
from rig.world import Pull, World
from unit.runner.test_handover import packed

RUN = 77


def demo(world: World, *branches: str) -> tuple[GitRepo, list[Pull]]:
    """A repository with a pull request from a fork for each branch."""
    world.repo("acme/demo", "support_v1", files=starters())
    fork = world.fork("forker")
    pulls = []
    for branch in branches:
        fork.git("checkout", "--quiet", "-B", branch, "main")
        fork.write_agent("support_v1", version="1.1.0")
        fork.commit(f"support_v1: {branch}")
        world.push(fork, branch)
        pulls.append(world.pull(branch, head_repo="forker/demo"))
    return fork, pulls


def artifact(work: GitRepo, branch: str, number: int, **said: object) -> bytes:
    """What the first half uploads for a branch, as the pull request ``number``."""
    with MemoryRepo(work.path) as repo:
        review = review_as_json(repo.review("main", branch))
    head = work.head(branch)
    pull = {"number": number, "head_sha": head}
    return packed({"review.json": {**review, **said}, "pull-request.json": pull})


def job(world: World, pull: Pull, tmp_path: Path, data: bytes) -> Job:
    """The job after the run ``RUN`` for ``pull``, which uploaded ``data``."""
    world.finished(pull, RUN, f".github/workflows/{REVIEW}", "success")
    world.box.artifacts.store(RUN, "memory-review", data)
    event = workflow_run_completed(world.box.artifacts.runs[RUN])
    (tmp_path / "event.json").write_text(json.dumps(event))
    return read_job(
        {
            "GITHUB_EVENT_NAME": "workflow_run",
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_REPOSITORY": "acme/demo",
            "GITHUB_SERVER_URL": world.url,
            "GITHUB_API_URL": f"{world.url}/api/v3",
            "GITHUB_RUN_ID": "78",
            "GITHUB_OUTPUT": str(tmp_path / "output"),
        }
    )


def inputs(world: World) -> CommentInputs:
    token = world.token(actions="read", pull_requests="write", metadata="read")
    return CommentInputs(github_token=token)


def test_what_the_run_was_for_is_commented_once(world: World, box: Box, tmp_path: Path) -> None:
    work, (pull,) = demo(world, "one")
    data = artifact(work, "one", pull.number, verdict="pass", base_name="@acme", head_name="x")
    for _ in range(2):
        assert run(job(world, pull, tmp_path, data), inputs(world)) == 0
    (comment,) = world.comments(pull)
    assert "From <code>main</code>" in comment["body"]
    assert f"/acme/demo/actions/runs/{RUN}" in comment["body"]
    assert comment["html_url"] in (tmp_path / "output").read_text()
    assert [w for w in box.writes if "comments" in w] == [
        f"POST /repos/acme/demo/issues/{pull.number}/comments 201"
    ]


def test_an_artifact_that_names_another_pull_request_is_refused(
    world: World, box: Box, tmp_path: Path
) -> None:
    work, (one, two) = demo(world, "one", "two")
    for data in (artifact(work, "one", two.number), artifact(work, "two", two.number)):
        with pytest.raises(BadInput, match=r"names pull request 2|about another commit"):
            run(job(world, one, tmp_path, data), inputs(world))
    assert box.writes == []


def test_an_artifact_that_is_too_big_is_not_even_downloaded(
    world: World, box: Box, tmp_path: Path
) -> None:
    _, (pull,) = demo(world, "one")
    with pytest.raises(BadInput, match="a review is read up to 33,554,432"):
        run(job(world, pull, tmp_path, b"x" * 34_000_000), inputs(world))
    assert not [row for row in box.log if row.path.endswith("/zip")]
    assert box.writes == []


def test_a_review_of_an_older_commit_is_left_alone(world: World, box: Box, tmp_path: Path) -> None:
    work, (pull,) = demo(world, "one")
    late = job(world, pull, tmp_path, artifact(work, "one", pull.number))
    work.write_agent("support_v1", version="1.2.0")
    work.commit("support_v1: more")
    world.push(work, "one")
    assert run(late, inputs(world)) == 0
    assert box.writes == []


def test_a_run_without_an_artifact_is_nothing_to_do(world: World, box: Box, tmp_path: Path) -> None:
    _, (pull,) = demo(world, "one")
    here = job(world, pull, tmp_path, b"")
    (box.artifacts.folder / str(RUN) / "memory-review.zip").unlink()
    assert run(here, inputs(world)) == 0
    assert box.writes == []


def artifacts(world: World, token: str) -> Artifacts:
    return Artifacts("acme/demo", token, api_url=f"{world.url}/api/v3", server_url=world.url)


def test_a_download_that_fails_is_tried_again(world: World, box: Box, tmp_path: Path) -> None:
    _, (pull,) = demo(world, "one")
    job(world, pull, tmp_path, b"some bytes")
    box.faults.append(Fault(path="/zip$", kind="cut", times=1))
    found = artifacts(world, world.token(actions="read"))
    assert found.download_artifact(RUN, "memory-review", most_bytes=100) == b"some bytes"
    assert found.download_artifact(RUN, "another", most_bytes=100) is None


def test_a_token_that_may_not_read_artifacts_says_so(
    world: World, box: Box, tmp_path: Path
) -> None:
    _, (pull,) = demo(world, "one")
    job(world, pull, tmp_path, b"some bytes")
    found = artifacts(world, world.token(contents="read"))
    with pytest.raises(PermissionDenied, match="may not download the artifact"):
        found.download_artifact(RUN, "memory-review", most_bytes=100)
