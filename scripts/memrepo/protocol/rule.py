"""The value that describes one finding code."""

from __future__ import annotations

from typing import Literal

import msgspec

from memrepo.protocol.findings import Severity

Group = Literal["bytes", "layout", "schema", "judgement", "text", "policy", "rollout", "records"]


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One finding code.

    ``severity`` is the default one. ``reason`` says why a team cares, ``example`` is the
    smallest input that causes the finding, ``fix`` what to do about it. ``switchable``
    tells whether ``severity:`` in the policy may name it.
    """

    code: str
    group: Group
    severity: Severity
    switchable: bool = False
    title: str
    reason: str
    example: str
    fix: str
