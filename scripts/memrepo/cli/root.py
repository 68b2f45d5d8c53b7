"""``memrepo`` itself: what stands before any command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from memrepo import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence


def in_order(names: Sequence[str]) -> type[TyperGroup]:
    """A group that lists its commands as ``names`` has them; typer puts groups at the end."""

    class Ordered(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            known = super().list_commands(ctx)
            return [name for name in names if name in known]

    return Ordered


def _version(wanted: bool) -> None:
    if wanted:
        print(f"memrepo {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Stands in front of every command."""
