"""Bringing a branch that is checked out to another commit, a person's changes left alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memrepo.errors import MemrepoError

from .changes import changed_files, staged_files, worktree_files
from .process import plain
from .worktree import with_lock

if TYPE_CHECKING:
    from .repository import Repository

_REFLOG = "rebase: onto the remote's tip, by memrepo"

Move = Literal["moved", "lost", "kept"]


def follow(repo: Repository, ref: str, old: str, new: str) -> Move:
    """Move ``ref`` from ``old`` to ``new``, with index and worktree where it is checked out.

    "lost": the branch was no longer at ``old``. "kept": files that ``new`` changes hold a
    person's changes (or the branch is checked out elsewhere), so nothing moved; a note of
    the repository says what to do.
    """
    if old == new:
        return "moved" if repo.tip(ref) == new else "lost"
    reason = _elsewhere(repo, ref)
    if not reason and repo.head_ref() == ref and repo.has_worktree:
        reason = _bring(repo, old, new)
    if reason:
        repo.notes.append(
            f"{plain(ref.removeprefix('refs/heads/'))} was left at {old[:12]} while its commits"
            f" are published as {new[:12]}: {reason}; commit or stash, then git pull --rebase"
        )
        return "kept"
    return "moved" if repo.refs(_REFLOG).swap(ref, old, new) else "lost"


def in_the_way(repo: Repository, old: str, new: str) -> list[str]:
    """The files that hold a person's changes and that ``new`` changes, in path order."""
    wanted = {change.path for change in changed_files(repo, old, new)}
    mine = {change.path for change in (*worktree_files(repo, old), *staged_files(repo, old))}
    return sorted(path for path in mine if any(path == one or _below(path, one) for one in wanted))


def _below(path: str, other: str) -> bool:
    """Whether one of two paths lies below the other: a file where there is to be a folder."""
    return path.startswith(f"{other}/") or other.startswith(f"{path}/")


def undo_follow(repo: Repository, new: str) -> None:
    """Bring index and worktree back to HEAD where a killed process has brought them to ``new``."""
    tip = repo.tip()
    if tip and tip != new and repo.reader.find(new, limit=0):
        _bring(repo, new, tip)


def _bring(repo: Repository, old: str, new: str) -> str:
    """Merge the change into index and worktree; the reason when Git refuses, else ""."""
    args = ["-c", "core.hooksPath=/dev/null", "read-tree", "-m", "-u", old, new]
    try:
        try:
            with_lock(repo, args)
        except MemrepoError:
            # Entries whose file was only touched look changed until they are compared.
            with_lock(repo, ["update-index", "-q", "--refresh"], accept=(0, 1))
            with_lock(repo, args)
    except MemrepoError as error:
        return error.message
    return ""


def _elsewhere(repo: Repository, ref: str) -> str:
    """Whether another worktree has the branch checked out, and so would be left behind."""
    folders = [repo.common_dir]
    try:
        folders += (repo.common_dir / "worktrees").iterdir()
    except OSError:
        return ""
    for folder in folders:
        if os.path.realpath(folder) == os.path.realpath(repo.git_dir):
            continue
        try:
            head = Path(folder, "HEAD").read_text("utf-8", "surrogateescape").strip()
        except OSError:
            continue
        if head == f"ref: {ref}":
            return "the branch is checked out in another worktree"
    return ""
