"""The environment that Git gets, and the words for its failures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memrepo.errors import GitFailed, NotAMemoryRepo, PermissionDenied, RemoteFailed
from memrepo.gitrepo.process import (
    GitResult,
    failure,
    git_env,
    plain,
    reason,
    run_git,
    verb,
)


def test_what_points_at_another_repository_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, "/elsewhere")
    kept = {
        "GIT_SSH_COMMAND": "ssh -v",
        "GIT_ASKPASS": "ask",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "a.b",
        "GIT_CONFIG_VALUE_0": "c",
        "GIT_AUTHOR_NAME": "A",
        "GIT_COMMITTER_EMAIL": "c@example.org",
        "GIT_ALLOW_PROTOCOL": "file",
    }
    for name, value in kept.items():
        monkeypatch.setenv(name, value)
    env = git_env({"GIT_INDEX_FILE": "mine"})
    assert "GIT_DIR" not in env
    assert "GIT_WORK_TREE" not in env
    assert "GIT_OBJECT_DIRECTORY" not in env
    assert env["GIT_INDEX_FILE"] == "mine"
    assert kept.items() <= env.items()
    assert (env["LC_ALL"], env["GIT_TERMINAL_PROMPT"]) == ("C", "0")


def test_a_hook_s_repository_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "other"):
        run_git(["init", "--quiet", name], cwd=tmp_path)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    done = run_git(["rev-parse", "--show-toplevel"], cwd=tmp_path / "one")
    assert Path(done.out.decode().strip()) == (tmp_path / "one").resolve()


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NotAMemoryRepo, match="not inside a Git repository"):
        run_git(["status"], cwd=tmp_path)
    with pytest.raises(NotAMemoryRepo, match="not a folder"):
        run_git(["status"], cwd=tmp_path / "nowhere")


def test_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitFailed, match="git was not found"):
        run_git(["status"], cwd=tmp_path)


def test_unchecked_failures_come_back(tmp_path: Path) -> None:
    done = run_git(["rev-parse"], cwd=tmp_path, check=False)
    assert done.code == 128
    assert b"not a git repository" in done.err


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("fatal: detected dubious ownership in repository at '/x'", PermissionDenied),
        ("git@host: Permission denied (publickey).", PermissionDenied),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled",) * 1
        + (PermissionDenied,),
        ("fatal: unable to access 'https://x/': Could not resolve host: x", RemoteFailed),
        ("fatal: '/x.git' does not appear to be a git repository", RemoteFailed),
        ("fatal: not a git repository (or any of the parent directories): .git", NotAMemoryRepo),
        ("fatal: something else", GitFailed),
    ],
)
def test_each_failure_has_its_class(text: str, kind: type[Exception]) -> None:
    error = failure(["-c", "a=b", "fetch"], GitResult(128, b"", text.encode()), Path("/x"))
    assert type(error) is kind
    assert "\n" not in error.message


def test_dubious_ownership_says_what_to_do() -> None:
    text = b"fatal: detected dubious ownership in repository at '/x'"
    error = failure(["status"], GitResult(128, b"", text), Path("/x"))
    assert error.hint.endswith("safe.directory /x")


def test_words() -> None:
    assert verb(["-c", "a=b", "--no-pager", "push", "--porcelain"]) == "push"
    assert reason("hint: x\nfatal: bad\n") == "bad"
    assert plain("a\x1b[31m\u202eb\n") == "a<U+001B>[31m<U+202E>b<U+000A>"
    assert plain("x" * 500) == "x" * 400 + "…"


def test_a_deadline_is_kept(tmp_path: Path) -> None:
    script = tmp_path / "git-sleepy"
    script.write_text("#!/bin/sh\nexec sleep 30\n")
    script.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    with pytest.raises(RemoteFailed, match="no answer"):
        run_git(["sleepy"], cwd=tmp_path, env={"PATH": path}, timeout=0.2)
