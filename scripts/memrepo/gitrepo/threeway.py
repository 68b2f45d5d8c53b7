"""What a commit changed and what a tip holds there: trees compared by id, never file by file.

Git compares the trees of a change and descends only where their ids differ; each path that
came out is then looked up on the tip. What only one side changed is settled by ids alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from .paths import Value
from .process import run_git
from .replay import _raw_value

if TYPE_CHECKING:
    from .repository import Repository

#: Comparisons in one process: what it prints is held in memory.
_AT_ONCE = 32


class PathChange(msgspec.Struct, frozen=True, gc=False):
    """One path that differs between two trees: what it was and is (None: nothing)."""

    path: bytes
    before: Value | None
    after: Value | None


def changes_between(
    repo: Repository, pairs: Sequence[tuple[str, str]]
) -> Iterator[list[PathChange]]:
    """For each pair of tree ids, old and new, the files that differ, in path order."""
    for start in range(0, len(pairs), _AT_ONCE):
        some = pairs[start : start + _AT_ONCE]
        options = ["--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"]
        lines = "".join(f"{old} {new}\n" for old, new in some).encode()
        out = run_git(["diff-tree", *options], cwd=repo.path, input=lines).out
        yield from _parsed(out, len(some), 2 * len(repo.null) + 2)


def _parsed(out: bytes, pairs: int, header: int) -> Iterator[list[PathChange]]:
    """The groups of diff-tree's answer: a line with both ids, then its records."""
    at = 0
    for _ in range(pairs):
        at += header
        found = []
        while out[at : at + 1] == b":":
            end = out.index(b"\0", at)
            old_mode, new_mode, old, new, _status = out[at + 1 : end].split(b" ")
            at = out.index(b"\0", end + 1) + 1
            before, after = _raw_value(old_mode, old), _raw_value(new_mode, new)
            found.append(PathChange(out[end + 1 : at - 1], before, after))
        yield found
