"""``memrepo mcp``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memrepo.cli.options import RepoPath, log
from memrepo.cli.record_options import (
    Agent,
    Branch,
    Code,
    Model,
    Org,
    Project,
    RemoteName,
    ScopeOption,
    SigningKey,
    TrustOption,
    Where,
    store_at,
)
from memrepo.errors import UsageError, extra_hint


def run(
    repo_path: RepoPath = Path(),
    org: Org = None,
    repo: Project = None,
    branch: Branch = None,
    scope: ScopeOption = None,
    agent: Agent = None,
    model: Model = "",
    trust: TrustOption = "session",
    signing_key: SigningKey = None,
    code: Code = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Offer only the tools that read.")
    ] = False,
    sync: Annotated[
        float,
        typer.Option(
            "--sync", min=0, metavar="SECONDS", help="How often to fetch and push; 0 is never."
        ),
    ] = 10.0,
    remote: RemoteName = "origin",
) -> None:
    """Serve shared records to an agent, by the Model Context Protocol on standard input/output.

    An agent's own program starts it; docs/mcp.md shows how each is told.

    Example: memrepo mcp --repo-path memory --org acme --repo web --agent codex
    """
    import sys
    from functools import partial

    try:
        from memrepo.live.permit import Operator
        from memrepo.live.server import serve
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] == "memrepo":
            raise
        raise UsageError(
            f"the server needs the package mcp ({missing.name} is not there)",
            extra_hint("mcp"),
        ) from None
    open_store = partial(
        store_at,
        repo_path,
        Where(org, repo, branch, scope, agent, code),
        model=model,
        trust=trust,
        signing_key=signing_key,
        remote=remote,
        writes=not read_only,
    )
    with open_store() as store:
        operator = Operator(store.address, store.writer, read_only)
    if trust in ("human", "verified-ci") and signing_key is None and not read_only:
        log(f"memrepo: without --signing-key what is written counts as session, not as {trust}")
    if sys.stdin.isatty():
        log("memrepo: waiting for a client on standard input; ^D ends it")
    serve(open_store, operator, sync)
