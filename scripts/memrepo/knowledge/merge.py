"""Bring knowledge branches into the main one: replayed on its tip, published in one move."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memrepo.errors import MemrepoError, PermissionDenied, RemoteFailed, UsageError
from memrepo.gate.policy import policy_at
from memrepo.gitrepo.branches import is_ancestor
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.published import Published, tries
from memrepo.gitrepo.refs import branch_ref
from memrepo.knowledge.branches import Ground, ground, look, move_on
from memrepo.knowledge.names import PREFIX, branch_of, in_order
from memrepo.knowledge.outcome import BranchOutcome, MergeReport, Mode
from memrepo.memory import MemoryRepo
from memrepo.report.phrases import count

_MOST_TRIES = 20
_MOST_SECONDS = 300.0


def merge(
    repo: MemoryRepo,
    branches: Sequence[str] = (),
    *,
    into: str = "main",
    mode: Mode = "push",
    remote: str | None = None,
) -> MergeReport:
    """Replay knowledge branches (all, or those named) onto ``into`` and publish the result.

    Mode "push" or "dry-run"; :func:`memrepo.knowledge.proposal.propose_merge` makes a pull
    request of it. ``into`` only moves forward, in one move for all branches: a run that is
    killed leaves it where it was or where it should be. A branch that cannot go in is left
    out whole. Raises UsageError for a branch that does not exist, PermissionDenied and
    RemoteFailed when the remote refuses.
    """
    shelf = Published(repo.repository, remote)
    for number in tries(_MOST_TRIES, _MOST_SECONDS):
        tip = tip_of(shelf, into)
        tips = chosen(shelf, branches, policy_at(repo.repository, tip).knowledge.order)
        at = ground(repo.repository, into, tip)
        outcomes = run_through(at, tips)
        report = MergeReport(
            into, mode, tip, at.commit, tuple(outcomes), tries=number, notes=notes_of(at)
        )
        if mode == "dry-run":
            return report
        if at.commit == tip:
            _follow(shelf, into, tip)
        if at.commit == tip or moved(shelf, into, tip, at.commit):
            rewritten, notes = _rewrite(repo, shelf, tip, at.commit, outcomes)
            return msgspec.structs.replace(
                report,
                moved=at.commit != tip,
                rewritten=rewritten,
                notes=(*report.notes, *notes, *repo.repository.notes),
            )
    raise RemoteFailed(
        f"{plain(into)} was moved by others at every one of {_MOST_TRIES} tries",
        "nothing was changed; run it again in a while",
    )


def tip_of(shelf: Published, into: str) -> str:
    """The commit that ``into`` is at, with all its history.  Raises UsageError without one."""
    tip = shelf.tip(into)
    if tip is None:
        raise UsageError(
            f"there is no branch {plain(into)}{_where(shelf)}", "name the branch with --into"
        )
    shelf.whole(into)
    return tip


def chosen(shelf: Published, asked: Sequence[str], order: Sequence[str]) -> dict[str, str]:
    """The branches to merge and their commits, in order.  Raises UsageError for a missing one."""
    tips = shelf.tips(PREFIX)
    wanted = dict.fromkeys(map(branch_of, asked))
    for branch in wanted:
        branch_ref(branch)
        if branch not in tips:
            there = ", ".join(plain(name) for name in sorted(tips)[:10]) or "none"
            raise UsageError(
                f"there is no branch {plain(branch)}{_where(shelf)}",
                f"knowledge branches there: {there}",
            )
    return {branch: tips[branch] for branch in in_order(wanted or tips, order)}


def _where(shelf: Published) -> str:
    return f" on {plain(shelf.remote.name)}" if shelf.remote else ""


def run_through(at: Ground, tips: dict[str, str]) -> list[BranchOutcome]:
    """What becomes of each branch, one after the other; the ground moves with each that fits."""
    outcomes = []
    for branch, tip in tips.items():
        outcome = look(at, branch, tip)
        if outcome.result == "merged":
            move_on(at, outcome)
        outcomes.append(outcome)
    return outcomes


def notes_of(at: Ground) -> tuple[str, ...]:
    """What a person should know of the ground."""
    return tuple(f"{plain(path)} holds no decision that can be read" for path in at.unread)


def moved(shelf: Published, branch: str, old: str, new: str, *, did: str = "merged") -> bool:
    """Publish ``new``; False when the branch is elsewhere by now. A refusal says what to do.

    The branch here follows what was pushed; a note of the repository says so where it cannot.
    """
    advice = "run it again with --mode pr: it opens a pull request instead"
    try:
        if shelf.move(branch, old, new, did=did) != "moved":
            return False
    except PermissionDenied as error:
        raise PermissionDenied(error.message, f"nothing was moved; {advice}") from None
    except RemoteFailed as error:
        raise RemoteFailed(error.message, f"{error.hint}; if a rule forbids it, {advice}") from None
    _follow(shelf, branch, new)
    return True


def _follow(shelf: Published, branch: str, new: str) -> None:
    behind = shelf.bring_here(branch, new)
    if behind:
        shelf.repo.notes.append(
            f"your {plain(branch)} is {count(behind, 'commit')} behind; git pull"
        )


def _rewrite(
    repo: MemoryRepo, shelf: Published, tip: str, head: str, outcomes: Sequence[BranchOutcome]
) -> tuple[tuple[str, ...], list[str]]:
    """Where the policy says so, branches that are in moved onto ``head``, which now holds them.

    Each only from the commit that was merged: what came to it meanwhile stays.
    """
    git = repo.repository
    if not policy_at(git, tip).knowledge.rewrite:
        return (), []
    done, notes = [], []
    for one in outcomes:
        if one.left_out or is_ancestor(git, one.tip, head):
            continue
        try:
            if shelf.move(one.branch, one.tip, head, pinned=True) == "moved":
                done.append(one.branch)
            else:
                notes.append(f"{plain(one.branch)} moved meanwhile and stays as it is")
        except MemrepoError as error:
            notes.append(f"{plain(one.branch)} was not rewritten: {error.message}")
    return tuple(done), notes
