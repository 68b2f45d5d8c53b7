"""Branches that are built and published without being checked out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .commit import Build, LooseSink, make_commit
from .refs import branch_ref
from .remote import Remote, fetch_ref, fetch_tip, find_remote, push_commit

if TYPE_CHECKING:
    from .repository import Repository

_REFLOG = "propose: by memrepo"


def commit_onto(repo: Repository, parent: str, build: Build) -> str | None:
    """A commit on ``parent`` that no ref names yet; None where ``build`` wants none."""
    view = repo.view(parent)
    request = build(view)
    if request is None:
        return None
    return make_commit(repo, LooseSink(repo.writer), view, request, None).commit


class Shelf:
    """Where proposed branches are kept: on a remote, or here where there is none."""

    def __init__(self, repo: Repository, remote: str | None) -> None:
        self.repo = repo
        self.remote: Remote | None = find_remote(repo, remote) if remote else None

    def tip(self, branch: str) -> str | None:
        """The commit that ``branch`` is at now, fetched; None when there is no such branch.

        Raises BadInput for a name no branch can have, RemoteFailed, PermissionDenied.
        """
        ref = branch_ref(branch)
        return fetch_tip(self.repo, self.remote, branch) if self.remote else self.repo.tip(ref)

    def head_of(self, number: int, branch: str, commit: str) -> str | None:
        """The head commit of a pull request, fetched where it is not here yet.

        A fork's branch is not on this remote, its head is: as ``refs/pull/N/head``.
        """
        if commit and self.repo.reader.find(commit, limit=0):
            return commit
        if self.remote is None:
            return self.repo.tip(branch_ref(branch))
        return fetch_ref(self.repo, self.remote, f"refs/pull/{number}/head") or self.tip(branch)

    def put(self, branch: str, old: str | None, new: str) -> bool:
        """Move ``branch`` from ``old`` forward to ``new``; False when it is not at ``old``.

        ``new`` builds on ``old``, so nothing that is there is ever dropped.
        """
        ref = branch_ref(branch)
        if self.remote is None:
            return self.repo.refs(_REFLOG).swap(ref, old, new)
        return push_commit(self.repo, self.remote, branch, new) == "pushed"


def default_remote(repo: Repository) -> str | None:
    """The remote to publish on: ``origin``, or the only one there is; None without one."""
    names = sorted(
        key[len("remote.") : -len(".url")]
        for key in repo.config()
        if key.startswith("remote.") and key.endswith(".url")
    )
    return "origin" if "origin" in names else names[0] if len(names) == 1 else None


def branch_checked_out(repo: Repository) -> str | None:
    """The branch that ``HEAD`` is on; None where it is detached."""
    ref = repo.head_ref()
    return ref.removeprefix("refs/heads/") if ref and ref.startswith("refs/heads/") else None


def merge_head(repo: Repository) -> str | None:
    """The commit that an unfinished ``git merge`` here brings in; None without one."""
    found = repo.reader.find("MERGE_HEAD^{commit}", limit=0)
    return found.oid if found else None


def is_ancestor(repo: Repository, old: str, new: str) -> bool:
    """Whether ``new`` holds everything that ``old`` does."""
    return repo.merge_base(old, new) == old
