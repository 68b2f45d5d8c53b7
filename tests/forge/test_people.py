"""Who may write, and pull requests that are closed: the same over the folder and over GitHub."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.fake_github import FakeGithub, Fault
from memrepo.errors import PermissionDenied, RemoteFailed, UsageError
from memrepo.forge.forge import MAY_WRITE, Forge
from memrepo.forge.github import GitHubForge

Connect = Callable[..., GitHubForge]


def opened(forge: Forge) -> int:
    made = forge.open_pull_request(title="T", body="B", head_ref="one", base_ref="main")
    return made.pull_request.number


def test_closing_is_done_once_and_keeps_the_rest(forge: Forge) -> None:
    number = opened(forge)
    done = forge.close_pull_request(number)
    assert (done.operation, done.pull_request.state) == ("updated", "closed")
    assert (done.pull_request.title, done.pull_request.body.strip()) == ("T", "B")
    assert forge.find_pull_requests() == []
    assert forge.close_pull_request(number).operation == "unchanged"
    assert forge.find_pull_requests(state="closed")[0].number == number


def test_closing_what_does_not_exist_is_refused(forge: Forge) -> None:
    with pytest.raises(UsageError, match="no pull request 7"):
        forge.close_pull_request(7)


def test_closing_whose_answer_is_lost_is_not_sent_twice(
    connect: Connect, github: FakeGithub
) -> None:
    forge = connect()
    number = opened(forge)
    github.faults.append(Fault("PATCH", "/pulls/", "cut_after"))
    assert forge.close_pull_request(number).pull_request.state == "closed"
    assert github.sent("PATCH") == 1


def test_a_writer_may_write_on_either_forge(forge: Forge) -> None:
    assert forge.permission_of("bert") in MAY_WRITE


@pytest.mark.parametrize(
    ("role", "wanted"),
    [
        *(("admin", "admin"), ("write", "write"), ("read", "read"), ("none", "none")),
        *(("maintain", "write"), ("triage", "read"), ("owner of all", "none"), ("", "none")),
    ],
)
def test_what_github_says_a_person_may(
    connect: Connect, github: FakeGithub, role: str, wanted: str
) -> None:
    github.roles["dora"] = role
    assert connect().permission_of("dora") == wanted


def test_who_is_unknown_may_nothing(connect: Connect) -> None:
    assert connect().permission_of("mallory") == "none"


@pytest.mark.parametrize(
    "login",
    [
        "",
        "..",
        "anna/../anna",
        "anna?x=1",
        "anna%2f",
        "github-actions[bot]",
        "-x",
        "a b",
        "ann\u00e4",
    ],
)
def test_what_is_no_persons_login_is_not_asked_about(
    connect: Connect, github: FakeGithub, login: str
) -> None:
    assert connect().permission_of(login) == "none"
    assert github.sent("GET", "collaborators") == 0


def test_a_forge_that_does_not_answer_is_no_permission(
    connect: Connect, github: FakeGithub
) -> None:
    github.faults.append(Fault("GET", "/permission", status=502, times=20))
    with pytest.raises(RemoteFailed):
        connect().permission_of("bert")
    github.faults.clear()
    github.faults.append(Fault("GET", "/permission", status=403, message="no access", times=20))
    with pytest.raises(PermissionDenied, match="what bert may do"):
        connect().permission_of("bert")
