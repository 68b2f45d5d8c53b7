"""How two commits lie to each other. Near and linear history is walked here; Git does the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from .process import run_git

if TYPE_CHECKING:
    from .repository import Repository

_NEAR = 256


class Line(msgspec.Struct, frozen=True):
    """What ours has beyond ``base``, and what theirs has: commit ids, oldest first.

    ``merges`` says whether one of ours is a merge.
    """

    base: str
    commits: tuple[str, ...]
    theirs: tuple[str, ...]
    merges: bool


def parents(repo: Repository, commit: str) -> list[str]:
    """The parents of a commit, as ids."""
    found = []
    for line in repo.read_commit(commit).split(b"\n")[1:]:
        if not line.startswith(b"parent "):
            break
        found.append(line[7:].decode("ascii"))
    return found


def between(repo: Repository, old: str, new: str) -> int | None:
    """How many commits ``new`` is ahead of ``old`` in a line; None when they are not near so."""
    at = new
    for count in range(_NEAR):
        if at == old:
            return count
        above = parents(repo, at)
        if len(above) != 1:
            return None
        at = above[0]
    return None


def line_to(repo: Repository, theirs: str, ours: str) -> Line | None:
    """What ``ours`` has beyond its merge base with ``theirs``; None without a common commit."""
    near = _near_line(repo, theirs, ours)
    if near is not None:
        return near
    base = repo.merge_base(theirs, ours)
    if base is None:
        return None
    commits, other = _listed(repo, base, ours), _listed(repo, base, theirs)
    merges = any(len(above) != 1 for _, above in commits)
    single = tuple(commit for commit, above in other if len(above) == 1)
    return Line(base, tuple(commit for commit, _ in commits), single, merges)


def _listed(repo: Repository, base: str, tip: str) -> list[tuple[str, list[str]]]:
    """The commits of ``base..tip`` with their parents, oldest first."""
    args = ["rev-list", "--reverse", "--topo-order", "--parents", f"{base}..{tip}"]
    lines = run_git(args, cwd=repo.path).out.decode("ascii").splitlines()
    return [(commit, above) for commit, *above in map(str.split, lines)]


def _near_line(repo: Repository, theirs: str, ours: str) -> Line | None:
    """The same for two lines without a merge, walked from both ends in step."""
    walked: tuple[list[str], list[str]] = ([theirs], [ours])
    for _ in range(_NEAR):
        for mine, other in (walked, walked[::-1]):
            if (base := mine[-1]) in other:
                left, right = (tuple(side[: side.index(base)][::-1]) for side in walked)
                return Line(base, right, left, merges=False)
        for side in walked:
            above = parents(repo, side[-1])
            if len(above) != 1:
                return None
            side.append(above[0])
    return None
