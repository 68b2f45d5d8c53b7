"""What the environment tells the command line; nothing else reads it for itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what goes to ``stream`` (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


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
