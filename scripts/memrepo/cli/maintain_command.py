"""``memrepo maintain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import DryRun, Json, RepoPath, log, print_json, say


def run(
    repo_path: RepoPath = Path(),
    no_prune: Annotated[
        bool, typer.Option("--no-prune", help="Pack and index only; delete nothing.")
    ] = False,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Keep a clone fast and small: pack, index commits by path, drop what nothing needs.

    Only loose objects that no ref, reflog, stash or index reaches and that are older than
    two weeks are ever deleted.

    Example: memrepo maintain --repo-path /srv/memory
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.maintain.maintain import maintain
    from memrepo.maintain.render import as_json, as_text

    with Repository.open(repo_path) as repo:
        done = maintain(repo, prune=not no_prune, dry_run=dry_run, tell=log)
    if json:
        print_json(as_json(done))
    else:
        say(as_text(done))
