"""Attributes that would change a file on its way into Git: memory is kept as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.errors import BadInput

from .paths import path_bytes, path_text
from .process import plain, run_git

if TYPE_CHECKING:
    from .repository import Repository

NAMES = ("filter", "ident", "working-tree-encoding")
_MENTIONED = re.compile(rb"filter|ident|working-tree-encoding")
_OFF = ("unset", "unspecified")


def refuse_filters(repo: Repository, paths: Iterable[str]) -> None:
    """Raise BadInput when Git would store any of ``paths`` otherwise than it lies on disk.

    A filter that encrypts must not be gone around, and one that rewrites would make every
    commit look taken back. Git is asked only where an attributes file speaks of such things.
    """
    if not repo.has_worktree or not any(map(_mentions, _files(repo))):
        return
    asked = ["check-attr", "-z", "--stdin", *NAMES]
    lines = b"".join(path_bytes(path) + b"\0" for path in paths)
    parts = run_git(asked, cwd=repo.path, input=lines).out.split(b"\0")[:-1]
    for path, name, value in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if value.decode("utf-8", "replace") not in _OFF:
            attribute = f"{name.decode()}={plain(value.decode('utf-8', 'replace'))}"
            raise BadInput(
                f"the attribute {attribute} would rewrite {plain(path_text(path))} inside Git",
                "take memory out of that rule in .gitattributes: memrepo doctor names it",
            )


def _files(repo: Repository) -> list[Path]:
    folders = ("", "state", "history")
    found = [repo.path / folder / ".gitattributes" for folder in folders]
    found.append(repo.common_dir / "info" / "attributes")
    named = repo.config_value("core.attributesfile")
    return [*found, Path(named).expanduser()] if named else found


def _mentions(file: Path) -> bool:
    try:
        return _MENTIONED.search(file.read_bytes()) is not None
    except OSError:
        return False
