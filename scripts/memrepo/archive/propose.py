"""The archive's commit as a pull request: one branch, one open request, kept up to date."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from memrepo.archive.prune import TRAILER, Built, commit_built
from memrepo.errors import NeedsPerson, RemoteFailed, UnknownRevision
from memrepo.forge.forge import MOST_CHARACTERS, Forge, PullRequest
from memrepo.gitrepo.branches import Shelf, is_ancestor
from memrepo.gitrepo.land import published_tip
from memrepo.gitrepo.log import trailer
from memrepo.gitrepo.repository import Repository, TipView

PREFIX = "memory/archive/"
_TRIES = 5


class PutUp(msgspec.Struct, frozen=True):
    """What is up for review: the branch, its newest commit, and what that takes out."""

    branch: str
    commit: str
    built: Built


def put_on_branch(
    repo: Repository,
    forge: Forge,
    remote: str | None,
    base: str,
    tag: str,
    build: Callable[[TipView], Built | None],
) -> PutUp | None:
    """Bring the branch of the archive's pull request to what ``base`` should become.

    The branch of an open request is used again and only ever added to: where ``base`` moved,
    by a merge of it. None where ``base`` is so already. Raises NeedsPerson when a person
    committed on the branch, RemoteFailed when it moves under every try.
    """
    shelf = Shelf(repo, remote)
    for _ in range(_TRIES):
        start = published_tip(repo, remote, base)
        if start is None:
            raise UnknownRevision(f"there is no branch {base} to archive from", "push it first")
        built = build(repo.view(start))
        if built is None:
            return None
        pull = open_request(forge, base)
        name = pull.head_ref if pull else f"{PREFIX}{tag}"
        tip = shelf.tip(name)
        if tip is None or is_ancestor(repo, tip, start):
            parents = [start]
        elif repo.root_of(tip) == built.root:
            return PutUp(name, tip, built)
        else:
            _refuse_persons(repo, tip, name)
            parents = [tip] if is_ancestor(repo, start, tip) else [tip, start]
        commit = commit_built(repo, built, parents)
        if shelf.put(name, tip, commit):
            return PutUp(name, commit, built)
    raise RemoteFailed(
        f"the branch {name} moved under each of {_TRIES} tries", "run it again in a while"
    )


def open_request(forge: Forge, base: str) -> PullRequest | None:
    """The open pull request of the archive into ``base``, from a branch of this repository."""
    for pull in forge.find_pull_requests(None, base, "open"):
        if pull.head_ref.startswith(PREFIX):
            # A fork may call its branch so; asked for by name, only our own are found.
            mine = forge.find_pull_requests(pull.head_ref, base, "open")
            if any(one.number == pull.number for one in mine):
                return pull
    return None


def _refuse_persons(repo: Repository, tip: str, name: str) -> None:
    message = repo.read_commit(tip).partition(b"\n\n")[2].decode("utf-8", "replace")
    if not trailer(message, TRAILER):
        raise NeedsPerson(
            f"somebody committed on the archive's branch {name}, so it is left as it is",
            "merge or close its pull request, then run the archive again",
        )


def keep_open(forge: Forge, branch: str, base: str, *, title: str, body: str) -> PullRequest:
    """The open pull request from ``branch`` into ``base``, with this title and text."""
    body = body if len(body) <= MOST_CHARACTERS else f"{body[: MOST_CHARACTERS - 40]}\n\n… (cut)\n"
    pull = forge.open_pull_request(
        title=title, body=body, head_ref=branch, base_ref=base
    ).pull_request
    return forge.update_pull_request(pull.number, title=title, body=body).pull_request
