"""``memrepo validate``: its modes, its formats, its paths and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import Ran, everything, memrepo, memrepo_process
from repositories import GitRepo, new_memory_repo, new_repo

MakeRepo = Callable[..., GitRepo]
CONTEXT = "state/bot/context.json"


def says(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text, "timestamp": "2026-03-01T12:00:00Z"}]


def validate(repo: GitRepo, *args: str | Path) -> Ran:
    return memrepo(repo, "validate", *args)


def codes(ran: Ran) -> list[tuple[str, str]]:
    return [(finding["path"], finding["code"]) for finding in ran.json]


@pytest.fixture
def repo(memory_repo: MakeRepo) -> GitRepo:
    return memory_repo("bot", "other")


# --- what is judged


def test_the_worktree_by_default_and_with_all(repo: GitRepo) -> None:
    assert codes(validate(repo, "--json")) == []
    repo.write_agent("bot", turns=says("my password"))
    repo.write("notes/MEMORY.md", "token\n")
    repo.write("ignored.md", "token\n")
    repo.write(".gitignore", "ignored.md\n")
    wanted = [("notes/MEMORY.md", "sensitive-word"), (CONTEXT, "sensitive-word")]
    assert codes(validate(repo, "--json")) == codes(validate(repo, "--all", "--json")) == wanted
    assert codes(validate(repo, "--all", "--rules", "protocol", "--json")) == []


def test_what_is_staged_and_not_what_lies_there(repo: GitRepo) -> None:
    repo.write_agent("bot", turns=says("my password"))
    assert codes(validate(repo, "--staged", "--json")) == []
    repo.git("add", CONTEXT)
    repo.write_agent("bot", turns=says("harmless again"))
    assert (CONTEXT, "sensitive-word") in codes(validate(repo, "--staged", "--json"))
    assert codes(validate(repo, "--all", "--json")) == []
    repo.git("add", CONTEXT)
    repo.write_agent("bot", turns=says("my password"))
    assert (CONTEXT, "sensitive-word") not in codes(validate(repo, "--staged", "--json"))


def test_staged_before_the_first_commit(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "r")
    repo.write_agent("bot", turns=says("my password"))
    assert codes(validate(repo, "--staged", "--json")) == []
    repo.git("add", "state")
    assert codes(validate(repo, "--staged", "--json")) == [(CONTEXT, "sensitive-word")]


def test_staged_deletions_and_moves(repo: GitRepo) -> None:
    repo.git("mv", "state/bot", "state/Other")
    seen = codes(validate(repo, "--staged", "--json"))
    assert ("state/Other/metadata.json", "agent-id") in seen
    assert {"case-collision", "mass-shrink"} <= {code for _, code in seen}


def test_an_index_in_the_middle_of_a_merge(repo: GitRepo) -> None:
    repo.git("checkout", "--quiet", "-b", "side")
    for branch, text in (("side", "one"), ("main", "two")):
        repo.git("checkout", "--quiet", branch)
        repo.write_agent("bot", turns=says(text))
        repo.commit(text)
    repo.git("merge", "side", check=False)
    before = everything(repo)
    assert validate(repo, "--staged").code in (0, 1)
    assert (CONTEXT, "conflict-marker") in codes(validate(repo, "--all", "--json"))
    refused = memrepo(repo, "commit", "--agent-id", "bot", "-m", "x")
    assert refused.code == 2
    assert "a merge is not finished" in refused.err
    assert memrepo(repo, "diff").code == 0
    assert everything(repo) == before


@pytest.mark.parametrize("how", [["-a"], ["--", CONTEXT], []])
def test_a_pre_commit_hook_sees_the_index_of_its_commit(how: list[str], repo: GitRepo) -> None:
    hook = repo.path / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m memrepo validate --staged\n")
    hook.chmod(0o755)
    start = repo.head()
    repo.write_agent("bot", turns=says("my password"))
    if not how:
        repo.git("add", CONTEXT)
    command = ["git", "commit", "--quiet", "-m", "x", *how]
    done = subprocess.run(command, cwd=repo.path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "sensitive-word" in done.stdout + done.stderr
    assert repo.head() == start


def test_a_change_is_what_the_head_did_since_it_left_the_base(repo: GitRepo) -> None:
    repo.git("checkout", "--quiet", "-b", "side")
    repo.write_agent("bot", turns=says("my password"))
    repo.commit("side")
    repo.git("checkout", "--quiet", "main")
    repo.write_agent("other", turns=says("a token, on main alone"))
    repo.write("state/third/context.json", "[broken")
    repo.commit("main moves on")
    seen = codes(validate(repo, "--base", "main", "--head", "side", "--json"))
    assert [path for path, code in seen if code == "sensitive-word"] == [CONTEXT]
    assert not any("third" in path or "other" in path for path, _ in seen)
    assert codes(validate(repo, "--base", "side", "--head", "side", "--json")) == []
    assert codes(validate(repo, "--base", "HEAD", "--json")) == []


def test_histories_that_never_met_are_compared_as_they_stand(repo: GitRepo) -> None:
    repo.git("checkout", "--quiet", "--orphan", "alone")
    repo.write_agent("bot", turns=says("my password"))
    repo.commit("alone")
    seen = codes(validate(repo, "--base", "main", "--head", "alone", "--json"))
    assert (CONTEXT, "sensitive-word") in seen


def test_a_shallow_clone_says_what_it_lacks(
    repo: GitRepo, bare_remote: MakeRepo, tmp_path: Path
) -> None:
    repo.write_agent("bot", turns=says("hello"))
    repo.commit("second")
    remote = bare_remote(repo)
    repo.git("clone", "--quiet", "--depth=1", f"file://{remote.path}", str(tmp_path / "shallow"))
    ran = validate(GitRepo(tmp_path / "shallow"), "--base", "HEAD~1")
    assert ran.code == 2
    assert "shallow" in ran.err


# --- paths


def test_paths(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write_agent("bot", turns=says("my password"))
    repo.write("MEMORY.md", "token\n")
    bot, memory = (CONTEXT, "sensitive-word"), ("MEMORY.md", "sensitive-word")
    monkeypatch.chdir(repo.path)
    for given, wanted in (
        ([CONTEXT], [bot]),
        (["state/bot"], [bot]),
        (["state/bot/"], [bot]),
        (["./state/../state/bot"], [bot]),
        ([str(repo.path / "state")], [bot]),
        (["state/other"], []),
        (["history"], []),
        (["MEMORY.md"], [memory]),
        (["."], [memory, bot]),
        (["state", "MEMORY.md", CONTEXT], [memory, bot]),
        (["state/bot/.."], [bot]),
    ):
        ran = memrepo_process(repo.path, "validate", "--json", *given)
        assert codes(ran) == codes(validate(repo, "--json", *given)) == wanted, given
    monkeypatch.chdir(repo.path / "state/bot")
    assert codes(validate(repo, "--json", "context.json")) == [bot]
    assert codes(validate(repo, "--json", "..")) == [bot]
    assert codes(validate(repo, "--json", "../..")) == [memory, bot]
    assert validate(repo, "../../..").code == 2
    assert validate(repo, "missing.json").code == 2


def test_one_missing_file_is_said_for_the_agent_that_is_named(repo: GitRepo) -> None:
    (repo.path / "state/bot/tools.json").unlink()
    assert codes(validate(repo, "--json", repo.path / "state/bot")) == [
        ("state/bot/tools.json", "missing-file")
    ]
    assert codes(validate(repo, "--json", repo.path / "state/other")) == []


def test_a_name_that_starts_with_a_dash(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write("-notes.md", "token\n")
    monkeypatch.chdir(repo.path)
    assert codes(validate(repo, "--json", "--", "-notes.md")) == [("-notes.md", "sensitive-word")]


@pytest.mark.parametrize(
    "args",
    [
        ["--staged", "--all"],
        ["--base", "HEAD", "--staged"],
        ["--all", "state"],
        ["--format", "xml"],
        ["--fail-on", "note"],
        ["--base", "nothing"],
        ["--base", "HEAD", "--head", "nothing"],
        ["--nonsense"],
    ],
)
def test_wrong_use(args: list[str], repo: GitRepo) -> None:
    ran = validate(repo, *args)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err


def test_no_memory_there(tmp_path: Path, repo: GitRepo, bare_remote: MakeRepo) -> None:
    plain = new_repo(tmp_path / "plain")
    remote = bare_remote(repo)
    (tmp_path / "nothing").mkdir()
    for place in (
        plain.path,
        remote.path,
        tmp_path / "nothing",
        tmp_path / "missing",
        repo.path / CONTEXT,
    ):
        ran = memrepo(place, "validate")
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 2
    assert memrepo(remote, "validate", "--base", "HEAD").code == 0


# --- formats and exit codes


@pytest.fixture
def three(repo: GitRepo) -> GitRepo:
    """One error, one warning and one note."""
    repo.write_agent("bot", turns=says("my password"))
    repo.write("state/other/tools.json", "[ ]\n")
    repo.write_agent("third", turns=[*says("b"), *says("a")])
    later = (repo.path / "state/third/context.json").read_text().replace("12:00", "13:00", 1)
    repo.write("state/third/context.json", later)
    return repo


@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
@pytest.mark.parametrize(("fail_on", "code"), [("error", 1), ("warning", 1), ("never", 0)])
def test_the_exit_code_is_the_same_in_every_format(
    form: str, fail_on: str, code: int, three: GitRepo
) -> None:
    assert validate(three, "--format", form, "--fail-on", fail_on).code == code
    warning: list[str | Path] = [three.path / "state/third", "--format", form, "--fail-on", fail_on]
    assert validate(three, *warning).code == (1 if fail_on == "warning" else 0)
    note: list[str | Path] = [three.path / "state/other", "--format", form, "--fail-on", fail_on]
    assert validate(three, *note).code == 0


def test_every_format_tells_the_same_findings(three: GitRepo) -> None:
    listed: list[dict[str, Any]] = validate(three, "--json").json
    assert [(f["severity"], f["code"]) for f in listed] == [
        ("error", "sensitive-word"), ("warning", "context-order"), ("note", "format"),
    ]  # fmt: skip
    assert validate(three, "--format", "json").json == listed
    text = validate(three, "--format", "text").out
    assert all(
        f"{f['path']}:{f['line']}:{f['column']}: {f['severity']} {f['code']}" in text
        for f in listed
    )
    lines = validate(three, "--format", "github").out.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    run = validate(three, "--format", "sarif").json["runs"][0]
    assert [result["ruleId"] for result in run["results"]] == [f["code"] for f in listed]
    places = [r["locations"][0]["physicalLocation"] for r in run["results"]]
    assert [p["artifactLocation"]["uri"] for p in places] == [f["path"] for f in listed]
    assert [p["region"]["startLine"] for p in places] == [f["line"] for f in listed]


def test_nothing_is_found_and_nothing_is_written(repo: GitRepo) -> None:
    before = everything(repo)
    assert validate(repo).out == "No findings.\n"
    assert validate(repo, "--json").out == "[]\n"
    assert validate(repo, "--format", "github").out == ""
    assert validate(repo, "--format", "sarif").json["runs"][0]["results"] == []
    assert everything(repo) == before


def test_the_policy_in_force_is_the_one_of_the_trusted_side(repo: GitRepo) -> None:
    repo.write(".memrepo/policy.yml", "severity: {sensitive-word: off}\n")
    repo.write_agent("bot", turns=says("my password"))
    assert codes(validate(repo, "--json")) == []  # files on disk: the policy beside them
    repo.git("add", ".")
    staged = codes(validate(repo, "--staged", "--json"))
    assert {(CONTEXT, "sensitive-word"), (".memrepo/policy.yml", "policy-changed")} <= set(staged)
    start = repo.head()
    repo.commit("loosen")
    assert (CONTEXT, "sensitive-word") in codes(validate(repo, "--base", start, "--json"))
    assert codes(validate(repo, "--base", "HEAD", "--json")) == []
    # And a commit is judged by the policy of HEAD, not by the one that lies beside it.
    repo.write(".memrepo/policy.yml", "severity: {sensitive-word: error}\n")
    repo.write_agent("bot", turns=says("my other password"))
    assert memrepo(repo, "commit", "--agent-id", "bot", "-m", "x").code == 0


def test_a_worktree_that_is_elsewhere(tmp_path: Path) -> None:
    repo = new_memory_repo(tmp_path / "main", "bot")
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = GitRepo(tmp_path / "side")
    side.write_agent("bot", turns=says("my password"))
    assert codes(validate(side, "--json")) == [(CONTEXT, "sensitive-word")]
    assert codes(validate(repo, "--json")) == []


def test_a_folder_whose_path_is_odd(tmp_path: Path) -> None:
    for name in ("with space", "quo'te\"s", "línea\nnueva", "-dash", os.fsdecode(b"\xff")):
        repo = new_memory_repo(tmp_path / name, "bot")
        repo.write_agent("bot", turns=says("my password"))
        assert codes(memrepo(repo, "validate", "--json")) == [(CONTEXT, "sensitive-word")]
        repo.write_agent("bot", version="1.0.1")
        done = memrepo(repo, "commit", "--agent-id", "bot", "-m", "x")
        assert done.code == 0
        assert json.loads(memrepo(repo, "history", "--agent-id", "bot", "--json").out)
