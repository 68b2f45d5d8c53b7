"""``memrepo archive``: old snapshots into releases, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepo.cli import archive_back_command as back
from memrepo.cli import archive_steps as steps
from memrepo.cli.archive_options import (
    Agents,
    Before,
    Branch,
    OlderThan,
    PullRequest,
    Push,
    Summary,
    TagPrefix,
    mode_of,
    request_of,
)
from memrepo.cli.forge_option import ReleaseForge, Remote, forge_for, remote_of
from memrepo.cli.options import DryRun, Json, RepoPath, check_place, log, print_json, say

if TYPE_CHECKING:
    from memrepo.archive.values import ArchiveOutcome
    from memrepo.gitrepo.repository import Repository

group = typer.Typer(help="Old history into releases, and back.", no_args_is_help=True)


@group.command("run")
def run(
    repo_path: RepoPath = Path(),
    older_than: OlderThan = None,
    before: Before = None,
    agent_id: Agents = None,
    push: Push = False,
    pr: PullRequest = False,
    no_prune: Annotated[
        bool, typer.Option("--no-prune", help="Publish alone; the tree stays as it is.")
    ] = False,
    branch: Branch = None,
    tag_prefix: TagPrefix = None,
    summary: Summary = None,
    forge: ReleaseForge = None,
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Move snapshots past their age out of the tree into a release. Safe to run again.

    What is due is packed, published and read back before one commit takes it out of the
    tree. Each agent's newest snapshot stays, and so does what changed meanwhile.

    Example: memrepo archive run --older-than 90d
    """
    from memrepo.archive.run import run_archive
    from memrepo.cli.progress import progress
    from memrepo.gitrepo.repository import Repository

    check_place(summary)
    mode = mode_of(push=push, pr=pr, no_prune=no_prune, dry_run=dry_run)
    with Repository.open(repo_path) as repo:
        at = remote_of(repo, remote)
        request = request_of(branch, at, older_than, before, agent_id, tag_prefix)
        with forge_for(repo, forge, at) as where, progress() as tell:
            outcome = run_archive(repo, where, request, mode, tell)
        _tell(repo, outcome, json=json, summary=summary)


@group.command("prune")
def prune(
    repo_path: RepoPath = Path(),
    older_than: OlderThan = None,
    before: Before = None,
    agent_id: Agents = None,
    push: Push = False,
    pr: PullRequest = False,
    branch: Branch = None,
    tag_prefix: TagPrefix = None,
    summary: Summary = None,
    forge: ReleaseForge = None,
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Take out of the tree what published releases hold, and put them in the index.

    Each release is downloaded and read back first. Without an age, all that they hold goes;
    each agent's newest snapshot stays.

    Example: memrepo archive prune
    """
    from memrepo.archive.run import prune_archive
    from memrepo.cli.progress import progress
    from memrepo.gitrepo.repository import Repository

    check_place(summary)
    mode = mode_of(push=push, pr=pr, no_prune=False, dry_run=dry_run)
    with Repository.open(repo_path) as repo:
        at = remote_of(repo, remote)
        request = request_of(branch, at, older_than, before, agent_id, tag_prefix)
        with forge_for(repo, forge, at) as where, progress() as tell:
            outcome = prune_archive(repo, where, request, mode, tell)
        _tell(repo, outcome, json=json, summary=summary)


group.command("plan")(steps.plan)
group.command("pack")(steps.pack)
group.command("publish")(steps.publish)
group.command("pack-publish")(steps.pack_publish)
group.command("list")(back.list)
group.command("status")(back.status)
group.command("verify")(back.verify)
group.command("restore")(back.restore)
group.command("show")(back.show)


def _tell(repo: Repository, outcome: ArchiveOutcome, *, json: bool, summary: Path | None) -> None:
    from memrepo.archive.summary import outcome_lines, render_summary
    from memrepo.cli.options import write_beside
    from memrepo.report.escape import for_terminal

    for note in (*outcome.notes, *repo.notes):
        log(for_terminal(note))
    if json:
        print_json(outcome.as_json())
    for line in () if json else outcome_lines(outcome):
        say(for_terminal(line))
    if summary is not None:
        write_beside(summary, render_summary(outcome))
