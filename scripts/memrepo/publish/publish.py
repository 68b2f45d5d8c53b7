"""Put a review on its pull request; say so when the token may not."""

from __future__ import annotations

from typing import Literal

import msgspec

from memrepo.errors import PermissionDenied
from memrepo.forge.forge import Forge
from memrepo.publish.plan import LABELS, MARKER, plan_publication
from memrepo.report.verdict import Review


class Published(msgspec.Struct, frozen=True):
    """What was put on the pull request. ``operation`` "none": the token may not comment."""

    comment_url: str
    operation: Literal["created", "updated", "unchanged", "none"]
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def publish(forge: Forge, number: int, review: Review, *, full_report: str = "") -> Published:
    """One comment, kept up to date, and the labels of the verdict.

    A token that may only read is no failure: the report is elsewhere too, and the note says
    what permission would have let it comment. Raises RemoteFailed when the forge fails.
    """
    plan = plan_publication(review, full_report=full_report)
    notes: list[str] = []
    url, operation = "", "none"
    try:
        comment, operation = forge.upsert_comment(number, MARKER, plan.body, forge.me())
        url = comment.url
    except PermissionDenied as denied:
        notes.append(f"no comment: {denied.message}")
    labels: tuple[str, ...] = ()
    try:
        labels = forge.set_labels_in(number, LABELS, plan.labels)
    except PermissionDenied as denied:
        notes.append(f"no labels: {denied.message}")
    return Published(
        url,
        operation,  # type: ignore[arg-type]
        tuple(name for name in labels if name.startswith(LABELS)),
        tuple(notes),
    )
