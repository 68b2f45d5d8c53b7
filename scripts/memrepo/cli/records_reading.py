"""``memrepo records read``, ``list`` and ``search``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from memrepo.cli.options import Json, RepoPath, log, print_json, say
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
from memrepo.protocol.record import Trust

Kind = Annotated[str | None, typer.Option("--kind", help="The kind: fact, decision, …")]
State = Annotated[
    Literal["active", "superseded", "archived", "any"],
    typer.Option("--status", help="Which of them."),
]
Counts = Annotated[
    Trust | None, typer.Option("--counts-as", help="Only those of the trust that counts.")
]
By = Annotated[str | None, typer.Option("--by", metavar="AGENT", help="Only this writer's.")]
Expired = Annotated[bool, typer.Option("--expired", help="Those past their end, too.")]
Own = Annotated[bool, typer.Option("--own", help="Not what the address inherits.")]
Limit = Annotated[int, typer.Option("--limit", min=0, help="At most so many; 0 is all.")]


def read(
    key_or_id: Annotated[
        str, typer.Argument(metavar="KEY|ID", help="A conclusion's name, or a record's id.")
    ],
    repo_path: RepoPath = Path(),
    org: Org = None,
    repo: Project = None,
    branch: Branch = None,
    scope: ScopeOption = None,
    agent: Agent = None,
    code: Code = None,
    json: Json = False,
) -> None:
    """Show one record, what it is worth, and whether the code it cites is still the same.

    Example: memrepo records read pool-size --org acme --repo web
    """
    from memrepo.records.render import whole_text

    with store_at(repo_path, Where(org, repo, branch, scope, agent, code)) as store:
        answer = store.read(key_or_id)
    if json:
        print_json(answer.as_json())
    else:
        say(whole_text(answer), end="")


def list_(
    repo_path: RepoPath = Path(),
    org: Org = None,
    repo: Project = None,
    branch: Branch = None,
    scope: ScopeOption = None,
    agent: Agent = None,
    kind: Kind = None,
    status: State = "active",
    counts_as: Counts = None,
    by: By = None,
    expired: Expired = False,
    own: Own = False,
    limit: Limit = 50,
    json: Json = False,
) -> None:
    """List the records of an address and of what it inherits, newest first.

    Example: memrepo records list --org acme --repo web --branch main
    """
    from memrepo.records.render import list_line
    from memrepo.records.values import Filters

    filters = Filters(
        kind=kind,
        trust=counts_as,
        status=status,
        agent=by,
        expired=expired,
        limit=limit,
        inherited=not own,
    )
    with store_at(repo_path, Where(org, repo, branch, scope, agent)) as store:
        found = store.list(filters)
    if json:
        print_json([one.as_json() for one in found])
        return
    for one in found:
        say(list_line(one))
    if not found:
        everything = Filters(limit=limit, inherited=not own)
        log("no records" if filters == everything else "no such record")


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words to look for.")],
    repo_path: RepoPath = Path(),
    org: Org = None,
    repo: Project = None,
    branch: Branch = None,
    scope: ScopeOption = None,
    agent: Agent = None,
    kind: Kind = None,
    status: State = "active",
    counts_as: Counts = None,
    by: By = None,
    expired: Expired = False,
    own: Own = False,
    limit: Limit = 10,
    code: Code = None,
    json: Json = False,
) -> None:
    """Find records by their words, the best first: prose, Chinese, names of code.

    Example: memrepo records search "pool deadlock" --org acme --repo web
    """
    from memrepo.records.render import found_line
    from memrepo.records.values import Filters

    filters = Filters(
        kind=kind,
        trust=counts_as,
        status=status,
        agent=by,
        expired=expired,
        limit=limit,
        inherited=not own,
    )
    with store_at(repo_path, Where(org, repo, branch, scope, agent, code)) as store:
        found = store.search(query, filters)
    if json:
        print_json([one.as_json() for one in found])
        return
    for one in found:
        say(found_line(one))
    if not found:
        log("no such record")
