"""The branch that the job's pull request is on: found, chosen, or brought onto a new main."""

from __future__ import annotations

from datetime import datetime

import msgspec

from memrepo.forge.forge import Forge, PullRequest
from memrepo.gitrepo.branches import is_ancestor
from memrepo.gitrepo.published import Published
from memrepo.knowledge.branches import ground
from memrepo.knowledge.names import PROPOSED, replayed_in
from memrepo.knowledge.outcome import BranchOutcome
from memrepo.knowledge.replay import Replayed, pending, replay
from memrepo.semmerge.values import Labels


class Place(msgspec.Struct, frozen=True):
    """A branch for a pull request: its commit (None: to be made) and its open pull request."""

    branch: str
    tip: str | None = None
    pull: PullRequest | None = None


def find_place(shelf: Published, forge: Forge, into: str, main: str, now: datetime) -> Place:
    """The branch of the open pull request, one whose pull request is still to be opened, or a
    new one of today. A branch whose pull request was merged or closed is done with."""
    tips = shelf.tips(PROPOSED)
    for branch in sorted(tips, reverse=True):
        pulls = forge.find_pull_requests(branch, into, "all")
        pull = next((pull for pull in pulls if pull.state == "open"), None)
        if pull is not None or (not pulls and not is_ancestor(shelf.repo, tips[branch], main)):
            return Place(branch, tips[branch], pull)
    name = f"{PROPOSED}{now:%Y-%m-%d}"
    branch, again = name, 1
    while branch in tips:
        again += 1
        branch = f"{name}-{again}"
    return Place(branch)


def brought_on(shelf: Published, place: Place, into: str, main: str) -> Replayed:
    """The branch's own commits on top of ``main``, those of people among them; its new head.

    Nothing is made anew where it builds on ``main`` already. With conflicts it stays.
    """
    repo = shelf.repo
    if place.tip is None or is_ancestor(repo, place.tip, main):
        return Replayed(main)
    if is_ancestor(repo, main, place.tip):
        return Replayed(place.tip)
    here = ground(repo, place.branch, place.tip, trusted=main)
    there = ground(repo, into, main)
    steps = []
    for step in pending(repo, main, place.tip, ()):
        marks = replayed_in(step.parsed.message.decode("utf-8", "replace"))
        if not marks or not there.done.issuperset(marks):
            steps.append(step)
    labels = Labels(into, place.branch)
    return replay(repo, steps, main, labels, here.resolutions, lambda message, _: message)


def put(shelf: Published, place: Place, head: str) -> bool:
    """Move the branch to ``head``, from exactly where it was read; False when it is elsewhere."""
    pinned = place.tip is not None and not is_ancestor(shelf.repo, place.tip, head)
    return shelf.move(place.branch, place.tip, head, pinned=pinned) == "moved"


def stuck(place: Place, moved: Replayed) -> BranchOutcome:
    """What to say of a pull request's branch that no longer fits the main one."""
    return BranchOutcome(
        branch=place.branch,
        result="conflict",
        tip=place.tip or "",
        head=moved.head,
        conflicts=moved.conflicts,
        message="the pull request's own commits meet what was merged since; it stays as it is",
    )
