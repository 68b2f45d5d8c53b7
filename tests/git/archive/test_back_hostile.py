"""Tarballs that nobody of ours packed: refused whole, before anything is written."""

from __future__ import annotations

import gzip
import hashlib
import tarfile
from pathlib import Path

import pytest

from archiving import FIRST, NOW, blob_id, forge_at, snapshot, snapshot_name
from commandline import memrepo_process
from memrepo.shards.index import index_bytes, index_line, members_bytes, members_path
from memrepo.shards.manifest import MANIFEST, SUMS
from memrepo.shards.values import INDEX_PATH, Archived, Packed
from repositories import GitRepo, new_memory_repo

TAG = "history-2026-W10"
SHARD = "2026-W10"
GOOD = snapshot_name(FIRST, "ada")
DATA = snapshot("ada", FIRST)


def plain(name: str, data: bytes = DATA) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(data), 0o644, int(FIRST.timestamp())
    return info, data


def link(name: str, to: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info, b""


HOSTILE = {
    "above": [plain(GOOD), plain("../escaped.json")],
    "absolute": [plain(GOOD), plain("/var/escaped.json")],
    "dots inside": [plain("history/../../escaped.json")],
    "symbolic link": [link(GOOD, "/etc/passwd")],
    "hard link": [plain(GOOD), link("history/20260302-093001-ada.json", GOOD, tarfile.LNKTYPE)],
    "folder link": [link("history", "/var"), plain(GOOD)],
    "twice": [plain(GOOD), plain(GOOD)],
    "one more": [plain(GOOD), plain("history/20260303-093000-ada.json")],
    "no snapshot": [plain(GOOD), plain("state/ada/context.json")],
    "hook": [plain(".git/hooks/post-checkout"), plain(GOOD)],
    "other content": [plain(GOOD, DATA.replace(b"Hello", b"Hallo"))],
    "device": [link(GOOD, "", tarfile.CHRTYPE)],
    "empty": [],
}


def tarball(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """As memrepo writes one, as far as its headers can say what these members are."""
    blocks = [
        info.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % 512) for info, data in members
    ]
    return b"".join(blocks) + bytes(1024)


def place_it(folder: Path, tar: bytes, *, named: bytes | None = None) -> GitRepo:
    """A repository whose record names the tarball, which lies in a published release.

    ``named`` is the tarball that the record speaks of, where that is another one.
    """
    repo = new_memory_repo(folder / "memory", "ada")
    asset = "history-2026-W10.tar.gz"
    files = [gzip.compress(one, mtime=0) for one in (tar, named if named is not None else tar)]
    packed = Packed(
        SHARD,
        asset,
        len(files[1]),
        hashlib.sha256(files[1]).hexdigest(),
        len(named if named is not None else tar),
        hashlib.sha256(named if named is not None else tar).hexdigest(),
        ((GOOD, blob_id(DATA), len(DATA), hashlib.sha256(DATA).hexdigest()),),
    )
    line = index_line(packed, tag=TAG, commit=repo.head())
    repo.write(INDEX_PATH, index_bytes([line]))
    listed = members_bytes([Archived(GOOD, blob_id(DATA), len(DATA))])
    repo.write(members_path(TAG, SHARD), listed)
    repo.commit("archive")
    forge = forge_at(folder / "forge")
    draft = forge.create_release(tag=TAG, commit=repo.head(), name=TAG, body=f"{NOW}")
    for name, data in ((asset, files[0]), (MANIFEST, b"{}"), (SUMS, b"")):
        path = folder / name
        path.write_bytes(data or b"\n")
        forge.upload_asset(draft, path, name, hashlib.sha256(data or b"\n").hexdigest())
    forge.publish_release(draft)
    return repo


def restore(repo: GitRepo, out: Path) -> tuple[int, str]:
    forge = f"local:{repo.path.parent / 'forge'}"
    ran = memrepo_process(
        repo.path, "archive", "restore", "--all", "--to", str(out), "--forge", forge
    )
    return ran.code, ran.err


def test_the_same_way_takes_a_good_one(tmp_path: Path) -> None:
    repo = place_it(tmp_path, tarball([plain(GOOD)]))
    code, said = restore(repo, tmp_path / "out")
    assert (code, said) == (0, "")
    assert (tmp_path / "out" / GOOD).read_bytes() == DATA


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_tarball_is_refused_whole(kind: str, tmp_path: Path) -> None:
    repo = place_it(tmp_path, tarball(HOSTILE[kind]))
    before = sorted(tmp_path.rglob("*"))
    code, said = restore(repo, tmp_path / "out")
    assert code == 2
    assert "history-2026-W10.tar.gz" in said
    assert [path for path in sorted(tmp_path.rglob("*")) if ".git/" not in str(path)] == [
        path for path in before if ".git/" not in str(path)
    ]


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    info, data = plain(GOOD, bytes(32 << 20))
    repo = place_it(tmp_path, tarball([(info, data)]))
    assert restore(repo, tmp_path / "out")[0] == 2
    assert not (tmp_path / "out").exists()


def test_another_file_than_the_one_that_was_archived_is_refused(tmp_path: Path) -> None:
    named = tarball([plain(GOOD)])
    repo = place_it(tmp_path, tarball([plain(GOOD), plain(GOOD)]), named=named)
    code, said = restore(repo, tmp_path / "out")
    assert code == 2
    assert "is not the file that was archived" in said
