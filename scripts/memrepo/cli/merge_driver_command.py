"""``memrepo merge-driver``."""

from __future__ import annotations

from typing import Annotated

import typer

from memrepo.cli.for_git import merge_driver


def run(
    base: Annotated[str, typer.Argument(help="%O: the file with the common base.")],
    ours: Annotated[str, typer.Argument(help="%A: the file with our side; gets the result.")],
    theirs: Annotated[str, typer.Argument(help="%B: the file with the other side.")],
    path: Annotated[str, typer.Argument(help="%P: where the file lies in the repository.")],
    labels: Annotated[
        list[str] | None, typer.Argument(help="%S %X %Y: what Git calls the three.")
    ] = None,
) -> int:
    """Join three versions of a memory file by meaning. Git runs this, not a person.

    Example: memrepo merge-driver %O %A %B %P
    """
    return merge_driver([base, ours, theirs, path, *(labels or [])])
