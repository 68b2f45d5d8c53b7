"""What a step prints: plain lines, remarks beside the run, findings at their places."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from memrepo.errors import GateRefused, MemrepoError
from memrepo.protocol.findings import Finding
from memrepo.runner import commands

_SECONDS_BETWEEN_LINES = 10.0


def say(text: str) -> None:
    """A line of the log, in which nothing is a workflow command."""
    _print(f"{commands.for_log(text)}\n")


def remark(text: str) -> None:
    """A notice beside the run."""
    _print(f"{commands.notice(text)}\n")


class Progress:
    """``tell(what, done, of)`` as a line of the log now and then; ``of`` 0 is unknown."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES

    def __call__(self, what: str, done: int, of: int) -> None:
        """Say how far it is, if it is time."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _SECONDS_BETWEEN_LINES
            say(f"{what}: {done:,} of {of:,}" if of else f"{what}: {done:,}")


def annotate(findings: Sequence[Finding]) -> None:
    """Findings at their places, ten of a severity."""
    _print(commands.annotations(findings))


def say_findings(findings: Sequence[Finding]) -> None:
    """All findings, in the log."""
    from memrepo.report.text import findings_text

    if findings:
        say(findings_text(findings, colour=False).rstrip("\n"))


def stopped(error: MemrepoError) -> int:
    """Say why the step stops, and what to do; the exit code."""
    if isinstance(error, GateRefused):
        say_findings(error.findings)
    words = f"{error.message}\n{error.hint}".strip()
    _print(f"{commands.stop_annotation('memrepo', words)}\n")
    return error.exit_code


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
