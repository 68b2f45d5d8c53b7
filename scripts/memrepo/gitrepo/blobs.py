"""Many blobs at once: what a tree holds, how large they are, and those that a clone lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from memrepo.errors import GitFailed, RemoteFailed, UnknownRevision

from .blobstream import LEAN
from .changes import TreeEntry
from .paths import path_bytes, path_text
from .process import plain, run_git, start_git

if TYPE_CHECKING:
    from .repository import Repository

_CHUNK = 1 << 20
_AT_ONCE = 20_000
_FETCH_TIMEOUT = 1_800.0
#: How Git itself asks a promisor for objects, but for all of them at once.
_FETCH = [
    *("-c", "fetch.negotiationAlgorithm=noop", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"),
]


def iter_tree(repo: Repository, commit: str, folder: str) -> Iterator[TreeEntry]:
    """Every file that the commit id holds below ``folder``, in path order, one at a time.

    Reads trees alone, so a clone without blobs is fine. Raises GitFailed.
    """
    below = path_text(path_bytes(folder.rstrip("/"))) + "/"
    asked = ["ls-tree", "-r", "-z", "--full-tree", commit, "--", below]
    process = start_git(asked, cwd=repo.path, stderr=True)
    rest = b""
    try:
        while chunk := process.stdout.read(_CHUNK):
            *lines, rest = (rest + chunk).split(b"\0")
            for line in lines:
                head, _, path = path_text(line).partition("\t")
                mode, kind, oid = head.split(" ")
                yield TreeEntry(int(mode, 8), kind, oid, path)
        done = process.finish()
        if done.code:
            raise GitFailed(f"git ls-tree failed: {plain(done.err.decode(errors='replace'))}")
    finally:
        process.stop()


def blob_sizes(repo: Repository, oids: Iterable[str]) -> Iterator[int]:
    """The size in bytes of each blob, in order.  Raises UnknownRevision for one that is none."""
    rest = iter(oids)
    asked = [*LEAN, "cat-file", "--batch-check=%(objecttype) %(objectsize)"]
    while some := list(islice(rest, _AT_ONCE)):
        out = run_git(asked, cwd=repo.path, input=_lines(some)).out
        for oid, line in zip(some, out.splitlines(), strict=True):
            kind, _, size = line.partition(b" ")
            if kind != b"blob":
                raise UnknownRevision(f"there is no blob {plain(oid)} in this repository")
            yield int(size)


def promisor(repo: Repository) -> str | None:
    """The remote that a partial clone gets its missing objects from; None in a whole one."""
    for key in repo.config():
        if key.startswith("remote.") and key.endswith(".promisor") and repo.config_true(key):
            return key[len("remote.") : -len(".promisor")]
    return None


def bring_blobs(repo: Repository, oids: Iterable[str], *, commit: str, remote: str | None) -> None:
    """Make sure that blobs of ``commit`` are here, fetched in bulk where they are not.

    A partial clone asks for the blobs themselves (one by one, as Git does it by itself, is a
    connection each), another clone for the commit. Raises UnknownRevision, RemoteFailed.
    """
    lazy = promisor(repo)
    wanted = list(dict.fromkeys(oids))
    missing = _missing_in_partial(repo, wanted) if lazy else _missing(repo, wanted)
    if not missing:
        return
    if lazy:
        args = [*_FETCH, "--filter=blob:none", "--stdin", "--", lazy]
        run_git(args, cwd=repo.path, input=_lines(missing), timeout=_FETCH_TIMEOUT)
    elif remote is not None:
        depth = ["--depth=1"] if repo.is_shallow else []
        args = [*_FETCH, *depth, "--", remote, commit]
        run_git(args, cwd=repo.path, check=False, timeout=_FETCH_TIMEOUT)
    repo.reader.close()
    missing = _missing_in_partial(repo, missing) if lazy else _missing(repo, missing)
    if missing and lazy:
        raise RemoteFailed(
            f"{plain(lazy)} did not send {len(missing):,} of the files that were asked for",
            "run it again; or use a clone with all files (git clone without --filter)",
        )
    if missing:
        raise UnknownRevision(
            f"{len(missing):,} files of {commit[:12]} are not in this repository,"
            f" such as the blob {missing[0][:12]}",
            "fetch that commit first: git fetch origin <commit>",
        )


def all_here(repo: Repository, oids: Iterable[str]) -> bool:
    """Whether a clone that is not partial has every one of these blobs."""
    return not _missing(repo, list(oids))


def _missing(repo: Repository, oids: list[str]) -> list[str]:
    out: list[bytes] = []
    for start in range(0, len(oids), _AT_ONCE):
        asked = [*LEAN, "cat-file", "--batch-check=%(objecttype)"]
        some = oids[start : start + _AT_ONCE]
        out += run_git(asked, cwd=repo.path, input=_lines(some)).out.splitlines()
    return [oid for oid, line in zip(oids, out, strict=True) if line != b"blob"]


def _missing_in_partial(repo: Repository, oids: list[str]) -> list[str]:
    """As :func:`_missing`, by a list of what is here: asking for an object would fetch it."""
    asked = ["cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)"]
    wanted = set(oids)
    process = start_git(asked, cwd=repo.path)
    try:
        for line in process.stdout:
            wanted.discard(line.decode("ascii").rstrip("\n"))
    finally:
        process.stop()
    return [oid for oid in oids if oid in wanted]


def _lines(oids: list[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode("ascii")
