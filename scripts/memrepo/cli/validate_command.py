"""``memrepo validate``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import FailOn, RepoPath, findings_for, print_json, say, stops
from memrepo.errors import UsageError


class Format(StrEnum):
    """How findings are written."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


class Rules(StrEnum):
    """Which rules are applied to files."""

    ALL = "all"
    PROTOCOL = "protocol"


def run(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files or folders; without any, everything.")
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="REV", help="Judge a change: from this revision ...")
    ] = None,
    head: Annotated[str, typer.Option(metavar="REV", help="... to this one.")] = "HEAD",
    staged: Annotated[bool, typer.Option("--staged", help="Judge what is staged.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every file of the worktree.")] = False,
    rules: Annotated[Rules, typer.Option(help="All rules, or those of the protocol alone.")] = (
        Rules.ALL
    ),
    form: Annotated[Format, typer.Option("--format", help="How to write them.")] = Format.TEXT,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    fail_on: FailOn = "error",
    repo_path: RepoPath = Path(),
) -> int:
    """Say what is wrong with memory files. Exit 1 when anything is at --fail-on or worse.

    Example: memrepo validate --base origin/main --head HEAD --format github
    """
    chosen = [name for name, on in _modes(paths, base, staged, everything) if on]
    if len(chosen) > 1:
        raise UsageError(f"{' and '.join(chosen)} do not go together", "choose one of them")
    if rules is Rules.PROTOCOL and (base is not None or staged):
        raise UsageError("a change is always judged by all rules", "leave --rules out")
    from memrepo.memory import MemoryRepo
    from memrepo.settings import index_of_hook

    with MemoryRepo(repo_path) as repo:
        findings = repo.validate(
            paths or (),
            base=base,
            head=head,
            staged=staged,
            index_file=index_of_hook(),
            text=rules is Rules.ALL,
        )
    if json or form is Format.JSON:
        print_json([finding.as_json() for finding in findings])
    elif form is Format.SARIF:
        from memrepo.protocol.catalogue import CATALOGUE
        from memrepo.report.sarif import findings_sarif

        print_json(findings_sarif(findings, catalogue=CATALOGUE))
    elif form is Format.GITHUB:
        from memrepo.runner import annotations

        print(annotations(findings), end="")
    else:
        say(findings_for(findings, sys.stdout), end="")
    return 1 if stops(findings, fail_on) else 0


def _modes(
    paths: list[Path] | None, base: str | None, staged: bool, everything: bool
) -> list[tuple[str, bool]]:
    return [
        ("PATH", bool(paths)),
        ("--base", base is not None),
        ("--staged", staged),
        ("--all", everything),
    ]
