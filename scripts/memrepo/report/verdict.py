"""A judged change, as the value that every report is rendered from."""

from __future__ import annotations

from typing import Literal

import msgspec

from memrepo.protocol.findings import Finding
from memrepo.semdiff.change import Diff

Verdict = Literal["pass", "warn", "fail"]


class Review(msgspec.Struct, frozen=True):
    """What a review says. ``base`` and ``head`` are commit ids (40 or 64 hex digits).

    ``base_name`` and ``head_name`` are the words the person used for them.
    ``findings`` are in report order.
    """

    base: str
    head: str
    base_name: str
    head_name: str
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    diff: Diff = Diff()


def verdict_of(findings: list[Finding]) -> Verdict:
    """fail with any error, warn with any warning, otherwise pass."""
    severities = {f.severity for f in findings}
    if "error" in severities:
        return "fail"
    return "warn" if "warning" in severities else "pass"
