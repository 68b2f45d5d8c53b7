"""The entry to the job ``doctor``: facts, problems, repairs, and a second look."""

from __future__ import annotations

from pathlib import Path

import msgspec

from memrepo.doctor.apply import apply
from memrepo.doctor.decide import decide
from memrepo.doctor.gather import gather
from memrepo.doctor.problem import Problem, WriteFile, repairs_of
from memrepo.gitrepo.repository import Repository

_MOST_ROUNDS = 3


class Examination(msgspec.Struct, frozen=True):
    """What was found at ``root``: the worktree's top, or a repository without one.

    ``fixed`` are the problems that are gone after the repairs, ``left`` those that are
    still there. ``planned``: ``--fix`` was asked for as a dry run, so nothing was done.
    ``notes`` say which repairs failed, and what a person should do after one.
    """

    root: str
    has_worktree: bool
    fixed: tuple[Problem, ...]
    left: tuple[Problem, ...]
    planned: bool
    notes: tuple[str, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing is left but notes."""
        return all(problem.severity == "note" for problem in self.left)


def examine(path: Path, *, fix: bool = False, plan: bool = False) -> Examination:
    """Look at the clone that ``path`` lies in; with ``fix``, make the repairs that are safe.

    ``plan`` without ``fix`` tells what would be repaired. Works in bare repositories,
    linked worktrees and before the first commit. Raises NotAMemoryRepo.
    """
    with Repository.open(path) as repo:
        left = decide(gather(repo))
        if not fix:
            return Examination(str(repo.path), repo.has_worktree, (), tuple(left), plan, ())
        seen: list[Problem] = []
        notes: list[str] = []
        # A repair can bring to light what it hid: attributes that are new name a driver.
        for _ in range(_MOST_ROUNDS):
            repairs = repairs_of([problem for problem in left if problem not in seen])
            if not repairs:
                break
            seen += [problem for problem in left if problem.safe and problem not in seen]
            notes += apply(repo, repairs)
            left = decide(gather(repo))
    still = {(problem.name, problem.what) for problem in left}
    fixed = [problem for problem in seen if (problem.name, problem.what) not in still]
    if any(isinstance(problem.fix, WriteFile) for problem in fixed):
        notes.append("commit .gitattributes, so that other clones have it too")
    return Examination(
        str(repo.path), repo.has_worktree, tuple(fixed), tuple(left), False, tuple(notes)
    )
