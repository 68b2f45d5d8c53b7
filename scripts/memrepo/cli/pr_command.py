"""``memrepo pr``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.forge_option import ForgeOption, Remote, forge_for, remote_of
from memrepo.cli.options import Json, RepoPath, log, print_json, say

group = typer.Typer(help="The pull requests of memory.", no_args_is_help=True)


@group.callback()
def _group() -> None:
    pass


@group.command("list")
def run(
    repo_path: RepoPath = Path(),
    again: Annotated[
        bool, typer.Option("--again", help="Judge stale ones anew where they are shown, too.")
    ] = False,
    forge: ForgeOption = None,
    remote: Remote = None,
    json: Json = False,
) -> None:
    """Which pull requests of memory wait: how old, what verdict, which are stale.

    Each is judged against its base as it is now; one that no longer applies is listed
    and holds up no other.

    Example: memrepo pr list
    """
    from memrepo.memory import MemoryRepo
    from memrepo.proposals.render import waiting_line
    from memrepo.proposals.waiting import list_waiting
    from memrepo.report.escape import for_terminal

    with MemoryRepo(repo_path) as repo:
        published_on = remote_of(repo.repository, remote)
        with forge_for(repo.repository, forge, published_on) as where:
            rows = list_waiting(repo, where, remote=published_on, again=again)
            place = where.place
    if json:
        print_json([row.as_json() for row in rows])
        return
    for row in rows:
        say(for_terminal(waiting_line(row)))
    if not rows:
        log(f"no pull request of memory waits in {for_terminal(place)}")
