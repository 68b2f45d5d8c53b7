"""Decide what a review puts on its pull request. Pure."""

from __future__ import annotations

import msgspec

from memrepo.forge.forge import MOST_CHARACTERS, Label
from memrepo.report.markdown import review_markdown
from memrepo.report.verdict import Review

MARKER = "<!-- memrepo:review -->"
LABELS = "memory:"
_ERROR = Label(f"{LABELS}error", "b60205", "Memory review found an error")
_WARNING = Label(f"{LABELS}warning", "fbca04", "Memory review found something to look at")
_NEEDS_HUMAN = Label(f"{LABELS}needs-human", "5319e7", "A person should decide about this memory")
#: What no rule can decide: whether it was meant.
_FOR_A_PERSON = frozenset(
    [
        "context-rewritten",
        "instruction-like",
        "mass-shrink",
        "policy-changed",
        "record-trust",
        "sentiment",
        "snapshot-changed",
        "tool-breaking",
        "tool-capability",
    ]
)


class Publication(msgspec.Struct, frozen=True):
    """The comment's text, with its marker, and the labels to wear."""

    body: str
    labels: tuple[Label, ...]


def plan_publication(review: Review, *, full_report: str = "") -> Publication:
    """What to put on the pull request. ``full_report`` is where the whole report is, or ""."""
    tail = f"\n\n[The full report]({full_report})" if full_report else ""
    # The commit it judges is part of the text: a reader sees whether it is of today.
    room = MOST_CHARACTERS - len(MARKER) - len(tail) - 200
    body = f"{MARKER}\n{review_markdown(review, limit=room)}{tail}"
    severities = {finding.severity for finding in review.findings}
    codes = {finding.code for finding in review.findings}
    labels = []
    if "error" in severities:
        labels.append(_ERROR)
    elif "warning" in severities:
        labels.append(_WARNING)
    if codes & _FOR_A_PERSON:
        labels.append(_NEEDS_HUMAN)
    return Publication(body, tuple(labels))
