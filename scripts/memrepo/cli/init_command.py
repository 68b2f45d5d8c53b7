"""``memrepo init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import DryRun, Json, log, print_json, say
from memrepo.errors import UsageError


def run(
    path: Annotated[
        Path | None, typer.Argument(help="Where the repository goes, as --repo-path says it.")
    ] = None,
    repo_path: Annotated[
        Path, typer.Option("--repo-path", help="Where the repository goes.")
    ] = Path(),
    workflows: Annotated[
        bool, typer.Option("--workflows", help="Also write the starter workflows, all of them.")
    ] = False,
    workflow: Annotated[
        list[str] | None,
        typer.Option(
            "--workflow",
            metavar="NAME",
            help="Only this one: review, archive, knowledge, commands, records, rollout.",
        ),
    ] = None,
    uses: Annotated[
        str | None, typer.Option(help="Where the workflows get memrepo: OWNER/REPO@REF.")
    ] = None,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Make PATH a memory repository, or complete one. Safe to run again.

    Example: memrepo init --repo-path my-memory
    """
    from memrepo.setup.init import init
    from memrepo.setup.workflow import WORKFLOWS

    if path is not None and repo_path != Path():
        raise UsageError("the place is named twice", "leave --repo-path out")
    if workflows and workflow:
        raise UsageError("--workflows is all of them, and --workflow one", "leave one of them out")
    names = tuple(WORKFLOWS) if workflows else tuple(workflow or ())
    result = init(path or repo_path, workflows=names, uses=uses, dry_run=dry_run)
    if json:
        print_json(
            {
                "root": result.root,
                "commit": result.commit,
                "files": [{"path": c.path, "action": c.action} for c in result.changes],
                "notes": list(result.notes),
            }
        )
        return
    for change in result.changes:
        say(f"{change.action:8} {change.path}")
    for note in result.notes:
        log(note)
    if not result.changed:
        log("nothing to do: this is a memory repository already")
