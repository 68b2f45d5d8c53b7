"""Objects written here are what Git would have written, and are read as Git stored them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrepo.errors import UnknownRevision
from memrepo.gitrepo.changes import iter_blobs, read_blobs
from memrepo.gitrepo.objects import LooseWriter, ObjectReader
from memrepo.gitrepo.repository import Repository
from memrepo.gitrepo.trees import Tree


@pytest.fixture(params=["sha1", "sha256"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Repository]:
    command = ["git", "init", "--quiet", f"--object-format={request.param}", str(tmp_path / "r")]
    subprocess.run(command, check=True)
    with Repository.open(tmp_path / "r") as opened:
        yield opened


def git(repo: Repository, *args: str, data: bytes | None = None) -> str:
    done = subprocess.run(
        ["git", *args], cwd=repo.path, input=data, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


@pytest.mark.parametrize("size", [0, 1, 4096, 70_000, 1_000_000])
def test_blobs(repo: Repository, size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    oid = repo.writer.write("blob", data[:size]).hex()
    assert oid == git(repo, "hash-object", "--stdin", data=data[:size])
    assert repo.reader.read(oid) == ("blob", data[:size])
    assert git(repo, "cat-file", "-s", oid) == str(size)


def test_big_trees_are_stored_and_sound(repo: Repository) -> None:
    blob = repo.writer.write("blob", b"x")
    tree = Tree(b"", repo.id_size)
    for number in range(3000):
        tree, _ = tree.put(b"20260301-%06d-agent.json" % number, b"100644", blob)
    oid = repo.writer.write("tree", tree.body).hex()
    assert len(git(repo, "ls-tree", oid).splitlines()) == 3000
    assert "error" not in git(repo, "fsck", "--strict", "--unreachable")


def test_writing_twice_is_writing_once(repo: Repository) -> None:
    first = repo.writer.write("blob", b"same")
    assert repo.writer.write("blob", b"same") == first
    leftovers = list((repo.git_dir / "objects").rglob("tmp_obj_*"))
    assert leftovers == []


def test_modes(repo: Repository) -> None:
    oid = repo.writer.write("blob", b"data").hex()
    file = repo.git_dir / "objects" / oid[:2] / oid[2:]
    assert file.stat().st_mode & 0o777 & ~0o444 == 0
    shared = LooseWriter(repo.git_dir / "objects", repo.object_format, shared=0o660)
    oid = shared.write("blob", b"shared").hex()
    file = repo.git_dir / "objects" / oid[:2] / oid[2:]
    assert file.stat().st_mode & 0o777 == 0o440


def test_many_in_order_with_gaps(repo: Repository) -> None:
    oids = [repo.writer.write("blob", b"%d" % n * 50).hex() for n in range(700)]
    names = [name for oid in oids for name in (oid, "f" * len(oid))]
    found = list(repo.reader.read_many(names))
    assert [f.oid for f in found[::2] if f] == oids
    assert set(found[1::2]) == {None}


def test_over_the_limit_only_the_size_is_read(repo: Repository) -> None:
    small = repo.writer.write("blob", b"small").hex()
    large = repo.writer.write("blob", b"l" * 100_000).hex()
    huge = repo.writer.write("blob", b"h" * (17 << 20)).hex()
    asked = [small, large, huge, small, huge, large, small]
    found = dict(iter_blobs(repo, asked, limit=1000))
    assert [(f.size, f.data) for oid in asked[:3] if (f := found[oid])] == [
        (5, b"small"),
        (100_000, None),
        (17 << 20, None),
    ]
    blobs = read_blobs(repo, [*asked, "0" * len(small)], limit=1000)
    assert blobs == {small: b"small", large: 100_000, huge: 17 << 20}


def test_an_abandoned_reading_spoils_nothing(repo: Repository) -> None:
    oids = [repo.writer.write("blob", b"%d" % n).hex() for n in range(300)]
    reading = repo.reader.read_many(oids)
    assert next(reading)
    assert repo.reader.read(oids[7]) == ("blob", b"7")  # while the other is half way
    reading.close()  # type: ignore[attr-defined]
    assert repo.reader.read(oids[8]) == ("blob", b"8")


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "no such thing", "-x", "HEAD", "x blob 3"])
def test_names_that_name_nothing(repo: Repository, name: str) -> None:
    with pytest.raises(UnknownRevision):
        repo.reader.read(name)


def test_a_new_pack_is_seen(repo: Repository) -> None:
    reader = ObjectReader(repo.path)
    assert reader.find("0" * len(repo.null)) is None
    oid = git(repo, "hash-object", "-w", "--stdin", data=b"later")
    subprocess.run(["git", "repack", "-adq"], cwd=repo.path, check=True)
    assert reader.read(oid) == ("blob", b"later")
    reader.close()
