"""Knowledge branches brought into main: what lands, what is left out, and what stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pytest

from knowledgework import merge_now, on_branch, on_main, origin, subjects, tools, tools_of
from memrepo.errors import UsageError
from memrepo.knowledge.render import render_report, report_lines
from repositories import GitRepo

POLICY = ".memrepo/policy.yml"


def write_tools(repo: GitRepo, *names: str, agent: str = "bot", **described: str) -> None:
    repo.write_agent(agent, tools=tools(*names, **described))


def test_both_sides_are_joined_and_history_stays_a_line(work: GitRepo) -> None:
    made = on_branch(
        work, "wiki",
        lambda: write_tools(work, "find", "refund", find="Finds more."),
        lambda: write_tools(work, "find", "refund", "wiki", find="Finds more."),
    )  # fmt: skip
    on_main(work, lambda: write_tools(work, "find", "refund", refund="Pays."))
    done = merge_now(work)
    assert (done.exit_code, done.merged, done.moved) == (0, ("knowledge/wiki",), True)
    remote = origin(work)
    texts = [tool["description"] for tool in tools_of(remote).values()]
    assert texts == ["Finds more.", "Pays.", "Does wiki."]
    form = (
        "%an <%ae>|%ad|%cn|%P|%s|%(trailers:key=Source-Revision)|%(trailers:key=Knowledge-Commit)"
    )
    log = remote.git("log", "-z", "-2", f"--format={form}", "--date=iso-strict", "main")
    for line, number in zip(log.split("\0"), (1, 0), strict=False):
        who, date, committer, parents, subject, revision, mark = line.strip().split("|")
        assert (who, committer) == ("Wiki <wiki@example.org>", "Test Person")
        assert date == f"2026-02-0{number + 1}T10:00:00+02:00"
        assert len(parents.split()) == 1
        assert subject == f"from wiki {number}"
        assert revision.strip() == f"Source-Revision: r{number}"
        assert mark.strip() == f"Knowledge-Commit: {made[number]}"
    assert remote.head("knowledge/wiki") == work.head("knowledge/wiki") == made[-1]
    assert (work.git("status", "--porcelain"), work.head()) == ("", remote.head("main"))


def test_the_second_run_says_nothing_to_do(work: GitRepo) -> None:
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", "wiki"))
    merge_now(work)
    tip = origin(work).head("main")
    again = merge_now(work)
    assert (again.moved, again.exit_code, again.commits) == (False, 0, 0)
    assert "nothing to do" in list(report_lines(again))[-1]
    assert origin(work).head("main") == tip


def test_only_what_is_new_is_replayed_although_the_branch_is_not_rewritten(work: GitRepo) -> None:
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", find="One."))
    merge_now(work)
    # Main goes on in the same place: the branch's first commit must not be asked again.
    on_main(work, lambda: write_tools(work, "find", "refund", find="Two."))
    assert merge_now(work).moved is False
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", "wiki", find="One."))
    done = merge_now(work)
    assert (done.exit_code, done.commits) == (0, 1)
    there = tools_of(origin(work))
    assert (list(there), there["find"]["description"]) == (["find", "refund", "wiki"], "Two.")


def test_a_commit_that_main_has_already_is_dropped_and_counted(work: GitRepo) -> None:
    on_branch(
        work, "wiki",
        lambda: write_tools(work, "find", "refund", find="New."),
        lambda: None,
        lambda: write_tools(work, "find", "refund", "wiki", find="New."),
    )  # fmt: skip
    on_main(work, lambda: write_tools(work, "find", "refund", find="New."))
    done = merge_now(work)
    assert (done.commits, done.branches[0].empty, done.exit_code) == (1, 2, 0)
    on_main(work, lambda: write_tools(work, "find", "refund", "wiki", find="Newer."))
    assert merge_now(work).branches[0].result == "nothing"


def test_a_branch_in_conflict_is_left_out_whole_and_the_others_go_on(work: GitRepo) -> None:
    on_branch(work, "api", lambda: write_tools(work, "find", "refund", "api"), author="Api")
    theirs = on_branch(
        work, "wiki",
        lambda: write_tools(work, "find", "refund", "wiki"),
        lambda: write_tools(work, "find", "refund", "wiki", refund="Refunds in a day."),
    )  # fmt: skip
    ours = on_main(work, lambda: write_tools(work, "find", "refund", refund="Refunds at once."))
    done = merge_now(work)
    assert (done.exit_code, done.merged) == (3, ("knowledge/api",))
    assert list(tools_of(origin(work))) == ["find", "refund", "api"]
    (found,) = next(one for one in done.branches if one.left_out).conflicts
    conflict = found.conflict
    assert (conflict.path, conflict.pointer) == ("state/bot/tools.json", "/refund/description")
    values = (conflict.base, conflict.ours, conflict.theirs)
    assert values == ("Does refund.", "Refunds at once.", "Refunds in a day.")
    # The file was changed once more on main since, but not at this place.
    assert (found.theirs.commit, found.theirs.author) == (theirs[1], "Wiki <wiki@example.org>")
    assert (found.ours.commit, found.ours.subject) == (ours, "by hand")
    text = render_report(done)
    assert "state/bot/tools.json&#x23;/refund/description" in text
    assert "Refunds in a day." in text


def test_what_a_branch_said_in_between_does_not_count(work: GitRepo) -> None:
    on_branch(
        work, "wiki",
        lambda: write_tools(work, "find", "refund", refund="One."),
        lambda: write_tools(work, "find", "refund", "wiki", refund="Two."),
        lambda: write_tools(work, "find", "refund", "wiki"),
    )  # fmt: skip
    on_main(work, lambda: write_tools(work, "find", "refund", refund="Pays."))
    done = merge_now(work)
    assert (done.exit_code, done.merged) == (0, ("knowledge/wiki",))
    there = tools_of(origin(work))
    assert (list(there), there["refund"]["description"]) == (["find", "refund", "wiki"], "Pays.")
    assert done.branches[0].empty == 2


def test_the_order_is_the_policys_and_then_by_name(work: GitRepo) -> None:
    work.write(POLICY, "knowledge:\n  order: [wiki]\n")
    on_main(work, lambda: None)
    for source in ("api", "crm", "wiki"):
        on_branch(work, source, partial(write_tools, work, source, agent=source))
    done = merge_now(work)
    assert [one.branch for one in done.branches] == [
        "knowledge/wiki", "knowledge/api", "knowledge/crm",
    ]  # fmt: skip
    assert subjects(origin(work), "main~3..main") == ["from wiki 0", "from api 0", "from crm 0"]


def test_a_named_branch_alone(work: GitRepo) -> None:
    for source in ("api", "wiki"):
        on_branch(work, source, partial(write_tools, work, source, agent=source))
    assert merge_now(work, "wiki").merged == ("knowledge/wiki",)
    assert merge_now(work, "knowledge/api").merged == ("knowledge/api",)


def test_a_dry_run_moves_nothing(work: GitRepo) -> None:
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", "wiki"))
    refs = origin(work).git("for-each-ref")
    done = merge_now(work, mode="dry-run")
    assert (done.moved, done.merged, done.commits) == (False, ("knowledge/wiki",), 1)
    assert origin(work).git("for-each-ref") == refs
    assert "would go" in list(report_lines(done))[-1]


def test_what_breaks_a_rule_is_left_out_like_a_pull_request_would_be(work: GitRepo) -> None:
    key = "AKIA" + "IOSFODNN7QRSTUVW"
    on_branch(work, "crm", lambda: write_tools(work, "find", "refund", find=f"Key {key}."))
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", "wiki"))
    done = merge_now(work)
    assert (done.exit_code, done.merged) == (3, ("knowledge/wiki",))
    left = done.branches[0]
    assert (left.result, {f.code for f in left.findings if f.severity == "error"}) == (
        "invalid", {"secret"},
    )  # fmt: skip
    assert key not in render_report(done)
    assert key not in json.dumps(done.as_json())


def test_both_bump_the_version_and_the_report_names_it(work: GitRepo) -> None:
    on_branch(
        work, "wiki",
        lambda: work.write_agent("bot", tools=tools("find", "refund", "wiki"), version="1.1.0"),
    )  # fmt: skip
    on_main(work, lambda: work.write_agent("bot", tools=tools("find", "refund"), version="1.2.0"))
    done = merge_now(work)
    assert [note.kind for note in done.branches[0].notes] == ["version-higher"]
    assert json.loads(origin(work).read("state/bot/metadata.json", "main"))["version"] == "1.2.0"
    assert "1.2.0" in render_report(done)


def test_rewrite_moves_a_merged_branch_onto_main(work: GitRepo) -> None:
    work.write(POLICY, "knowledge:\n  rewrite: true\n")
    on_main(work, lambda: None)
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", "wiki"))
    on_main(work, lambda: write_tools(work, "find", "refund", find="New."))
    done = merge_now(work)
    assert done.rewritten == ("knowledge/wiki",)
    remote = origin(work)
    assert remote.head("knowledge/wiki") == remote.head("main")
    assert merge_now(work).rewritten == ()


@pytest.mark.parametrize("name", ["nothing", "a;b", "$(touch${IFS}x)", "knowledge/wiki"])
def test_a_branch_that_does_not_exist_is_said_at_once(work: GitRepo, name: str) -> None:
    with pytest.raises(UsageError, match="there is no branch"):
        merge_now(work, name)


def test_a_target_that_does_not_exist_is_said_at_once(work: GitRepo) -> None:
    with pytest.raises(UsageError, match="there is no branch trunk"):
        merge_now(work, into="trunk")


Make = Callable[..., GitRepo]


def test_without_a_remote_the_checked_out_main_follows(memory_repo: Make) -> None:
    repo = memory_repo("bot")
    repo.git("switch", "--quiet", "--create", "knowledge/wiki")
    write_tools(repo, "wiki")
    repo.commit("from the wiki")
    repo.git("switch", "--quiet", "main")
    repo.write("notes.txt", "mine\n")
    done = merge_now(repo, remote=None)
    assert done.merged == ("knowledge/wiki",)
    assert list(tools_of(repo)) == ["wiki"]
    assert repo.git("status", "--porcelain") == "?? notes.txt"
