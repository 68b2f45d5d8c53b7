"""GitHub's faults: one comment, never two; a clear end; nothing half done."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.fake_github import SECONDARY, FakeGithub, Fault, Token, What
from memrepo.errors import MemrepoError, PermissionDenied, RemoteFailed
from memrepo.forge.failure import Failure
from memrepo.forge.forge import Label
from memrepo.forge.github import GitHubForge
from memrepo.forge.patience import Patience

Connect = Callable[..., GitHubForge]

MARK = "<!-- memrepo:review -->"
LOST: list[What] = ["cut_after", "half"]


def secondary(**headers: str) -> Fault:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault("", "", status=403, message=SECONDARY, headers=names)


PASSING = {
    "502": Fault("", "", status=502),
    "500": Fault("", "", status=500),
    "502, though it was done": Fault("", "", status=502, done=True),
    "cut before": Fault("", "", what="cut"),
    "cut after": Fault("", "", what="cut_after"),
    "half an answer": Fault("", "", what="half"),
    "429": Fault("", "", status=429, message="Too many requests"),
    "429 with a time": Fault("", "", status=429, message="Slow", headers={"Retry-After": "0"}),
    "secondary limit": secondary(),
    "secondary limit with a time": secondary(Retry_After="0"),
}


def after(fault: Fault, method: str, path: str, times: int = 1, skip: int = 0) -> Fault:
    return Fault(
        method,
        path,
        fault.what,
        fault.status,
        fault.message,
        fault.headers,
        done=fault.done,
        times=times,
        skip=skip,
    )


@pytest.fixture(params=list(PASSING.values()), ids=list(PASSING))
def fault(request: pytest.FixtureRequest) -> Fault:
    found: Fault = request.param
    return found


def test_reading_gets_over_a_fault_on_any_page(
    github: FakeGithub, connect: Connect, fault: Fault
) -> None:
    number = github.add_pull("one")["number"]
    for count in range(250):
        github.add_comment(number, f"{count}")
    github.faults.append(after(fault, "GET", "page=2", times=2))
    assert [c.body for c in connect().list_comments(number)] == [str(n) for n in range(250)]
    assert github.sent("GET", "/comments") == 5


def test_one_comment_whatever_becomes_of_the_answer(
    github: FakeGithub, connect: Connect, fault: Fault
) -> None:
    number = github.add_pull("one")["number"]
    github.faults.append(after(fault, "POST", "/comments"))
    made, operation = connect().upsert_comment(number, MARK, "One", "anna")
    assert operation == "created"
    assert [c["body"] for c in github.comments.values()] == [f"{MARK}\nOne"]
    assert made.id in github.comments


def test_a_plain_comment_is_made_once_too(
    github: FakeGithub, connect: Connect, fault: Fault
) -> None:
    number = github.add_pull("one")["number"]
    github.add_comment(number, "One", "anna")
    github.faults.append(after(fault, "POST", "/comments"))
    connect().create_comment(number, "One")
    assert len(github.comments) == 2


def test_a_change_gets_through(github: FakeGithub, connect: Connect, fault: Fault) -> None:
    number = github.add_pull("one")["number"]
    forge = connect()
    github.add_comment(number, f"{MARK}\nOld", "anna")
    github.faults.append(after(fault, "PATCH", "/issues/comments/"))
    github.faults.append(after(fault, "PATCH", "/pulls/"))
    assert forge.upsert_comment(number, MARK, "New", "anna")[1] == "updated"
    assert forge.update_pull_request(number, title="New", body="New").operation == "updated"
    assert [c["body"] for c in github.comments.values()] == [f"{MARK}\nNew"]
    assert (github.pulls[1]["title"], github.pulls[1]["body"]) == ("New", "New")


def test_one_pull_request_whatever_becomes_of_the_answer(
    github: FakeGithub, connect: Connect, fault: Fault
) -> None:
    github.faults.append(after(fault, "POST", "/pulls$"))
    outcome = connect().open_pull_request(title="T", body="B", head_ref="one", base_ref="main")
    assert (outcome.operation, outcome.pull_request.title) == ("created", "T")
    assert len(github.pulls) == 1


def test_labels_get_on_and_off(github: FakeGithub, connect: Connect, fault: Fault) -> None:
    number = github.add_pull("one")["number"]
    github.faults.append(after(fault, "POST", f"/repos/{github.slug}/labels$"))
    github.faults.append(after(fault, "POST", "/issues/1/labels"))
    github.faults.append(after(fault, "DELETE", "/labels/"))
    forge = connect()
    label = Label("memory:error", "b60205", "Findings that stop the gate")
    assert forge.set_labels_in(number, "memory:", [label]) == ("memory:error",)
    assert forge.set_labels_in(number, "memory:", []) == ()
    assert github.labels["memory:error"]["color"] == "b60205"
    assert github.labels["memory:error"]["description"] == "Findings that stop the gate"
    assert github.pulls[1]["labels"] == []


def test_reviewers_and_drafts_get_through(
    github: FakeGithub, connect: Connect, fault: Fault
) -> None:
    number = github.add_pull("one")["number"]
    github.faults.append(after(fault, "POST", "/requested_reviewers"))
    github.faults.append(after(fault, "POST", "/graphql"))
    forge = connect()
    assert forge.request_reviewers(number, ["bert"]) == ()
    assert forge.update_pull_request(number, draft=True).pull_request.draft


@pytest.mark.parametrize("lost", LOST)
def test_two_lost_answers_still_make_one_comment(
    github: FakeGithub, connect: Connect, lost: What
) -> None:
    number = github.add_pull("one")["number"]
    github.faults.append(Fault("POST", "/comments", lost, times=2))
    github.faults.append(Fault("GET", "/comments", "cut", times=2, skip=1))
    connect().upsert_comment(number, MARK, "One", "anna")
    assert len(github.comments) == 1


@pytest.mark.parametrize("what", ["answer", "cut"])
def test_a_write_that_never_works_ends_clearly(
    github: FakeGithub, connect: Connect, what: What
) -> None:
    number = github.add_pull("one")["number"]
    github.faults.append(Fault("POST", "/comments", what, times=99))
    with pytest.raises(RemoteFailed, match="comment on pull request 1") as caught:
        connect().upsert_comment(number, MARK, "One", "anna")
    assert caught.value.exit_code == 4
    assert "run it again" in caught.value.hint
    assert github.sent("POST") == 2
    assert github.comments == {}


def test_a_read_that_never_works_ends_clearly(github: FakeGithub, connect: Connect) -> None:
    github.faults.append(Fault("GET", "/pulls", times=99))
    with pytest.raises(RemoteFailed, match=r"list pull requests \(answered 502\)"):
        connect().find_pull_requests()
    assert github.sent("GET") == 4


def test_a_server_that_is_not_there_ends_clearly(github: FakeGithub, connect: Connect) -> None:
    forge = connect(api_url="http://127.0.0.1:9/api/v3")
    with pytest.raises(RemoteFailed, match="cut or refused"):
        forge.get_pull_request(1)


def test_a_slow_answer_is_waited_for_only_so_long(github: FakeGithub, connect: Connect) -> None:
    number = github.add_pull("one")["number"]
    github.faults.append(Fault("POST", "/comments", "slow", seconds=1.5))
    _, operation = connect(timeout=1).upsert_comment(number, MARK, "One", "anna")
    assert operation == "created"
    assert (github.sent("POST"), len(github.comments)) == (1, 1)


def test_what_cannot_be_looked_for_is_not_sent_again(github: FakeGithub, connect: Connect) -> None:
    number = github.add_pull("one")["number"]
    github.faults.append(Fault("POST", "/comments", "cut_after"))
    github.faults.append(Fault("GET", "/comments", times=99, skip=1))
    with pytest.raises(RemoteFailed, match="read the comments"):
        connect().upsert_comment(number, MARK, "One", "anna")
    assert (github.sent("POST"), len(github.comments)) == (1, 1)
    github.faults.clear()
    assert connect().upsert_comment(number, MARK, "One", "anna")[1] == "unchanged"


def test_too_long_a_wait_is_not_waited(github: FakeGithub, connect: Connect) -> None:
    number = github.add_pull("one")["number"]
    github.faults.append(after(secondary(Retry_After="3600"), "POST", "/comments", times=99))
    with pytest.raises(RemoteFailed, match="patience") as caught:
        connect().upsert_comment(number, MARK, "One", "anna")
    assert "in 3,600 seconds" in caught.value.hint
    assert github.sent("POST") == 1


def test_the_hourly_limit_says_when_it_ends(github: FakeGithub, connect: Connect) -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800"}
    github.faults.append(
        Fault("GET", "", status=403, message="API rate limit exceeded for x.", headers=headers)
    )
    with pytest.raises(RemoteFailed, match="patience") as caught:
        connect().find_pull_requests()
    assert "after 00:00:00 UTC" in caught.value.hint
    assert github.sent("GET") == 1


def test_waiting_is_told(github: FakeGithub, connect: Connect) -> None:
    told: list[str] = []
    github.faults.append(Fault("GET", "/pulls"))
    connect(tell=told.append).find_pull_requests()
    assert told == ["GitHub: Server Error; asking again in 0 s"]


def test_labels_are_tried_again_on_a_pull_request_just_made(
    github: FakeGithub, connect: Connect
) -> None:
    forge = connect()
    number = forge.open_pull_request(
        title="T", body="B", head_ref="one", base_ref="main"
    ).pull_request.number
    errors = ["Could not resolve to a node with the global id of 'PR_1'."]
    github.faults.append(
        Fault("POST", "/issues/1/labels", status=422, message="Validation Failed", errors=[*errors])
    )
    assert forge.add_labels(number, [Label("bug")]) == ("bug",)


def test_a_read_only_token_is_known_by_its_refusal(github: FakeGithub, connect: Connect) -> None:
    github.tokens["t-fork"] = Token("github-actions[bot]", write=False, app=True)
    number = github.add_pull("one")["number"]
    github.add_comment(number, f"{MARK}\nOld", "github-actions[bot]")
    github.labels["memory:error"] = {"name": "memory:error", "color": "b60205"}
    forge = connect("t-fork")
    assert forge.me() == "github-actions[bot]"
    tries: list[Callable[[], object]] = [
        lambda: forge.upsert_comment(number, MARK, "New", forge.me()),
        lambda: forge.create_comment(number, "One"),
        lambda: forge.add_labels(number, [Label("memory:error")]),
        lambda: forge.add_labels(number, [Label("memory:new")]),
        lambda: forge.update_pull_request(number, title="New"),
        lambda: forge.open_pull_request(title="T", body="B", head_ref="two", base_ref="main"),
    ]
    for attempt in tries:
        with pytest.raises(PermissionDenied) as caught:
            attempt()
        assert caught.value.exit_code == 5
        assert "Resource not accessible by integration" in caught.value.message
        assert "pull-requests: write" in caught.value.hint
    assert [c["body"] for c in github.comments.values()] == [f"{MARK}\nOld"]
    # Nothing new to say needs no permission to write.
    assert forge.upsert_comment(number, MARK, "Old", forge.me())[1] == "unchanged"
    (note,) = forge.request_reviewers(number, ["bert"])
    assert "Resource not accessible" in note


def test_the_permission_that_github_names_is_shown(github: FakeGithub, connect: Connect) -> None:
    number = github.add_pull("one")["number"]
    headers = {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"}
    github.faults.append(
        Fault("POST", "", status=403, message="Resource not accessible", headers=headers)
    )
    with pytest.raises(PermissionDenied) as caught:
        connect().create_comment(number, "One")
    assert "lacks issues: write; pull-requests: write;" in caught.value.hint


def test_the_setting_that_forbids_pull_requests_is_named(
    github: FakeGithub, connect: Connect
) -> None:
    message = "GitHub Actions is not permitted to create or approve pull requests."
    github.faults.append(Fault("POST", "/pulls$", status=403, message=message))
    with pytest.raises(PermissionDenied) as caught:
        connect().open_pull_request(title="T", body="B", head_ref="one", base_ref="main")
    assert "Allow GitHub Actions to create and approve pull requests" in caught.value.hint
    assert "organisation" in caught.value.hint
    assert "repository" in caught.value.hint
    assert github.sent("POST") == 1


@pytest.mark.parametrize(
    ("status", "message", "kind", "words"),
    [
        (401, "Bad credentials", PermissionDenied, "does not accept the token"),
        (403, "Unable to create comment because issue is locked.", PermissionDenied, "locked"),
        (404, "Not Found", MemrepoError, "no pull request 1"),
        (422, "Validation Failed", RemoteFailed, "Validation Failed: body is too long"),
    ],
)
def test_a_refusal_is_final_and_says_why(
    github: FakeGithub,
    connect: Connect,
    status: int,
    message: str,
    kind: type[MemrepoError],
    words: str,
) -> None:
    number = github.add_pull("one")["number"]
    errors = [{"message": "body is too long"}] if status == 422 else []
    github.faults.append(
        Fault("POST", "", status=status, message=message, errors=[*errors], times=99)
    )
    with pytest.raises(kind, match=words) as caught:
        connect().create_comment(number, "One")
    assert github.sent("POST") == 1
    assert "t-anna" not in f"{caught.value.message} {caught.value.hint}"


def test_words_of_github_reach_the_person_on_one_harmless_line(
    github: FakeGithub, connect: Connect
) -> None:
    github.faults.append(Fault("GET", "", status=403, message="a\n::error::b\x1b[2J\u202e"))
    with pytest.raises(PermissionDenied) as caught:
        connect().find_pull_requests()
    assert "\n" not in caught.value.message
    assert "<U+001B>[2J<U+202E>" in caught.value.message


def test_an_answer_of_another_shape_is_a_failure(github: FakeGithub, connect: Connect) -> None:
    forge = connect()
    github.add_pull("one", title={"no": "text"})
    with pytest.raises(RemoteFailed, match="another shape"):
        forge.get_pull_request(1)
    github.pulls[1] = {"data": "Sign in to the network"}
    with pytest.raises(RemoteFailed, match="answer"):
        forge.get_pull_request(1)
    github.add_comment(1, "One")["id"] = None
    github.pulls[1] = {"number": 1}
    with pytest.raises(RemoteFailed, match="no comment"):
        forge.list_comments(1)


def test_patience_is_bounded_in_all() -> None:
    patience = Patience(attempts=5, first_wait=1, limit_wait=60, longest_wait=150)
    lost, limited = Failure(0, "cut"), Failure(429, "slow")
    assert [patience.wait(lost, sent, 0, 0) for sent in range(1, 6)] == [1, 2, 4, 8, None]
    assert patience.wait(limited, 1, 0, 0) == 60
    assert patience.wait(limited, 3, 120, 0) is None
    assert patience.wait(Failure(403, SECONDARY, {"retry-after": "7"}), 1, 0, 0) == 7
    assert patience.wait(Failure(404, "Not Found"), 1, 0, 0) is None
    reset = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000"}
    assert patience.wait(Failure(403, "API rate limit exceeded", reset), 1, 0, 980) == 21


def test_single_sign_on_is_named(github: FakeGithub, connect: Connect) -> None:
    headers = {"X-GitHub-SSO": "required; url=https://example.com/sso"}
    github.faults.append(Fault("GET", "", status=403, message="Resource", headers=headers))
    with pytest.raises(PermissionDenied, match="single sign-on") as caught:
        connect().find_pull_requests()
    assert "authorise it" in caught.value.hint


def test_a_locked_conversation_is_no_lack_of_permission(
    github: FakeGithub, connect: Connect
) -> None:
    number = github.add_pull("one")["number"]
    message = "Unable to create comment because issue is locked."
    github.faults.append(Fault("POST", "", status=403, message=message))
    with pytest.raises(PermissionDenied, match="locked") as caught:
        connect().create_comment(number, "One")
    assert caught.value.hint.startswith("unlock")
