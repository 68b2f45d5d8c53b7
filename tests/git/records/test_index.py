"""The index is a convenience: whatever becomes of it, the answers are those of the files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memrepo.records.store import Store
from memrepo.records.values import Filters
from recordstores import a_store, new
from repositories import GitRepo

MakeRepo = Callable[..., GitRepo]


@pytest.fixture
def repo(memory_repo: MakeRepo) -> GitRepo:
    found = memory_repo("agent-1")
    with a_store(found) as store:
        store.write(new(summary="maxPoolSize over 20 deadlocks"))
        store.write(new("chinese", "连接池太大会死锁"))
        store.write(new("details", "Short.", details={"note": ["retry_with_backoff"]}))
    return found


def index_of(repo: GitRepo) -> Path:
    return repo.path / ".git/memrepo/records.sqlite"


def answers(store: Store) -> list[Any]:
    queries = (
        "deadlock",
        "max_pool_size",
        "PoolSize",
        "连接",
        "池",
        "死锁 deadlocks",
        "backoff",
        "no",
    )
    found = [[one.answer.record.key for one in store.search(query)] for query in queries]
    return [found, [one.key for one in store.list()], store.read("chinese").record.summary]


EXPECTED = [
    [
        ["pool-size"],
        ["pool-size"],
        ["pool-size"],
        ["chinese"],
        ["chinese"],
        ["chinese", "pool-size"],
        ["details"],
        [],
    ],
    ["details", "chinese", "pool-size"],
    "连接池太大会死锁",
]


def test_prose_chinese_and_names_of_code_are_found(repo: GitRepo) -> None:
    with a_store(repo) as store:
        found = answers(store)
        found[0][5].sort()
        assert found == EXPECTED
    assert index_of(repo).exists()
    assert repo.git("status", "--short") == ""


def test_a_name_counts_more_than_the_text_below_it(repo: GitRepo) -> None:
    with a_store(repo) as store:
        store.write(new("a", "Something else.", details="about timeouts and timeouts"))
        store.write(new("timeouts", "Three are enough."))
        first, second = store.search("timeout")
        assert [first.answer.record.key, second.answer.record.key] == ["timeouts", "a"]
        assert first.score > second.score


def spoil_header(path: Path) -> None:
    path.write_bytes(b"not a database" * 1_000)


def spoil_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4_096:] = b"\xff" * (len(data) - 4_096)
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def forget_tables(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE records")


def other_form(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")


def unknown_tree(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE about SET tree = ?", ("1" * 40,))


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_header,
        spoil_middle,
        empty,
        forget_tables,
        other_form,
        unknown_tree,
        Path.unlink,
        a_folder,
    ],
)
def test_a_broken_index_is_made_anew_or_done_without(
    repo: GitRepo, spoil: Callable[[Path], None]
) -> None:
    for end in ("-wal", "-shm"):
        Path(f"{index_of(repo)}{end}").unlink(missing_ok=True)
    spoil(index_of(repo))
    for _ in range(2):
        with a_store(repo) as store:
            found = answers(store)
            found[0][5].sort()
            assert found == EXPECTED
    if spoil is not a_folder:
        with sqlite3.connect(index_of(repo)) as database:
            assert database.execute("SELECT count(*) FROM records").fetchone() == (3,)


@contextmanager
def locked(repo: GitRepo) -> Iterator[None]:
    database = sqlite3.connect(index_of(repo), isolation_level=None)
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        database.close()


def test_a_locked_index_is_done_without(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memrepo.records.index.WAIT", 0.05)
    with locked(repo), a_store(repo) as store:
        store.write(new("more", "A further one about deadlocks."))
        assert len(store.list()) == 4
        assert len(store.search("deadlocks", Filters(key="more"))) == 1


def test_two_that_look_at_different_commits_at_once(repo: GitRepo, tmp_path: Path) -> None:
    with a_store(repo) as one, a_store(repo) as other:
        repo.git("branch", "old", "HEAD^")
        for _ in range(3):
            repo.git("switch", "--quiet", "old")
            assert len(one.list()) == 2
            repo.git("switch", "--quiet", "main")
            assert len(other.list()) == 3
            assert len(one.list()) == 3


def test_a_branch_that_goes_back_takes_the_index_along(repo: GitRepo) -> None:
    with a_store(repo) as store:
        repo.git("reset", "--quiet", "--hard", "HEAD~2")
        assert [one.key for one in store.list()] == ["pool-size"]
        assert store.search("连接") == []
        repo.git("rm", "-r", "--quiet", "records")
        repo.commit("none")
        assert store.list() == []


def test_what_is_no_record_is_no_answer_and_a_finding(repo: GitRepo) -> None:
    repo.write("records/project/acme/web/01M8/notes.yml", "schema: agent-memory/0.1\n")
    repo.write("records/README.md", "deadlock\n")
    repo.write("records/project/acme/web/01M8/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.yml", b"\xff\x00")
    (repo.path / "records/link.yml").symlink_to("/etc/passwd")
    repo.commit("junk")
    with a_store(repo) as store:
        assert len(store.list()) == 3
        assert len(store.search("deadlock")) == 1
        assert {f.code for f in store.verify()} == {"record-schema"}
        assert len({f.path for f in store.verify()}) == 4


def test_a_linked_worktree_has_an_index_of_its_own(repo: GitRepo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"), "HEAD^")
    with a_store(tmp_path / "side") as side, a_store(repo) as main:
        assert (len(side.list()), len(main.list())) == (2, 3)
        side.write(new("aside"))
        assert (len(side.list()), len(main.list())) == (3, 3)
