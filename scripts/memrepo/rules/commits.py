"""``skip-marker``: words in a commit message that keep the checks from running."""

from __future__ import annotations

import re

#: GitHub's skip instructions (docs: "Skipping workflow runs"), and Azure Pipelines' own.
_MARKER = re.compile(
    r"\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|\*\*\*NO_CI\*\*\*", re.IGNORECASE
)
_TRAILER = re.compile(r"^skip-checks:[ \t]*true[ \t]*$", re.IGNORECASE | re.MULTILINE)


def skip_marker(message: str) -> str | None:
    """The marker in a commit ``message`` that would skip CI, as written, or None.

    The trailer ``skip-checks: true`` counts on any line of its own after the subject.
    """
    if marker := _MARKER.search(message):
        return marker.group()
    subject_end = message.find("\n")
    if subject_end < 0:
        return None
    trailer = _TRAILER.search(message, subject_end)
    return trailer.group().strip() if trailer else None
