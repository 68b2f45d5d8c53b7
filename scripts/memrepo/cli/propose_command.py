"""``memrepo propose``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.forge_option import ForgeOption, Remote, forge_for, remote_of
from memrepo.cli.options import AgentId, DryRun, Json, RepoPath, log, print_json, read_text


def run(
    agent_id: AgentId,
    message: Annotated[str, typer.Option("--message", "-m", help="What changes, and why.")],
    repo_path: RepoPath = Path(),
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="NAME", help="To go into (the branch checked out)."),
    ] = None,
    branch: Annotated[
        str | None,
        typer.Option("--branch", metavar="NAME", help="To put it on (memory/AGENT/...)."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="The pull request's title.")] = None,
    body_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The words above the diff (the message).")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(help="Put this label on. Repeatable.")] = None,
    reviewer: Annotated[
        list[str] | None, typer.Option(help="Ask this person or org/team. Repeatable.")
    ] = None,
    draft: Annotated[bool, typer.Option("--draft", help="Open it as a draft.")] = False,
    forge: ForgeOption = None,
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Put an agent's uncommitted changes on a branch and up for review.

    Your worktree and the branch that is checked out stay as they are. Run again, it
    updates the same pull request; with nothing new, it does nothing.

    Example: memrepo propose --agent-id support_v1 --message "learn the new refund rules"
    """
    from memrepo.memory import MemoryRepo
    from memrepo.propose.propose import propose

    body = read_text(body_file) if body_file else None
    with MemoryRepo(repo_path) as repo:
        published_on = remote_of(repo.repository, remote)
        with forge_for(repo.repository, forge, published_on) as where:
            done = propose(
                repo,
                where,
                agent_id,
                message,
                remote=published_on,
                base=base,
                branch=branch,
                title=title,
                body=body,
                labels=label or (),
                reviewers=reviewer or (),
                draft=draft,
                dry_run=dry_run,
            )
    for note in done.notes:
        log(note)
    if json:
        print_json(
            {
                "operation": done.operation,
                "number": done.number,
                "url": done.url,
                "branch": done.branch,
                "commit": done.commit,
            }
        )
    else:
        print(f"operation: {'would be ' if dry_run else ''}{done.operation}")
        print(f"branch: {done.branch}")
        if done.url:
            print(f"pull request: #{done.number} {done.url}")
        if done.operation != "none" and not dry_run:
            log(f"your changes are still here too; git restore state/{agent_id} puts them away")
