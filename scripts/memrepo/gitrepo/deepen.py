"""Bring the commits of a change into a clone that does not have them: a shallow one, as in CI."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memrepo.errors import MemrepoError, UnknownRevision

from .process import plain, run_git
from .remote import _QUIET, _TIMEOUT

if TYPE_CHECKING:
    from .repository import Repository

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FIRST_DEPTH = 64
_GROWTH = 16
_ROUNDS = 3
_HINT = "give actions/checkout fetch-depth: 0, so that the whole history is there"


def bring_change(repo: Repository, remote: str | None, base: str, head: str) -> None:
    """Make sure that two commits (ids) are here, and where they parted.

    Fetches from ``remote`` what is missing, a shallow clone a part at a time; moves no ref
    and writes no configuration. Raises UnknownRevision where that cannot be had.
    """
    if _is_complete(repo, base, head):
        return
    if remote is None:
        raise UnknownRevision("this clone lacks commits of the change, and has no remote", _HINT)
    if not repo.is_shallow:
        _fetch(repo, remote, [base, head], [])
        return
    # No shorter than what is here: a clone never loses history by this.
    depth = max(_FIRST_DEPTH, _commits_here(repo))
    for _ in range(_ROUNDS):
        _fetch(repo, remote, [base, head], [f"--depth={depth}"])
        if _is_complete(repo, base, head):
            return
        depth *= _GROWTH
    _fetch(repo, remote, [base, head], ["--unshallow"])
    repo.is_shallow = False


def bring_history_of(repo: Repository, remote: str | None, branches: str) -> None:
    """Make a shallow clone whole, if ``remote`` has a branch of the pattern ``branches``.

    Only then is there anything that the clone's own commits have to be compared with.
    """
    here = repo.tip()
    if not repo.is_shallow or remote is None or here is None:
        return
    args = ["ls-remote", "--", remote, f"refs/heads/{branches}"]
    if run_git(args, cwd=repo.path, timeout=_TIMEOUT).out.strip():
        _fetch(repo, remote, [here], ["--unshallow"])
        repo.is_shallow = False


def commit_named(repo: Repository, remote: str | None, name: str) -> str:
    """The commit id that ``name`` stands for: an id, a revision, or a branch of ``remote``.

    An id comes back as it is, whether or not its commit is here. A clone in CI has no local
    branch but one. Raises UnknownRevision.
    """
    from .refs import branch_ref

    if _COMMIT.fullmatch(name):
        return name
    try:
        return repo.resolve(name)
    except UnknownRevision as unknown:
        if remote is None:
            raise
        args = ["ls-remote", "--", remote, branch_ref(name)]
        done = run_git(args, cwd=repo.path, check=False, timeout=_TIMEOUT)
        commit = done.out.decode("ascii", "replace").partition("\t")[0]
        if not _COMMIT.fullmatch(commit):
            raise unknown from None
        return commit


def _is_complete(repo: Repository, base: str, head: str) -> bool:
    here = all(repo.reader.find(f"{commit}^{{commit}}", limit=0) for commit in (base, head))
    return here and (not repo.is_shallow or repo.merge_base(base, head) is not None)


def _commits_here(repo: Repository) -> int:
    out = run_git(["rev-list", "--count", "--all", "HEAD"], cwd=repo.path, check=False).out
    return int(out) if out.strip().isdigit() else 0


def _fetch(repo: Repository, remote: str, wanted: list[str], depth: list[str]) -> None:
    options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", *depth]
    args = [*_QUIET, "fetch", *options, "--", remote, *wanted]
    try:
        run_git(args, cwd=repo.path, timeout=_TIMEOUT)
    except MemrepoError as error:
        raise UnknownRevision(
            f"this clone lacks commits of the change, and they could not be fetched from"
            f" {plain(remote)}: {error.message}",
            _HINT,
        ) from None
    finally:
        repo.reader.close()
