"""Decisions from comments, and taking a merge back, with pull requests in a folder."""

from __future__ import annotations

import pytest

from knowledgework import forge_of, on_branch, on_main, origin, propose_now, tools, tools_of
from memrepo import MemoryRepo
from memrepo.forge.forge import PullRequest
from memrepo.knowledge.abort import Aborted, abort
from memrepo.knowledge.answer import answer_text
from memrepo.knowledge.command import TakeCommand, commands_in
from memrepo.knowledge.decided import Decided, branch_in_question, decide_all
from memrepo.knowledge.outcome import MergeReport
from repositories import GitRepo

PLACES = [f"state/bot/tools.json#/{name}/description" for name in ("find", "refund")]


@pytest.fixture
def stuck(work: GitRepo) -> tuple[GitRepo, PullRequest]:
    """A merge that waits: the wiki is in, the crm disagrees with main about two tools."""
    names = ("find", "refund")
    on_branch(
        work, "crm", lambda: work.write_agent("bot", tools=tools(*names, find="C.", refund="C."))
    )
    on_branch(work, "wiki", lambda: work.write_agent("bot", tools=tools(*names, "wiki")))
    on_main(work, lambda: work.write_agent("bot", tools=tools(*names, find="M.", refund="M.")))
    report = propose_now(work)
    assert (report.merged, report.conflicts) == (("knowledge/wiki",), 1)
    return work, forge_of(work).get_pull_request(report.number)


def decide(repo: GitRepo, comment: str, by: str = "alice") -> list[Decided]:
    with MemoryRepo(repo.path) as memory:
        return decide_all(memory, forge_of(repo), commands_in(comment), by=by, remote="origin")


def test_commands_are_recorded_one_by_one_and_the_next_merge_uses_them(
    stuck: tuple[GitRepo, PullRequest],
) -> None:
    repo, pull = stuck
    wrong = "/memrepo take ours state/bot/tools.json#/nothing"
    done = decide(
        repo, f"/memrepo take theirs {PLACES[0]}\n{wrong}\n/memrepo take ours {PLACES[1]}"
    )
    assert [one.error is None for one in done] == [True, False, True]
    assert [len(one.paths) for one in done] == [1, 0, 1]
    tip = origin(repo).head(f"refs/heads/{pull.head_ref}")
    # Cut short here, the same comment leads to the same end.
    again = decide(repo, f"/memrepo take theirs {PLACES[0]}\n/memrepo take ours {PLACES[1]}")
    assert all(one.error is None for one in again)
    report = propose_now(repo)
    assert (report.merged, report.conflicts) == (("knowledge/crm",), 0)
    said = {n: t["description"] for n, t in tools_of(origin(repo), pull.head_ref).items()}
    assert (said["find"], said["refund"]) == ("C.", "M.")
    origin(repo).git("merge-base", "--is-ancestor", tip, pull.head_ref)
    after = decide(repo, f"/memrepo take theirs {PLACES[0]}")
    assert [(one.error, one.paths) for one in after] == [(None, ())]
    other = decide(repo, f"/memrepo take base {PLACES[0]}")
    assert other[0].error is not None


def test_abort_closes_the_pull_request_and_what_a_cut_run_left_open(
    stuck: tuple[GitRepo, PullRequest],
) -> None:
    repo, pull = stuck
    forge = forge_of(repo)
    with MemoryRepo(repo.path) as memory:
        assert abort(memory, forge, remote="origin", dry_run=True).number == pull.number
        assert forge.get_pull_request(pull.number).state == "open"
        done = abort(memory, forge, remote="origin")
    assert (done.branch, done.number) == (pull.head_ref, pull.number)
    assert forge.get_pull_request(pull.number).state == "closed"
    assert "Taken back" in forge.list_comments(pull.number)[-1].body
    second = propose_now(repo)
    assert second.number != pull.number
    origin(repo).git("update-ref", "-d", f"refs/heads/{second.branch}")
    with MemoryRepo(repo.path) as memory:
        left = abort(memory, forge, remote="origin")
        assert left == Aborted(second.branch, "", second.number)
        assert forge.get_pull_request(second.number).state == "closed"
        assert abort(memory, forge, remote="origin") == Aborted()


def at(pull: PullRequest, **changes: object) -> str | None:
    from msgspec.structs import replace

    return branch_in_question(replace(pull, head_repo="Acme/demo", **changes), "acme/demo", "main")


def test_where_a_decision_counts(stuck: tuple[GitRepo, PullRequest]) -> None:
    _, pull = stuck
    assert at(pull) == ""
    assert at(pull, head_ref="knowledge/crm") == "knowledge/crm"
    assert at(pull, head_ref="feature") is None
    assert at(pull, head_ref="knowledgeable") is None
    assert at(pull, state="closed") is None
    assert at(pull, base_ref="other") is None
    fork = branch_in_question(pull, "forker/demo", "main")
    assert fork is None


def test_the_answer_is_text_of_ours_whatever_was_asked(
    stuck: tuple[GitRepo, PullRequest],
) -> None:
    repo, _ = stuck
    hostile = "state/<b>@acme</b>/x.json#/`#1`[x](y)<!--"
    (done,) = decide(repo, f"/memrepo take theirs {hostile}")
    assert done.error is not None
    text = answer_text("ali`ce", [done], None)
    for part in ("<b>", "@acme", "<!--", "[x]", "`"):
        assert part not in text
    good = Decided(TakeCommand("ours", "a.json", "/b"))
    report = MergeReport("main", "pr", "", "", (), number=4)
    assert "(#4)" in answer_text("alice", [good], report)
    assert "ours is taken" in answer_text("alice", [good], report)
