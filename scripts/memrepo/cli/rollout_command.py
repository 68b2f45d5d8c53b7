"""``memrepo rollout``: trials of memory on a branch, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from memrepo.cli import rollout_asking as asking
from memrepo.cli.forge_option import ForgeOption, Remote, forge_for
from memrepo.cli.options import DryRun, Json, RepoPath, log, print_json, say
from memrepo.cli.rollout_options import Control, Early, Name, Reason, at_of, named, show_done

group = typer.Typer(help="Trials of memory on a branch, step by step.", no_args_is_help=True)


@group.command("start")
def start(
    name: Annotated[str, typer.Option("--name", help="What the rollout shall be called.")],
    treatment: Annotated[
        str, typer.Option("--treatment", metavar="NAME", help="The branch to try.")
    ] = "",
    agents: Annotated[
        list[str] | None,
        typer.Option("--agents", metavar="GLOB", help="Ids it covers (those that change)."),
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option("--steps", metavar="LIST", help="Such as 5:24h,25:24h,100."),
    ] = None,
    unit: Annotated[
        str, typer.Option("--unit", metavar="WORD", help="What is assigned: user, agent, …")
    ] = "user",
    guardrail: Annotated[
        list[str] | None,
        typer.Option("--guardrail", metavar="SPEC", help="METRIC:rate:higher:0.02. Repeatable."),
    ] = None,
    goal: Annotated[
        list[str] | None,
        typer.Option("--goal", metavar="SPEC", help="METRIC:mean:lower. Repeatable."),
    ] = None,
    layered: Annotated[
        bool, typer.Option("--layered", help="May run beside others on the same agents.")
    ] = False,
    control: Control = "main",
    reason: Reason = "",
    repo_path: RepoPath = Path(),
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Give a treatment branch its first share of the units.

    Writes the rollout's file, or starts the draft that is there. The treatment must pass
    the review gate and fit the control branch.

    Example: memrepo rollout start --name n1 --treatment feature/n1 --steps 5:24h,25:24h,100
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout.options import wanted
    from memrepo.rollout.start import start as run_start

    asked = wanted(
        name,
        treatment,
        agents=agents or (),
        steps=steps,
        unit=unit,
        guardrails=guardrail or (),
        goals=goal or (),
        layered=layered,
    )
    with Repository.open(repo_path) as repo:
        done = run_start(repo, asked, at_of(repo, control, remote, reason, dry_run=dry_run))
    show_done(done, json=json)


@group.command("status")
def status(
    name: Annotated[str | None, typer.Option("--name", help="This rollout alone.")] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Also those that were promoted or aborted.")
    ] = False,
    control: Control = "main",
    repo_path: RepoPath = Path(),
    remote: Remote = None,
    json: Json = False,
) -> None:
    """Phase, weight, time in step and what comes next; what the treatment changes, and drift.

    Example: memrepo rollout status --name new-classifier
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout.render import status_lines
    from memrepo.rollout.status import statuses

    with Repository.open(repo_path) as repo:
        rows, notes = statuses(repo, name, at_of(repo, control, remote))
    for note in notes:
        log(note)
    if json:
        print_json([row.as_json() for row in rows])
        return
    for line in status_lines(rows, ended=all_ or name is not None):
        say(line)
    if not rows:
        log("there is no rollout; memrepo rollout start makes one")
    if name is not None and rows[0].standing is not None:
        from memrepo.report.text import diff_text

        say("")
        say(diff_text(rows[0].standing.review.diff, colour=False), end="")


@group.command("step")
def step(
    name: Name = None,
    to: Annotated[
        int | None, typer.Option("--to", min=1, metavar="N", help="To this step, if not there.")
    ] = None,
    early: Early = False,
    control: Control = "main",
    reason: Reason = "",
    repo_path: RepoPath = Path(),
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Give the treatment its next share. Of two at once, one makes the step.

    Example: memrepo rollout step --name new-classifier
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout.change import step as run_step

    with Repository.open(repo_path) as repo:
        at = at_of(repo, control, remote, reason, dry_run=dry_run)
        done = run_step(repo, named(repo, name, at), at, to=to, early=early)
    show_done(done, json=json)


@group.command("pause")
def pause(
    name: Name = None,
    control: Control = "main",
    reason: Reason = "",
    repo_path: RepoPath = Path(),
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Stay at the present share until it is resumed.

    Example: memrepo rollout pause --name new-classifier --reason "a holiday"
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout.change import pause as run_pause

    with Repository.open(repo_path) as repo:
        at = at_of(repo, control, remote, reason, dry_run=dry_run)
        done = run_pause(repo, named(repo, name, at), at)
    show_done(done, json=json)


@group.command("resume")
def resume(
    name: Name = None,
    control: Control = "main",
    reason: Reason = "",
    repo_path: RepoPath = Path(),
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Go on after a pause; the step's hold begins anew.

    Example: memrepo rollout resume --name new-classifier
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout.change import resume as run_resume

    with Repository.open(repo_path) as repo:
        at = at_of(repo, control, remote, reason, dry_run=dry_run)
        done = run_resume(repo, named(repo, name, at), at)
    show_done(done, json=json)


@group.command("abort")
def abort(
    reason: Annotated[str, typer.Option("--reason", help="Why, for whoever reads the log.")],
    name: Name = None,
    control: Control = "main",
    repo_path: RepoPath = Path(),
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Every unit back to the control branch. The treatment branch stays.

    Example: memrepo rollout abort --name new-classifier --reason "wrong refunds"
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout.change import abort as run_abort

    with Repository.open(repo_path) as repo:
        at = at_of(repo, control, remote, reason, dry_run=dry_run)
        done = run_abort(repo, named(repo, name, at), at)
    show_done(done, json=json)


@group.command("promote")
def promote(
    name: Name = None,
    mode: Annotated[
        Literal["push", "pr"], typer.Option("--mode", help="Push, or open a pull request.")
    ] = "push",
    early: Early = False,
    control: Control = "main",
    reason: Reason = "",
    repo_path: RepoPath = Path(),
    forge: ForgeOption = None,
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Bring the treatment into the control branch, commit by commit, and end the rollout.

    The control branch only moves forward. Exit 3 where both changed one place.

    Example: memrepo rollout promote --name new-classifier --mode pr
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout import promote as job

    with Repository.open(repo_path) as repo:
        at = at_of(repo, control, remote, reason, dry_run=dry_run)
        name = named(repo, name, at)
        if mode == "pr":
            with forge_for(repo, forge, at.remote) as where:
                done = job.propose_promotion(repo, where, name, at, early=early)
        else:
            done = job.promote(repo, name, at, early=early)
    show_done(done, json=json)


group.command("resolve")(asking.resolve)
group.command("env")(asking.env)
group.command("export")(asking.export)
group.command("analyze")(asking.analyze)
group.command("auto")(asking.auto)
