"""``memrepo commit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import (
    AgentId,
    DryRun,
    Json,
    RepoPath,
    instant,
    log,
    log_findings,
    print_json,
)


def run(
    agent_id: AgentId,
    message: Annotated[str, typer.Option("--message", "-m", help="What the cycle did.")],
    repo_path: RepoPath = Path(),
    push: Annotated[bool, typer.Option("--push", help="Publish it to the remote.")] = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="ISO8601", help="The cycle's time (now).")
    ] = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Commit one cycle of an agent: its three files and one snapshot. Prints the commit id.

    Example: memrepo commit --agent-id support_v1 --message "answered a refund question"
    """
    from memrepo.memory import MemoryRepo

    when = instant(at, "--at")
    with MemoryRepo(repo_path) as repo:
        done = repo.commit(agent_id, message, at=when, push=push, dry_run=dry_run)
    # What is merely laid out otherwise would hide what matters, at every cycle.
    log_findings([f for f in done.findings if f.severity != "note"])
    if not done.changed:
        log(f"nothing to commit: the state of {agent_id} is committed already")
    for note in done.notes:
        log(note)
    if json:
        print_json(
            {
                "commit": done.commit,
                "snapshot": done.snapshot,
                "changed": done.changed,
                "pushed": done.pushed,
                "findings": [finding.as_json() for finding in done.findings],
            }
        )
    elif dry_run:
        print(f"would commit {', '.join(done.paths)}" if done.paths else "would change nothing")
    else:
        print(done.commit)
