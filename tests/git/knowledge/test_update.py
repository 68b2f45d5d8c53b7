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

from commandline import everything
from knowledgework import merge_now, origin, tools, tools_of
from memrepo import MemoryRepo
from memrepo.errors import GateRefused, UsageError
from memrepo.knowledge.source import read_source
from memrepo.knowledge.update import Updated, update
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
        (tools("find", "more", find="Reworded."), "2.0.0"),
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
