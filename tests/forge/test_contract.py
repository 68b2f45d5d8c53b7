"""What every forge does alike: the same tests over the folder and over GitHub."""

from __future__ import annotations

import pytest

from memrepo.errors import UsageError
from memrepo.forge.forge import MOST_CHARACTERS, Forge, Label, PullRequest

MARK = "<!-- memrepo:review -->"
ERROR = Label("memory:error", "b60205", "Findings that stop the gate")
PERSON = Label("memory:needs-human", "fbca04", "A person must look at this")


def opened(
    forge: Forge, head: str = "one", title: str = "Title", body: str = "Body"
) -> PullRequest:
    return forge.open_pull_request(
        title=title, body=body, head_ref=head, base_ref="main"
    ).pull_request


def test_me(forge: Forge) -> None:
    assert forge.me() == "anna"


def test_an_empty_forge_holds_nothing(forge: Forge) -> None:
    assert forge.find_pull_requests() == []
    with pytest.raises(UsageError, match="no pull request 7"):
        forge.get_pull_request(7)


def test_open_get_and_find_agree(forge: Forge) -> None:
    outcome = forge.open_pull_request(
        title='  He said: "no" # really ', body="One\n\nTwo\n", head_ref="one", base_ref="main"
    )
    pull = outcome.pull_request
    assert (outcome.operation, outcome.notes) == ("created", ())
    assert (pull.number, pull.title) == (1, 'He said: "no" # really')
    assert (pull.body.strip(), pull.state, pull.draft) == ("One\n\nTwo", "open", False)
    assert (pull.head_ref, pull.base_ref, pull.author) == ("one", "main", "anna")
    assert len(pull.head_sha) == 40
    assert pull.url
    assert pull.created_at.utcoffset() is not None
    assert forge.get_pull_request(1) == pull
    assert forge.find_pull_requests() == [pull]


def test_opening_twice_gives_the_one_that_is_open(forge: Forge) -> None:
    first = opened(forge)
    again = forge.open_pull_request(title="Other", body="Other", head_ref="one", base_ref="main")
    assert (again.pull_request, again.operation) == (first, "unchanged")
    assert len(forge.find_pull_requests()) == 1


def test_find_goes_by_branches_and_gives_the_newest_first(forge: Forge) -> None:
    one, two = opened(forge, "one"), opened(forge, "two")
    assert forge.find_pull_requests() == [two, one]
    assert forge.find_pull_requests("one") == [one]
    assert forge.find_pull_requests("two", "main") == [two]
    assert forge.find_pull_requests(base_ref="other") == []
    assert forge.find_pull_requests(state="closed") == []
    assert forge.find_pull_requests(state="merged") == []
    assert forge.find_pull_requests(state="all") == [two, one]


def test_a_draft_becomes_ready_and_a_draft_again(forge: Forge) -> None:
    made = forge.open_pull_request(
        title="T", body="B", head_ref="one", base_ref="main", draft=True
    ).pull_request
    assert made.draft
    ready = forge.update_pull_request(made.number, draft=False)
    assert (ready.operation, ready.pull_request.draft) == ("updated", False)
    assert forge.update_pull_request(made.number, draft=False).operation == "unchanged"
    assert forge.update_pull_request(made.number, draft=True).pull_request.draft


def test_update_changes_what_is_given_and_nothing_else(forge: Forge) -> None:
    pull = opened(forge)
    changed = forge.update_pull_request(pull.number, title="New")
    assert (changed.operation, changed.pull_request.title) == ("updated", "New")
    assert changed.pull_request.body.strip() == "Body"
    same = forge.update_pull_request(pull.number, title="New", body="Body\r\n")
    assert (same.operation, same.pull_request) == ("unchanged", changed.pull_request)
    assert forge.update_pull_request(pull.number, body="More").pull_request.body.strip() == "More"
    assert forge.get_pull_request(pull.number).title == "New"


@pytest.mark.parametrize("title", ["", "  ", "a\nb", "x" * 257, "half \ud800"])
def test_a_title_that_no_forge_takes_is_refused(forge: Forge, title: str) -> None:
    with pytest.raises(UsageError):
        opened(forge, title=title)
    assert forge.find_pull_requests() == []


def test_a_body_that_is_too_long_is_refused_before_anything_is_sent(forge: Forge) -> None:
    with pytest.raises(UsageError, match="65,536"):
        opened(forge, body="x" * (MOST_CHARACTERS + 1))
    pull = opened(forge, body="x" * MOST_CHARACTERS)
    with pytest.raises(UsageError, match="65,536"):
        forge.create_comment(pull.number, "x" * (MOST_CHARACTERS + 1))
    with pytest.raises(UsageError, match="65,536"):
        forge.upsert_comment(pull.number, MARK, "x" * MOST_CHARACTERS, "anna")
    assert forge.list_comments(pull.number) == []


def test_a_head_is_found_by_its_exact_commit(forge: Forge) -> None:
    pull = opened(forge)
    opened(forge, "two")
    found = forge.pull_request_for_commit(pull.head_sha, pull.head_repo, "one")
    assert found == pull
    assert forge.pull_request_for_commit("f" * 40, pull.head_repo, "one") is None
    assert forge.pull_request_for_commit(pull.head_sha, pull.head_repo, "two") is None
    assert forge.pull_request_for_commit(pull.head_sha, "evil/memory", "one") is None


def test_one_head_into_two_bases_is_told_apart_by_the_claim(forge: Forge) -> None:
    first = opened(forge)
    second = forge.open_pull_request(
        title="T", body="B", head_ref="one", base_ref="two"
    ).pull_request
    where = (first.head_sha, first.head_repo, "one")
    assert forge.pull_request_for_commit(*where) == second
    assert forge.pull_request_for_commit(*where, claimed=first.number) == first
    assert forge.pull_request_for_commit(*where, claimed=99) == second


def test_labels_of_ours_are_set_and_others_stay(forge: Forge) -> None:
    pull = opened(forge)
    assert forge.add_labels(pull.number, [Label("team/a b"), Label("bug")]) == ("bug", "team/a b")
    assert forge.add_labels(pull.number, [Label("bug")]) == ("bug", "team/a b")
    have = forge.set_labels_in(pull.number, "memory:", [ERROR, PERSON])
    assert have == ("bug", "memory:error", "memory:needs-human", "team/a b")
    have = forge.set_labels_in(pull.number, "memory:", [PERSON])
    assert have == ("bug", "memory:needs-human", "team/a b")
    assert forge.remove_labels(pull.number, ["team/a b", "never"]) == ("bug", "memory:needs-human")
    assert forge.set_labels_in(pull.number, "memory:", []) == ("bug",)
    assert forge.get_pull_request(pull.number).labels == ("bug",)


def test_a_label_outside_the_prefix_is_refused(forge: Forge) -> None:
    pull = opened(forge)
    with pytest.raises(UsageError, match="bug"):
        forge.set_labels_in(pull.number, "memory:", [Label("bug")])


def test_a_reviewer_who_cannot_be_asked_is_a_warning(forge: Forge) -> None:
    pull = opened(forge)
    assert forge.request_reviewers(pull.number, []) == ()
    assert forge.request_reviewers(pull.number, ["bert"]) == ()
    (note,) = forge.request_reviewers(pull.number, ["carla", "anna"])
    assert note.startswith("anna could not be asked to review")
    assert forge.get_pull_request(pull.number).state == "open"


def test_comments_come_in_order_and_can_be_changed(forge: Forge) -> None:
    pull, other = opened(forge), opened(forge, "two")
    first = forge.create_comment(pull.number, "First")
    second = forge.create_comment(pull.number, "---\nSecond\n\n---\n")
    assert forge.create_comment(other.number, "Elsewhere").id not in (first.id, second.id)
    listed = forge.list_comments(pull.number)
    assert [comment.id for comment in listed] == [first.id, second.id]
    assert [c.body.strip() for c in listed] == ["First", "---\nSecond\n\n---"]
    assert first.author == "anna"
    assert first.url
    changed = forge.update_comment(first.id, "Changed")
    assert (changed.id, changed.body, changed.author) == (first.id, "Changed", "anna")
    assert forge.list_comments(pull.number)[0].body == "Changed"


def test_the_marked_comment_is_made_once_and_then_changed(forge: Forge) -> None:
    pull = opened(forge)
    made, operation = forge.upsert_comment(pull.number, MARK, "One", "anna")
    assert (operation, made.body.strip()) == ("created", f"{MARK}\nOne")
    same, operation = forge.upsert_comment(pull.number, MARK, f"{MARK}\nOne\r\n", "ANNA")
    assert (operation, same.id) == ("unchanged", made.id)
    changed, operation = forge.upsert_comment(pull.number, MARK, "Two", "anna")
    assert (operation, changed.id) == ("updated", made.id)
    assert [c.body.strip() for c in forge.list_comments(pull.number)] == [f"{MARK}\nTwo"]


def test_another_marker_is_another_comment(forge: Forge) -> None:
    pull = opened(forge)
    forge.upsert_comment(pull.number, MARK, "One", "anna")
    _, operation = forge.upsert_comment(pull.number, "<!-- memrepo:other -->", "One", "anna")
    assert operation == "created"


def test_a_quoted_marker_is_not_taken_for_ours(forge: Forge) -> None:
    pull = opened(forge)
    quote = forge.create_comment(pull.number, f"Somebody wrote:\n\n> {MARK}\n{MARK}")
    made, operation = forge.upsert_comment(pull.number, MARK, "One", "anna")
    assert (operation, made.id != quote.id) == ("created", True)


@pytest.mark.parametrize("marker", ["", "review", "<!-- a --><!-- b -->", "<!-- a\nb -->"])
def test_a_marker_that_shows_is_refused(forge: Forge, marker: str) -> None:
    pull = opened(forge)
    with pytest.raises(UsageError, match="marker"):
        forge.upsert_comment(pull.number, marker, "One", "anna")


def test_comments_of_a_pull_request_that_is_not_there(forge: Forge) -> None:
    with pytest.raises(UsageError, match="no pull request 3"):
        forge.list_comments(3)
    with pytest.raises(UsageError, match="no pull request 3"):
        forge.upsert_comment(3, MARK, "One", "anna")
