"""How each knowledge branch lies to the main one, and what merging it would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from memrepo.gate.policy import policy_at
from memrepo.gitrepo.linear import messages_with
from memrepo.gitrepo.log import messages_between
from memrepo.gitrepo.published import Published
from memrepo.gitrepo.repository import Repository
from memrepo.knowledge.branches import ground, look
from memrepo.knowledge.merge import chosen, tip_of
from memrepo.knowledge.names import TRAILER, replayed_in
from memrepo.knowledge.outcome import BranchOutcome
from memrepo.memory import MemoryRepo


class BranchStatus(msgspec.Struct, frozen=True):
    """One branch alone on the main one's tip; ``merged`` is when it was last merged (ISO 8601,
    "" where no trace of that is left), ``merged_as`` the commit."""

    outcome: BranchOutcome
    merged: str = ""
    merged_as: str = ""

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of one row of ``knowledge status --json``."""
        shape = self.outcome.as_json()
        # Its commits were only tried out.
        del shape["commits"]
        return shape | {"last_merged": self.merged, "last_merged_as": self.merged_as}


def statuses(
    repo: MemoryRepo,
    branches: Sequence[str] = (),
    *,
    into: str = "main",
    remote: str | None = None,
) -> list[BranchStatus]:
    """Every knowledge branch (or those named), in the order in which they would be merged.

    Each is tried on the tip of ``into`` alone; nothing is moved. Raises UsageError for a
    branch that does not exist.
    """
    git = repo.repository
    shelf = Published(git, remote)
    tip = tip_of(shelf, into)
    tips = chosen(shelf, branches, policy_at(git, tip).knowledge.order)
    merged = [
        (commit, when, replayed_in(message))
        for commit, when, message in messages_with(git, tip, f"{TRAILER}: ")
    ]
    found = []
    for branch, commit in tips.items():
        outcome = look(ground(git, into, tip), branch, commit)
        as_, when = _last_merged(git, tip, commit, merged)
        found.append(BranchStatus(outcome, when, as_))
    return found


def _last_merged(
    repo: Repository, main: str, tip: str, merged: Sequence[tuple[str, str, list[str]]]
) -> tuple[str, str]:
    """The newest commit of the main branch that brings one of this branch, and its time."""
    own = {commit for commit, _ in messages_between(repo, main, tip)} if merged else set()
    for commit, when, marks in merged:
        if own.intersection(marks):
            return commit, when
    return "", ""
