"""What a step leaves: outputs for later steps, and its part of the job's summary."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from memrepo.errors import UsageError
from memrepo.runner.job import Job

# GitHub drops the whole summary of a step that has more than 1 MiB.
MOST_SUMMARY_BYTES = 1_000_000


def set_outputs(job: Job, values: Mapping[str, str | int]) -> None:
    """Write outputs; nothing where there is no runner to read them."""
    _append(job.output_file, "".join(output_text(name, str(v)) for name, v in values.items()))


def output_text(name: str, value: str) -> str:
    """One output as the runner reads it, whatever ``value`` holds.

    The delimiter is drawn anew each time, so that no value can end itself and begin another.
    """
    lines = value.splitlines()
    delimiter = f"memrepo_{secrets.token_hex(16)}"
    while delimiter in lines:
        delimiter = f"memrepo_{secrets.token_hex(16)}"
    # A lone surrogate stands for a byte that is no UTF-8, which the runner could not read.
    safe = value.encode("utf-8", "replace").decode("utf-8")
    return f"{name}<<{delimiter}\n{safe}\n{delimiter}\n"


def add_summary(job: Job, render: Callable[[int], str]) -> None:
    """Add to the job's summary what ``render`` makes with at most so many characters."""
    _append(job.summary_file, fitting(render, MOST_SUMMARY_BYTES))


def fitting(render: Callable[[int], str], most_bytes: int) -> str:
    """What ``render`` makes with as many characters as fit into ``most_bytes`` of UTF-8."""
    limit = most_bytes
    while True:
        text = render(limit)
        size = len(text.encode("utf-8", "replace"))
        if size <= most_bytes:
            return text
        limit = int(limit * most_bytes / size * 0.98)


def _append(path: Path | None, text: str) -> None:
    if path is None or not text:
        return
    try:
        with path.open("a", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
