"""Look at every open pull request that touches memory, each on its own."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from memrepo.errors import MemrepoError
from memrepo.forge.forge import Forge, PullRequest
from memrepo.gitrepo.branches import Shelf, is_ancestor
from memrepo.gitrepo.changes import changed_files
from memrepo.memory import MemoryRepo
from memrepo.publish.publish import publish
from memrepo.report.verdict import Review


class Waiting(msgspec.Struct, frozen=True):
    """One pull request that waits.

    ``verdict`` is "" where it could not be judged (``problem`` says why). ``stale``: its
    base moved since it began; ``applies``: no file was changed on both sides since.
    """

    number: int
    title: str
    url: str
    author: str
    branch: str
    base: str
    age_days: int
    verdict: str = ""
    errors: int = 0
    warnings: int = 0
    agents: tuple[str, ...] = ()
    stale: bool = False
    applies: bool = True
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of ``pr list --json``."""
        return msgspec.structs.asdict(self)


def list_waiting(
    repo: MemoryRepo,
    forge: Forge,
    *,
    remote: str | None = None,
    now: datetime | None = None,
    again: bool = False,
) -> list[Waiting]:
    """The open pull requests that touch memory, the oldest first.

    Each is judged against its base as that is now; one that cannot be is listed with the
    reason and holds up no other. ``again``: put the new verdict on those that are stale.
    """
    shelf = Shelf(repo.repository, remote)
    found = []
    for pull in sorted(forge.find_pull_requests(), key=lambda p: p.number):
        row = _look(repo, forge, shelf, pull, now or datetime.now(UTC), again)
        if row is not None:
            found.append(row)
    return found


def _look(
    repo: MemoryRepo,
    forge: Forge,
    shelf: Shelf,
    pull: PullRequest,
    now: datetime,
    again: bool,
) -> Waiting | None:
    row = Waiting(
        number=pull.number,
        title=pull.title,
        url=pull.url,
        author=pull.author,
        branch=pull.head_ref,
        base=pull.base_ref,
        age_days=max((now - pull.created_at).days, 0),
    )
    try:
        base = shelf.tip(pull.base_ref)
        head = shelf.head_of(pull.number, pull.head_ref, pull.head_sha)
        if base is None or head is None:
            gone = pull.base_ref if base is None else pull.head_ref
            return msgspec.structs.replace(row, problem=f"there is no branch {gone}")
        if is_ancestor(repo.repository, head, base):
            return msgspec.structs.replace(row, problem="merged already: it can be closed")
        review = repo.review(base, head, names=(pull.base_ref, pull.head_ref))
        if not _touches_memory(review) and not pull.head_ref.startswith("memory/"):
            return None
        stale = not is_ancestor(repo.repository, base, head)
        if again and stale:
            publish(forge, pull.number, review)
        return _judged(row, review, stale, _applies(repo, base, head))
    except MemrepoError as error:
        return msgspec.structs.replace(row, problem=error.message)


def _touches_memory(review: Review) -> bool:
    snapshots = review.diff.snapshots
    touched = snapshots.added or snapshots.changed or snapshots.deleted or snapshots.moved
    touched = touched or snapshots.archived
    return bool(review.diff.agents or touched)


def _judged(row: Waiting, review: Review, stale: bool, applies: bool) -> Waiting:
    severities = [finding.severity for finding in review.findings]
    return msgspec.structs.replace(
        row,
        verdict=review.verdict,
        errors=severities.count("error"),
        warnings=severities.count("warning"),
        agents=tuple(agent.agent_id for agent in review.diff.agents),
        stale=stale,
        applies=applies,
    )


def _applies(repo: MemoryRepo, base: str, head: str) -> bool:
    """Whether no file changed on both sides in different ways since they parted."""
    git = repo.repository
    start = git.merge_base(base, head)
    if start is None:
        return False
    ours = {c.path: c.new_oid for c in changed_files(git, start, head)}
    theirs = {c.path: c.new_oid for c in changed_files(git, start, base)}
    return all(ours[path] == theirs[path] for path in ours.keys() & theirs.keys())
