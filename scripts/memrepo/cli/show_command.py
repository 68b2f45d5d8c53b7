"""``memrepo show``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.forge_option import ReleaseForge, Remote
from memrepo.cli.options import AgentId, Json, RepoPath, print_json, say


def run(
    agent_id: AgentId,
    repo_path: RepoPath = Path(),
    commit: Annotated[
        str, typer.Option("--commit", metavar="REV", help="A revision or a snapshot's name.")
    ] = "HEAD",
    json: Json = False,
    forge: ReleaseForge = None,
    remote: Remote = None,
) -> None:
    """An agent's state as it was at a revision, fetched from the archive where it is there.

    Example: memrepo show --agent-id support_v1 --commit HEAD~3
    """
    from memrepo.cli.from_archive import with_archive
    from memrepo.history.show import as_json, as_text
    from memrepo.memory import MemoryRepo

    with MemoryRepo(repo_path) as repo:
        shown = with_archive(repo, lambda: repo.show(agent_id, commit), forge=forge, remote=remote)
    if json:
        print_json(as_json(shown))
    else:
        say(as_text(shown))
