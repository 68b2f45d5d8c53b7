"""``memrepo textconv``."""

from __future__ import annotations

from typing import Annotated

import typer

from memrepo.cli.for_git import textconv


def run(file: Annotated[str, typer.Argument(help="The file to show.")]) -> int:
    """Print a memory file as a person reads it. Git runs this for git diff.

    Example: memrepo textconv state/support_v1/context.json
    """
    return textconv([file])
