"""What the environment tells the command line; nothing else reads it for itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple, TextIO


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what goes to ``stream`` (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class ForgeEnvironment(NamedTuple):
    """What the environment says of the forge: empty strings where it says nothing.

    ``token`` never goes into a message or a URL.
    """

    in_workflow: bool
    token: str
    server_url: str
    api_url: str
    repository: str


def forge_environment() -> ForgeEnvironment:
    """The variables that GitHub's runner sets, and the token that a person may set."""
    return ForgeEnvironment(
        in_workflow=os.environ.get("GITHUB_ACTIONS") == "true",
        token=os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN") or "",
        server_url=os.environ.get("GITHUB_SERVER_URL", ""),
        api_url=os.environ.get("GITHUB_API_URL", ""),
        repository=os.environ.get("GITHUB_REPOSITORY", ""),
    )


def index_of_hook() -> Path | None:
    """The index that Git gave to the hook that runs us (``GIT_INDEX_FILE``), or None."""
    name = os.environ.get("GIT_INDEX_FILE")
    return Path.cwd() / name if name else None


def terminal_width(default: int = 100) -> int:
    """Columns of the terminal; ``default`` where there is none."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return default
