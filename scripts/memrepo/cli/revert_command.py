"""``memrepo revert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.forge_option import ReleaseForge, Remote
from memrepo.cli.options import AgentId, DryRun, Json, RepoPath, instant, log, print_json


def run(
    agent_id: AgentId,
    commit: Annotated[
        str, typer.Option("--commit", metavar="REV", help="A revision or a snapshot's name.")
    ],
    repo_path: RepoPath = Path(),
    message: Annotated[
        str | None, typer.Option("--message", "-m", help="Why (the revision's id).")
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="ISO8601", help="The commit's time (now).")
    ] = None,
    forge: ReleaseForge = None,
    remote: Remote = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Bring one agent back to what it was, in a new commit. Others are untouched.

    A snapshot that only the archive has is fetched from its release.

    Example: memrepo revert --agent-id support_v1 --commit 20260301-120000-support_v1.json
    """
    from memrepo.cli.from_archive import with_archive
    from memrepo.memory import MemoryRepo

    when = instant(at, "--at")
    with MemoryRepo(repo_path) as repo:
        done = with_archive(
            repo,
            lambda: repo.revert(agent_id, commit, message=message, at=when, dry_run=dry_run),
            forge=forge,
            remote=remote,
        )
    if not done.changed:
        log(f"nothing to do: {agent_id} is as it was at {commit}")
    for note in done.notes:
        log(note)
    if json:
        print_json({"commit": done.commit, "snapshot": done.snapshot, "changed": done.changed})
    elif dry_run:
        print(f"would commit {', '.join(done.paths)}" if done.paths else "would change nothing")
    else:
        print(done.commit)
