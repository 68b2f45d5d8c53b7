"""Many files into one commit, streamed through one pack: on the branch, or as a new one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import GitFailed, NeedsPerson, UsageError

from .blobs import promisor
from .commit import LooseSink, message_bytes, store_commit, take_back
from .identity import ident_line, identity, stamp
from .objects import object_id
from .pack import PackSink
from .paths import Value, path_bytes, path_text
from .process import plain, run_git
from .refs import branch_ref
from .trees import FILE, FOLDER, Entry, sort_key
from .worktree import Staged

if TYPE_CHECKING:
    from .repository import Repository

_REFLOG = "restore: by memrepo"
_MOST_TRIES = 20
_AT_ONCE = 2000

#: Files to add by name, and folders in the same way.
_Wanted = dict[bytes, "Value | _Wanted"]


class PutBack(msgspec.Struct, frozen=True):
    """``commit`` holds the files; it is the tip itself where all were there (``added`` 0)."""

    commit: str
    ref: str
    added: int


def put_back(
    repo: Repository,
    files: Iterable[tuple[str, bytes]],
    message: str,
    *,
    branch: str | None = None,
    blobs: Iterable[str] = (),
) -> PutBack:
    """One commit on HEAD's tip with ``files`` (path, content) added; nothing is replaced.

    Holds one file at a time. ``blobs`` are ids that the files may have: those that are here
    already, as in a clone with the whole history, are not stored again. With ``branch`` the
    commit becomes a new branch and the worktree stays; else the current branch moves to it,
    and its worktree has the files. Raises NeedsPerson where something else stands in a
    place, UsageError for a branch that exists, BadInput for a name that no branch can have;
    nothing moved then.
    """
    ref = branch_ref(branch) if branch is not None else repo.head_ref() or "HEAD"
    if branch is not None and repo.tip(ref) is not None:
        raise _exists(branch)
    start = repo.tip()
    wanted, grown = _store(repo, files, start, _kept_here(repo, blobs))
    staged = Staged(repo) if branch is None and repo.has_worktree else None
    refs = repo.refs(_REFLOG)
    try:
        for _ in range(_MOST_TRIES):
            commit = _commit(repo, start, grown.root, message) if grown.added else start or ""
            if not grown.added and branch is None:
                return PutBack(commit, ref, 0)
            if staged:
                _stage(repo, staged, grown.added)
            if refs.swap(ref, None if branch is not None else start, commit):
                return PutBack(commit, ref, len(grown.added))
            if branch is not None:
                raise _exists(branch)
            if staged:
                take_back(staged, repo.view(repo.tip()))
            start = repo.tip()
            grown = _grow(repo, start, wanted, LooseSink(repo.writer))
        raise GitFailed(
            f"the branch could not be moved in {_MOST_TRIES} tries: {refs.lost_because}",
            "another process holds its lock; if none runs, delete the .lock file that is named",
        )
    except BaseException:
        if staged and staged.paths:
            take_back(staged, repo.view(repo.tip()))
        raise


def _exists(branch: str) -> UsageError:
    return UsageError(f"the branch {plain(branch)} exists", "name a new one")


def _kept_here(repo: Repository, blobs: Iterable[str]) -> set[bytes]:
    """Those of ``blobs`` that are in this repository, made young so that no gc takes them.

    A partial clone is not asked: it would fetch what it lacks.
    """
    asked = list(blobs)
    if not asked or promisor(repo):
        return set()
    text = "".join(f"{oid}\n" for oid in asked).encode("ascii")
    out = run_git(["cat-file", "--batch-check=%(objecttype)"], cwd=repo.path, input=text).out
    objects = repo.common_dir / "objects"
    for pack in objects.glob("pack/*.pack"):
        with suppress(OSError):
            os.utime(pack)
    here = set()
    for oid, kind in zip(asked, out.splitlines(), strict=True):
        if kind == b"blob":
            here.add(bytes.fromhex(oid))
            with suppress(OSError):
                os.utime(objects / oid[:2] / oid[2:])
    return here


class _Grown(msgspec.Struct):
    """A root tree with files added, and those of them that were not there."""

    root: bytes
    added: dict[bytes, Value]


def _store(
    repo: Repository, files: Iterable[tuple[str, bytes]], start: str | None, here: set[bytes]
) -> tuple[_Wanted, _Grown]:
    """Store the files, and the trees that hold them on top of ``start``, in one pack."""
    pack = PackSink(repo.common_dir / "objects", repo.object_format, repo.reader)
    wanted: _Wanted = {}
    try:
        for path, data in files:
            *folders, name = path_bytes(path).split(b"/")
            at = wanted
            for folder in folders:
                at = at.setdefault(folder, {})  # type: ignore[assignment]
            oid = object_id(repo.object_format, "blob", data)
            at[name] = Value(FILE, oid if oid in here else pack.write("blob", data))
        grown = _grow(repo, start, wanted, pack)
        if grown.added:
            pack.finish()
        else:
            pack.abandon()
    except BaseException:
        pack.abandon()
        raise
    repo.reader.close()  # its processes look for new packs only when they miss something
    return wanted, grown


def _grow(
    repo: Repository, start: str | None, wanted: _Wanted, sink: PackSink | LooseSink
) -> _Grown:
    grown = _Grown(b"", {})
    root = repo.root_of(start) if start else None
    grown.root = _folder(repo, b"", root, wanted, sink, grown.added)
    return grown


def _folder(
    repo: Repository,
    path: bytes,
    oid: bytes | None,
    wanted: _Wanted,
    sink: PackSink | LooseSink,
    added: dict[bytes, Value],
) -> bytes:
    """The tree ``oid`` with everything in ``wanted``, written anew once; its raw id.

    A splice for each name would copy a flat folder of 50,000 names as many times.
    """
    held = {entry.name: entry for entry in repo.trees.tree(path, oid).entries()}
    for name, value in wanted.items():
        at = path + b"/" + name if path else name
        old = held.get(name)
        if isinstance(value, dict):
            if old and not old.is_folder:
                raise _in_the_way(at)
            inner = _folder(repo, at, old.oid if old else None, value, sink, added)
            held[name] = Entry(FOLDER, name, inner)
        elif old is None:
            held[name] = Entry(FILE, name, value.oid)
            added[at] = value
        elif old.oid != value.oid:
            raise _in_the_way(at)
    rows = sorted(held.values(), key=lambda entry: sort_key(entry.name, entry.mode))
    return sink.write(
        "tree", b"".join(b"%s %s\0%s" % (row.mode, row.name, row.oid) for row in rows)
    )


def _in_the_way(path: bytes) -> NeedsPerson:
    return NeedsPerson(
        f"{plain(path_text(path))} is there with another content",
        "compare it with what memrepo archive show prints; nothing was changed",
    )


def _commit(repo: Repository, start: str | None, root: bytes, message: str) -> str:
    return store_commit(
        repo,
        LooseSink(repo.writer),
        root=root,
        parents=[start] if start else [],
        author=ident_line(identity(repo, "author"), stamp(repo, "author", None, None)),
        committer=ident_line(identity(repo, "committer"), stamp(repo, "committer", None, None)),
        message=message_bytes(message),
    )


def _stage(repo: Repository, staged: Staged, files: dict[bytes, Value]) -> None:
    paths = iter(files)
    while some := list(islice(paths, _AT_ONCE)):
        contents = {path: repo.trees.blob(files[path].oid) for path in some}
        staged.stage(contents, dict.fromkeys(some), files)
