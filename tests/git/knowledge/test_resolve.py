"""Decisions: recorded once, used where the three values are the same, and the way to them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commandline import memrepo_process
from knowledgework import merge_now, on_branch, on_main, origin, tools, tools_of
from memrepo import MemoryRepo
from memrepo.errors import BadInput, UsageError
from memrepo.knowledge.render import status_lines
from memrepo.knowledge.resolutions import FOLDER
from memrepo.knowledge.resolve import Choice, parse_take, resolve
from memrepo.knowledge.status import statuses
from repositories import GitRepo

TOOLS = "state/bot/tools.json"
PLACE = "/refund/description"


@pytest.fixture
def torn(work: GitRepo) -> GitRepo:
    """Main and ``knowledge/wiki`` describe refund in two ways."""
    on_branch(work, "wiki", lambda: describe(work, "B."))
    on_main(work, lambda: describe(work, "A."))
    return work


def describe(repo: GitRepo, refund: str) -> None:
    repo.write_agent("bot", tools=tools("find", "refund", refund=refund))


def decide(repo: GitRepo, take: str, pointer: str = PLACE, **options: Any) -> Any:
    side, value = parse_take(take)
    given = {key: options.pop(key) for key in ("branch", "reason", "by") if key in options}
    choice = Choice(TOOLS, pointer, side, value, **given)
    with MemoryRepo(repo.path) as memory:
        return resolve(memory, choice, remote="origin", **options)


@pytest.mark.parametrize(
    ("take", "text"),
    [("theirs", "B."), ("ours", "A."), ("base", "Does refund."), ('value:"C."', "C.")],
)
def test_the_next_run_takes_what_was_decided_and_says_so(
    torn: GitRepo, take: str, text: str
) -> None:
    assert merge_now(torn).exit_code == 3
    done = decide(torn, take, branch="wiki", reason="The wiki is checked by legal.")
    remote = origin(torn)
    record = json.loads(remote.read(done.paths[0], "main"))
    assert record["by"] == "Test Person <test@example.org>"
    assert (record["reason"], record["branch"]) == (
        "The wiki is checked by legal.",
        "knowledge/wiki",
    )
    assert (record["ours"]["value"], record["theirs"]["value"]) == ("A.", "B.")
    after = merge_now(torn)
    assert after.exit_code == 0
    assert tools_of(remote)["refund"]["description"] == text
    assert [note.kind for note in after.branches[0].notes] == ["resolved"]
    assert merge_now(torn).exit_code == 0


def test_other_values_ask_again(torn: GitRepo) -> None:
    decide(torn, "theirs")
    on_main(torn, lambda: describe(torn, "A2."))
    done = merge_now(torn)
    assert done.exit_code == 3
    (found,) = done.branches[0].conflicts
    assert found.conflict.ours == "A2."
    assert "other values" in found.conflict.message


def test_a_decision_is_one_commit_of_one_file(torn: GitRepo) -> None:
    before = origin(torn).head("main")
    done = decide(torn, "theirs", by="octocat", reason="Because.\n\nSource: forged")
    remote = origin(torn)
    assert remote.git("diff", "--name-only", before, "main").splitlines() == list(done.paths)
    assert done.paths[0].startswith(f"{FOLDER}/state-bot-tools-json-refund-description-")
    message = remote.git("log", "-1", "--format=%B", "main")
    assert "> Source: forged" in message
    assert message.rstrip().endswith("\n\nDecided-By: octocat")


def test_the_same_decision_twice_is_recorded_once(torn: GitRepo) -> None:
    done = decide(torn, "theirs", by="octocat", reason="Because.")
    tip = origin(torn).head("main")
    for reason in ("Because.", ""):
        again = decide(torn, "theirs", branch="wiki", by="hubot", reason=reason)
        assert (again.already, again.paths, again.commit) == (True, done.paths, tip)
    assert origin(torn).head("main") == tip
    command = ("knowledge", "resolve", "--path", TOOLS, "--pointer", PLACE, "--take", "theirs")
    said = memrepo_process(torn.path, *command)
    assert said.out == f"recorded already: {done.paths[0]}\nbranch: main\n"
    for other in (decide(torn, "theirs", reason="No."), decide(torn, "ours", reason="No.")):
        assert (other.already, other.paths) == (False, done.paths)
    assert not decide(torn, 'value:"1"').already
    assert decide(torn, 'value:"1"').already
    assert merge_now(torn).exit_code == 0


def test_a_pointer_without_its_slash_gets_the_right_one_named(torn: GitRepo) -> None:
    with pytest.raises(UsageError) as caught:
        decide(torn, "theirs", PLACE[1:])
    assert caught.value.hint == f"did you mean {PLACE}? open are: {TOOLS}#{PLACE} (knowledge/wiki)"


def test_a_place_of_two_branches_is_listed_once_with_both(torn: GitRepo) -> None:
    torn.git("push", "--quiet", "origin", "origin/main~1:refs/heads/knowledge/crm")
    on_branch(torn, "crm", lambda: describe(torn, "D."))
    with pytest.raises(UsageError) as caught:
        decide(torn, "theirs", "/find")
    assert caught.value.hint == f"open are: {TOOLS}#{PLACE} (knowledge/crm, knowledge/wiki)"


def test_each_open_place_comes_with_the_command_that_decides_it(work: GitRepo) -> None:
    both = ("find", "refund")
    for change, text in ((partial(on_branch, work, "wiki"), "B."), (partial(on_main, work), "A.")):
        described = dict.fromkeys(both, text)
        change(partial(work.write_agent, "bot", tools=tools(*both, **described)))
    said = memrepo_process(work.path, "knowledge", "merge").out
    lines = [line for line in said.splitlines() if line.startswith("      decide: ")]
    assert [
        f"--pointer /{name}/description --take" in line
        for name, line in zip(both, lines, strict=True)
    ] == [True, True]


def test_a_decision_about_one_branch_is_no_news_to_another(torn: GitRepo) -> None:
    torn.git("push", "--quiet", "origin", "origin/main~1:refs/heads/knowledge/crm")
    decide(torn, "theirs", branch="wiki")
    on_branch(torn, "crm", lambda: describe(torn, "D."))
    on_main(torn, lambda: describe(torn, "A2."))
    found = {one.branch: one.conflicts[0].conflict.message for one in merge_now(torn).branches}
    assert "other values" not in found["knowledge/crm"]
    assert "other values" in found["knowledge/wiki"]


def test_status_plays_the_branches_one_after_the_other(work: GitRepo) -> None:
    on_branch(work, "a", lambda: work.write_agent("bot", tools=tools("find", "refund", "more")))
    on_branch(work, "crm", lambda: describe(work, "C."))
    on_branch(work, "wiki", lambda: describe(work, "B."))
    with MemoryRepo(work.path) as memory:
        rows = statuses(memory, remote="origin")
    assert [(row.outcome.result, row.after) for row in rows] == [
        ("merged", ()), ("merged", ()), ("conflict", ("knowledge/crm",)),
    ]  # fmt: skip
    assert [(row.outcome.ahead, row.outcome.behind) for row in rows] == [(1, 0)] * 3
    (said,) = [line for line in status_lines(rows[2]) if line.startswith("knowledge/wiki")]
    assert "; would conflict after knowledge/crm: 1 place where" in said
    assert rows[2].as_json()["after"] == ["knowledge/crm"]
    on_main(work, lambda: describe(work, "A."))
    with MemoryRepo(work.path) as memory:
        rows = statuses(memory, remote="origin")
    assert [(row.outcome.result, row.after) for row in rows[1:]] == [("conflict", ())] * 2


def test_a_place_without_a_conflict_says_which_are_open(torn: GitRepo) -> None:
    with pytest.raises(UsageError, match="no conflict at") as caught:
        decide(torn, "theirs", "/find/description")
    assert f"{TOOLS}#{PLACE}" in caught.value.hint


def test_two_branches_at_one_place_must_be_told_apart(torn: GitRepo) -> None:
    torn.git("push", "--quiet", "origin", "origin/main~1:refs/heads/knowledge/crm")
    on_branch(torn, "crm", lambda: describe(torn, "D."))
    with pytest.raises(UsageError, match=r"knowledge/crm, knowledge/wiki"):
        decide(torn, "theirs")
    assert len(decide(torn, "ours").paths) == 2
    assert merge_now(torn).exit_code == 0
    assert tools_of(origin(torn))["refund"]["description"] == "A."


@pytest.mark.parametrize("take", ["mine", "value", "value:", "value:{", "Theirs", ""])
def test_what_is_no_choice(take: str) -> None:
    with pytest.raises((UsageError, BadInput)):
        parse_take(take)


@pytest.mark.parametrize("take", ["value:5", "value:null", 'value:{"a": 1}'])
def test_a_value_that_the_file_cannot_hold_is_not_recorded(torn: GitRepo, take: str) -> None:
    tip = origin(torn).head("main")
    with pytest.raises(UsageError, match=r"cannot stand at .*gives no text") as caught:
        decide(torn, take)
    assert "nothing was recorded" in caught.value.hint
    assert origin(torn).head("main") == tip


def test_a_record_that_is_none_is_named_and_decides_nothing(torn: GitRepo) -> None:
    def broken() -> Path:
        text = '{"path": "state/bot/tools.json", "take": "theirs"}\n'
        return torn.write(f"{FOLDER}/mine.json", text)

    on_main(torn, broken)
    done = merge_now(torn)
    assert done.exit_code == 3
    assert any("mine.json" in note for note in done.notes)


def test_a_source_cannot_decide_for_itself(torn: GitRepo) -> None:
    decide(torn, "theirs")
    record = origin(torn).git("ls-tree", "-r", "--name-only", "main", f"{FOLDER}/")
    data = origin(torn).read(record, "main").replace(b"theirs", b"ours", 1)
    on_branch(torn, "evil", lambda: torn.write(f"{FOLDER}/evil.json", data))
    done = merge_now(torn)
    evil = next(one for one in done.branches if one.branch == "knowledge/evil")
    assert evil.result == "refused"
    assert ".memrepo/resolutions/evil.json" in evil.message
