"""A rollout by its starter workflows: the form for people, and the schedule that decides."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from actions.workflows import checkout, job, starter
from memrepo.buckets.assign import Assigner
from memrepo.protocol.rollout import Rollout, rollout_path
from memrepo.protocol.rolloutfile import read_rollout
from repositories import GitRepo
from rig.act import Run
from rig.box import Box
from rig.world import World
from rolloutwork import tools

FORM = ".github/workflows/memory-rollout.yml"
AUTO = ".github/workflows/memory-rollout-auto.yml"
ASK = ".github/workflows/ask.yml"
NAME, TREATMENT = "new-classifier", "feature/new-classifier"
# Prints the file that a test leaves; a service would ask its database.
OUTCOMES = "#!/bin/sh\ncat metrics.csv\n"


@pytest.fixture
def work(world: World, box: Box) -> GitRepo:
    """A published memory repository with the starters, and a treatment branch."""
    repo = world.repo("acme/demo", "support_v1")
    repo.write_agent("support_v1", tools=tools("classify"))
    for path in (FORM, AUTO):
        repo.write(path, starter(path.rpartition("/")[2]))
    repo.write("rollout-outcomes", OUTCOMES).chmod(0o755)
    repo.commit("workflows")
    world.push(repo, "main")
    repo.git("switch", "--quiet", "--create", TREATMENT)
    repo.write_agent("support_v1", tools=tools("classify", "find_order"), version="1.1.0")
    repo.commit("a new classifier")
    world.push(repo, TREATMENT)
    repo.git("switch", "--quiet", "main")
    return repo


def go(world: World, work: GitRepo, path: str = FORM, **inputs: Any) -> Run:
    """Run a workflow of main as it is published, as GitHub would."""
    tip = world.bare("acme/demo").head("main")
    target = world.checkout("acme/demo", tip)
    asked = {"control": "main", "mode": "push", "early": "false", **inputs}
    event = {
        "ref": "refs/heads/main",
        "repository": {"default_branch": "main"},
        "sender": {"login": "alice"},
        **({"inputs": asked} if path == FORM else {}),
    }
    return world.act(target, "workflow_dispatch", path, event, ref="refs/heads/main", sha=tip)


def outputs(run: Run, step: str) -> tuple[str, str, str]:
    phase, weight, action = (run.output(step, name) for name in ("phase", "weight", "action"))
    return phase, weight, action


def rollout(world: World) -> Rollout:
    path = rollout_path(NAME)
    return read_rollout(world.bare("acme/demo").read(path, "main"), path)


def subjects(world: World) -> list[str]:
    lines = world.bare("acme/demo").git("log", "--reverse", "--format=%P|%s", "main").splitlines()
    assert all(len(line.partition("|")[0].split()) <= 1 for line in lines)
    return [line.partition("|")[2] for line in lines]


def test_start_step_step_promote(world: World, work: GitRepo) -> None:
    asked = {"name": NAME, "treatment": TREATMENT, "steps": "5:24h,25:24h,100"}
    run = go(
        world, work, command="start", reason="a trial", guardrails="solved:higher:0.02", **asked
    )
    assert run.good, str(run)
    assert "0 % → 5 % of units of support_v1 will read feature/new-classifier" in run.text
    assert "units of" in run.summary
    assert rollout(world).state.weight == 5_000
    again = go(world, work, command="start", **asked)
    assert again.good, str(again)
    assert f"{NAME} has started" in again.text
    for weight in (25_000, 100_000):
        assert go(world, work, command="step", name=NAME).jobs == {
            "Memory rollout/Roll memory out": "failure"
        }
        run = go(world, work, command="step", name=NAME, early="true", reason="looks fine")
        assert run.good, str(run)
        assert rollout(world).state.weight == weight
    run = go(world, work, command="status")
    assert "promote now" in run.text, str(run)
    run = go(world, work, command="promote", name=NAME)
    assert run.good, str(run)
    assert subjects(world)[-5:] == [
        f"rollout {NAME}: start at 5 %",
        f"rollout {NAME}: 5 % → 25 %",
        f"rollout {NAME}: 25 % → 100 %",
        "a new classifier",
        f"rollout {NAME}: promote {TREATMENT}",
    ]
    bare = world.bare("acme/demo")
    names = [tool["name"] for tool in json.loads(bare.read("state/support_v1/tools.json", "main"))]
    assert names == ["classify", "find_order"]
    text = bare.git("log", "-1", "--format=%B", f"--grep={NAME}: start", "main")
    assert "\na trial\n" in text
    assert "Rollout-By: alice" in text


def test_start_abort(world: World, work: GitRepo) -> None:
    assert go(world, work, command="start", name=NAME, treatment=TREATMENT).good
    missing = go(world, work, command="abort", name=NAME)
    assert "the input reason is missing" in missing.everything
    run = go(world, work, command="abort", name=NAME, reason="$(touch pwned); `id` ::error::x")
    assert run.good, str(run)
    assert f"git push origin --delete {TREATMENT}" in run.text
    assert not list(run.folder.rglob("pwned"))
    assert not [a for a in run.annotations if a.level == "error"]
    assert (rollout(world).state.phase, rollout(world).state.weight) == ("aborted", 0)
    assert subjects(world)[-2:] == [
        f"rollout {NAME}: start at 1 %",
        f"rollout {NAME}: abort at 1 %",
    ]
    assert world.bare("acme/demo").head(TREATMENT)


def test_promote_by_a_pull_request(world: World, work: GitRepo) -> None:
    asked = {"name": NAME, "treatment": TREATMENT, "steps": "100"}
    assert go(world, work, command="start", **asked).good
    run = go(world, work, command="promote", name=NAME, mode="pr")
    assert run.good, str(run)
    pull = world.api("GET", "/repos/acme/demo/pulls/1")
    assert pull["head"]["ref"] == f"memory/rollout/{NAME}"
    assert rollout(world).state.phase == "running"


def metrics(world: World, *, is_harmful: bool) -> str:
    """Recent outcomes of a thousand units."""
    assigner = Assigner(rollout(world))
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = ["unit,metric,value,at"]
    for number in range(2000):
        harmed = is_harmful and assigner.branch_for(f"u{number}") == TREATMENT
        lines.append(f"u{number},solved,{int(not harmed and number % 10 != 0)},{now}")
    return "\n".join(lines) + "\n"


def publish(world: World, work: GitRepo, text: str) -> None:
    work.git("pull", "--quiet", "--rebase", "origin", "main")
    work.write("metrics.csv", text)
    work.commit("outcomes")
    world.push(work, "main")


def test_the_schedule_waits_steps_and_aborts(world: World, work: GitRepo) -> None:
    idle = go(world, work, AUTO)
    assert idle.good, str(idle)
    assert "There is no rollout" in idle.text
    asked = {"name": NAME, "treatment": TREATMENT, "steps": "25,50:24h,100"}
    assert go(world, work, command="start", guardrails="solved:higher:0.1", **asked).good
    publish(world, work, "unit,metric,value,at\n")
    held = go(world, work, AUTO)
    assert held.good, str(held)
    assert "hold: new-classifier: There is no outcome of solved" in held.text
    assert rollout(world).state.step == 1
    publish(world, work, metrics(world, is_harmful=False))
    stepped = go(world, work, AUTO)
    assert stepped.good, str(stepped)
    assert rollout(world).state.step == 2
    assert "| Metric |" in stepped.summary
    publish(world, work, metrics(world, is_harmful=True))
    aborted = go(world, work, AUTO)
    assert aborted.good, str(aborted)
    assert rollout(world).state.phase == "aborted"
    trailers = world.bare("acme/demo").git("log", "-1", "--format=%(trailers)", "main")
    assert "Rollout-Verdict: abort" in trailers


def test_a_unit_asks_and_an_analysis_is_an_output(world: World, work: GitRepo) -> None:
    asked = {"name": NAME, "treatment": TREATMENT, "steps": "25"}
    assert go(world, work, command="start", guardrails="solved:higher:0.1", **asked).good
    steps = checkout(persist_credentials="false") + (
        "      - id: resolve\n        uses: acme/memrepo/actions/rollout@v1\n        with:\n"
        f"          command: resolve\n          name: {NAME}\n          unit-id: user-3\n"
        "      - id: analyze\n        uses: acme/memrepo/actions/rollout@v1\n        with:\n"
        f"          command: analyze\n          name: {NAME}\n          metrics: metrics.csv\n"
        '      - run: test -s "$REPORT" && test -s "$CHART"\n        env:\n'
        "          REPORT: ${{ steps.analyze.outputs.report-markdown }}\n"
        "          CHART: ${{ steps.analyze.outputs.chart }}\n"
    )
    work.git("pull", "--quiet", "--rebase", "origin", "main")
    work.write(ASK, job("workflow_dispatch", "{contents: read}", steps))
    work.write("metrics.csv", metrics(world, is_harmful=True))
    work.commit("ask")
    world.push(work, "main")
    run = go(world, work, ASK)
    assert run.good, str(run)
    ours = Assigner(rollout(world)).assign("user-3")
    assert (run.output("resolve", "branch"), run.output("resolve", "variant")) == (
        ours.branch, ours.variant,
    )  # fmt: skip
    assert run.output("analyze", "verdict") == "abort"
    assert (run.output("analyze", "phase"), run.output("analyze", "weight")) == ("running", "25")


def test_a_job_that_may_only_read_cannot_step(world: World, work: GitRepo) -> None:
    asked = {"name": NAME, "treatment": TREATMENT, "steps": "5,100"}
    assert go(world, work, command="start", **asked).good
    tip = world.bare("acme/demo").head("main")
    target = world.checkout("acme/demo", tip)
    event = {"inputs": {"command": "step", "name": NAME, "early": "true", "control": "main"}}
    token = world.token(contents="read")
    run = world.act(target, "workflow_dispatch", FORM, event, ref="refs/heads/main", token=token)
    assert "exit status 5" in run.everything or "exit code 5" in run.everything, str(run)
    assert world.bare("acme/demo").head("main") == tip
