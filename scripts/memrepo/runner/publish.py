"""Put a review on its pull request, where there is something to say."""

from __future__ import annotations

from memrepo.errors import PermissionDenied
from memrepo.forge.forge import Forge, is_ours
from memrepo.publish.plan import MARKER
from memrepo.publish.publish import Published, publish
from memrepo.report.verdict import Review


def put_on_pull_request(
    forge: Forge, number: int, review: Review, *, full_report: str = ""
) -> Published:
    """Comment and label. A review of nothing is said only where an earlier one was said.

    So a pull request that never touched memory stays as it is, and one that no longer does
    loses its old verdict. A token that may only read gives "none" and a note.
    """
    if not says_something(review):
        try:
            me = forge.me()
            said = any(is_ours(comment, MARKER, me) for comment in forge.list_comments(number))
        except PermissionDenied as denied:
            return Published("", "none", (), (f"no comment: {denied.message}",))
        if not said:
            return Published("", "none")
    return publish(forge, number, review, full_report=full_report)


def says_something(review: Review) -> bool:
    """Whether a review holds a change or a finding."""
    diff = review.diff
    snapshots = diff.snapshots
    moved = snapshots.added or snapshots.changed or snapshots.deleted or snapshots.moved
    moved = moved or snapshots.archived
    return bool(review.findings or diff.agents or diff.other or moved)
