"""Which change an event is about. Pure: a payload in, two revisions out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from memrepo.errors import BadInput, UsageError

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NAME_BOTH = "give the inputs base and head"


class Asked(msgspec.Struct, frozen=True):
    """The change to judge.

    ``base`` and ``head`` are commit ids, or revisions as a person wrote them; ``base`` is ""
    where there is nothing to compare with, and then ``default_branch`` may stand in for it.
    ``number`` is the pull request, 0 for none.
    """

    base: str
    head: str
    base_name: str
    head_name: str
    number: int = 0
    default_branch: str = ""


def asked_change(
    event: str,
    payload: Mapping[str, Any],
    *,
    base: str = "",
    head: str = "",
    number: int = 0,
) -> Asked | None:
    """The change that an event brings, or that the inputs name; None where there is none.

    ``base``, ``head`` and ``number`` are what the inputs say, and win over the event.
    Raises UsageError for an event that brings no change and inputs that name none.
    """
    if event == "pull_request_target":
        raise UsageError(
            "pull_request_target runs on what a stranger wrote, with a token that may write",
            "use pull_request, and for forks the second workflow, memory-review-comment.yml",
        )
    found = _of_event(event, payload)
    if base or head:
        if not base:
            raise UsageError("head is given, and base is not", _NAME_BOTH)
        given = head or (found.head if found else "HEAD")
        pull = number or (found.number if found else 0)
        return Asked(base, given, base, given, pull)
    if found is None:
        if event == "push" and payload.get("deleted") is True:
            return None
        raise UsageError(f"the event {event or '(none)'!r} names no change to judge", _NAME_BOTH)
    return msgspec.structs.replace(found, number=number) if number else found


def _of_event(event: str, payload: Mapping[str, Any]) -> Asked | None:
    if event.startswith("pull_request"):
        return _of_pull_request(payload)
    if event == "merge_group":
        group = _part(payload, "merge_group")
        return Asked(
            _commit(group, "base_sha"),
            _commit(group, "head_sha"),
            str(group.get("base_ref", "")).removeprefix("refs/heads/"),
            "the merge queue",
        )
    if event == "push" and payload.get("deleted") is not True:
        before, ref = _commit(payload, "before"), str(payload.get("ref", ""))
        is_new = not before.strip("0")
        return Asked(
            "" if is_new else before,
            _commit(payload, "after"),
            "the default branch" if is_new else "the last push",
            ref.removeprefix("refs/heads/"),
            default_branch=str(_part(payload, "repository").get("default_branch", "")),
        )
    return None


def _of_pull_request(payload: Mapping[str, Any]) -> Asked:
    pull = _part(payload, "pull_request")
    base, head = _part(pull, "base"), _part(pull, "head")
    number = pull.get("number")
    if not isinstance(number, int) or isinstance(number, bool):
        raise BadInput("the event's payload has no number of a pull request")
    return Asked(
        _commit(base, "sha"),
        _commit(head, "sha"),
        str(base.get("ref", "")),
        str(head.get("ref", "")),
        number,
    )


def _part(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = payload.get(name)
    return part if isinstance(part, dict) else {}


def _commit(payload: Mapping[str, Any], name: str) -> str:
    text = payload.get(name)
    if not isinstance(text, str) or not _COMMIT.fullmatch(text):
        raise BadInput(f"the event's payload has no commit id in {name}")
    return text


class Finished(msgspec.Struct, frozen=True):
    """The run that set off a ``workflow_run``: all that is known of its change for certain."""

    run_id: int
    head_sha: str
    head_repo: str
    head_ref: str
    of_pull_request: bool


def finished_run(event: str, payload: Mapping[str, Any]) -> Finished:
    """The run that ``workflow_run`` is about. Raises UsageError for another event."""
    if event != "workflow_run":
        raise UsageError(
            f"this action is for the event workflow_run, not {event or '(none)'!r}",
            "start it as workflows/memory-review-comment.yml does",
        )
    run = _part(payload, "workflow_run")
    run_id = run.get("id")
    if not isinstance(run_id, int) or isinstance(run_id, bool):
        raise BadInput("the event's payload has no id of a run")
    return Finished(
        run_id,
        _commit(run, "head_sha"),
        str(_part(run, "head_repository").get("full_name", "")),
        str(run.get("head_branch") or ""),
        run.get("event") == "pull_request",
    )


class Commented(msgspec.Struct, frozen=True):
    """A new comment on an open pull request: by whom, and the text, which is anyone's."""

    number: int
    id: int
    login: str
    body: str


def commented(event: str, payload: Mapping[str, Any]) -> Commented | None:
    """The comment that ``issue_comment`` is about; None where it is not a new one on an open
    pull request. Raises UsageError for another event.

    An edited one does not count: another person than its author may have edited it.
    """
    if event != "issue_comment":
        raise UsageError(
            f"this action is for the event issue_comment, not {event or '(none)'!r}",
            "start it as workflows/memory-commands.yml does",
        )
    issue, comment = _part(payload, "issue"), _part(payload, "comment")
    is_open = issue.get("state") == "open" and isinstance(issue.get("pull_request"), dict)
    if payload.get("action") != "created" or not is_open:
        return None
    number, key, body = issue.get("number"), comment.get("id"), comment.get("body")
    login = _part(comment, "user").get("login")
    if not (type(number) is type(key) is int and isinstance(login, str) and login):
        raise BadInput("the event's payload has no comment on a pull request")
    return Commented(int(number), int(key), login, body if isinstance(body, str) else "")
