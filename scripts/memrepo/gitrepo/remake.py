"""A commit made again on another tip with other contents than it had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .commit import LooseSink, store_commit
from .identity import now_line
from .paths import Value, path_bytes
from .trees import FILE

if TYPE_CHECKING:
    from .replay import Change
    from .repository import Repository


def remake(repo: Repository, change: Change, onto: str, contents: Mapping[str, bytes]) -> str:
    """The commit ``change`` with ``contents`` (path to bytes) for what it changed, on ``onto``.

    Author, dates and message stay, and the committer's date is now, as in a rebase. No ref
    names it yet.
    """
    sink = LooseSink(repo.writer)
    values: dict[bytes, Value | None] = {
        path_bytes(path): Value(FILE, sink.write("blob", data)) for path, data in contents.items()
    }
    applied = repo.trees.apply(repo.root_of(onto), values, sink)
    commit = store_commit(
        repo,
        sink,
        root=applied.root,
        parents=[onto],
        author=change.parsed.author,
        committer=now_line(repo, change.parsed.committer),
        message=change.parsed.message,
        extra=change.parsed.extra,
    )
    repo.remember(commit, applied)
    return commit
