"""``memrepo brief``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import Json, RepoPath, print_json, say
from memrepo.cli.record_options import (
    Agent,
    Branch,
    Code,
    Org,
    Project,
    ScopeOption,
    Where,
    store_at,
)


def run(
    repo_path: RepoPath = Path(),
    org: Org = None,
    repo: Project = None,
    branch: Branch = None,
    scope: ScopeOption = None,
    agent: Agent = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", help="About how long it may be.")
    ] = 2_000,
    code: Code = None,
    json: Json = False,
) -> None:
    """What an agent should be told at its start: active records, the most trusted first.

    Each is one line, its text quoted: data for the agent to weigh, and no instruction.

    Example: memrepo brief --org acme --repo web --branch main --max-tokens 1000
    """
    with store_at(repo_path, Where(org, repo, branch, scope, agent, code)) as store:
        brief = store.brief(max_tokens)
    if json:
        print_json(brief.as_json())
    else:
        say(brief.text, end="")
