"""Opening repositories of every kind, and names that mean to do harm."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import BadInput, NotAMemoryRepo, UnknownRevision
from memrepo.gitrepo.refs import branch_ref, check_ref
from memrepo.gitrepo.repository import Repository
from repositories import GitRepo, new_repo


def test_from_any_folder_of_the_worktree(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo("a1")
    for folder in (made.path, made.path / "state" / "a1"):
        with Repository.open(folder) as repo:
            assert repo.path == made.path.resolve()
            assert repo.git_dir == made.path.resolve() / ".git"
            assert (repo.bare, repo.is_shallow, repo.object_format) == (False, False, "sha1")
            assert repo.has_worktree
            assert repo.head_ref() == "refs/heads/main"
            assert repo.tip() == made.head()


def test_a_folder_with_a_hostile_name(tmp_path: Path) -> None:
    made = new_repo(tmp_path / "a\nb $(x) 'q'")
    made.write("state/x", "1")
    made.commit()
    with Repository.open(made.path / "state") as repo:
        assert repo.path == made.path.resolve()
        assert repo.tip() == made.head()
    bare = new_repo(tmp_path / "c\nd.git", bare=True)
    with Repository.open(bare.path) as repo:
        assert repo.path == bare.path.resolve()
        assert repo.bare


def test_bare_unborn_detached_shallow_linked(
    memory_repo: Callable[..., GitRepo],
    bare_remote: Callable[..., GitRepo],
    clone: Callable[..., GitRepo],
    tmp_path: Path,
) -> None:
    made = memory_repo("a1")
    made.commit("second")
    remote = bare_remote(made)
    with Repository.open(remote.path) as repo:
        assert repo.bare
        assert not repo.has_worktree
        assert repo.path == remote.path.resolve()
    shallow = GitRepo(tmp_path / "shallow")
    made.git("clone", "-q", "--depth=1", f"file://{remote.path}", str(shallow.path))
    with Repository.open(shallow.path) as repo:
        assert repo.is_shallow
        with pytest.raises(UnknownRevision) as caught:
            repo.resolve("HEAD~1")
        assert "unshallow" in caught.value.hint
    with Repository.open(new_repo(tmp_path / "empty").path) as repo:
        assert repo.tip() is None
        assert repo.head_ref() == "refs/heads/main"
        assert repo.has_worktree
        assert repo.view(None).list_dir() == []
    made.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    with Repository.open(tmp_path / "linked") as repo:
        assert repo.head_ref() == "refs/heads/other"
        assert repo.common_dir == made.path.resolve() / ".git"
        assert repo.git_dir != repo.common_dir
    made.git("checkout", "-q", "--detach")
    with Repository.open(made.path) as repo:
        assert repo.head_ref() is None
        assert repo.tip() == made.head()


def test_a_clone_without_checkout_has_no_worktree(
    memory_repo: Callable[..., GitRepo], clone: Callable[..., GitRepo]
) -> None:
    without = clone(memory_repo("a1"), "without", "--no-checkout")
    with Repository.open(without.path) as repo:
        assert not repo.has_worktree


@pytest.mark.parametrize("what", ["nothing", "file"])
def test_no_repository(tmp_path: Path, what: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotAMemoryRepo):
        Repository.open(tmp_path / what)


def test_init_is_safe_to_repeat(tmp_path: Path) -> None:
    with Repository.init(tmp_path / "new", branch="trunk") as repo:
        assert repo.head_ref() == "refs/heads/trunk"
    with Repository.init(tmp_path / "new", branch="main") as repo:
        assert repo.head_ref() == "refs/heads/trunk"


@pytest.mark.parametrize(
    "rev",
    [
        "",
        "-h",
        "--all",
        "nope",
        "a\nb",
        "a\0b",
        ":state",
        "HEAD:state",
        "$(id)",
        "HEAD..HEAD",
        "^HEAD",
    ],
)
def test_revisions_that_name_no_commit(memory_repo: Callable[..., GitRepo], rev: str) -> None:
    with (
        Repository.open(memory_repo("a1").path) as repo,
        pytest.raises(UnknownRevision, match="names no commit"),
    ):
        repo.resolve(rev)


def test_revisions(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo("a1")
    first = made.head()
    made.git("tag", "-a", "-m", "x", "v1")
    made.git("update-ref", "refs/heads/-dash", first)
    second = made.commit("second")
    with Repository.open(made.path) as repo:
        assert repo.resolve("HEAD~1") == repo.resolve("v1") == repo.resolve(first[:10]) == first
        assert repo.resolve("-dash") == first
        assert repo.merge_base(first, second) == first
        assert repo.tip("refs/heads/main") == second
        assert repo.tip("refs/heads/none") is None
        with pytest.raises(BadInput):
            repo.tip("refs/heads/a..b")
    made.git("checkout", "-q", "--orphan", "apart")
    other = made.commit("apart")
    with Repository.open(made.path) as repo:
        assert repo.merge_base(first, other) is None


_REF_CHARS = st.sampled_from([*"ab/.~^:?*[\\@{-é \x7f\x01", "..", "@{", ".lock", "//", "HEAD"])


@given(st.lists(_REF_CHARS, min_size=1, max_size=6).map("".join))
def test_ref_names_by_git_s_own_rule(name: str) -> None:
    full = f"refs/heads/{name}"
    allowed = subprocess.run(["git", "check-ref-format", full]).returncode == 0
    try:
        check_ref(full)
    except BadInput:
        assert not allowed
    else:
        assert allowed


@pytest.mark.parametrize("branch", ["-x", "HEAD", "a b", "a..b", "x.lock", "", "a\nb"])
def test_names_that_no_branch_has(branch: str) -> None:
    with pytest.raises(BadInput):
        branch_ref(branch)


def test_views(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo("a1", "b2")
    (made.path / "state/a1/link").symlink_to("/etc/passwd")
    made.commit("a link")
    with Repository.open(made.path) as repo:
        view = repo.view(repo.tip())
        assert view.read("state/a1/context.json") == made.read("state/a1/context.json")
        assert view.read("state/a1/link") is None
        assert view.exists("state/a1/link")
        assert view.read("state/a1") is None
        assert view.read("state/a1/context.json/x") is None
        assert not view.exists("state/none")
        names = [listed.name for listed in view.list_dir("state") if listed.is_folder]
        assert names == ["a1", "b2"]
        for path in ("../x", "/etc/passwd", "state//a1", ".git/config", "state/.GIT/x", "a\0b", ""):
            with pytest.raises(BadInput):
                view.read(path)


def test_configuration(memory_repo: Callable[..., GitRepo]) -> None:
    made = memory_repo("a1")
    with Repository.open(made.path) as repo:
        made.git("config", "memrepo.x", "one\ntwo")
        assert repo.config_value("memrepo.x") == "one\ntwo"
        made.git("config", "--unset", "memrepo.x")
        repo.forget_config()
        assert repo.config_value("memrepo.x", "none") == "none"
        config = repo.git_dir / "config"
        config.write_text(config.read_text() + "[memrepo]\n\tflag\n\tempty =\n")
        repo.forget_config()
        assert repo.config_true("memrepo.flag")
        assert not repo.config_true("memrepo.empty", default=True)
        assert repo.config_true("memrepo.none", default=True)
