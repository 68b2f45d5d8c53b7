"""Every way in which memrepo stops, one class each, with the exit code a caller sees.

Exit codes: 0 done, 1 the gate says no, 2 wrong use or bad input, 3 a person must
decide, 4 the remote or the forge refused or failed, 5 no permission. Anything that
is not a :class:`MemrepoError` and reaches the top is a bug.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class MemrepoError(Exception):
    """A failure with words for the person: what happened, and what to do next.

    ``message`` is one line (what, and where); ``hint`` is one line (what to do), or "".
    """

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(MemrepoError):
    """The command was called with values that cannot work (exit 2)."""


class NotAMemoryRepo(MemrepoError):
    """The path holds no Git repository, or one without ``state/`` and ``history/`` (exit 2)."""


class UnknownRevision(MemrepoError):
    """A revision, snapshot or agent that does not exist in this repository (exit 2)."""


class BadInput(MemrepoError):
    """A file that cannot be read as what it should be (exit 2)."""


class GateRefused(MemrepoError):
    """Findings at or above the level that stops this command (exit 1).

    ``findings`` are those that were found, :class:`memrepo.protocol.findings.Finding`.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "", findings: Sequence[Any] = ()) -> None:
        super().__init__(message, hint)
        self.findings = list(findings)


def extra_hint(extra: str) -> str:
    """How an optional part of memrepo is installed. Never from an index: a name there may be
    someone else's."""
    return (
        f"in memrepo's checkout run scripts/install --with {extra}, or"
        f" python -m pip install '.[{extra}]' for an environment of your own"
    )


class NeedsPerson(MemrepoError):
    """Two writers disagree and a person must decide (exit 3)."""

    exit_code = 3


class RemoteFailed(MemrepoError):
    """The remote refused or failed; nothing was half done (exit 4)."""

    exit_code = 4


class GitFailed(MemrepoError):
    """Git itself failed in a way that no other class names (exit 4)."""

    exit_code = 4


class PermissionDenied(MemrepoError):
    """The file system or the remote denies what the command needs (exit 5)."""

    exit_code = 5
