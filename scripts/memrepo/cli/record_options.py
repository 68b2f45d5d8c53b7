"""The options of commands about shared records: an address, a writer, and what they open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from memrepo.errors import UsageError
from memrepo.protocol.record import Address, Scope, Trust, Writer

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository
    from memrepo.records.store import Store

Org = Annotated[
    str | None, typer.Option("--org", help="The organisation (of --code, or the workflow).")
]
Project = Annotated[
    str | None, typer.Option("--repo", help="The repository of code (of --code, likewise).")
]
Branch = Annotated[str | None, typer.Option("--branch", help="A branch of that repository.")]
ScopeOption = Annotated[
    Scope | None, typer.Option("--scope", help="What it is about (seen from the other three).")
]
Agent = Annotated[
    str | None, typer.Option("--agent", help="Who writes, or whose (Git's name for you).")
]
Model = Annotated[str, typer.Option("--model", help="The model that writes.")]
TrustOption = Annotated[
    Trust, typer.Option("--trust", help="What the writer claims; the higher two need a key.")
]
SigningKey = Annotated[
    Path | None, typer.Option("--signing-key", metavar="FILE", help="The SSH key that signs.")
]
Code = Annotated[
    Path | None,
    typer.Option("--code", metavar="PATH", help="A checkout of the code, to look references up."),
]
Push = Annotated[bool, typer.Option("--push", help="Publish it to the remote.")]
RemoteName = Annotated[str, typer.Option("--remote", metavar="NAME", help="Where pushes go.")]

#: The name of who does not write.
_READER = "reader"
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class Where(msgspec.Struct, frozen=True):
    """The options of an address, as they were given."""

    org: str | None = None
    repo: str | None = None
    branch: str | None = None
    scope: Scope | None = None
    agent: str | None = None
    code: Path | None = None


@contextmanager
def store_at(
    repo_path: Path,
    where: Where,
    *,
    model: str = "",
    trust: Trust = "session",
    signing_key: Path | None = None,
    remote: str = "origin",
    writes: bool = False,
) -> Iterator[Store]:
    """The records of the repository at ``repo_path``, at the address that the options name.

    Who only reads needs no name, but for records of the scope agent.
    """
    from memrepo.gitrepo.repository import Repository
    from memrepo.records.store import Store

    with Repository.open(repo_path) as repo:
        named = where.agent or writes or where.scope == "agent"
        agent = where.agent or (_name_in_git(repo) if named else _READER)
        with Store(
            repo,
            writer=Writer(agent, model, trust),
            address=address_of(where, agent),
            code=where.code,
            signing_key=signing_key,
            remote=remote,
        ) as store:
            yield store


def address_of(where: Where, agent: str) -> Address:
    """The address that options name.  Raises UsageError where they leave it open.

    Organisation and repository may come from where ``--code`` was cloned from, or from the
    workflow that runs; the scope follows from what is named.
    """
    org, project = where.org, where.repo
    if org is None:
        found = _project_of(where.code)
        if found is None:
            raise UsageError(
                "whose records? no organisation is named",
                "give --org and --repo, or --code with a clone of the code",
            )
        org, own = found
        project = project if project is not None else own
    scope = where.scope or ("branch" if where.branch else "project" if project else "org")
    return Address(
        org=org.lower(),
        repo="" if scope == "org" else (project or "").lower(),
        branch=(where.branch or "") if scope == "branch" else "",
        scope=scope,
        agent=agent if scope == "agent" else "",
    )


def _project_of(code: Path | None) -> tuple[str, str] | None:
    from memrepo.forge.address import parse_remote, parse_slug
    from memrepo.gitrepo.repository import Repository
    from memrepo.settings import forge_environment

    if code is not None:
        with Repository.open(code) as repo:
            found = parse_remote(repo.config_value("remote.origin.url"))
        return (found.owner, found.repo) if found else None
    return parse_slug(forge_environment().repository)


def _name_in_git(repo: Repository) -> str:
    from memrepo.gitrepo.identity import identity

    return identity(repo, "author").name


def seconds(text: str | None) -> int | None:
    """A span like ``3600``, ``12h``, ``7d`` in seconds.  Raises UsageError."""
    if text is None:
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,9})([smhdw]?)", text)
    if not found:
        raise UsageError(f"--ttl {text[:60]!a} is no span of time", "write it like 3600, 12h or 7d")
    return int(found[1]) * _UNITS[found[2] or "s"]
