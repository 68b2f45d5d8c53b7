"""The treatment branch against its control: what it changes, and whether it can go in."""

from __future__ import annotations

import msgspec

from memrepo.errors import GateRefused, NeedsPerson, UnknownRevision, UsageError
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.published import Published
from memrepo.gitrepo.repository import Repository
from memrepo.knowledge.branches import ground, look
from memrepo.knowledge.outcome import BranchOutcome
from memrepo.report.verdict import Review
from memrepo.review.review import review_change

_MOST_PLACES = 3


class Standing(msgspec.Struct, frozen=True):
    """The treatment (a commit) against a commit of its control branch.

    ``review`` is that of a pull request from the one to the other, ``outcome`` what becomes
    of its commits when they are made again on the control branch.
    """

    tip: str
    review: Review
    outcome: BranchOutcome


def treatment_tip(repo: Repository, remote: str | None, treatment: str) -> str:
    """The commit of the treatment branch where it is published, with its history.

    Raises UnknownRevision where there is no such branch, RemoteFailed, PermissionDenied.
    """
    shelf = Published(repo, remote)
    tip = shelf.tip(treatment)
    if tip is None:
        where = f" on {plain(shelf.remote.name)}" if shelf.remote else ""
        raise UnknownRevision(
            f"there is no branch {plain(treatment)}{where}", "push it, or name another --treatment"
        )
    shelf.whole(treatment)
    return tip


def stand(
    repo: Repository, control: str, at: str, treatment: str, tip: str, *, judge: bool = False
) -> Standing:
    """How the treatment at ``tip`` stands to the control branch at ``at`` (commit ids).

    ``judge``: hold what would land to the review gate too.
    """
    outcome = look(ground(repo, control, at), treatment, tip, judge=judge)
    review = review_change(repo, at, tip, (control, treatment))
    return Standing(tip, review, outcome)


def refuse(outcome: BranchOutcome, control: str) -> None:
    """Raise where the treatment's commits cannot go onto the control branch.

    NeedsPerson where both changed one place, GateRefused for what no rollout may bring,
    UsageError for two histories that share nothing.
    """
    branch = plain(outcome.branch)
    if outcome.result == "unrelated":
        raise UsageError(
            f"{branch} shares no history with {plain(control)}",
            f"make it from {plain(control)}, so that it can be brought in",
        )
    if outcome.result == "conflict":
        some = [f"{one.conflict.path}#{one.conflict.pointer}" for one in outcome.conflicts]
        more = f" and {len(some) - _MOST_PLACES} more" if len(some) > _MOST_PLACES else ""
        raise NeedsPerson(
            f"{branch} and {plain(control)} disagree about"
            f" {', '.join(map(plain, some[:_MOST_PLACES]))}{more}",
            f"merge {plain(control)} into {branch}, decide there, push it, and run this again",
        )
    if outcome.result in ("refused", "invalid"):
        errors = [finding for finding in outcome.findings if finding.severity == "error"]
        raise GateRefused(
            f"{branch} cannot go into {plain(control)}: {outcome.message}",
            "put it right on the branch, push it, and run this again",
            errors,
        )
