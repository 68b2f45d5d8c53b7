"""One commit on the tip: built from a view of it, moved to by compare and swap.

No hooks run: what a commit may hold was decided before it is made. A message is data, and
the raw commit is well formed whatever it says.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import GitFailed

from .filters import refuse_filters
from .identity import Identity, ident_line, identity, stamp
from .objects import object_id
from .paths import Applied, Sink, Value, path_bytes
from .process import plain, run_git
from .trees import FILE
from .worktree import Staged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .objects import LooseWriter
    from .repository import Repository, TipView
    from .trees import Splice

REFLOG = "commit: by memrepo"
_MOST_TRIES = 60
_CHECK_GC_EVERY = 64


class CommitRequest(msgspec.Struct, frozen=True):
    """What a commit shall hold.

    ``changes`` maps paths to new bytes, None deletes; ``message`` is the whole message.
    ``when`` is in seconds since 1970 and ``offset`` in minutes east of UTC, both for author
    and committer; None is now, in this machine's zone. Identities default to Git's own.
    """

    changes: Mapping[str, bytes | None]
    message: str
    author: Identity | None = None
    committer: Identity | None = None
    when: int | None = None
    offset: int | None = None


Build = Callable[["TipView"], CommitRequest | None]


class Draft(msgspec.Struct, frozen=True):
    """A commit whose objects are stored and which no ref names yet."""

    commit: str
    applied: Applied
    contents: dict[bytes, bytes | None]


class LooseSink:
    """Stores each object as a loose one."""

    def __init__(self, writer: LooseWriter) -> None:
        self.write = writer.write

    def write_tree(
        self,
        path: bytes,  # noqa: ARG002 (a pack makes use of it)
        body: bytes,
        before: bytes | None,  # noqa: ARG002
        edits: Sequence[Splice],  # noqa: ARG002
    ) -> bytes:
        """Store a tree."""
        return self.write("tree", body)


def commit(repo: Repository, build: Build, *, when: int | None = None) -> str | None:
    """Commit on HEAD (a branch, unborn, or detached) and return the commit id.

    ``build`` is given the tip and says what to commit; it is called again on the new tip
    when another writer was faster, and may return None: nothing is done then, and None
    returned. ``when`` (seconds) is used where the request says no time. With a worktree,
    its index and files are in step afterwards for exactly the changed paths; whatever else
    is staged or changed there stays so. Raises GitFailed, PermissionDenied, BadInput, or
    what ``build`` raises; the branch is as it was then.
    """
    staged = Staged(repo) if repo.has_worktree else None
    sink = LooseSink(repo.writer)
    refs = repo.refs(REFLOG)
    try:
        for attempt in range(_MOST_TRIES):
            ref, tip = repo.head_ref() or "HEAD", repo.tip()
            view = repo.view(tip)
            request = build(view)
            if request is None:
                if staged:
                    take_back(staged, view)
                return None
            refuse_filters(repo, request.changes)
            draft = make_commit(repo, sink, view, request, when)
            if staged:
                wanted = frozenset(draft.contents)
                if staged.paths - wanted:
                    take_back(staged, view, keep=wanted)
                staged.stage(draft.contents, draft.applied.before, draft.applied.after)
            if refs.swap(ref, tip, draft.commit):
                repo.remember(draft.commit, draft.applied)
                _collect_garbage(repo)
                return draft.commit
            time.sleep(random.random() * min(0.002 * 2**attempt, 0.25))  # noqa: S311
    except BaseException:
        if staged and staged.paths:
            take_back(staged, repo.view(repo.tip()))
        raise
    if staged:
        take_back(staged, repo.view(repo.tip()))
    raise GitFailed(
        f"the branch could not be moved in {_MOST_TRIES} tries: {refs.lost_because}",
        "another process holds its lock; if none runs, delete the .lock file that is named",
    )


def take_back(staged: Staged, view: TipView, keep: frozenset[bytes] = frozenset()) -> None:
    """Put index and worktree back to what ``view`` has, for all that is staged but ``keep``."""
    now: dict[bytes, Value | None] = {}
    for path in staged.paths - keep:
        entry = view.entry_at(path)
        now[path] = Value(entry.mode, entry.oid) if entry else None
    staged.undo(now, keep)


def make_commit(
    repo: Repository, sink: Sink, view: TipView, request: CommitRequest, when: int | None
) -> Draft:
    """Store the objects of one commit on the tip of ``view``."""
    contents = {path_bytes(path): data for path, data in request.changes.items()}
    values: dict[bytes, Value | None] = {}
    for path, data in contents.items():
        if data is None:
            values[path] = None
            continue
        entry = view.entry_at(path)
        oid = object_id(repo.object_format, "blob", data)
        if entry is None or entry.oid != oid:
            sink.write("blob", data)
        values[path] = Value(FILE, oid)
    applied = view.trees.apply(view.root, values, sink)
    at = request.when if request.when is not None else when
    author = request.author or identity(repo, "author")
    committer = request.committer or identity(repo, "committer")
    oid_hex = store_commit(
        repo,
        sink,
        root=applied.root,
        parents=[view.commit] if view.commit else [],
        author=ident_line(author, stamp(repo, "author", at, request.offset)),
        committer=ident_line(committer, stamp(repo, "committer", at, request.offset)),
        message=message_bytes(request.message),
    )
    return Draft(oid_hex, applied, contents)


def store_commit(
    repo: Repository,
    sink: Sink,
    *,
    root: bytes,
    parents: list[str],
    author: bytes,
    committer: bytes,
    message: bytes,
    extra: bytes = b"",
) -> str:
    """Store one commit object, signed by Git when ``commit.gpgSign`` says so; its id.

    ``author`` and ``committer`` are whole ident lines; ``extra`` holds further header lines.
    """
    if repo.config_true("commit.gpgsign"):
        return _signed(repo, root, parents, author, committer, message)
    body = b"tree %s\n%sauthor %s\ncommitter %s\n%s\n%s" % (
        root.hex().encode(),
        b"".join(b"parent %s\n" % parent.encode() for parent in parents),
        author,
        committer,
        extra,
        message,
    )
    return sink.write("commit", body).hex()


def _signed(
    repo: Repository,
    root: bytes,
    parents: list[str],
    author: bytes,
    committer: bytes,
    message: bytes,
) -> str:
    env: dict[str, str] = {}
    for role, line in (("AUTHOR", author), ("COMMITTER", committer)):
        name, _, rest = line.decode("utf-8", "surrogateescape").partition(" <")
        email, _, date = rest.partition("> ")
        env |= {
            f"GIT_{role}_NAME": name,
            f"GIT_{role}_EMAIL": email,
            f"GIT_{role}_DATE": f"@{date}",
        }
    asked = ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", "-S", root.hex()]
    for parent in parents:
        asked += ["-p", parent]
    return run_git(asked, cwd=repo.path, input=message, env=env).out.decode("ascii").strip()


def message_bytes(message: str) -> bytes:
    """A message as a commit object may hold it: UTF-8, LF, no NUL, one newline at its end."""
    text = message.replace("\r\n", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}").strip("\n")
    return text.rstrip().encode("utf-8", "backslashreplace") + b"\n"


def _collect_garbage(repo: Repository) -> None:
    """Let Git pack loose objects when its own rule (gc.auto) says so, in the background."""
    repo.commits_made += 1
    if repo.commits_made % _CHECK_GC_EVERY != 1:
        return
    most = int(repo.config_value("gc.auto", "6700") or "0")
    if most <= 0 or not repo.config_true("maintenance.auto", default=True):
        return
    try:
        # Git's estimate: one folder of 256 stands for all.
        enough = len(os.listdir(repo.common_dir / "objects" / "17")) > (most + 255) // 256  # noqa: PTH208
    except OSError:
        return
    if enough:
        done = run_git(["maintenance", "run", "--auto", "--quiet"], cwd=repo.path, check=False)
        if done.code:
            repo.notes.append(f"git maintenance failed: {plain(done.err.decode(errors='replace'))}")
