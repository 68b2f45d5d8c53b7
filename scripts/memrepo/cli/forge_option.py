"""The option ``--forge``, and the forge that it opens for a repository."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepo.gitrepo.branches import default_remote
from memrepo.gitrepo.repository import Repository

if TYPE_CHECKING:
    from memrepo.forge.forge import Forge

ForgeOption = Annotated[
    str | None,
    typer.Option("--forge", metavar="github|local[:PATH]", help="Where pull requests live."),
]
ReleaseForge = Annotated[
    str | None,
    typer.Option("--forge", metavar="github|local[:PATH]", help="Where releases live."),
]
Remote = Annotated[
    str | None, typer.Option("--remote", metavar="NAME", help="Where branches are published.")
]


@contextmanager
def forge_for(repo: Repository, spec: str | None, remote: str | None) -> Iterator[Forge]:
    """The forge that ``spec`` names, or the one that fits; closed at the end.

    Without a remote on GitHub and a token it is a folder beside the repository.
    Raises :class:`memrepo.errors.UsageError` where it cannot be known.
    """
    from memrepo.cli.options import log
    from memrepo.forge.choose import choose
    from memrepo.forge.open import open_forge
    from memrepo.settings import forge_environment

    found = forge_environment()
    choice = choose(
        spec,
        in_workflow=found.in_workflow,
        remote_url=repo.config_value(f"remote.{remote}.url") if remote else None,
        has_token=bool(found.token),
        server_url=found.server_url,
        repository=found.repository,
    )
    forge = open_forge(
        choice,
        token=found.token,
        api_url=found.api_url,
        beside=Path(f"{repo.path}.forge"),
        tip=lambda branch: repo.tip(f"refs/heads/{branch}"),
        tell=log,
    )
    try:
        yield forge
    finally:
        forge.close()


def remote_of(repo: Repository, name: str | None) -> str | None:
    """The remote that was named, or the only sensible one; None where there is none."""
    return name or default_remote(repo)
