"""A rollout from its first step to its end, by the command line; every change one commit."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from commandline import everything
from memrepo.errors import NeedsPerson, UsageError
from memrepo.rollout.change import step
from memrepo.rollout.promote import promote
from memrepo.rollout.read import open_rollout
from repositories import GitRepo
from rolloutwork import (
    AT,
    DAY,
    NAME,
    TREATMENT,
    history,
    on_branch,
    opened,
    origin,
    rollout,
    run,
    start,
    tools,
    treat,
)

STEPS = ("--steps", "5:24h,25:24h,100")
PATH = f".memrepo/rollouts/{NAME}.yml"


def test_start_step_step_promote(work: GitRepo) -> None:
    before = history(work)
    started = start(work, *STEPS, "--guardrail", "resolved:rate:higher:0.02", "--reason", "trial")
    assert started.code == 0, started
    assert "0 % → 5 % of units of support_agent_v1 will read feature/new-classifier" in started.out
    assert rollout(work).agents == ("support_agent_v1",)
    assert "holds 5 % until" in run(work, "step").err
    assert run(work, "step", "--early", "--reason", "fine so far").code == 0
    assert run(work, "promote").code == 2
    assert run(work, "step", "--early").code == 0
    assert "at its last step" in run(work, "step").out
    assert run(work, "promote").code == 0
    assert "is promoted" in run(work, "promote").out
    assert history(work)[len(before) :] == [
        f"rollout {NAME}: start at 5 %",
        f"rollout {NAME}: 5 % → 25 %",
        f"rollout {NAME}: 25 % → 100 %",
        "a new classifier",
        f"rollout {NAME}: promote {TREATMENT}",
    ]
    remote = origin(work)
    names = [t["name"] for t in json.loads(remote.read("state/support_agent_v1/tools.json"))]
    assert names == ["classify", "find_order"]
    assert rollout(work).state.phase == "promoted"
    asked = remote.git("log", "-1", "--format=%an|%B", f"--grep={NAME}: 5 % →", "main")
    assert asked.startswith("Test Person|")
    assert "\nfine so far\n" in asked
    assert f"\nRollout: {NAME}\nRollout-Phase: running\nRollout-Step: 2/3\n" in asked
    treatment = remote.head(TREATMENT)
    trailer = remote.git(
        "log", "-1", "--format=%(trailers:key=Rollout-Treatment,valueonly)", "main"
    )
    assert trailer.strip() == treatment
    assert work.head() == remote.head("main")  # the clone followed
    assert work.git("status", "--porcelain") == ""


def test_start_abort(work: GitRepo) -> None:
    start(work, *STEPS)
    aborted = run(work, "abort", "--reason", "wrong\nRollout: other\nrefunds")
    assert aborted.code == 0
    assert f"git push origin --delete {TREATMENT}" in aborted.out
    assert (rollout(work).state.phase, rollout(work).state.weight) == ("aborted", 0)
    assert origin(work).head(TREATMENT)
    message = origin(work).git("log", "-1", "--format=%B", "main")
    assert "> Rollout: other" in message
    assert run(work, "abort", "--reason", "again").out == f"{NAME} is aborted\n"
    assert run(work, "step").code == 2
    assert start(work, *STEPS).code == 2
    with opened(work) as repo, pytest.raises(UsageError, match="cannot promote"):
        promote(repo, NAME, AT)


def test_pause_and_resume(work: GitRepo) -> None:
    start(work, *STEPS)
    assert run(work, "pause").code == 0
    assert run(work, "pause").out == f"{NAME} is paused\n"
    assert run(work, "step", "--early").code == 2
    assert open_rollout(work.path, NAME).rollout.state.weight == 5_000
    assert run(work, "resume").code == 0
    assert run(work, "resume").out == f"{NAME} is running\n"
    assert history(work)[-2:] == [f"rollout {NAME}: pause", f"rollout {NAME}: resume"]


def test_only_the_state_changes_and_comments_stay(work: GitRepo) -> None:
    start(work, *STEPS)
    text = origin(work).read(PATH, "main") + b"# mine\n"
    on_branch(work, "main", {PATH: text}, "a comment")
    run(work, "step", "--early")
    after = origin(work).read(PATH, "main")
    assert after.startswith(text[: text.index(b"state:")])
    assert after.endswith(b"# mine\n")
    changed = origin(work).git("diff", "--name-only", "main~1", "main")
    assert changed == PATH


def test_a_dry_run_changes_nothing(work: GitRepo) -> None:
    refs = origin(work).git("for-each-ref")
    said = start(work, *STEPS, "--dry-run", "--json")
    assert (said.json["changed"], said.json["commit"], said.json["weight"]) == (True, "", "5")
    assert origin(work).git("for-each-ref") == refs
    start(work, *STEPS)
    refs = origin(work).git("for-each-ref")
    for command in (["step", "--early"], ["pause"], ["abort", "--reason", "x"]):
        assert run(work, *command, "--dry-run").out.startswith("would be: ")
    assert origin(work).git("for-each-ref") == refs


def test_what_a_person_has_in_the_worktree_stays(work: GitRepo) -> None:
    work.write("state/support_agent_v1/context.json", "[]\n")
    work.write("notes.txt", "mine\n")
    work.git("switch", "--quiet", "--create", "elsewhere")
    before = everything(work)
    assert start(work, *STEPS).code == 0
    after = everything(work)
    assert before[0] == after[0]
    assert before[2:] == after[2:]


def test_a_draft_is_started_as_it_stands(work: GitRepo) -> None:
    start(work, *STEPS)
    text = origin(work).read(PATH, "main").decode()
    state = text[text.index("state:") :]
    draft = text.replace(
        state, "state: {phase: draft, step: 0, weight: 0, since: 2026-03-01T12:00:00Z}\n"
    )
    on_branch(work, "main", {PATH: draft}, "a draft")
    assert start(work, "--steps", "1,100").code == 2
    assert run(work, "start").code == 0
    assert rollout(work).state.weight == 5_000


def test_a_treatment_that_the_gate_fails_does_not_start(work: GitRepo) -> None:
    key = "AKIA" + "QYLPMN5HHHFPZAM2"
    treat(work, "classify", "find_order", classify=f"Use {key}.")
    ran = start(work, *STEPS)
    assert ran.code == 1
    assert "secret" in ran.err
    assert key not in ran.err + ran.out
    assert PATH not in origin(work).git("ls-tree", "-r", "--name-only", "main")


@pytest.mark.parametrize("path", [".memrepo/policy.yml", ".github/workflows/x.yml"])
def test_a_treatment_must_not_bring_what_decides_or_runs(work: GitRepo, path: str) -> None:
    on_branch(work, TREATMENT, {path: "limits:\n  context_turns: 90\n"}, "more")
    ran = start(work, *STEPS)
    assert (ran.code, path in ran.err) == (1, True)


def test_a_treatment_that_does_not_fit_control_does_not_start(work: GitRepo) -> None:
    work.write_agent("support_agent_v1", tools=tools("classify", classify="Ours."))
    work.commit("ours")
    work.git("push", "--quiet", "origin", "main")
    treat(work, "classify", "find_order", classify="Theirs.")
    ran = start(work, *STEPS)
    assert ran.code == 3
    assert "state/support_agent_v1/tools.json#/classify/description" in ran.err


def test_a_treatment_without_a_common_history_does_not_start(work: GitRepo) -> None:
    work.git("switch", "--quiet", "--orphan", "other")
    work.write_agent("support_agent_v1")
    work.commit("alone")
    work.git("push", "--quiet", "origin", "other")
    work.git("switch", "--quiet", "main")
    ran = run(work, "start", "--treatment", "other")
    assert (ran.code, "shares no history" in ran.err) == (2, True)


def test_a_treatment_with_nothing_new_or_that_is_not_there_does_not_start(work: GitRepo) -> None:
    work.git("push", "--quiet", "origin", "main:refs/heads/same")
    for branch, words in (("same", "holds nothing"), ("nope", "there is no branch nope")):
        ran = run(work, "start", "--treatment", branch)
        assert (ran.code, words in ran.err) == (2, True), ran


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--steps", "5:24"], "is no step"),
        (["--steps", "25,5"], "Step 2 must be above 25 %"),
        (["--steps", "0.001"], "is no step"),
        (["--guardrail", "resolved:rate:up:0.1"], "METRIC[:rate|mean]"),
        (["--guardrail", "resolved:rate:higher:1.5"], "`margin` is below 1"),
        (["--goal", "x"], "METRIC[:rate|mean]"),
        (["--agents", "a b"], "which no agent id has"),
        (["--unit", "A user"], "must be a word"),
        (["--treatment", "-x"], "is no valid branch name"),
        (["--name", "a/b"], "the rollout's name"),
        (["--control", "trunk"], "there is no branch trunk"),
        (["--treatment", "main"], "holds nothing that main does not"),
    ],
)
def test_what_cannot_be_is_said(work: GitRepo, options: list[str], words: str) -> None:
    ran = start(work, *options)
    assert ran.code == 2, ran
    assert words in ran.err.replace("\n  ", " "), ran


def test_two_rollouts_on_one_agent_need_to_be_layered(work: GitRepo) -> None:
    start(work, *STEPS, "--layered")
    treat(work, "classify", "summarise", branch="feature/other")
    other = ["start", "--name", "other", "--treatment", "feature/other", "--agents", "support_*"]
    ran = run(work, *other)
    assert (ran.code, f"{NAME} is running and covers" in ran.err) == (2, True)
    assert run(work, *other, "--layered").code == 0


def test_promote_where_both_changed_one_place_is_for_a_person(work: GitRepo) -> None:
    start(work, "--steps", "100")
    work.git("pull", "--quiet", "--rebase")
    work.write_agent("support_agent_v1", tools=tools("classify", classify="Ours."))
    work.commit("ours")
    work.git("push", "--quiet", "origin", "main")
    treat(work, "classify", "find_order", classify="Theirs.")
    tip = origin(work).head("main")
    with opened(work) as repo, pytest.raises(NeedsPerson):
        promote(repo, NAME, AT)
    assert run(work, "promote").code == 3
    assert origin(work).head("main") == tip
    assert "does not fit any more" in run(work, "status").out


def test_promote_after_control_moved_keeps_both(work: GitRepo) -> None:
    start(work, "--steps", "100")
    on_branch(work, "main", {"notes.md": "Ours.\n"}, "notes")
    assert run(work, "promote").code == 0
    assert history(work)[-3:] == [
        "notes",
        "a new classifier",
        f"rollout {NAME}: promote {TREATMENT}",
    ]
    assert origin(work).read("notes.md", "main") == b"Ours.\n"


def test_a_rollout_of_another_control_branch_is_not_this_ones(work: GitRepo) -> None:
    start(work, *STEPS)
    work.git("push", "--quiet", "origin", "origin/main:refs/heads/next")
    ran = run(work, "step", "--control", "next")
    assert (ran.code, "--control main" in ran.err) == (2, True)
    assert run(work, "status", "--name", "nope").code == 2


def test_status_says_where_it_stands(work: GitRepo) -> None:
    start(work, *STEPS)
    on_branch(work, "main", {"notes.md": "Ours.\n"}, "notes")
    (row,) = run(work, "status", "--json").json
    assert (row["phase"], row["weight"], row["step"], row["verdict"]) == ("running", "5", 1, "pass")
    assert row["drift"] == {"commits": 1, "fits": True}
    assert row["diff"]["agents"][0]["tools"]["added"][0]["name"] == "find_order"
    assert [change["subject"] for change in row["changes"]] == [f"rollout {NAME}: start at 5 %"]
    since = rollout(work).state.since
    assert row["due"] == (since + DAY).strftime("%Y-%m-%dT%H:%M:%SZ")
    said = run(work, "status").out
    assert "1 agent, 0 turns and 1 tool changed" in said
    assert "1 commit on main since the start; the treatment still fits" in said
    assert "+ find_order(q)" in said
    origin(work).git("branch", "-D", TREATMENT)
    assert "its treatment branch is gone" in run(work, "status").out
    assert run(work, "abort", "--reason", "gone").code == 0


def test_a_shallow_clone_knows_the_whole_history(work: GitRepo, tmp_path: Path) -> None:
    start(work, *STEPS)
    run(work, "step", "--early")
    target = tmp_path / "shallow"
    work.git("clone", "--quiet", "--depth=1", origin(work).path.as_uri(), str(target))
    shallow = GitRepo(target)
    (row,) = run(shallow, "status", "--json").json
    assert len(row["changes"]) == 2
    other = tmp_path / "another"
    work.git("clone", "--quiet", "--depth=1", origin(work).path.as_uri(), str(other))
    assert run(GitRepo(other), "step", "--early").code == 0
    assert run(GitRepo(other), "promote").code == 0
    assert rollout(work).state.phase == "promoted"


def test_step_to_a_number_is_made_once(work: GitRepo) -> None:
    start(work, "--steps", "5,25,100")
    assert run(work, "step", "--to", "2").code == 0
    assert run(work, "step", "--to", "2").out == f"{NAME} is at step 2 of 3\n"
    assert run(work, "step", "--to", "9").code == 2
    with opened(work) as repo:
        later = rollout(work).state.since + timedelta(days=9)
        assert step(repo, NAME, AT, now=later).rollout.state.weight == 100_000  # type: ignore[union-attr]


def test_without_a_remote_the_branch_here_is_the_published_one(work: GitRepo) -> None:
    work.git("remote", "remove", "origin")
    assert start(work, "--steps", "100").code == 0
    assert run(work, "promote").code == 0
    assert work.git("log", "-1", "--format=%s") == f"rollout {NAME}: promote {TREATMENT}"
    assert work.git("status", "--porcelain") == ""
