"""``memrepo blame``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import AgentId, Json, RepoPath, print_json, say


def run(
    agent_id: AgentId,
    repo_path: RepoPath = Path(),
    commit: Annotated[
        str, typer.Option("--commit", metavar="REV", help="As of this revision.")
    ] = "HEAD",
    json: Json = False,
) -> None:
    """For every turn and every tool: the commit, time and author that brought it as it is.

    Example: memrepo blame --agent-id support_v1
    """
    from memrepo.history.blame import origin_line
    from memrepo.memory import MemoryRepo
    from memrepo.report.escape import for_terminal
    from memrepo.settings import terminal_width

    with MemoryRepo(repo_path) as repo:
        origins = repo.blame(agent_id, commit)
    if json:
        print_json([origin.as_json() for origin in origins])
        return
    width = terminal_width()
    for origin in origins:
        line = for_terminal(origin_line(origin))
        say(line if len(line) <= width else line[: width - 1] + "…")
