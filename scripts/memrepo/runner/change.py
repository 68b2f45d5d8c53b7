"""The change that an event asks about, as two commits that are there to be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from memrepo.errors import UnknownRevision
from memrepo.gate.sides import change_between
from memrepo.gitrepo.deepen import bring_change, commit_named
from memrepo.gitrepo.repository import Repository
from memrepo.memory import MemoryRepo
from memrepo.runner.access import git_may_use, remote_of
from memrepo.runner.events import Asked, asked_change
from memrepo.runner.inputs import RepositoryInputs
from memrepo.runner.job import Job, repository_path
from memrepo.runner.memory import touches_memory


class Change(msgspec.Struct, frozen=True):
    """Two commits (ids) that are here, what they are called, and whose change it is.

    ``base`` is "" where there is nothing to compare with. ``is_memory``: whether any of it is
    memory. ``number`` is the pull request, 0 for none.
    """

    base: str
    head: str
    base_name: str
    head_name: str
    number: int = 0
    is_memory: bool = True


def change_of(job: Job, base: str, head: str, number: int = 0) -> Asked | None:
    """The change of the event or of the inputs; None where there is none (a deleted branch)."""
    return asked_change(
        job.event,
        job.payload,
        base=base,
        head=head,
        number=number,
    )


@contextmanager
def opened(job: Job, inputs: RepositoryInputs) -> Iterator[MemoryRepo]:
    """The memory repository of the inputs, with the token for its remote."""
    with (
        MemoryRepo(repository_path(job, inputs.repo_path)) as repo,
        git_may_use(job, repo.repository, inputs.github_token),
    ):
        yield repo


def brought(repo: Repository, asked: Asked) -> Change:
    """The commits of ``asked``, fetched where the checkout does not have them.

    Raises UnknownRevision where they cannot be had.
    """
    remote = remote_of(repo)
    head = commit_named(repo, remote, asked.head)
    base, base_name = asked.base, asked.base_name
    if base:
        base = commit_named(repo, remote, base)
        try:
            bring_change(repo, remote, base, head)
        except UnknownRevision:
            # What a branch was at before it was rewritten may be gone.
            if not asked.default_branch:
                raise
            base = ""
    if not base and asked.default_branch:
        base, base_name = _default(repo, remote, asked, head), asked.default_branch
    if not base:
        bring_change(repo, remote, head, head)
        return Change("", head, "", asked.head_name, asked.number)
    paths = [change.path for change in change_between(repo, base, head).changed()]
    return Change(
        base,
        head,
        base_name,
        asked.head_name,
        asked.number,
        touches_memory(paths),
    )


def _default(repo: Repository, remote: str | None, asked: Asked, head: str) -> str:
    """What a new branch is compared with: the default branch, "" where it is that itself."""
    if asked.head_name == asked.default_branch:
        return ""
    try:
        base = commit_named(repo, remote, asked.default_branch)
        bring_change(repo, remote, base, head)
    except UnknownRevision:
        return ""
    return base
