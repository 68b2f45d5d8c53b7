"""What changed between two commits or in the index, and what a commit holds, without a checkout."""

from __future__ import annotations

import stat
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from .objects import Found
from .paths import path_bytes, path_text
from .process import run_git

if TYPE_CHECKING:
    from .repository import Repository

#: A added, M modified, D deleted, T turned into another kind, U unmerged (index only).
Status = Literal["A", "M", "D", "T", "U"]


class FileChange(msgspec.Struct, frozen=True):
    """One changed file: its modes (0o100644, …; 0 where it is absent) and ids in hex ("" there).

    ``path`` keeps bytes that are no UTF-8 as surrogates. The id is "" too where Git has not
    hashed the file (in the worktree).
    """

    path: str
    old_mode: int
    new_mode: int
    old_oid: str
    new_oid: str
    status: Status


class TreeEntry(msgspec.Struct, frozen=True):
    """One entry of a commit's tree; ``kind`` is blob, or commit for a submodule."""

    mode: int
    kind: str
    oid: str
    path: str


def changed_files(
    repo: Repository, base: str | None, head: str, *, prefix: str = ""
) -> list[FileChange]:
    """The files that differ between two commits or trees, in path order, renames not guessed.

    ``base`` None is the empty tree. Both are revisions or tree ids; below ``prefix`` only.
    """
    old = _tree(repo, base) if base is not None else repo.empty_tree
    args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff"]
    out = run_git([*args, old, _tree(repo, head), *_below(prefix)], cwd=repo.path).out
    return list(_raw(out))


def staged_files(
    repo: Repository, base: str | None = None, *, index_file: Path | None = None
) -> list[FileChange]:
    """The files whose index entry differs from ``base`` (a commit id; HEAD), in path order.

    ``index_file`` is the index that a hook was given (``GIT_INDEX_FILE``).
    """
    start = base or repo.tip() or repo.empty_tree
    args = ["diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev", start, "--"]
    return list(_raw(run_git(args, cwd=repo.path, env=_index(index_file)).out))


def worktree_files(repo: Repository, base: str | None = None) -> list[FileChange]:
    """The tracked files that differ on disk from ``base`` (a commit id; HEAD), and the untracked
    ones that no rule ignores, in path order."""
    start = base or repo.tip() or repo.empty_tree
    # Not diff-index: that takes a file for changed whose times alone are new.
    options = ["-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv"]
    out = run_git(["diff", *options, start, "--"], cwd=repo.path).out
    found = {change.path: change for change in _raw(out)}
    listed = run_git(["ls-files", "-z", "--others", "--exclude-standard"], cwd=repo.path).out
    modes = repo.config_true("core.filemode", default=True)
    for raw in listed.split(b"\0")[:-1]:
        path = path_text(raw)
        mode = _mode_on_disk(repo.path / path)
        if mode == 0o100755 and not modes:
            mode = 0o100644
        if mode and not path.endswith("/"):
            found[path] = FileChange(path, 0, mode, "", "", "A")
    return [found[path] for path in sorted(found)]


def _mode_on_disk(path: Path) -> int:
    try:
        mode = path.lstat().st_mode
    except OSError:
        return 0
    if stat.S_ISLNK(mode):
        return 0o120000
    if stat.S_ISREG(mode):
        return 0o100755 if mode & 0o100 else 0o100644
    return 0


def files_outside(repo: Repository, folders: Iterable[str]) -> list[str]:
    """The files of the worktree that Git keeps or would keep, but for those in ``folders``.

    Tracked or not, on disk, and not ignored; in path order.
    """
    args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", "--"]
    apart = {".git", *(folder.rstrip("/") for folder in folders)}
    # Named one by one, so that Git does not walk the folders that are left out.
    names = [path.name for path in repo.path.iterdir() if path.name not in apart]
    if not names:
        return []
    paths = map(path_text, run_git([*args, *names], cwd=repo.path).out.split(b"\0")[:-1])
    return sorted({p for p in paths if _mode_on_disk(repo.path / p)})


def list_tree(repo: Repository, rev: str, prefix: str = "") -> list[TreeEntry]:
    """Every file that ``rev`` (a revision or tree id) holds below the folder ``prefix``."""
    args = ["ls-tree", "-r", "-z", "--full-tree", _tree(repo, rev), *_below(prefix)]
    found = []
    for line in path_text(run_git(args, cwd=repo.path).out).split("\0")[:-1]:
        head, _, path = line.partition("\t")
        mode, kind, oid = head.split(" ")
        found.append(TreeEntry(int(mode, 8), kind, oid, path))
    return found


def folder_names(repo: Repository, rev: str, prefix: str) -> set[str]:
    """The names of the folders that lie directly in the folder ``prefix`` of a commit id."""
    return {
        listed.name for listed in repo.view(rev).list_dir(prefix.rstrip("/")) if listed.is_folder
    }


def list_index(
    repo: Repository, prefix: str = "", *, index_file: Path | None = None
) -> list[TreeEntry]:
    """Every file that the index holds below ``prefix``; unmerged ones once for each stage."""
    args = ["ls-files", "--stage", "-z", "--full-name", *_below(prefix)]
    found = []
    lines = path_text(run_git(args, cwd=repo.path, env=_index(index_file)).out)
    for line in lines.split("\0")[:-1]:
        head, _, path = line.partition("\t")
        mode, oid, _ = head.split(" ")
        kind = "commit" if mode == "160000" else "blob"
        found.append(TreeEntry(int(mode, 8), kind, oid, path))
    return found


def index_paths(repo: Repository, prefix: str = "", *, index_file: Path | None = None) -> list[str]:
    """The paths that the index holds below ``prefix``, in order, each once."""
    entries = list_index(repo, prefix, index_file=index_file)
    return list(dict.fromkeys(entry.path for entry in entries))


def index_oids(
    repo: Repository, paths: Iterable[str], *, index_file: Path | None = None
) -> dict[str, str]:
    """The id in the index of each of ``paths`` that is there."""
    wanted = set(paths)
    entries = list_index(repo, index_file=index_file)
    return {entry.path: entry.oid for entry in entries if entry.path in wanted}


def iter_blobs(
    repo: Repository, oids: Iterable[str], *, limit: int | None = None
) -> Iterator[tuple[str, Found | None]]:
    """Each id with its object, in order; None where it is missing.

    One object is held at a time. A blob over ``limit`` bytes comes as its size, its
    ``data`` None.
    """
    asked: deque[str] = deque()

    def noted() -> Iterator[str]:
        for oid in oids:
            asked.append(oid)
            yield oid

    for found in repo.reader.read_many(noted(), limit):
        yield asked.popleft(), found


def read_blobs(
    repo: Repository, oids: Iterable[str], *, limit: int | None = None
) -> dict[str, bytes | int]:
    """The bytes of each id that exists; its size in bytes where it is over ``limit``."""
    found: dict[str, bytes | int] = {}
    for oid, blob in iter_blobs(repo, oids, limit=limit):
        if blob:
            found[oid] = blob.size if blob.data is None else blob.data
    return found


def _tree(repo: Repository, rev: str) -> str:
    """``rev`` itself when it is the id of an object, else the commit that it names."""
    is_id = len(rev) == len(repo.null) and set(rev) <= set("0123456789abcdef")
    return rev if is_id and repo.reader.find(rev, limit=0) else repo.resolve(rev)


def _below(prefix: str) -> list[str]:
    return ["--", path_text(path_bytes(prefix.rstrip("/"))) + "/"] if prefix else ["--"]


def _index(index_file: Path | None) -> dict[str, str]:
    return {"GIT_INDEX_FILE": str(index_file)} if index_file else {}


def _raw(out: bytes) -> Iterator[FileChange]:
    fields = iter(out.split(b"\0"))
    for head in fields:
        if not head:
            continue
        old_mode, new_mode, old, new, state = head[1:].decode("ascii").split(" ")
        yield FileChange(
            path_text(next(fields)),
            int(old_mode, 8),
            int(new_mode, 8),
            old if old.strip("0") else "",
            new if new.strip("0") else "",
            state[0],  # type: ignore[arg-type]
        )
