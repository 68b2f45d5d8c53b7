"""How each knowledge branch lies to the main one, and what merging it would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from memrepo.gate.policy import policy_at
from memrepo.gitrepo.linear import count_beyond, messages_with
from memrepo.gitrepo.log import messages_between
from memrepo.gitrepo.published import Published
from memrepo.gitrepo.repository import Repository
from memrepo.knowledge.branches import ground, look, move_on
from memrepo.knowledge.merge import chosen, tip_of
from memrepo.knowledge.names import TRAILER, replayed_in
from memrepo.knowledge.outcome import BranchOutcome
from memrepo.memory import MemoryRepo


class BranchStatus(msgspec.Struct, frozen=True):
    """One branch on the main one's tip, with the branches before it merged.

    ``merged`` is when it was last merged (ISO 8601, "" where no trace of that is left),
    ``merged_as`` the commit. ``after`` are the branches before it that it cannot follow: alone
    it could go in.
    """

    outcome: BranchOutcome
    merged: str = ""
    merged_as: str = ""
    after: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of one row of ``knowledge status --json``."""
        shape = self.outcome.as_json()
        # Its commits were only tried out.
        del shape["commits"]
        last = {"last_merged": self.merged, "last_merged_as": self.merged_as}
        return shape | last | {"after": list(self.after)}


def statuses(
    repo: MemoryRepo,
    branches: Sequence[str] = (),
    *,
    into: str = "main",
    remote: str | None = None,
) -> list[BranchStatus]:
    """Every knowledge branch (or those named), in the order in which they would be merged.

    They are tried one after the other on the tip of ``into``, as a merge would; nothing is
    moved. Raises UsageError for a branch that does not exist.
    """
    git = repo.repository
    shelf = Published(git, remote)
    tip = tip_of(shelf, into)
    tips = chosen(shelf, branches, policy_at(git, tip).knowledge.order)
    merged = [
        (commit, when, replayed_in(message))
        for commit, when, message in messages_with(git, tip, f"{TRAILER}: ")
    ]
    found: list[BranchStatus] = []
    at = ground(git, into, tip)
    gone_in: dict[str, str] = {}
    for branch, commit in tips.items():
        outcome = look(at, branch, commit)
        after: tuple[str, ...] = ()
        if outcome.left_out and gone_in:
            alone = look(ground(git, into, tip), branch, commit)
            after = () if alone.left_out else _in_its_way(outcome, gone_in)
        elif outcome.result == "merged":
            move_on(at, outcome)
            gone_in |= {landed.commit: branch for landed in outcome.commits}
        beyond = count_beyond(git, tip, commit) if outcome.behind else 0
        outcome = msgspec.structs.replace(outcome, behind=beyond)
        as_, when = _last_merged(git, tip, commit, merged)
        found.append(BranchStatus(outcome, when, as_, after))
    return found


def _in_its_way(outcome: BranchOutcome, gone_in: dict[str, str]) -> tuple[str, ...]:
    """The branches whose commits it disagrees with; all before it where none is to be told."""
    met = [gone_in.get(one.ours.commit, "") for one in outcome.conflicts]
    return tuple(dict.fromkeys(filter(None, met))) or tuple(dict.fromkeys(gone_in.values()))


def _last_merged(
    repo: Repository, main: str, tip: str, merged: Sequence[tuple[str, str, list[str]]]
) -> tuple[str, str]:
    """The newest commit of the main branch that brings one of this branch, and its time."""
    own = {commit for commit, _ in messages_between(repo, main, tip)} if merged else set()
    for commit, when, marks in merged:
        if own.intersection(marks):
            return commit, when
    return "", ""
