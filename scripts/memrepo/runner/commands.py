"""Workflow commands: annotations, and text that is none. Nothing else knows ``::error::``."""

# No "from __future__ import annotations" here: it would take the name of the function below.

import re
from collections.abc import Iterable

from memrepo.protocol.findings import SEVERITIES, Finding, Severity, in_order
from memrepo.report.escape import visible

#: The runner calls a note "notice".
_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}

# The runner takes a command from any line that begins with "::" after spaces, and the older
# form "##[…]" from anywhere in a line.
_COMMAND = re.compile(
    r"(?:^|(?<=[\r\v\f\x1c-\x1e\x85\u2028\u2029]))(\s*):(?=:)|##(?=\[)", re.MULTILINE
)


def escape_data(text: str) -> str:
    """Text after the second ``::`` of a workflow command."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """The value of a property (``file=``, ``title=``) of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def for_log(text: str) -> str:
    """Lines for a job's log in which nothing is a workflow command.

    Reports for people go through this before they are printed in a job: a memory or a path
    that begins a line with ``::`` would otherwise command the runner.
    """
    return _COMMAND.sub(_disarmed, text)


def _disarmed(match: re.Match[str]) -> str:
    return "#\\#" if match.group(1) is None else f"{match.group(1)}\\:"


def annotation(finding: Finding) -> str:
    """One finding as one workflow command, on one line, without a newline."""
    properties = {"file": finding.path, "title": finding.code}
    if finding.line > 0:
        properties["line"] = str(finding.line)
        if finding.column > 0:
            properties["col"] = str(finding.column)
    listed = ",".join(f"{key}={escape_property(text)}" for key, text in properties.items() if text)
    message = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
    return f"::{_COMMANDS[finding.severity]} {listed}::{escape_data(message)}"


def stop_annotation(title: str, message: str) -> str:
    """One error of the whole run, as one workflow command on one line, without a newline."""
    return f"::error title={escape_property(title)}::{escape_data(message)}"


def notice(message: str) -> str:
    """A remark beside the run, as one workflow command on one line, without a newline."""
    return f"::notice::{escape_data(message)}"


def annotations(findings: Iterable[Finding], limit_per_level: int = 10) -> str:
    """Findings as annotations, worst first, each on a line; "" for none.

    GitHub shows ten of a level for a step and drops the rest in silence, so a last plain
    line says how many were left out. Ends with a newline.
    """
    lines: list[str] = []
    left_out: list[str] = []
    ordered = in_order(list(findings))
    for severity in SEVERITIES:
        level = [finding for finding in ordered if finding.severity == severity]
        lines += [annotation(finding) for finding in level[:limit_per_level]]
        if len(level) > limit_per_level:
            more = len(level) - limit_per_level
            left_out.append(f"{more:,} more {severity}{'' if more == 1 else 's'}")
    if left_out:
        lines.append(f"Not annotated here: {', '.join(left_out)}; the report lists all.")
    return "".join(f"{line}\n" for line in lines)
