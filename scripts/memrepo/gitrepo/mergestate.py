"""What the two sides of the merge under way are called: a driver is told only by newer Git."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .process import caller_values, plain, run_git

if TYPE_CHECKING:
    from .repository import Repository

_STATES = ("rebase-merge", "rebase-apply")


def sides(repo: Repository, ours: str = "", theirs: str = "") -> tuple[str, str]:
    """Names for ours and theirs; ``ours`` and ``theirs`` are what Git said, "" for nothing.

    In a rebase Git's ours is the branch that is rebased onto, and theirs the one that a
    person is on: both go by their branches' names, as in a merge the other way round.
    """
    for state in _STATES:
        folder = repo.git_dir / state
        branch = _first_line(folder / "head-name").removeprefix("refs/heads/")
        onto = _first_line(folder / "onto")
        if branch and onto:
            return _branch_at(repo, onto, branch), plain(branch)
    merged = caller_values("GITHEAD_")  # git merge names what it merges so, for drivers
    if not theirs and len(merged) == 1:
        theirs = merged[0].removeprefix("refs/heads/")
    head = _first_line(repo.git_dir / "HEAD").removeprefix("ref: refs/heads/")
    ours = head if ours in ("", "HEAD") else ours
    return plain(ours or "the branch here"), plain(theirs or "the other side")


def _branch_at(repo: Repository, commit: str, other: str) -> str:
    """A branch whose tip is ``commit``, or the commit's short id."""
    asked = ["for-each-ref", "--points-at", commit, "--format=%(refname:lstrip=2)"]
    done = run_git([*asked, "refs/heads", "refs/remotes"], cwd=repo.path, check=False)
    names = [name for name in done.out.decode("utf-8", "replace").splitlines() if name != other]
    return plain(names[0]) if names else commit[:10]


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""
