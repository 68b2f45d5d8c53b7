"""What a model is told when a call fails. Pure."""

from __future__ import annotations

import json
import re
from typing import Any

from memrepo.errors import GateRefused, MemrepoError
from memrepo.protocol.findings import Finding
from memrepo.report.escape import visible

_SHOWN = 300
_COMMAND = re.compile(r"memrepo records (write|read|list|search|archive)(?: --json)?")


def failure(error: MemrepoError) -> str:
    """Why it was refused, each finding with its code, and what to do."""
    stopping = [
        one
        for one in (error.findings if isinstance(error, GateRefused) else ())
        if one.severity == "error"
    ]
    if stopping:
        lines = [error.message.partition(":")[0], *map(_finding, stopping)]
    else:
        lines = [error.message, *([f"next: {error.hint}"] if error.hint else [])]
    return "\n".join(visible(_for_tools(line), one_line=True) for line in lines)


def _finding(one: Finding) -> str:
    place = f" ({one.pointer})" if one.pointer else ""
    hint = f"; next: {one.hint}" if one.hint else ""
    return f"{one.code}{place}: {one.message}{hint}"


def _for_tools(text: str) -> str:
    """What is said of the command line, said of the tools."""
    return _COMMAND.sub(r"memory_\1", text)


def bad_arguments(problems: list[Any]) -> str:
    """What is wrong with the arguments, one line each; ``problems`` as pydantic lists them."""
    lines = ["the arguments do not fit:"]
    for one in problems:
        place = ".".join(str(part) for part in one["loc"])
        said = {
            "missing": "it is missing",
            "extra_forbidden": "there is no such argument",
        }.get(one["type"], str(one["msg"]))
        lines.append(visible(f"{place}: {said}"[:_SHOWN], one_line=True))
    return "\n".join(dict.fromkeys(lines))


def json_line(value: Any) -> str:
    """One line of JSON, with every character that hides or reorders text escaped.

    It reads as the same value. What a record says thus stands inside a JSON string, which
    nothing in it can end.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return re.sub("[^ -~]+", _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    run = match.group()
    if run.isprintable():
        return run
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in run)
