"""What a rollout answers: the branch of a unit, for a shell, for flagd, from Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from openfeature.contrib.tools.flagd.core import FlagdCore
from openfeature.evaluation_context import EvaluationContext

from commandline import Ran, memrepo
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
    assert (found["covered"], other["covered"]) == (True, False)
    told = f"sales_v1 is not covered by {NAME}: it reads main\n"
    for command in ("resolve", "env"):
        assert told in run(work, command, "--unit", unit, "--agent-id", "sales_v1").err
        assert "not covered" not in run(work, command, "--unit", unit).err
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


def test_the_one_that_runs_needs_no_name(work: GitRepo, tmp_path: Path) -> None:
    def ask(command: str, *more: str) -> Ran:
        return memrepo(work, f"rollout {command}", *more)

    nothing = ask("step")
    assert (nothing.code, "no rollout runs on main" in nothing.err) == (2, True)
    assert start(work, "--steps", "25:0s,50:0s").code == 0
    assert ask("resolve", "--unit", "1", "--json").json["name"] == NAME
    assert ask("env", "--unit", "1").out.startswith("MEMORY_REPO_BRANCH=")
    empty = tmp_path / "none.csv"
    empty.write_bytes(b"")
    for command in ("pause", "resume", "step", "analyze"):
        more = ("--metrics", str(empty)) if command == "analyze" else ()
        ran = ask(command, *more)
        assert (ran.code, NAME in ran.out) == (0, True), ran
    treat(work, "classify", branch="feature/b", classify="Better.")
    more = ("--name", "b", "--treatment", "feature/b", "--agents", "other_*")
    assert ask("start", *more).code == 0
    for command, *more_ in (("step",), ("env", "--unit", "1"), ("abort", "--reason", "x")):
        several = ask(command, *more_)
        assert (several.code, f"2 rollouts run: b, {NAME}" in several.err) == (2, True)
        assert "--name" in several.err
    assert ask("abort", "--reason", "x", "--name", "b").code == 0
    assert ask("promote", "--early").code == 0
    over = ask("promote")
    assert (over.code, f"b (aborted), {NAME} (promoted)" in over.err) == (2, True)


def test_what_ended_is_one_line_and_is_not_exported(work: GitRepo) -> None:
    assert "warning: it has no guardrail" in start(work, "--steps", "25,50").err
    assert run(work, "abort", "--reason", "x").code == 0
    said = memrepo(work, "rollout status")
    assert said.out == f"1 rollout ended: {NAME} (aborted); --all shows more\n"
    for more in (("--all",), ("--name", NAME)):
        shown = memrepo(work, "rollout status", *more).out
        assert f"{NAME}: aborted 2" in shown
        assert "is read by all" in shown
        assert "fits" not in shown
    assert [row["phase"] for row in memrepo(work, "rollout status", "--json").json] == ["aborted"]
    left = run(work, "export")
    assert (left.json["flags"], left.err) == ({}, f"left out, for they ended: {NAME}\n")
    assert list(run(work, "export", "--name", NAME).json["flags"]) == [NAME]


def test_a_guardrail_is_no_cause_for_a_warning(work: GitRepo) -> None:
    made = start(work, "--steps", "25,50", "--guardrail", "resolved:rate:higher:0.02")
    assert (made.code, "warning" in made.err) == (0, False)


def test_a_file_that_cannot_be_read_is_said_and_assigns_nobody(work: GitRepo) -> None:
    start(work, "--steps", "5,100")
    on_branch(work, "main", {".memrepo/rollouts/bad.yml": "name: bad\nsteps: [\n"}, "broken")
    said = run(work, "export")
    assert (list(said.json["flags"]), "bad.yml assigns nobody: line" in said.err) == ([NAME], True)
    assert run(work, "resolve", "--name", "bad", "--unit", "1").code == 2
    assert history(work)[-1] == "broken"
