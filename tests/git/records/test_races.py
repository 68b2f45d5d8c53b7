"""Writers side by side: on two clones of one remote, and as two processes on one clone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memrepo.protocol.recordfile import read_record
from recordstores import a_store, codes, start_writer
from repositories import GitRepo

MakeRepo = Callable[..., GitRepo]
EACH = 12


def written(repo: GitRepo) -> list[str]:
    listed = repo.git("ls-tree", "-r", "--name-only", "HEAD", "records").splitlines()
    for path in listed:
        read_record(repo.read(path), path)
    return listed


def run_both(one: GitRepo, other: GitRepo, *, push: bool) -> set[str]:
    processes = [
        start_writer(one, "codex", EACH, push=push),
        start_writer(other, "cursor", EACH, push=push),
    ]
    ids: set[str] = set()
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        ids |= {line.split()[0] for line in out.splitlines()}
    return ids


def check(repo: GitRepo, ids: set[str]) -> None:
    assert {Path(path).stem for path in written(repo)} == ids
    assert len(ids) == 2 * EACH
    with a_store(repo) as store:
        assert codes(store.verify()) == []
        active = store.list()
    assert sorted(one.key for one in active) == sorted(
        ["shared", *(f"{a}-{n}" for a in ("codex", "cursor") for n in range(0, EACH, 2))]
    )


def test_two_clones_of_one_remote(
    memory_repo: MakeRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(memory_repo("agent-1"))
    ids = run_both(clone(remote, "one"), clone(remote, "two"), push=True)
    fresh = clone(remote, "fresh")
    check(fresh, ids)
    for name in ("one", "two"):
        assert GitRepo(fresh.path.parent / name).git("status", "--short") == ""


def test_two_processes_on_one_clone(memory_repo: MakeRepo) -> None:
    repo = memory_repo("agent-1")
    check(repo, run_both(repo, repo, push=False))
    assert repo.git("status", "--short") == ""


def test_two_processes_on_one_clone_that_push(
    memory_repo: MakeRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(memory_repo("agent-1"))
    one = clone(remote, "one")
    ids = run_both(one, one, push=True)
    check(clone(remote, "fresh"), ids)
    assert one.git("status", "--short") == ""
