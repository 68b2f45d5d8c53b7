"""The releases that a command reads: those of its forge, and of the folder the index names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.cli.forge_option import forge_for, remote_of
from memrepo.cli.options import log
from memrepo.gitrepo.repository import Repository
from memrepo.report.escape import for_terminal

if TYPE_CHECKING:
    from memrepo.archive.fetch import Shelves
    from memrepo.forge.forge import Forge


@contextmanager
def shelves_for(repo: Repository, forge: str | None, remote: str | None) -> Iterator[Shelves]:
    """The releases of the forge that ``forge`` names, or of the one that fits.

    Where none is named and a folder is the forge, a release that it lacks is looked for in
    the folder where the index says that it was published: another clone's, for instance.
    """
    from memrepo.archive.fetch import Shelves
    from memrepo.forge.local import LocalForge

    with forge_for(repo, forge, remote_of(repo, remote)) as where:

        def elsewhere(root: Path) -> Forge:
            log(for_terminal(f"read from {root}, where it was published, not {where.place}"))
            return LocalForge(root, login="memrepo", tell=log)

        folder = forge is None and isinstance(where, LocalForge)
        yield Shelves(where, elsewhere if folder else None)
