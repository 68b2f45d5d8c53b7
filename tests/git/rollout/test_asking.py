"""What a rollout answers: the branch of a unit, for a shell, for flagd, from Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from openfeature.contrib.tools.flagd.core import FlagdCore
from openfeature.evaluation_context import EvaluationContext

from memrepo.rollout.read import open_rollout
from repositories import GitRepo
from rolloutwork import NAME, TREATMENT, history, on_branch, origin, run, start, treat


def test_a_unit_reads_one_branch_on_every_machine(work: GitRepo, tmp_path: Path) -> None:
    start(work, "--steps", "25:0s,50")
    target = tmp_path / "another"
    work.git("clone", "--quiet", str(origin(work).path), str(target))
    rollouts = [open_rollout(path, NAME) for path in (work.path, target, origin(work).path)]
    for unit in map(str, range(500)):
        assert len({one.branch_for(unit) for one in rollouts}) == 1
    before = {u for u in map(str, range(500)) if rollouts[0].branch_for(u) == TREATMENT}
    run(work, "step")
    after = open_rollout(target, NAME, fetch=True)
    assert before < {u for u in map(str, range(500)) if after.branch_for(u) == TREATMENT}
    # What was fetched is known from then on.
    assert open_rollout(target, NAME).rollout.state.step == 2


def test_resolve_and_env(work: GitRepo) -> None:
    start(work, "--steps", "25,50")
    unit = next(
        u for u in map(str, range(99)) if open_rollout(work.path, NAME).branch_for(u) == TREATMENT
    )
    said = run(work, "resolve", "--unit", unit)
    assert (said.code, said.out) == (0, f"{TREATMENT}\n")
    found = run(work, "resolve", "--unit", unit, "--json").json
    assert (found["branch"], found["variant"], found["weight"]) == (TREATMENT, "treatment", "25")
    assert found["bucket"] < 25_000
    assert run(work, "env", "--unit", unit).out == f"MEMORY_REPO_BRANCH={TREATMENT}\n"
    other = run(work, "resolve", "--unit", unit, "--agent-id", "sales_v1", "--json").json
    assert (other["branch"], other["variant"]) == ("main", "untracked")
    assert run(work, "resolve", "--unit", " ").code == 2
    run(work, "abort", "--reason", "x")
    assert run(work, "env", "--unit", unit).out == "MEMORY_REPO_BRANCH=main\n"


def test_a_hostile_branch_does_nothing_in_a_shell(work: GitRepo) -> None:
    branch = "x;touch${IFS}pwned;$(touch${IFS}pwned)`id`"
    treat(work, "classify", "find_order", branch=branch)
    assert run(work, "start", "--treatment", branch, "--steps", "100").code == 0
    said = run(work, "env", "--unit", "1").out
    done = subprocess.run(
        ["bash", "-c", "eval \"$1\"; printf %s \"$MEMORY_REPO_BRANCH\"", "-", said],
        cwd=work.path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == branch
    assert not (work.path / "pwned").exists()


def test_flagd_says_of_the_exported_file_what_resolve_says(work: GitRepo, tmp_path: Path) -> None:
    start(work, "--steps", "12.5,50")
    treat(work, "classify", branch="feature/b", classify="Better.")
    made = run(work, "start", "--name", "b", "--treatment", "feature/b", "--agents", "other_*")
    assert made.code == 0
    flags = tmp_path / "flags.json"
    assert run(work, "export", "--output", str(flags)).code == 0
    assert run(work, "export").json == json.loads(flags.read_text())
    assert list(run(work, "export", "--name", "b").json["flags"]) == ["b"]
    flagd = FlagdCore()
    flagd.set_flags(flags.read_text())
    for name in (NAME, "b"):
        ours = open_rollout(work.path, name)
        for unit in (f"user-{number}" for number in range(2000)):
            theirs = flagd.resolve_string_value(name, "none", EvaluationContext(unit, {}))
            found = ours.assign(unit)
            assert (theirs.value, theirs.variant) == (found.branch, found.variant)


def test_a_file_that_cannot_be_read_is_said_and_assigns_nobody(work: GitRepo) -> None:
    start(work, "--steps", "5,100")
    on_branch(work, "main", {".memrepo/rollouts/bad.yml": "name: bad\nsteps: [\n"}, "broken")
    said = run(work, "export")
    assert (list(said.json["flags"]), "bad.yml assigns nobody: line" in said.err) == ([NAME], True)
    assert run(work, "resolve", "--name", "bad", "--unit", "1").code == 2
    assert history(work)[-1] == "broken"
