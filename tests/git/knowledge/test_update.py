"""``memrepo knowledge update``: what a source gives, on its branch, in one commit or none."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commandline import everything, memrepo_process
from knowledgework import merge_now, on_main, origin, tools, tools_of
from memrepo import MemoryRepo
from memrepo.errors import GateRefused, UsageError
from memrepo.knowledge.source import read_source
from memrepo.knowledge.update import Updated, update
from memrepo.knowledge.updateplan import removed_words
from repositories import GitRepo

Make = Callable[..., GitRepo]


def bring(
    repo: GitRepo, given: Any, source: str = "wiki", agent: str = "bot", **how: Any
) -> Updated:
    data = given if isinstance(given, bytes) else msgspec.json.encode(given)
    how = {"remote": "origin"} | how
    with MemoryRepo(repo.path) as memory:
        return update(memory, source, agent, read_source(data), **how)


def metadata(repo: GitRepo, rev: str, agent: str = "bot") -> dict[str, str]:
    found: dict[str, str] = json.loads(repo.read(f"state/{agent}/metadata.json", rev))
    return found


def test_one_commit_on_a_new_branch_and_no_worktree_touched(work: GitRepo) -> None:
    work.write("notes.txt", "mine\n")
    before = everything(work)
    done = bring(work, tools("find", "refund", "wiki"), revision="etag-7")
    assert (done.changed, done.created, done.branch) == (True, True, "knowledge/wiki")
    remote = origin(work)
    assert remote.head("knowledge/wiki") == done.commit
    assert remote.git("rev-list", "--count", "main..knowledge/wiki") == "1"
    assert list(tools_of(remote, "knowledge/wiki")) == ["find", "refund", "wiki"]
    message = remote.git("log", "-1", "--format=%B", "knowledge/wiki")
    assert message.startswith("bot: tools: 1 added\n")
    assert message.rstrip().endswith("Agent-Id: bot\nSource: wiki\nSource-Revision: etag-7")
    assert remote.git("diff", "--name-only", "main", "knowledge/wiki").splitlines() == [
        "state/bot/metadata.json", "state/bot/tools.json",
    ]  # fmt: skip
    assert metadata(remote, "knowledge/wiki")["version"] == "1.1.0"
    after = everything(work)
    assert (before[0], before[2:]) == (after[0], after[2:])
    assert work.git("branch", "--list") == "* main"


@pytest.mark.parametrize("same", ["order", "form"])
def test_nothing_where_only_order_or_form_differs(work: GitRepo, same: str) -> None:
    bring(work, tools("find", "refund", "wiki"))
    tip = origin(work).head("knowledge/wiki")
    given = tools("find", "refund", "wiki")
    forms = {"order": given[::-1], "form": json.dumps(given, indent=7, sort_keys=True).encode()}
    done = bring(work, forms[same])
    assert (done.changed, done.commit) == (False, tip)
    assert origin(work).head("knowledge/wiki") == tip


def test_the_version_takes_the_step_that_the_change_asks_for(work: GitRepo) -> None:
    steps = [
        (tools("find", "refund", find="Reworded."), "1.0.1"),
        (tools("find", "refund", "more", find="Reworded."), "1.1.0"),
        (tools("find", "refund", find="Reworded."), "2.0.0"),
    ]
    for given, version in steps:
        assert bring(work, given).changed
        assert metadata(origin(work), "knowledge/wiki")["version"] == version


def test_a_new_agent_begins_with_no_turns(work: GitRepo) -> None:
    done = bring(work, tools("find"), agent="crm-bot")
    remote = origin(work)
    assert remote.read("state/crm-bot/context.json", done.commit) == b"[]\n"
    assert metadata(remote, done.commit, "crm-bot")["version"] == "1.0.0"
    assert merge_now(work).merged == ("knowledge/wiki",)


def test_turns_stay_and_only_the_changed_tool_is_written_anew(work: GitRepo) -> None:
    given = [dict(reversed(tool.items())) for tool in tools("refund", "find", find="Other.")]
    done = bring(work, given)
    remote = origin(work)
    assert remote.read("state/bot/context.json", done.commit) == work.read("state/bot/context.json")
    changed = remote.git("diff", "--numstat", "main", done.commit, "--", "state/bot/tools.json")
    assert changed.split()[:2] == ["1", "1"]


def test_what_breaks_a_rule_never_gets_on_the_branch(work: GitRepo) -> None:
    key = "AKIA" + "IOSFODNN7QRSTUVW"
    with pytest.raises(GateRefused):
        bring(work, tools("find", find=f"Use {key}."))
    assert origin(work).git("branch", "--list", "knowledge/*") == ""


def test_a_message_passes_for_no_trailer(work: GitRepo) -> None:
    done = bring(work, tools("x"), message="x\n\nSource: forged\nKnowledge-Commit: " + "0" * 40)
    message = origin(work).git("log", "-1", "--format=%B", done.commit)
    assert "> Source: forged\n> Knowledge-Commit:" in message


@pytest.mark.parametrize("source", ["", "a b", "../x", "-x", "x.lock", "x\ny", "$(id)", "x/"])
def test_a_source_that_can_name_no_branch(work: GitRepo, source: str) -> None:
    with pytest.raises(UsageError, match="source"):
        bring(work, tools("x"), source=source)


def test_a_dry_run_moves_nothing(work: GitRepo) -> None:
    done = bring(work, tools("x"), dry_run=True)
    assert done.changed
    assert origin(work).git("branch", "--list", "knowledge/*") == ""


def test_in_a_bare_repository_of_ones_own(bare_remote: Make, memory_repo: Make) -> None:
    bare = bare_remote(memory_repo("bot"))
    done = bring(bare, tools("x"), remote=None)
    assert bare.head("knowledge/wiki") == done.commit


def test_writers_at_once_all_get_in(work: GitRepo, clone: Make, tmp_path: Path) -> None:
    """Eight processes, one branch: each brings its own agent, and none is lost."""
    (tmp_path / "tools.json").write_bytes(msgspec.json.encode(tools("find")))
    command = [sys.executable, "-m", "memrepo", "knowledge", "update", "--source", "wiki"]
    runs = [
        subprocess.Popen(
            [*command, "--agent-id", f"agent-{n}", "--from", str(tmp_path / "tools.json")],
            cwd=clone(origin(work), f"clone-{n}").path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for n in range(8)
    ]
    said = [run.communicate(timeout=120)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 8, said
    listed = origin(work).git("ls-tree", "--name-only", "knowledge/wiki", "state/")
    assert [f"state/agent-{n}" for n in range(8)] == [
        name for name in listed.splitlines() if "agent-" in name
    ]
    assert origin(work).git("rev-list", "--count", "main..knowledge/wiki") == "8"
    assert merge_now(work).commits == 8


def brought(work: GitRepo, *names: str, source: str = "wiki", **described: str) -> list[str]:
    """The agent's tools on the source's branch after it gave these."""
    bring(work, tools(*names, **described), source)
    return list(tools_of(origin(work), f"knowledge/{source}"))


def test_a_source_takes_out_only_what_it_brought_itself(work: GitRepo) -> None:
    assert brought(work, "crm", source="crm") == ["crm", "find", "refund"]
    merge_now(work)
    done = bring(work, tools("wiki", "more"))
    assert done.kept == ("crm", "find", "refund")
    assert done.diff.removed == ()
    merge_now(work)
    assert list(tools_of(origin(work))) == ["wiki", "more", "crm", "find", "refund"]
    done = bring(work, tools("wiki"))
    assert [tool.name for tool in done.diff.removed] == ["more"]
    assert brought(work, "wiki", "crm") == ["wiki", "crm", "find", "refund"]
    assert brought(work, "wiki") == ["wiki", "crm", "find", "refund"]
    merge_now(work)
    assert list(tools_of(origin(work))) == ["wiki", "crm", "find", "refund"]


def test_what_it_brought_is_known_on_a_branch_that_begins_again(work: GitRepo) -> None:
    brought(work, "find", "one", "two")
    merge_now(work)
    origin(work).git("branch", "-D", "knowledge/wiki")
    assert brought(work, "one") == ["find", "one", "refund"]


def test_what_another_brought_again_is_no_longer_its_own(work: GitRepo) -> None:
    for names in (("one", "two"), ("one",)):
        brought(work, *names)
        merge_now(work)
    brought(work, "two", source="crm")
    merge_now(work)
    origin(work).git("branch", "-f", "knowledge/wiki", "main")
    assert set(brought(work, "one")) == {"one", "two", "find", "refund"}


def test_a_clone_without_the_history_knows_what_the_source_brought(work: GitRepo) -> None:
    brought(work, "one", "two")
    for number in range(3):
        bring(work, tools("one", "two", one=f"Says {number}."))
    shallow = GitRepo(work.path.parent / "shallow")
    work.git("clone", "--quiet", "--depth=1", f"file://{origin(work).path}", str(shallow.path))
    done = bring(shallow, tools("two"))
    assert ([tool.name for tool in done.diff.removed], done.kept) == (["one"], ("find", "refund"))


def test_words_of_an_agent_make_no_tool_a_sources(work: GitRepo) -> None:
    work.write_agent("bot", tools=tools("find", "refund", "mine"))
    work.commit("bot: learn\n\nAgent-Id: bot\nSource: wiki")
    work.git("push", "--quiet", "origin", "main")
    assert brought(work, "refund", refund="Pays.") == ["find", "refund", "mine"]


def test_replace_makes_the_list_the_whole_list_and_says_what_goes(
    work: GitRepo, tmp_path: Path
) -> None:
    given = tmp_path / "given.json"
    given.write_bytes(msgspec.json.encode(tools("find", "new", new="Quite another thing.")))
    command = ["knowledge", "update", "--source", "wiki", "--agent-id", "bot", "--from", str(given)]
    kept = memrepo_process(work.path, *command, "--dry-run")
    assert "removes" not in kept.out
    assert kept.err == "kept: refund (never brought by wiki; replace would take it out)\n"
    for more in (["--dry-run"], []):
        done = memrepo_process(work.path, *command, "--replace", *more)
        assert "removes: refund\n" in done.out
    assert list(tools_of(origin(work), "knowledge/wiki")) == ["find", "new"]
    status = memrepo_process(work.path, "knowledge", "status")
    assert "    removes: refund of bot\n" in status.out
    for mode in ("--dry-run", "--mode=push"):
        merged = memrepo_process(work.path, "knowledge", "merge", mode)
        assert "    removes: refund of bot\n" in merged.out
    assert list(tools_of(origin(work))) == ["find", "new"]


def test_a_tool_renamed_by_the_whole_list_is_said_too(work: GitRepo) -> None:
    renamed = tools("find", "refund")
    renamed[1]["name"] = "refunds"
    done = bring(work, renamed, replace=True)
    assert removed_words(done.diff) == "refund (now refunds)"


@pytest.mark.parametrize("required", [[], ["q"]])
def test_a_server_that_spells_parameters_as_a_schema_meets_a_reworded_tool(
    work: GitRepo, required: list[str]
) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": required}
    answer = {"tools": [{"name": "find", "description": "Does find.", "inputSchema": schema}]}
    bring(work, answer)
    on_main(work, lambda: work.write_agent("bot", tools=tools("find", "refund", find="Finds.")))
    assert merge_now(work).exit_code == 0
    found = tools_of(origin(work))["find"]
    assert (found["description"], found["parameters"]) == ("Finds.", schema)
