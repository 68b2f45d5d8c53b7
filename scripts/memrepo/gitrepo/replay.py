"""Commits made again on another tip, tree by tree, as a rebase does but without a worktree.

A path that a commit changes must be on the new tip what it was before that commit, or
already what the commit makes of it. All of ``state/<agent>/`` counts as one such thing,
since files of one agent written in two places do not fit together; so do all records of one
address, of which two may be active for one key only by mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import NeedsPerson

from .commit import store_commit
from .identity import now_line
from .paths import Applied, PathTrees, Sink, Value, path_text
from .process import plain, run_git

if TYPE_CHECKING:
    from .repository import Repository

_SHOWN = 5


class ParsedCommit(msgspec.Struct, frozen=True):
    """The parts of a commit object; ``extra`` holds header lines that a rebase keeps."""

    root: bytes
    parents: tuple[str, ...]
    author: bytes
    committer: bytes
    extra: bytes
    message: bytes


class Change(msgspec.Struct, frozen=True):
    """A commit as something that can be made again: its id, its parts, and what it changed."""

    commit: str
    parsed: ParsedCommit
    applied: Applied


class Replayed(msgspec.Struct, frozen=True):
    """``tip`` is the new commit; ``made`` the commits made anew, oldest first."""

    tip: str
    made: tuple[str, ...]


def parse_commit(body: bytes) -> ParsedCommit:
    """The parts of a raw commit. A signature is left out: it is of that commit alone."""
    head, _, message = body.partition(b"\n\n")
    parents: list[str] = []
    fields = {b"tree": b"", b"author": b"", b"committer": b""}
    extra = b""
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"parent":
            parents.append(value.decode("ascii"))
        elif key in fields and not fields[key]:
            fields[key] = value
        elif key == b"encoding":
            extra += line + b"\n"
    root = bytes.fromhex(fields[b"tree"].decode("ascii"))
    author, committer = fields[b"author"], fields[b"committer"]
    return ParsedCommit(root, tuple(parents), author, committer, extra, message)


def changes_of(repo: Repository, commits: Sequence[str]) -> list[Change]:
    """What each commit changed: remembered from when it was made here, or asked from Git."""
    known = {c: repo.recent[c] for c in commits if c in repo.recent}
    known |= _ask(repo, [commit for commit in commits if commit not in known])
    return [Change(c, parse_commit(repo.read_commit(c)), known[c]) for c in commits]


def replay(
    repo: Repository,
    changes: Iterable[Change],
    onto: str,
    sink: Sink,
    upstream: Sequence[str] = (),
) -> Replayed:
    """Make ``changes`` (a line of commits, oldest first) again on ``onto``.

    Author, dates and message stay; tree and parent are new, and the committer's date is
    now. A commit that is already among ``upstream`` (ids), or whose content the tip holds,
    is left out. Raises NeedsPerson where the two sides changed the same path or agent
    differently; nothing but unreferenced objects is left then.
    """
    tip, root = onto, repo.root_of(onto)
    published = _published(repo, upstream)
    made: list[str] = []
    for change in changes:
        parsed, after = change.parsed, change.applied.after
        if after in published.get((parsed.author, parsed.message), ()):
            continue
        clash = _clashes(repo.trees, root, change.applied)
        if clash:
            raise _needs_person(change.commit, clash)
        wanted = {p: value for p, value in after.items() if _value(repo.trees, root, p) != value}
        if after and not wanted:
            continue
        applied = repo.trees.apply(root, wanted, sink)
        root = applied.root
        tip = store_commit(
            repo,
            sink,
            root=root,
            parents=[tip],
            author=parsed.author,
            committer=now_line(repo, parsed.committer),
            message=parsed.message,
            extra=parsed.extra,
        )
        repo.remember(tip, applied)
        made.append(tip)
    return Replayed(tip, tuple(made))


def _published(
    repo: Repository, commits: Sequence[str]
) -> dict[tuple[bytes, bytes], list[dict[bytes, Value | None]]]:
    """What commits changed, by author line and message (a rebuilt commit keeps both)."""
    found: dict[tuple[bytes, bytes], list[dict[bytes, Value | None]]] = {}
    for change in changes_of(repo, commits):
        key = (change.parsed.author, change.parsed.message)
        found.setdefault(key, []).append(change.applied.after)
    return found


def _ask(repo: Repository, commits: Sequence[str]) -> dict[str, Applied]:
    """What commits changed against their first parent, by ``git diff-tree``."""
    found = {commit: Applied(b"", {}, {}) for commit in commits}
    if not commits:
        return found
    options = ["--stdin", "--root", "-r", "-t", "-z", "--raw", "--no-renames", "--no-abbrev"]
    lines = "".join(f"{commit}\n" for commit in commits).encode()
    fields = iter(run_git(["diff-tree", *options], cwd=repo.path, input=lines).out.split(b"\0"))
    at = Applied(b"", {}, {})
    for field in fields:
        if field[:1] != b":":
            at = found.get(field.strip().decode("ascii"), at)
            continue
        old_mode, new_mode, old, new, _ = field[1:].split(b" ")
        path = next(fields)
        at.before[path] = _raw_value(old_mode, old)
        if b"040000" not in (old_mode, new_mode):
            at.after[path] = _raw_value(new_mode, new)
    return found


def _raw_value(mode: bytes, oid: bytes) -> Value | None:
    """A side of a raw diff line; mode 0 is a path that is not there."""
    mode = mode.lstrip(b"0")
    return Value(mode, bytes.fromhex(oid.decode("ascii"))) if mode else None


def _value(trees: PathTrees, root: bytes, path: bytes) -> Value | None:
    entry = trees.get(root, path)
    return Value(entry.mode, entry.oid) if entry else None


def _clashes(trees: PathTrees, root: bytes, applied: Applied) -> list[bytes]:
    """The changed paths that the new tip has otherwise than before and after the change."""
    clash: set[bytes] = set()
    for path, after in applied.after.items():
        now = _value(trees, root, path)
        if now == after:
            continue
        if now != applied.before.get(path):
            clash.add(path)
        folder = _agent_folder(path) or _records_folder(path)
        if folder and _value(trees, root, folder) != applied.before.get(folder):
            clash.add(path)
    return sorted(clash)


def _agent_folder(path: bytes) -> bytes | None:
    parts = path.split(b"/")
    return b"/".join(parts[:2]) if len(parts) > 2 and parts[0] == b"state" else None


def _records_folder(path: bytes) -> bytes | None:
    """``records/<address>/`` of ``records/<address>/<prefix>/<id>.yml``."""
    parts = path.split(b"/")
    return b"/".join(parts[:-2]) if len(parts) > 3 and parts[0] == b"records" else None


def _needs_person(commit: str, paths: list[bytes]) -> NeedsPerson:
    agents = sorted({folder[6:] for path in paths if (folder := _agent_folder(path))})
    shown = ", ".join(plain(path_text(path)) for path in paths[:_SHOWN])
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    names = ", ".join(plain(path_text(agent)) for agent in agents[:_SHOWN])
    subject = f"agent {names}" if agents else "a path"
    if all(path.startswith(b"records/") for path in paths):
        return NeedsPerson(
            f"another writer published records of the same address: {shown}{more}",
            "memrepo records sweep --push publishes yours beside them; they are kept here",
        )
    return NeedsPerson(
        f"{subject} was changed here and by another writer: {shown}{more}"
        f" (commit {commit[:12]} does not fit on the new tip)",
        "your commits are kept as they were; look at both sides with memrepo diff,"
        " then git pull --rebase, or revert one of them",
    )
