"""Options that several commands share, and how they are read."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

import typer

from memrepo.errors import PermissionDenied, UsageError
from memrepo.protocol.ages import parse_age
from memrepo.protocol.findings import Finding
from memrepo.protocol.timestamps import parse_timestamp

RepoPath = Annotated[
    Path, typer.Option("--repo-path", help="The memory repository.", show_default=True)
]
AgentId = Annotated[str, typer.Option("--agent-id", help="The agent, by its folder's name.")]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON on standard output.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; change nothing.")]


def log(text: str) -> None:
    """Say something to the person; standard output is for the answer alone."""
    sys.stdout.flush()
    say(text, stream=sys.stderr)


def say(text: str, *, end: str = "\n", stream: TextIO | None = None) -> None:
    """Print text for a person (standard output), in which nothing is a workflow command.

    Where a job prints it, a turn or a file's name that begins a line would command the runner.
    """
    from memrepo.runner import for_log

    print(for_log(text), end=end, file=stream)


def log_findings(findings: Sequence[Finding]) -> None:
    """Say findings to the person, on standard error; nothing where there are none."""
    if findings:
        log(findings_for(findings, sys.stderr).rstrip("\n"))


def findings_for(findings: Sequence[Finding], stream: TextIO) -> str:
    """Findings as text, coloured and wrapped where ``stream`` is a terminal."""
    from memrepo.report.text import findings_text
    from memrepo.settings import terminal_width, wants_colour

    width = terminal_width() if stream.isatty() else None
    return findings_text(findings, colour=wants_colour(stream), width=width)


def print_json(value: Any) -> None:
    """The machine-readable answer, as one JSON document on standard output."""
    import json

    print(printable(json.dumps(value, indent=2, ensure_ascii=False)))


def printable(text: str) -> str:
    """JSON that says the same, with every character that a terminal would obey or hide escaped.

    A lone surrogate (a byte of a path that is no UTF-8) cannot be: no strict reader takes one.
    """
    # "##[" is the older form of a workflow command, and is taken from anywhere in a line.
    return re.sub("[^ -~\n]+", _escaped, text).replace("##[", "#\\u0023[")


def _escaped(match: re.Match[str]) -> str:
    run = match.group()
    return run if run.isprintable() else "".join(map(_escaped_char, run))


def _escaped_char(char: str) -> str:
    import json

    if "\ud800" <= char <= "\udfff":
        return f"⟨U+{ord(char):04X}⟩"
    return char if char.isprintable() else json.dumps(char)[1:-1]


def instant(text: str | None, option: str) -> datetime | None:
    """An ISO 8601 time from an option; a date alone is its midnight in UTC."""
    if text is None:
        return None
    when = parse_timestamp(text) or parse_timestamp(f"{text}T00:00:00Z")
    if when is None:
        raise UsageError(
            f"{option} {text!a} is no ISO 8601 time with an offset",
            "write it like 2026-03-01T12:00:00Z, or the date alone",
        )
    return when


def since_or_until(text: str | None, option: str) -> datetime | None:
    """A time, a date, or an age such as ``7d``, ``12h`` or ``2w`` before now."""
    age = parse_age(text) if text else None
    return instant(text, option) if age is None else datetime.now(UTC) - age


Level = Literal["error", "warning", "never"]
FailOn = Annotated[
    Level, typer.Option("--fail-on", help="Exit 1 for findings of this severity or worse.")
]


def stops(findings: Sequence[Finding], fail_on: Level) -> bool:
    """Whether a finding is as severe as ``fail_on`` asks for, or more."""
    severe = {"error": ("error",), "warning": ("error", "warning"), "never": ()}[fail_on]
    return any(finding.severity in severe for finding in findings)


def write_beside(path: Path, text: str) -> None:
    """Write a report whole or not at all: beside its place, then renamed into it.

    Raises :class:`UsageError` where the file cannot be written.
    """
    import os
    import tempfile

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".memrepo-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(text)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink()
            raise
    except PermissionError:
        raise PermissionDenied(
            f"no permission to write {path}", "name a file in a folder that is yours to write"
        ) from None
    except OSError as error:
        why = "it is a folder" if path.is_dir() else error.strerror
        raise UsageError(f"cannot write {path}: {why}", "name another file") from None


def check_place(path: Path | None) -> None:
    """Find out before the work whether a report can be written.  Raises UsageError where not."""
    if path is not None and path.is_dir():
        raise UsageError(f"cannot write {path}: it is a folder", "name another file")


def read_text(path: Path) -> str:
    """A text that an option names. Raises :class:`UsageError` where it cannot be read."""
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text", "save it as UTF-8") from None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
