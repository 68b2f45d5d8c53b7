"""The weekly archive as a job runs it, and what it leaves for anybody to read."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from actions.archives import REPO, Place, archive, demo, go, half_a_year, tree
from actions.workflows import DIRECT, starter
from archiving import blob_id
from commandline import memrepo
from longhistory import long_history, newest_of_each, old
from memrepo.errors import MemrepoError, UsageError
from memrepo.runner import archive as action
from memrepo.runner.inputs import ArchiveInputs
from repositories import GitRepo
from rig.box import Box
from rig.client import send
from rig.emulator import token_of
from rig.exchange import FROM_TEST
from rig.world import World


def releases(world: World) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.api("GET", f"/repos/{REPO}/releases?per_page=100")
    return found


def downloaded(world: World, tag: str, folder: Path) -> None:
    """The files of a release, as the API serves them to whoever asks."""
    folder.mkdir()
    (release,) = (one for one in releases(world) if one["tag_name"] == tag)
    headers = {"Accept": "application/octet-stream", FROM_TEST: "1"}
    for asset in release["assets"]:
        path = f"/repos/{REPO}/releases/assets/{asset['id']}"
        got = send("GET", world.url + path, token_of("acme"), headers=headers)
        (folder / asset["name"]).write_bytes(got.body)


def by_hand(folder: Path, *command: str) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def files_below(folder: Path) -> dict[str, str]:
    """Path to Git blob id of each file."""
    return {
        path.relative_to(folder).as_posix(): blob_id(path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_two_years_of_forty_agents(
    world: World, box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    history = long_history(10_000, 40, now=now)
    before = demo(world, history, apart=True)
    assert len(before) == 10_000
    due = old(history, now)

    first = go(world, starter("weekly-archive.yml"), "schedule")
    assert first.good, str(first)
    after = tree(world)
    assert after == {path: blob for path, blob in before.items() if path not in due}
    assert newest_of_each(history) <= after.keys()
    assert int(first.output("archive", "archived")) == len(due)
    assert first.output("archive", "overdue") == "true"
    assert first.output("archive", "pruned-commit") == world.bare(REPO).head("main")
    tag = first.output("archive", "release-tag")
    assert f"memrepo archive restore {tag}" in first.summary
    assert "| before | 10,000 | " in first.summary
    assert f"| after | {len(after):,} | " in first.summary
    assert "xychart-beta" in first.summary
    assert "Attested: " in first.text
    assert first.output("archive", "sha256") in first.summary

    downloaded(world, tag, by := tmp_path / "assets")
    sums = by_hand(by, "sha256sum", "--check", "--strict", "SHA256SUMS").splitlines()
    shards = sorted(by.glob("*.tar.gz"))
    assert len(sums) == len(shards) + 1
    assert all(line.endswith(": OK") for line in sums)
    named = json.loads(first.output("archive", "shards"))
    assert [path.name for path in shards] == sorted(f"history-{one}.tar.gz" for one in named)
    listed = [line for path in shards for line in by_hand(by, "tar", "tzf", path.name).split("\n")]
    assert sorted(filter(None, listed)) == sorted(due)

    clone = tmp_path / "clone"
    world.bare(REPO).git("clone", "-q", "--depth=1", f"{world.url}/{REPO}", str(clone))
    monkeypatch.setenv("GITHUB_TOKEN", world.token(contents="read"))
    monkeypatch.setenv("GITHUB_SERVER_URL", world.url)
    monkeypatch.setenv("GITHUB_API_URL", f"{world.url}/api/v3")
    place = ("--forge", "github", "--to", tmp_path / "back")
    back = memrepo(clone, "archive restore", "--all", *place)
    assert back.code == 0, back
    assert files_below(tmp_path / "back") == {path: before[path] for path in due}

    tip, writes = world.bare(REPO).head("main"), list(box.writes)
    second = go(world, starter("weekly-archive.yml"), "schedule")
    assert second.good, str(second)
    assert second.output("archive", "state") == "nothing"
    assert second.output("archive", "overdue") == "false"
    assert (world.bare(REPO).head("main"), box.writes) == (tip, writes)
    assert "Attested: " not in second.text


def test_by_pull_request_it_is_one_warning_a_shard(world: World, box: Box) -> None:
    history = half_a_year()
    before = demo(world, history)
    due = old(history, datetime.now(UTC))
    workflow = archive("{contents: write, pull-requests: write}", mode="pr")
    first = go(world, workflow)
    assert first.good, str(first)
    assert first.output("archive", "state") == "proposed"
    assert int(first.output("archive", "archived")) == len(due)
    (pull,) = world.open_pulls(REPO)
    assert f"[Pull request {pull.number}]({world.url}/{REPO}/pull/{pull.number})" in first.summary
    assert first.output("archive", "pull-request-number") == str(pull.number)
    assert tree(world) == before
    proposed = world.bare(REPO).head(pull.branch)
    assert first.output("archive", "pruned-commit") == proposed
    assert tree(world, proposed).keys() == before.keys() - due
    body = world.api("GET", f"/repos/{REPO}/pulls/{pull.number}")["body"]
    assert first.output("archive", "release-tag") in body

    again = go(world, workflow)
    assert again.good, str(again)
    assert [one.number for one in world.open_pulls(REPO)] == [pull.number]
    assert world.bare(REPO).head(pull.branch) == proposed
    assert len(releases(world)) == 1

    gate = world.clone(REPO, "alice")
    gate.git("checkout", "--quiet", pull.branch)
    gate.write(".github/workflows/review.yml", DIRECT)
    gate.commit("review")
    gate.git("push", "--quiet", "origin", f"HEAD:{pull.branch}")
    review = world.act_on(pull, ".github/workflows/review.yml")
    assert review.good, str(review)
    assert review.output("review", "verdict") == "warn"
    assert review.output("review", "errors") == "0"
    shards = json.loads(first.output("archive", "shards"))
    (comment,) = world.comments(pull)
    assert "snapshot-archived" in comment["body"]
    assert review.output("review", "warnings") == str(len(shards))


def test_a_dry_run_writes_nothing(world: World, box: Box) -> None:
    history = half_a_year()
    before = demo(world, history)
    options = {"mode": "dry-run", "older-than": "'8w'", "agent-ids": "airline-00, airline-01"}
    run = go(world, archive("{contents: read}", **options))
    assert run.good, str(run)
    assert run.output("archive", "state") == "planned"
    due = {
        one.path
        for one in history
        if one.path in old(history, datetime.now(UTC), timedelta(weeks=8))
        and one.agent_id in ("airline-00", "airline-01")
    }
    assert int(run.output("archive", "archived")) == len(due)
    assert "would go" in run.summary
    assert run.output("archive", "sums-file") == ""

    starts = go(world, starter("weekly-archive.yml"), given={"dry-run": "true"})
    assert starts.good, str(starts)
    assert starts.output("archive", "state") == "planned"
    assert starts.output("archive", "archived") == str(len(old(history, datetime.now(UTC))))
    assert "Attested: " not in starts.text
    assert (box.writes, tree(world), releases(world)) == ([], before, [])


def test_a_token_that_may_only_read_changes_nothing(world: World, box: Box) -> None:
    before = demo(world, half_a_year())
    token = world.token(REPO, contents="read", metadata="read")
    run = go(world, archive(), token=token)
    assert run.jobs == {"demo/demo": "failure"}, str(run)
    assert "exit status 5" in run.everything
    (error,) = (note for note in run.annotations if note.level == "error" and note.place)
    assert "contents: write" in error.message
    assert (tree(world), releases(world)) == (before, [])


def test_jobs_side_by_side_and_one_commit(world: World, box: Box) -> None:
    history = long_history(60, 4, days=150)
    before = demo(world, history)
    due = old(history, datetime.now(UTC))
    # act has one token for all jobs; the plan alone gets no more than it declares.
    plan = go(world, starter("archive-matrix.yml"), job="plan")
    assert plan.good, str(plan)
    token = world.token(REPO, contents="write", metadata="read", attestations="write")
    run = go(world, starter("archive-matrix.yml"), token=token)
    assert run.good, str(run)
    shards = json.loads(run.output("plan", "shards"))
    assert len(shards) > 1
    assert plan.output("plan", "shards") == run.output("plan", "shards")
    assert len(releases(world)) == len(shards)
    assert tree(world) == {path: blob for path, blob in before.items() if path not in due}
    assert run.text.count("Attested: ") == len(shards)
    assert int(run.output("prune", "archived")) == len(due)
    writes = list(box.writes)
    later = go(world, starter("archive-matrix.yml"), token=token)
    assert later.output("plan", "shards") == "[]"
    assert later.output("prune", "state") == "nothing"
    assert box.writes == writes


def test_a_clone_is_maintained_on_its_own_machine(world: World, tmp_path: Path) -> None:
    demo(world, half_a_year())
    clone = tmp_path / "memory.git"
    world.bare(REPO).git("clone", "-q", "--bare", f"{world.url}/{REPO}", str(clone))
    run = go(world, starter("maintain.yml").replace("/srv/memory", str(clone)))
    assert (clone / "objects/info/commit-graph").is_file()
    # The archive never ran, and this is said in the way that a monitor hears.
    assert run.jobs == {"Maintain the clone/Maintain the clone": "failure"}, str(run)
    assert "overdue: some are due for more than 14 days" in run.text


def test_inputs_that_are_none(world: World, tmp_path: Path) -> None:
    place = Place(world, tmp_path, demo(world, half_a_year()))
    (place.workspace / "plan.json").write_text("{}")
    token = world.token(contents="write")
    wishes: list[tuple[dict[str, Any], str]] = [
        ({"older_than": "soon"}, "no age"),
        ({"step": "publish"}, "plan-file and shard"),
        ({"step": "publish", "plan_file": "none.json", "shard": "a"}, "cannot be read"),
        ({"step": "publish", "plan_file": "plan.json", "shard": "a"}, "no plan of an archive"),
        ({"agent_ids": ("../x",)}, "agent"),
        ({"repo_path": ".."}, "leads out of the workspace"),
    ]
    for given, words in wishes:
        with pytest.raises(MemrepoError, match=words) as caught:
            action.run(place.job, ArchiveInputs(**given, github_token=token))
        assert caught.value.exit_code == 2
    GitRepo(place.workspace).git("checkout", "--quiet", "--detach")
    with pytest.raises(UsageError, match="HEAD is detached"):
        action.run(place.job, ArchiveInputs(github_token=token))
    assert not place.output.exists()
    assert tree(world) == place.before
