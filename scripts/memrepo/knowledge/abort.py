"""Take back what a merge has under way: the branch of its open pull request, nothing else.

A push is whole or not there at all, so a merge in mode "push" never has anything under way.
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from memrepo.errors import NeedsPerson
from memrepo.forge.forge import Forge, PullRequest
from memrepo.gitrepo.log import messages_between
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.published import Published
from memrepo.knowledge.merge import tip_of
from memrepo.knowledge.names import PROPOSED, replayed_in
from memrepo.knowledge.place import find_place
from memrepo.memory import MemoryRepo

_WORDS = "Taken back by `memrepo knowledge abort`; the next merge begins anew."


class Aborted(msgspec.Struct, frozen=True):
    """What was taken back: the branch ("" for nothing) with its commit, and its pull request.

    ``commit`` is "" where the branch was gone before.
    """

    branch: str = ""
    commit: str = ""
    number: int = 0


def abort(
    repo: MemoryRepo,
    forge: Forge,
    *,
    into: str = "main",
    remote: str | None = None,
    dry_run: bool = False,
) -> Aborted:
    """Remove the branch of the job's open pull request, and close that.

    Raises NeedsPerson where people have commits or decisions on it: those are not dropped.
    """
    git = repo.repository
    shelf = Published(git, remote)
    main = tip_of(shelf, into)
    place = find_place(shelf, forge, into, main, datetime.now(UTC))
    if place.tip is None:
        return _close(forge, _orphans(shelf, forge, into), dry_run=dry_run)
    theirs = [
        (commit, message.partition("\n")[0])
        for commit, message in messages_between(git, main, place.tip)
        if not replayed_in(message)
    ]
    if theirs:
        commit, subject = theirs[0]
        raise NeedsPerson(
            f"{plain(place.branch)} holds {len(theirs)} commits that people made,"
            f" such as {commit[:12]} {plain(subject, 80)}",
            "merge the pull request, or close it and delete its branch yourself",
        )
    done = Aborted(place.branch, place.tip, place.pull.number if place.pull else 0)
    if dry_run:
        return done
    if shelf.remove(place.branch, place.tip) != "moved":
        raise NeedsPerson(
            f"{plain(place.branch)} moved meanwhile and was not removed", "look at it, then again"
        )
    _close(forge, [place.pull] if place.pull else [])
    return done


def _orphans(shelf: Published, forge: Forge, into: str) -> list[PullRequest]:
    """Open pull requests of the job whose branch is gone: an earlier run was cut short there."""
    tips = shelf.tips(PROPOSED)
    refs = {pull.head_ref for pull in forge.find_pull_requests(base_ref=into)}
    gone = (ref for ref in sorted(refs) if ref.startswith(PROPOSED) and ref not in tips)
    return [pull for ref in gone for pull in forge.find_pull_requests(ref, into)]


def _close(forge: Forge, pulls: list[PullRequest], *, dry_run: bool = False) -> Aborted:
    for pull in () if dry_run else pulls:
        forge.create_comment(pull.number, _WORDS)
        forge.close_pull_request(pull.number)
    return Aborted(pulls[0].head_ref, "", pulls[0].number) if pulls else Aborted()
