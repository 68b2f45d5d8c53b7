from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from memrepo.errors import GitFailed
from memrepo.gitrepo.blobstream import stream_blobs
from memrepo.gitrepo.repository import Repository
from repositories import GitRepo

CONTENTS = [b"", b"\n", b"{}\n", b"x" * 4096, bytes(1 << 20), b"last"]

LAST = "1c1206e8bf4337e96dad9a6d139628852077558d"


def stored(repo: GitRepo, contents: list[bytes]) -> list[str]:
    """The ids of ``contents``, which the repository holds from now on."""
    paths = [str(repo.write(f"blob-{n}", data)) for n, data in enumerate(contents)]
    return repo.git("hash-object", "-w", "--stdin-paths", text="\n".join(paths)).split("\n")


@pytest.fixture
def repo(memory_repo: Callable[..., GitRepo]) -> GitRepo:
    return memory_repo()


def read(repo: GitRepo, oids: list[str], sizes: list[int]) -> list[bytes]:
    with Repository.open(repo.path) as opened:
        return list(stream_blobs(opened, oids, sizes))


@pytest.mark.parametrize("packed", [False, True])
def test_blobs_come_in_order_and_whole(repo: GitRepo, packed: bool) -> None:
    contents = [*CONTENTS, *CONTENTS[::-1]]
    oids = stored(repo, contents)
    if packed:
        repo.git("add", "--all")
        repo.git("commit", "--quiet", "--message", "all")
        repo.git("gc", "--quiet")
    assert read(repo, oids, [len(data) for data in contents]) == contents


def test_none_are_none(repo: GitRepo) -> None:
    assert read(repo, [], []) == []


def test_more_than_every_pipe_holds(repo: GitRepo) -> None:
    contents = [b"%d " % n * 200 for n in range(300)]
    oids = stored(repo, contents)
    sizes = [len(data) for data in contents]
    assert read(repo, oids * 40, sizes * 40) == contents * 40


def test_whoever_stops_early_leaves_nothing_running(repo: GitRepo) -> None:
    contents = [b"%d " % n * 5000 for n in range(50)]
    oids, sizes = stored(repo, contents), [len(data) for data in contents]
    before = threading.active_count()
    with Repository.open(repo.path) as opened:
        stream = stream_blobs(opened, oids * 200, sizes * 200)
        assert list(islice(stream, 3)) == contents[:3]
        stream.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("oids", "sizes"),
    [
        (["0" * 40], [4]),
        ([LAST], [3]),
        ([LAST], [5]),
        ([LAST], [4, 4]),
        ([LAST] * 2, [4]),
        (["HEAD"], [4]),
    ],
)
def test_what_is_missing_or_not_as_large_is_refused(
    repo: GitRepo, oids: list[str], sizes: list[int]
) -> None:
    stored(repo, CONTENTS)
    with pytest.raises(GitFailed, match="could not be read"):
        read(repo, oids, sizes)


def test_a_caller_who_cannot_name_them_is_not_kept_waiting(repo: GitRepo) -> None:
    (oid,) = stored(repo, [b"last"])

    def names() -> Iterator[str]:
        yield oid
        yield "é"

    with pytest.raises(GitFailed, match="could not be read"):
        read(repo, list(names()), [4, 4])
