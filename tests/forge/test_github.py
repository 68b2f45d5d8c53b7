"""What only GitHub has: forks, apps, pages, names that moved, two runs at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from forge.fake_github import FakeGithub, Token
from memrepo.errors import RemoteFailed, UsageError
from memrepo.forge.github import GitHubForge

Connect = Callable[..., GitHubForge]

MARK = "<!-- memrepo:review -->"


@pytest.mark.parametrize("count", [0, 29, 30, 99, 100, 101, 400])
def test_our_comment_is_found_among_any_number(
    github: FakeGithub, connect: Connect, count: int
) -> None:
    number = github.add_pull("one")["number"]
    for _ in range(count):
        github.add_comment(number, f"{MARK}\nforged", "bert")
    kept = github.add_comment(number, f"{MARK}\nOld", "anna")["id"]
    found, operation = connect().upsert_comment(number, MARK, "New", "anna")
    assert (operation, found.id) == ("updated", kept)
    assert len(github.comments) == count + 1
    assert github.sent("GET", "/comments") == count // 100 + 1


def test_many_pull_requests_come_by_hundreds(github: FakeGithub, connect: Connect) -> None:
    for count in range(130):
        github.add_pull(f"b{count}")
    assert [p.number for p in connect().find_pull_requests()] == list(range(130, 0, -1))
    assert github.sent("GET") == 2


def test_an_app_may_not_ask_who_it_is(github: FakeGithub, connect: Connect) -> None:
    github.tokens["t-job"] = Token("github-actions[bot]", app=True)
    forge = connect("t-job")
    assert [forge.me(), forge.me()] == ["github-actions[bot]"] * 2
    assert github.sent("GET", "/user") == 1
    assert connect("t-job", login="my-app[bot]").me() == "my-app[bot]"


def test_another_app_keeps_to_one_comment_too(github: FakeGithub, connect: Connect) -> None:
    github.tokens["t-app"] = Token("my-app[bot]", app=True)
    number = github.add_pull("one")["number"]
    for body in ("One", "Two", "Three"):
        forge = connect("t-app")
        comment, _ = forge.upsert_comment(number, MARK, body, forge.me())
        assert [c["body"] for c in github.comments.values()] == [f"{MARK}\n{body}"]
        assert forge.me() == comment.author == "my-app[bot]"


def test_the_jobs_own_token_starts_no_workflows_and_that_is_said(
    github: FakeGithub, connect: Connect
) -> None:
    github.tokens["t-job"] = Token("github-actions[bot]", app=True)
    outcome = connect("t-job").open_pull_request(
        title="T", body="B", head_ref="one", base_ref="main"
    )
    (note,) = outcome.notes
    assert "starts no workflows" in note


def test_a_pull_request_from_a_fork_is_found_by_owner_and_commit(
    github: FakeGithub, connect: Connect
) -> None:
    name = "$(touch${IFS}x);`id`&head=acme%3Amain#\u202e"
    github.add_pull(name, head=github.side(name, "forker/memory"))
    github.add_pull(name, head=github.side(name, "acme/memory"))
    gone = github.add_pull(name, head=github.side(name, None))
    forge = connect()
    sha = github.pulls[1]["head"]["sha"]
    found = forge.pull_request_for_commit(sha, "forker/memory", name)
    assert found is not None
    assert (found.number, found.head_repo, found.head_ref) == (1, "forker/memory", name)
    assert forge.pull_request_for_commit(sha, "acme/memory", name) is None
    assert forge.pull_request_for_commit(gone["head"]["sha"], "", name) is None
    assert [pull.number for pull in forge.find_pull_requests(name)] == [2]
    assert [pull.number for pull in forge.find_pull_requests(f"forker:{name}")] == [1]
    assert [p.head_repo for p in forge.find_pull_requests()] == ["", "acme/memory", "forker/memory"]


def test_merged_is_not_closed(github: FakeGithub, connect: Connect) -> None:
    github.add_pull("one")
    github.add_pull("two", base="other")
    github.add_pull("three", state="closed", merged_at="2026-03-02T12:00:00Z")
    github.add_pull("four", state="closed")
    forge = connect()
    assert [pull.number for pull in forge.find_pull_requests("one")] == [1]
    assert [pull.number for pull in forge.find_pull_requests(base_ref="other")] == [2]
    assert [pull.number for pull in forge.find_pull_requests(state="merged")] == [3]
    assert [pull.number for pull in forge.find_pull_requests(state="closed")] == [4]
    assert [p.state for p in forge.find_pull_requests(state="all")] == [
        "closed",
        "merged",
        "open",
        "open",
    ]


def test_a_fork_of_the_same_owner_is_not_the_repository_itself(
    github: FakeGithub, connect: Connect
) -> None:
    github.add_pull("one", head=github.side("one", "acme/trial-of-memory"))
    forge = connect()
    assert forge.find_pull_requests("one") == []
    assert [pull.number for pull in forge.find_pull_requests("acme:one")] == [1]


def test_a_repository_that_moved_is_said_and_nothing_is_half_done(
    github: FakeGithub, connect: Connect
) -> None:
    forge = connect()
    github.old_slug, github.slug = github.slug, "acme/brain"
    with pytest.raises(RemoteFailed, match="acme/memory has moved"):
        forge.open_pull_request(title="T", body="B", head_ref="one", base_ref="main")
    assert github.sent("POST") == 1
    github.add_pull("one")
    tries: list[Callable[[], object]] = [
        forge.find_pull_requests,
        lambda: forge.get_pull_request(1),
        lambda: forge.upsert_comment(1, MARK, "One", "anna"),
    ]
    for attempt in tries:
        with pytest.raises(RemoteFailed, match="has moved") as caught:
            attempt()
        assert "git remote set-url" in caught.value.hint
    assert github.comments == {}


def test_an_author_who_left_is_a_ghost(github: FakeGithub, connect: Connect) -> None:
    github.add_pull("one", user=None, body=None)
    github.add_comment(1, "One")["user"] = None
    forge = connect()
    assert (forge.get_pull_request(1).author, forge.get_pull_request(1).body) == ("ghost", "")
    assert forge.list_comments(1)[0].author == "ghost"


def test_a_repository_without_drafts_gets_an_open_pull_request(
    github: FakeGithub, connect: Connect
) -> None:
    github.drafts = False
    outcome = connect().open_pull_request(
        title="T", body="B", head_ref="one", base_ref="main", draft=True
    )
    assert (outcome.operation, outcome.pull_request.draft) == ("created", False)
    assert "takes no drafts" in outcome.notes[0]
    changed = connect().update_pull_request(1, title="New", draft=True)
    assert (changed.operation, changed.pull_request.title) == ("updated", "New")
    assert "could not be made a draft" in changed.notes[0]


def test_a_pull_request_opened_meanwhile_is_taken(github: FakeGithub, connect: Connect) -> None:
    def meanwhile(method: str, path: str) -> None:
        if method == "POST" and path.endswith("/pulls") and not github.pulls:
            github.add_pull("one", title="Theirs")

    github.before = meanwhile
    outcome = connect().open_pull_request(title="T", body="B", head_ref="one", base_ref="main")
    assert (outcome.operation, outcome.pull_request.title) == ("unchanged", "Theirs")


def test_teams_are_asked_by_their_own_name(github: FakeGithub, connect: Connect) -> None:
    github.add_pull("one")
    github.collaborators.add("memory-keepers")
    assert connect().request_reviewers(1, ["bert", "acme/memory-keepers"]) == ()
    assert github.pulls[1]["asked"] == ["bert", "memory-keepers"]


def test_one_bad_reviewer_does_not_keep_the_others_from_being_asked(
    github: FakeGithub, connect: Connect
) -> None:
    github.add_pull("one")
    notes = connect().request_reviewers(1, ["bert", "nobody", "carla", "anna"])
    assert [note.split()[0] for note in notes] == ["nobody", "anna"]
    assert github.pulls[1]["asked"] == ["bert", "carla"]


@pytest.mark.parametrize("runs", [2, 4])
def test_runs_at_once_end_with_one_comment(github: FakeGithub, connect: Connect, runs: int) -> None:
    number = github.add_pull("one")["number"]
    barrier = threading.Barrier(runs)
    waited = threading.local()

    def together(method: str, _path: str) -> None:
        # All have looked and found nothing before the first of them writes.
        if method == "POST" and not getattr(waited, "done", False):
            waited.done = True
            barrier.wait(20)

    github.before = together
    forges = [connect() for _ in range(runs)]
    failed: list[BaseException] = []

    def run(forge: GitHubForge, body: str) -> None:
        try:
            forge.upsert_comment(number, MARK, body, "anna")
        except BaseException as error:  # noqa: BLE001 (shown below)
            failed.append(error)

    threads = [
        threading.Thread(target=run, args=(forge, f"Run {count}"))
        for count, forge in enumerate(forges)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert github.sent("POST") == runs
    assert len(github.comments) == 1


def test_what_no_server_can_be(connect: Connect) -> None:
    for token in ("", " \n", "two words\nand a line", "tökén"):
        with pytest.raises(UsageError, match="token"):
            connect(token)
    assert connect("t-anna\n").me() == "anna"
    with pytest.raises(UsageError, match="address"):
        connect(api_url="nonsense")


def test_the_place_is_named(github: FakeGithub, connect: Connect) -> None:
    assert connect(server_url="https://ghes.example.com").place == "ghes.example.com/acme/memory"
