"""``memrepo doctor``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import DryRun, Json, RepoPath, print_json, say


def run(
    repo_path: RepoPath = Path(),
    fix: Annotated[bool, typer.Option("--fix", help="Make the repairs that are safe.")] = False,
    convert_history: Annotated[
        bool,
        typer.Option(
            "--convert-history", help="Move flat snapshots to history/YYYY/MM/DD/, in one commit."
        ),
    ] = False,
    json: Json = False,
    dry_run: DryRun = False,
) -> int:
    """Say what is wrong with this clone, why it matters, and how to repair it.

    Exit 1 while a problem is left that is more than a note.

    Example: memrepo doctor --fix
    """
    from memrepo.doctor.render import as_json, as_text
    from memrepo.settings import wants_colour

    if convert_history:
        return _convert(repo_path, fix=fix, json=json, dry_run=dry_run)
    from memrepo.doctor.doctor import examine

    result = examine(repo_path, fix=fix and not dry_run, plan=fix)
    if json:
        print_json(as_json(result))
    else:
        say(as_text(result, colour=wants_colour(sys.stdout)))
    return 0 if result.healthy else 1


def _convert(repo_path: Path, *, fix: bool, json: bool, dry_run: bool) -> int:
    from memrepo.doctor.convert import convert_history
    from memrepo.doctor.render import conversion_json, conversion_text
    from memrepo.errors import UsageError

    if fix:
        raise UsageError(
            "--convert-history and --fix are two things", "run memrepo doctor once with each"
        )
    done = convert_history(repo_path, dry_run=dry_run)
    if json:
        print_json(conversion_json(done))
    else:
        say(conversion_text(done, planned=dry_run))
    return 0
