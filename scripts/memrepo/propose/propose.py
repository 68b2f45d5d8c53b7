"""Propose an agent's uncommitted changes: a branch, one commit, one pull request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal

import msgspec

from memrepo.cycle.commit import builder, judge, judge_message, read_state
from memrepo.cycle.given import check_agent_id, check_message
from memrepo.errors import RemoteFailed, UsageError
from memrepo.forge.forge import MOST_CHARACTERS, Forge, Label, PullRequest
from memrepo.gate.policy import policy_at
from memrepo.gitrepo.branches import Shelf, branch_checked_out, commit_onto, is_ancestor
from memrepo.gitrepo.log import agent_log, trailer
from memrepo.gitrepo.objects import object_id
from memrepo.gitrepo.refs import branch_ref
from memrepo.memory import MemoryRepo
from memrepo.propose.plan import (
    TRAILER,
    Three,
    body_text,
    branch_name,
    joined,
    proposed_trailer,
    read_proposed,
)
from memrepo.protocol.documents import STATE_FILES
from memrepo.protocol.layout import state_path
from memrepo.report.markdown import review_markdown

_TRIES = 5
#: Left free in a pull request's text for the words of people.
_ROOM_FOR_WORDS = 8_000
_MOST_NAMES = 50


class Proposed(msgspec.Struct, frozen=True):
    """What a proposal came to.

    ``operation`` is "none" when all was already so. ``number`` is 0 and ``url`` "" where
    there is nothing to propose and no pull request. ``commit`` is the branch's newest.
    """

    operation: Literal["created", "updated", "none"]
    number: int
    url: str
    branch: str
    commit: str
    notes: tuple[str, ...] = ()


def propose(
    repo: MemoryRepo,
    forge: Forge,
    agent_id: str,
    message: str,
    *,
    remote: str | None = None,
    base: str | None = None,
    branch: str | None = None,
    title: str | None = None,
    body: str | None = None,
    labels: Sequence[str] = (),
    reviewers: Sequence[str] = (),
    draft: bool = False,
    dry_run: bool = False,
) -> Proposed:
    """Put the agent's files, as they lie in the worktree, on a branch and up for review.

    The worktree, the index and the branch that is checked out stay as they are. ``base``
    is the branch to propose for (the one checked out); ``remote`` where branches are
    published (None: this repository itself). Run again with nothing new, nothing is done.
    Raises GateRefused for files that break a rule, NeedsPerson when a person changed the
    same file on the branch, and what the forge and the remote raise.
    """
    check_agent_id(agent_id)
    check_message(message)
    judge_message("\n".join(filter(None, (message, title, body))), repo.policy())
    git = repo.repository
    base = base or branch_checked_out(git)
    if base is None:
        raise UsageError(
            "HEAD is detached, so the branch to propose for is not known",
            "name it with --base, or check a branch out",
        )
    shelf = Shelf(git, remote)
    start = _start(repo, shelf, base)
    wanted = judge(agent_id, read_state(git, agent_id), policy_at(git, start)).files
    for _ in range(_TRIES):
        name, pull, tip = _place(forge, shelf, agent_id, message, base, branch, start)
        commit = _commit(repo, agent_id, message, wanted, name, tip, start)
        if commit is None and not _differs(repo, agent_id, wanted, start):
            number, url = (pull.number, pull.url) if pull else (0, "")
            note = f"{agent_id} is as {base} has it: there is nothing to propose"
            return Proposed("none", number, url, name, tip or start, (note,))
        if dry_run:
            operation = _would(pull, commit)
            return Proposed(operation, pull.number if pull else 0, "", name, commit or tip or start)
        if commit is None or shelf.put(name, tip, commit):
            break
    else:
        raise RemoteFailed(
            f"the branch {name} moved under each of {_TRIES} tries", "run it again in a while"
        )
    line = message.strip().partition("\n")[0]
    return _pull_request(
        repo, forge, pull, name, base, start, commit or tip or start, bool(commit),
        title or f"{agent_id}: {line}"[:256], body if body is not None else message,
        labels, reviewers, draft,
    )  # fmt: skip


def _start(repo: MemoryRepo, shelf: Shelf, base: str) -> str:
    """The commit that a new proposal builds on: where the base is."""
    git = repo.repository
    here = branch_checked_out(git)
    start = git.tip() if here in (base, None) else shelf.tip(base) or git.tip(branch_ref(base))
    if start is None:
        raise UsageError(
            f"there is no commit on {base} yet", "commit first, or name another --base"
        )
    return start


def _differs(repo: MemoryRepo, agent_id: str, wanted: dict[str, bytes], commit: str) -> bool:
    return _files(repo, agent_id, commit) != wanted


def _would(pull: PullRequest | None, commit: str | None) -> Literal["created", "updated", "none"]:
    if pull is None:
        return "created"
    return "updated" if commit else "none"


def _place(
    forge: Forge,
    shelf: Shelf,
    agent_id: str,
    message: str,
    base: str,
    branch: str | None,
    start: str,
) -> tuple[str, PullRequest | None, str | None]:
    """The branch to use, its open pull request, and its tip.

    A branch whose pull request was merged or closed is done with: the next proposal of
    that name gets a number, unless the name was asked for.
    """
    for again in range(1, _MOST_NAMES):
        name = branch or branch_name(agent_id, message, again)
        tip = shelf.tip(name)
        pulls = forge.find_pull_requests(name, base, "all")
        pull = next((p for p in pulls if p.state == "open"), None)
        if pull is not None or branch or not pulls:
            return name, pull, tip
        if tip is not None and not is_ancestor(shelf.repo, tip, start):
            continue
        # All of it is in the base: the branch can go on from there.
        if pulls[0].state == "merged":
            return name, None, tip
    raise UsageError(
        f"there are {_MOST_NAMES} proposals of this name already", "choose another message"
    )


def _commit(
    repo: MemoryRepo,
    agent_id: str,
    message: str,
    wanted: dict[str, bytes],
    branch: str,
    tip: str | None,
    start: str,
) -> str | None:
    """The commit that brings the branch to what is wanted; None where there is none to make.

    A worktree that holds nothing new never takes back what was proposed.
    """
    git = repo.repository
    if not _differs(repo, agent_id, wanted, start):
        return None

    def blob_id(data: bytes) -> str:
        return object_id(git.object_format, "blob", data).hex()

    parent = start
    files = wanted
    if tip is not None and not is_ancestor(git, tip, start):
        parent = tip
        proposed = _proposed(repo, agent_id, tip, start, blob_id)
        three = Three(proposed, _files(repo, agent_id, tip), wanted)
        files = joined(agent_id, three, branch, blob_id)
    policy = policy_at(git, start)
    judged = judge(agent_id, files, policy)
    build = builder(
        agent_id,
        judged,
        message,
        datetime.now(UTC),
        layout=policy.history.layout,
        trailers=(proposed_trailer(wanted, blob_id),),
    )
    return commit_onto(git, parent, build)


def _proposed(
    repo: MemoryRepo, agent_id: str, tip: str, start: str, blob_id: Callable[[bytes], str]
) -> dict[str, str]:
    """The blob ids last proposed on a branch; those where it left the base, before the first."""
    git = repo.repository
    for entry in agent_log(git, agent_id, rev=tip):
        ids = read_proposed(trailer(f"{entry.subject}\n\n{entry.body}", TRAILER))
        if ids is not None:
            return ids
    left = git.merge_base(start, tip)
    files = _files(repo, agent_id, left) if left else {}
    return {name: blob_id(data) if data is not None else "" for name, data in files.items()}


def _files(repo: MemoryRepo, agent_id: str, commit: str | None) -> dict[str, bytes | None]:
    if commit is None:
        return {}
    view = repo.repository.view(commit)
    return {name: view.read(state_path(agent_id, name)) for name in STATE_FILES}


def _pull_request(
    repo: MemoryRepo,
    forge: Forge,
    pull: PullRequest | None,
    branch: str,
    base: str,
    start: str,
    commit: str,
    pushed: bool,
    title: str,
    words: str,
    labels: Sequence[str],
    reviewers: Sequence[str],
    draft: bool,
) -> Proposed:
    report = review_markdown(
        repo.review(start, commit, names=(base, branch)), limit=MOST_CHARACTERS - _ROOM_FOR_WORDS
    )
    text = body_text(pull.body if pull else "", words[: _ROOM_FOR_WORDS - 200], report)
    notes: list[str] = []
    if pull is None:
        opened = forge.open_pull_request(
            title=title, body=text, head_ref=branch, base_ref=base, draft=draft
        )
        done, operation = opened.pull_request, opened.operation
        notes += opened.notes
    else:
        updated = forge.update_pull_request(pull.number, body=text)
        done, operation = updated.pull_request, updated.operation
        notes += updated.notes
    missing = [Label(name) for name in labels if name not in done.labels]
    if missing:
        forge.add_labels(done.number, missing)
        operation = "updated" if operation == "unchanged" else operation
    if reviewers and pull is None:
        notes += forge.request_reviewers(done.number, reviewers)
    result: Literal["created", "updated", "none"] = (
        "none" if operation == "unchanged" and not pushed
        else "updated" if operation == "unchanged"
        else operation
    )  # fmt: skip
    return Proposed(result, done.number, done.url, branch, commit, tuple(notes))
