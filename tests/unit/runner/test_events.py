"""Which change an event is about."""

from __future__ import annotations

from typing import Any

import pytest

from memrepo.errors import BadInput, UsageError
from memrepo.runner.events import Asked, Commented, asked_change, commented, finished_run

OLD, NEW = "a" * 40, "b" * 40


def pull_request() -> dict[str, Any]:
    head = {"sha": NEW, "ref": "feature", "repo": None}
    return {"pull_request": {"number": 7, "base": {"sha": OLD, "ref": "main"}, "head": head}}


def asked(event: str, payload: dict[str, Any], **inputs: Any) -> Asked | None:
    return asked_change(event, payload, **inputs)


def test_a_pull_request() -> None:
    got = asked("pull_request", pull_request())
    assert got == Asked(OLD, NEW, "main", "feature", 7)


def test_a_merge_queue() -> None:
    group = {"base_sha": OLD, "head_sha": NEW, "base_ref": "refs/heads/main"}
    got = asked("merge_group", {"merge_group": group})
    assert got == Asked(OLD, NEW, "main", "the merge queue")


def test_a_push() -> None:
    payload = {
        "before": OLD,
        "after": NEW,
        "ref": "refs/heads/x",
        "deleted": False,
        "repository": {"default_branch": "main"},
    }
    got = asked("push", payload)
    assert got == Asked(OLD, NEW, "the last push", "x", default_branch="main")
    new = asked("push", {**payload, "before": "0" * 40})
    assert new == Asked("", NEW, "the default branch", "x", default_branch="main")
    assert asked("push", {**payload, "deleted": True, "after": "0" * 40}) is None


def test_inputs_win_over_the_event() -> None:
    assert asked("workflow_dispatch", {}, base="main") == Asked("main", "HEAD", "main", "HEAD")
    got = asked("pull_request", pull_request(), base="release", number=9)
    assert got == Asked("release", NEW, "release", NEW, 9)
    assert asked("pull_request", pull_request(), number=9) == Asked(OLD, NEW, "main", "feature", 9)


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch", "issue_comment", ""])
def test_an_event_without_a_change_asks_for_the_inputs(event: str) -> None:
    with pytest.raises(UsageError, match="names no change"):
        asked(event, {})
    with pytest.raises(UsageError, match="head is given, and base is not"):
        asked(event, {}, head=NEW)


def test_the_event_with_a_strangers_code_and_a_token_is_refused() -> None:
    with pytest.raises(UsageError, match="pull_request_target"):
        asked("pull_request_target", pull_request())


@pytest.mark.parametrize("value", ["--upload-pack=x", "main", "", None, 7, NEW[:39], f"{NEW}\n"])
def test_a_commit_of_a_payload_is_a_commit_id(value: object) -> None:
    payload = pull_request()
    payload["pull_request"]["head"]["sha"] = value
    with pytest.raises(BadInput, match="no commit id in sha"):
        asked("pull_request", payload)


def test_the_run_that_ended() -> None:
    run = {
        "id": 3,
        "event": "pull_request",
        "head_sha": NEW,
        "head_branch": "feature",
        "head_repository": {"full_name": "forker/demo"},
    }
    got = finished_run("workflow_run", {"workflow_run": run})
    assert (got.run_id, got.head_sha, got.head_repo) == (3, NEW, "forker/demo")
    assert got.of_pull_request is True
    of_push = finished_run("workflow_run", {"workflow_run": {**run, "event": "push"}})
    assert of_push.of_pull_request is False
    with pytest.raises(UsageError, match="is for the event workflow_run"):
        finished_run("pull_request", pull_request())
    with pytest.raises(BadInput):
        finished_run("workflow_run", {"workflow_run": {**run, "head_sha": "HEAD"}})


def comment(**more: Any) -> dict[str, Any]:
    said = {"id": 9, "body": "hello", "user": {"login": "anna"}, "author_association": "OWNER"}
    issue = {"number": 7, "state": "open", "pull_request": {"url": "u"}}
    return {"action": "created", "issue": issue, "comment": said} | more


def test_a_comment_on_an_open_pull_request() -> None:
    assert commented("issue_comment", comment()) == Commented(7, 9, "anna", "hello")


@pytest.mark.parametrize(
    "more",
    [
        {"action": "edited"},
        {"action": "deleted"},
        {"issue": {"number": 7, "state": "open"}},
        {"issue": {"number": 7, "state": "closed", "pull_request": {}}},
        {"issue": {"number": 7, "state": "open", "pull_request": None}},
        {"issue": []},
    ],
    ids=str,
)
def test_other_comments_are_none(more: dict[str, Any]) -> None:
    assert commented("issue_comment", comment(**more)) is None


@pytest.mark.parametrize(
    "said",
    [
        {"id": "9", "body": "x", "user": {"login": "anna"}},
        {"id": True, "body": "x", "user": {"login": "anna"}},
        {"id": 9, "body": "x", "user": None},
        {"id": 9, "body": "x", "user": {"login": ""}},
        {"id": 9, "body": "x", "user": {"login": ["anna"]}},
        [],
    ],
    ids=str,
)
def test_a_comment_by_nobody_is_bad_input(said: object) -> None:
    with pytest.raises(BadInput):
        commented("issue_comment", comment(comment=said))


@pytest.mark.parametrize("event", ["", "pull_request", "workflow_dispatch", "issues"])
def test_a_command_comes_by_no_other_event(event: str) -> None:
    with pytest.raises(UsageError, match="issue_comment"):
        commented(event, comment())


def test_a_comment_without_a_text_is_empty() -> None:
    said = {"id": 9, "body": None, "user": {"login": "anna"}}
    assert commented("issue_comment", comment(comment=said)) == Commented(7, 9, "anna", "")
