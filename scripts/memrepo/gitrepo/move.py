"""One commit that moves many files: blobs stay as they are, so nothing is read or stored again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import GitFailed, MemrepoError, NeedsPerson

from .commit import REFLOG, LooseSink, message_bytes, store_commit
from .identity import ident_line, identity, stamp
from .paths import Value, path_bytes
from .process import run_git
from .trees import FILE
from .worktree import index_lines, with_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .repository import Repository, TipView

_MOST_TRIES = 20
_IN_THE_WAY = ("not uptodate", "would be overwritten", "would be removed", "would lose")


class MoveRequest(msgspec.Struct, frozen=True):
    """What to move: old path to new path and raw blob id; ``contents`` are files to write.

    All are plain files. ``message`` is the whole commit message.
    """

    moves: Mapping[str, tuple[str, bytes]]
    contents: Mapping[str, bytes]
    message: str


def commit_moves(repo: Repository, build: Callable[[TipView], MoveRequest | None]) -> str | None:
    """Commit moved files on HEAD and return the commit id; None where ``build`` asks for none.

    ``build`` is given the tip, and called again on the new one when another writer was
    faster. Worktree and index follow, and what else is staged or changed there stays.
    Raises NeedsPerson, with nothing changed, where a file that would move has changes.
    """
    refs = repo.refs(REFLOG)
    for attempt in range(_MOST_TRIES):
        ref, tip = repo.head_ref() or "HEAD", repo.tip()
        request = build(repo.view(tip))
        if request is None:
            return None
        made = _commit(repo, tip, request)
        with _worktree_follows(repo, tip, made) as follow:
            if refs.swap(ref, tip, made):
                follow.append(made)
                return made
        time.sleep(random.random() * min(0.002 * 2**attempt, 0.25))  # noqa: S311
    raise GitFailed(
        f"the branch could not be moved in {_MOST_TRIES} tries: {refs.lost_because}",
        "another process holds its lock; if none runs, delete the .lock file that is named",
    )


def _commit(repo: Repository, tip: str | None, request: MoveRequest) -> str:
    """Store the commit; no ref names it yet."""
    values: dict[bytes, Value | None] = {path_bytes(old): None for old in request.moves}
    for new, oid in request.moves.values():
        values[path_bytes(new)] = Value(FILE, oid)
    for path, data in request.contents.items():
        values[path_bytes(path)] = Value(FILE, repo.writer.write("blob", data))
    with _own_index(repo) as env:
        run_git(["read-tree", tip] if tip else ["read-tree", "--empty"], cwd=repo.path, env=env)
        lines = index_lines(values, repo.null)
        run_git(["update-index", "-z", "--index-info"], cwd=repo.path, env=env, input=lines)
        tree = run_git(["write-tree"], cwd=repo.path, env=env).out.decode("ascii").strip()
    return store_commit(
        repo,
        LooseSink(repo.writer),
        root=bytes.fromhex(tree),
        parents=[tip] if tip else [],
        author=ident_line(identity(repo, "author"), stamp(repo, "author", None)),
        committer=ident_line(identity(repo, "committer"), stamp(repo, "committer", None)),
        message=message_bytes(request.message),
    )


@contextmanager
def _own_index(repo: Repository) -> Iterator[dict[str, str]]:
    """An index file of our own, so that a person's stays out of it."""
    name = f"memrepo-index-{random.getrandbits(48):x}"
    path = repo.git_dir / name
    try:
        yield {"GIT_INDEX_FILE": str(path)}
    finally:
        path.unlink(missing_ok=True)
        path.with_name(f"{name}.lock").unlink(missing_ok=True)


@contextmanager
def _worktree_follows(repo: Repository, old: str | None, new: str) -> Iterator[list[str]]:
    """Worktree and index at ``new``; back at ``old`` when nothing is added to the list."""
    done: list[str] = []
    if not repo.has_worktree:
        yield done
        return
    run_git(["update-index", "-q", "--refresh"], cwd=repo.path, check=False)
    before = old or repo.empty_tree
    try:
        with_lock(repo, ["read-tree", "-m", "-u", before, new])
    except MemrepoError as error:
        if any(word in error.message for word in _IN_THE_WAY):
            raise NeedsPerson(
                f"nothing was moved, since a change is in the way: {error.message}",
                "commit it or put it back, then run the command again",
            ) from None
        raise
    try:
        yield done
    finally:
        if not done:
            with_lock(repo, ["read-tree", "-m", "-u", new, before])
