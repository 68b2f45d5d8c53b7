"""What rollouts answer: ``memrepo rollout resolve``, ``env``, ``export``, ``analyze``, ``auto``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from memrepo.cli.forge_option import Remote, remote_of
from memrepo.cli.options import DryRun, Json, RepoPath, log, print_json, say, write_beside
from memrepo.cli.rollout_options import (
    Agent,
    Control,
    Fetch,
    Metrics,
    Name,
    Unit,
    age_of,
    at_of,
    metrics_of,
    named,
)

if TYPE_CHECKING:
    from memrepo.buckets.assign import Assigner
    from memrepo.stats.analysis import Analysis

StaleAfter = Annotated[
    str | None, typer.Option("--stale-after", metavar="AGE", help="Older outcomes hold: 24h.")
]
Chart = Annotated[
    Path | None, typer.Option("--chart", metavar="FILE", help="Write the picture (SVG) here.")
]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="Write Markdown here.")
]


def resolve(
    unit: Unit,
    name: Name = None,
    agent_id: Agent = None,
    control: Control = "main",
    fetch: Fetch = False,
    repo_path: RepoPath = Path(),
    remote: Remote = None,
    json: Json = False,
) -> None:
    """The branch that a unit reads. The same on every machine; no network without --fetch.

    Example: memrepo rollout resolve --name new-classifier --unit user-3
    """
    from memrepo.protocol.rollout import percent, weight_text
    from memrepo.report.escape import for_terminal
    from memrepo.rollout.read import open_rollout

    found = open_rollout(repo_path, name or "", control=control, remote=remote, fetch=fetch)
    assigned = found.assign(unit, agent_id)
    if json:
        print_json(
            {
                "name": found.rollout.name,
                "unit": unit,
                "branch": assigned.branch,
                "variant": assigned.variant,
                "weight": weight_text(assigned.weight),
                "bucket": assigned.bucket,
                "phase": found.rollout.state.phase,
                "covered": found.covers(unit, agent_id),
            }
        )
        return
    _say_uncovered(found, unit, agent_id)
    log(f"{assigned.variant}, at {percent(assigned.weight)}, bucket {assigned.bucket}")
    say(for_terminal(assigned.branch))


def _say_uncovered(found: Assigner, unit: str, agent_id: str | None) -> None:
    from memrepo.report.escape import for_terminal

    if not found.covers(unit, agent_id):
        asked, rollout = for_terminal(agent_id or unit), found.rollout
        log(f"{asked} is not covered by {rollout.name}: it reads {for_terminal(rollout.control)}")


def env(
    unit: Unit,
    name: Name = None,
    agent_id: Agent = None,
    control: Control = "main",
    fetch: Fetch = False,
    repo_path: RepoPath = Path(),
    remote: Remote = None,
) -> None:
    """The branch as the variable MEMORY_REPO_BRANCH, quoted for a shell where that is needed.

    Example: memrepo rollout env --name new-classifier --unit user-3
    """
    import shlex

    from memrepo.rollout.read import open_rollout

    found = open_rollout(repo_path, name or "", control=control, remote=remote, fetch=fetch)
    _say_uncovered(found, unit, agent_id)
    say(f"MEMORY_REPO_BRANCH={shlex.quote(found.branch_for(unit, agent_id))}")


def export(
    format_: Annotated[
        Literal["flagd"], typer.Option("--format", help="For whom the file is.")
    ] = "flagd",
    name: Annotated[str | None, typer.Option("--name", help="This rollout alone.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write it here.")
    ] = None,
    control: Control = "main",
    fetch: Fetch = False,
    repo_path: RepoPath = Path(),
    remote: Remote = None,
) -> None:
    """The rollouts as a flag file for flagd, which then gives every unit the same branch.

    Example: memrepo rollout export --format flagd --output flags.json
    """
    from memrepo.buckets.flagd import flagd_file
    from memrepo.gitrepo.repository import Repository
    from memrepo.report.jsonform import json_text
    from memrepo.rollout.read import known, published, rollout_on, rollouts_on

    del format_  # There is one so far.
    with Repository.open(repo_path) as repo:
        at = remote_of(repo, remote)
        view = repo.view(published(repo, at, control) if fetch else known(repo, at, control))
        if name is not None:
            rollouts, notes = [rollout_on(view, name, control)[0]], list[str]()
        else:
            every, notes = rollouts_on(view, control)
            rollouts = [rollout for rollout in every if not rollout.has_ended]
            ended = [rollout.name for rollout in every if rollout.has_ended]
            if ended:
                notes.append(f"left out, for they ended: {', '.join(ended)}")
    for note in notes:
        log(note)
    flags = flagd_file(rollouts)
    if output is None:
        print_json(flags)
    else:
        write_beside(output, json_text(flags))
        log(f"wrote {output}")


def analyze(
    metrics: Metrics,
    name: Name = None,
    stale_after: StaleAfter = None,
    chart: Chart = None,
    markdown: Markdown = None,
    control: Control = "main",
    repo_path: RepoPath = Path(),
    remote: Remote = None,
    json: Json = False,
) -> None:
    """Compare the arms and give a verdict: promote, hold, abort or inconclusive. Changes nothing.

    Example: memrepo rollout analyze --name new-classifier --metrics outcomes.csv
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout.analysis import analyze_rollout
    from memrepo.rollout.render import analysis_as_json, analysis_lines, analysis_markdown

    age = age_of(stale_after, "--stale-after")
    with metrics_of(metrics) as stream, Repository.open(repo_path) as repo:
        at = at_of(repo, control, remote)
        found = analyze_rollout(repo, named(repo, name, at), stream, at, stale_after=age).analysis
    _write(found, chart, markdown, analysis_markdown(found))
    if json:
        print_json(analysis_as_json(found))
        return
    for line in analysis_lines(found):
        say(line)


def _write(analysis: Analysis | None, chart: Path | None, markdown: Path | None, text: str) -> None:
    if chart is not None and analysis is not None:
        from memrepo.report.rolloutchart import render_rollout_chart

        write_beside(chart, render_rollout_chart(analysis))
        log(f"wrote {chart}")
    if markdown is not None:
        write_beside(markdown, text)
        log(f"wrote {markdown}")


def auto(
    metrics: Metrics,
    name: Name = None,
    stale_after: StaleAfter = "24h",
    chart: Chart = None,
    markdown: Markdown = None,
    control: Control = "main",
    reason: Annotated[str, typer.Option("--reason", help="Words beside the analysis's own.")] = "",
    repo_path: RepoPath = Path(),
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """What a schedule runs: analyze, then step, hold or abort.

    Without good and recent outcomes it holds. A promotion is left to a person.

    Example: memrepo rollout auto --metrics outcomes.csv
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout.auto import STALE_AFTER
    from memrepo.rollout.auto import auto as run_auto
    from memrepo.rollout.render import analysis_as_json, analysis_lines, auto_lines, auto_markdown

    age = age_of(stale_after, "--stale-after") or STALE_AFTER
    with metrics_of(metrics) as stream, Repository.open(repo_path) as repo:
        at = at_of(repo, control, remote, reason, dry_run=dry_run)
        found = run_auto(repo, name, stream, at, stale_after=age)
    _write(found.analysis, chart, markdown, auto_markdown(found))
    for note in found.done.notes if found.done else ():
        log(note)
    if json:
        analysis = analysis_as_json(found.analysis) if found.analysis else None
        print_json({**found.as_json(), "analysis": analysis})
        return
    for line in analysis_lines(found.analysis) if found.analysis else ():
        say(line)
    for line in auto_lines(found):
        say(line)
