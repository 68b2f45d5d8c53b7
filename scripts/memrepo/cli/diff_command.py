"""``memrepo diff``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import Json, RepoPath, print_json, say


def run(
    base: Annotated[str | None, typer.Argument(help="From this revision (HEAD).")] = None,
    head: Annotated[str | None, typer.Argument(help="To this one (the files on disk).")] = None,
    agent_id: Annotated[
        str | None, typer.Option("--agent-id", help="Only this agent, by its folder's name.")
    ] = None,
    repo_path: RepoPath = Path(),
    json: Json = False,
) -> None:
    """What changed in the agents between two revisions: turns, tools, versions.

    Example: memrepo diff main feature/new-tools --agent-id support_v1
    """
    from memrepo.memory import MemoryRepo
    from memrepo.report.text import diff_text
    from memrepo.semdiff.asjson import diff_as_json
    from memrepo.settings import wants_colour

    with MemoryRepo(repo_path) as repo:
        compared = repo.diff(base, head, agent_id=agent_id)
    if json:
        print_json(diff_as_json(compared.diff))
    else:
        say(diff_text(compared.diff, colour=wants_colour(sys.stdout)), end="")
