from __future__ import annotations

from collections.abc import Callable

from memrepo.gitrepo.changes import changed_files
from memrepo.gitrepo.repository import Repository
from memrepo.gitrepo.treediff import tree_changes
from repositories import GitRepo

MakeRepo = Callable[..., GitRepo]


def test_it_says_what_git_says(memory_repo: MakeRepo) -> None:
    made = memory_repo("agent-1")
    trees = ["", made.git("rev-parse", "HEAD^{tree}")]
    made.write("a/b/c.yml", "1\n")
    made.write("a/b/d.yml", "2\n")
    made.write("a.yml", "3\n")
    for number in range(40):
        made.write(f"many/{number}/x", "x\n")
    made.commit()
    trees.append(made.git("rev-parse", "HEAD^{tree}"))
    made.git("rm", "--quiet", "-r", "a/b", "many/7")
    made.write("a/b", "a file where a folder was\n")
    made.write("many/8/x", "y\n")
    (made.path / "link").symlink_to("a.yml")
    made.commit()
    trees.append(made.git("rev-parse", "HEAD^{tree}"))
    with Repository.open(made.path) as repo:
        for old in trees:
            for new in trees:
                expected = changed_files(repo, old or None, new or repo.empty_tree)
                found = tree_changes(repo, old, new)
                key = [(c.path, c.old_mode, c.new_mode, c.old_oid, c.new_oid) for c in found]
                known = [(c.path, c.old_mode, c.new_mode, c.old_oid, c.new_oid) for c in expected]
                assert sorted(key) == sorted(known), (old, new)
