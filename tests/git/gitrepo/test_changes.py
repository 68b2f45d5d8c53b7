"""What changed, told from objects, the index and the worktree alike."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memrepo.errors import UnknownRevision
from memrepo.gitrepo import changes
from memrepo.gitrepo.repository import Repository
from repositories import GitRepo

ODD = ["-rf", "a\nb", "é", "\udcff", "x y", "::error::"]


@pytest.fixture
def made(memory_repo: Callable[..., GitRepo]) -> GitRepo:
    return memory_repo("a1", "b2")


def seen(found: list[changes.FileChange]) -> dict[str, tuple[str, int, int]]:
    assert [change.path.encode("utf-8", "surrogateescape") for change in found] == sorted(
        change.path.encode("utf-8", "surrogateescape") for change in found
    )
    return {change.path: (change.status, change.old_mode, change.new_mode) for change in found}


def test_between_commits(made: GitRepo) -> None:
    base = made.head()
    for name in ODD:
        made.write(f"history/{name}", "x")
    (made.path / "state/a1/tools.json").unlink()
    (made.path / "state/a1/tools.json").symlink_to("/etc/passwd")
    made.write("state/b2/context.json", "[]\n")
    (made.path / "state/b2/tools.json").unlink()
    head = made.commit("change")
    with Repository.open(made.path) as repo:
        found = changes.changed_files(repo, base, head)
        assert seen(found) == {
            **{f"history/{name}": ("A", 0, 0o100644) for name in ODD},
            "state/a1/tools.json": ("T", 0o100644, 0o120000),
            "state/b2/context.json": ("M", 0o100644, 0o100644),
            "state/b2/tools.json": ("D", 0o100644, 0),
        }
        by_path = {change.path: change for change in found}
        assert by_path["state/b2/tools.json"].new_oid == ""
        edited = by_path["state/b2/context.json"].new_oid
        assert changes.read_blobs(repo, [edited]) == {edited: b"[]\n"}
        whole = changes.changed_files(repo, None, head)
        assert [change.path for change in whole] == [e.path for e in changes.list_tree(repo, head)]
        below = changes.changed_files(repo, base, "HEAD", prefix="state/b2")
        assert len(below) == 2
        with pytest.raises(UnknownRevision):
            changes.changed_files(repo, "nope", head)


def test_trees(made: GitRepo) -> None:
    made.git("update-index", "--add", "--cacheinfo", f"160000,{made.head()},module")
    made.git("commit", "-q", "-m", "module")
    with Repository.open(made.path) as repo:
        entries = {entry.path: entry for entry in changes.list_tree(repo, "HEAD")}
        assert (entries["module"].kind, entries["module"].mode) == ("commit", 0o160000)
        assert entries["state/a1/context.json"].mode == 0o100644
        assert len(changes.list_tree(repo, "HEAD", "state/a1/")) == 3
        assert changes.list_tree(repo, "HEAD", "state/a") == []
        assert changes.folder_names(repo, made.head(), "state/") == {"a1", "b2"}
        tree = made.git("rev-parse", "HEAD^{tree}")
        assert len(changes.list_tree(repo, tree)) == len(entries)


def test_the_index(made: GitRepo, tmp_path: Path) -> None:
    made.write("state/a1/context.json", "[]\n")
    made.git("add", "state/a1/context.json")
    made.write("state/b2/context.json", "not staged\n")
    with Repository.open(made.path) as repo:
        staged = changes.staged_files(repo)
        assert seen(staged) == {"state/a1/context.json": ("M", 0o100644, 0o100644)}
        paths = changes.index_paths(repo, "state/")
        assert paths == made.git("ls-files", "state/").splitlines()
        oids = changes.index_oids(repo, ["state/a1/context.json", "none"])
        assert oids == {"state/a1/context.json": staged[0].new_oid}
        other = tmp_path / "other-index"
        other.write_bytes((made.path / ".git/index").read_bytes())
        made.git("reset", "-q")
        assert changes.staged_files(repo) == []
        assert changes.staged_files(repo, index_file=other) == staged


def test_the_worktree(made: GitRepo) -> None:
    made.write(".gitignore", "*.tmp\n")
    made.commit("ignore")
    for name in ODD:
        made.write(f"history/{name}", "x")
    made.write("x.tmp", "ignored")
    made.write("state/a1/context.json", "[]\n")
    made.git("add", "state/a1/context.json")
    (made.path / "state/a1/tools.json").unlink()
    os.utime(made.path / "state/b2/context.json", (1, 1))
    (made.path / "link").symlink_to("/etc/passwd")
    with Repository.open(made.path) as repo:
        found = {c.path: (c.status, c.old_mode, c.new_mode) for c in changes.worktree_files(repo)}
        assert found == {
            **{f"history/{name}": ("A", 0, 0o100644) for name in ODD},
            "link": ("A", 0, 0o120000),
            "state/a1/context.json": ("M", 0o100644, 0o100644),
            "state/a1/tools.json": ("D", 0o100644, 0),
        }
        outside = changes.files_outside(repo, ("state", "history/"))
        assert outside == [".gitignore", "link"]


def test_before_the_first_commit(tmp_path: Path) -> None:
    with Repository.init(tmp_path / "new") as repo:
        (repo.path / "a").write_text("x")
        assert [c.path for c in changes.worktree_files(repo)] == ["a"]
        GitRepo(repo.path).git("add", "a")
        assert [c.status for c in changes.staged_files(repo)] == ["A"]


def test_thousands_of_entries(made: GitRepo) -> None:
    for number in range(3000):
        made.write(f"history/{number:05}", f"{number}")
    made.commit("many")
    with Repository.open(made.path) as repo:
        entries = changes.list_tree(repo, "HEAD", "history")
        assert len(entries) == 3001
        blobs = changes.iter_blobs(repo, (entry.oid for entry in entries))
        texts = [found.data or b"" for _, found in blobs if found]
        assert sorted(texts)[1:] == sorted(b"%d" % number for number in range(3000))
