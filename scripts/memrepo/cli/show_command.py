"""``memrepo show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import AgentId, Json, RepoPath, print_json, say


def run(
    agent_id: AgentId,
    repo_path: RepoPath = Path(),
    commit: Annotated[
        str, typer.Option("--commit", metavar="REV", help="A revision or a snapshot's name.")
    ] = "HEAD",
    json: Json = False,
) -> None:
    """An agent's state as it was at a revision.

    Example: memrepo show --agent-id support_v1 --commit HEAD~3
    """
    from memrepo.history.show import as_json, as_text
    from memrepo.memory import MemoryRepo

    with MemoryRepo(repo_path) as repo:
        shown = repo.show(agent_id, commit)
    if json:
        print_json(as_json(shown))
    else:
        say(as_text(shown))
