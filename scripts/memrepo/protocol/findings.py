"""The finding: one thing the validator says, as a value."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Severity = Literal["error", "warning", "note"]

#: Worst first; the index is the order in which findings are sorted.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong or worth a look, and where.

    ``line`` and ``column`` count from 1 (column in characters, 0 where there is no
    place in a file, for example a file that is missing). ``pointer`` is an RFC 6901
    JSON pointer into the file, "" for the whole file. ``agent_id`` is "" where the
    finding is about no single agent.
    """

    code: str
    severity: Severity
    path: str
    message: str
    hint: str = ""
    line: int = 0
    column: int = 0
    pointer: str = ""
    agent_id: str = ""

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape: ``agent_id`` only where there is one."""
        value: dict[str, Any] = {
            "code": self.code,
            "severity": self.severity,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "pointer": self.pointer,
            "message": self.message,
            "hint": self.hint,
        }
        if self.agent_id:
            value["agent_id"] = self.agent_id
        return value


def in_order(findings: list[Finding]) -> list[Finding]:
    """Findings as every report lists them: worst first, then by path, place and code."""
    return sorted(
        findings,
        key=lambda f: (
            SEVERITIES.index(f.severity),
            f.path,
            f.line,
            f.column,
            f.code,
            f.pointer,
            f.message,
        ),
    )
