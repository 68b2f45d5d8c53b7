"""Which changed paths are memory, so that a change of anything else passes at once. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from memrepo.protocol.layout import place_of

#: Folders of the protocol, whatever the case of their letters, and what decides how Git reads them.
_FOLDERS = ("state", "history", "records", ".memrepo", ".gitattributes", ".gitmodules")
#: Text that agents read as memory or as orders: MEMORY.md, notes, lists of rules.
_TEXT = (".md", ".mdc", ".markdown", ".txt", ".yml", ".yaml", ".json", ".jsonl", "")


def touches_memory(paths: Iterable[str]) -> bool:
    """Whether any of the changed ``paths`` is memory, or text that an agent may take for it.

    Programs, pictures and the project's own workflows are not.
    """
    return any(_is_memory(path) for path in paths)


def _is_memory(path: str) -> bool:
    if place_of(path).role != "other" or path.partition("/")[0].casefold() in _FOLDERS:
        return True
    if path.startswith(".github/"):
        return path.endswith(".md")
    return PurePosixPath(path).suffix.lower() in _TEXT
