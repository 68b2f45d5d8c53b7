from __future__ import annotations

import gzip
import hashlib
import subprocess
import tarfile
import tracemalloc
from datetime import datetime, timedelta
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archived import archived, contents, pack_all, pack_one, plan_of
from memrepo.errors import BadInput, GitFailed
from memrepo.protocol.names import SnapshotName
from memrepo.shards import gz
from memrepo.shards.pack import blob_id, pack
from memrepo.shards.read import check_shard, read_shard
from memrepo.shards.tar import header, tar_size
from memrepo.shards.values import Archived, Shard

A = "history/20240101-000000-a.json"
B = "history/2024/01/02/20240102-000001-b.json"
#: The faster one is an extra; where it is there it takes part.
LIBRARIES = ["zlib", *(["isal"] if find_spec("isal") else [])]
NAMES = [SnapshotName(datetime(2024, 1, 1) + timedelta(seconds=n), "a") for n in range(3000)]


@given(contents, st.sampled_from([4000, 1 << 20]))
def test_what_is_packed_reads_back(given_contents: dict[str, bytes], most: int) -> None:
    _, packed = pack_all(given_contents, most_bytes=most)
    back: dict[str, bytes] = {}
    for one in packed:
        back |= dict(read_shard(BytesIO(one.data), one.shard.snapshots))
        seen = check_shard(
            BytesIO(one.data),
            one.shard.snapshots,
            sha256=one.packed.sha256,
            tar_sha256=one.packed.tar_sha256,
        )
        assert (seen.size, seen.tar_size) == (one.packed.size, one.packed.tar_size)
        assert seen.snapshots == len(one.packed.snapshots)
        assert one.packed.tar_size == tar_size(snapshot.size for snapshot in one.shard.snapshots)
    assert back == given_contents


@given(contents)
def test_what_is_said_of_a_shard_is_true(given_contents: dict[str, bytes]) -> None:
    for one in pack_all(given_contents)[1]:
        said = one.packed
        assert said.size == len(one.data)
        assert said.sha256 == hashlib.sha256(one.data).hexdigest()
        assert said.tar_sha256 == hashlib.sha256(gzip.decompress(one.data)).hexdigest()
        assert list(said.snapshots) == [
            (path, blob, size, hashlib.sha256(given_contents[path]).hexdigest())
            for path, blob, size in ((s.path, s.blob, s.size) for s in one.shard.snapshots)
        ]


@given(contents)
def test_python_reads_the_same_tar(given_contents: dict[str, bytes]) -> None:
    seen = {}
    for one in pack_all(given_contents)[1]:
        with tarfile.open(fileobj=BytesIO(one.data), mode="r:gz") as tar:
            members = tar.getmembers()
            for member in members:
                name = SnapshotName(
                    datetime.strptime(member.name.rpartition("/")[2][:15], "%Y%m%d-%H%M%S"), "a"
                )
                assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "", "")
                assert (member.mode, member.type) == (0o644, tarfile.REGTYPE)
                assert datetime(1970, 1, 1) + timedelta(seconds=member.mtime) == name.when
                file = tar.extractfile(member)
                assert file
                seen[member.name] = file.read()
            assert [member.name for member in members] == sorted(member.name for member in members)
    assert seen == given_contents


def test_tar_on_the_command_line_lists_and_unpacks_them(tmp_path: Path) -> None:
    long = SnapshotName(datetime(2024, 1, 3), "x" * 79).path("daily")
    given_contents = {A: b"a" * 700, B: b"", long: b"x" * 512}
    (one,) = pack_all(given_contents)[1]
    asset = tmp_path / "shard.tar.gz"
    asset.write_bytes(one.data)
    listed = subprocess.run(["tar", "tzf", asset], capture_output=True, text=True, check=True)
    assert listed.stdout.splitlines() == sorted(given_contents)
    assert listed.stderr == ""
    subprocess.run(["tar", "-xzf", asset], cwd=tmp_path, check=True)
    assert {path: (tmp_path / path).read_bytes() for path in given_contents} == given_contents
    subprocess.run(["gzip", "--test", asset], check=True)


def test_the_tar_is_the_same_on_any_machine() -> None:
    (one,) = pack_all({A: b"{}\n", B: b"[]\n"})[1]
    assert one.packed.tar_sha256 == (
        "4b26ad867204b96ad2ce9317772c65ed3b5f9c3f882de897c00295f1414298ef"
    )
    # No name, no time: what gzip adds of its own is the same each time.
    assert one.data[:8] == b"\x1f\x8b\x08\0\0\0\0\0"
    assert pack_one(one.shard, {A: b"{}\n", B: b"[]\n"}) == one


@given(st.integers(0, 8**11 - 1), st.integers(0, 100 << 20))
def test_a_header_is_what_python_writes_but_for_the_device(when: int, size: int) -> None:
    info = tarfile.TarInfo("history/2024/01/01/" + NAMES[0].file_name)
    info.size, info.mtime = size, when
    theirs = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
    theirs[329:345] = bytes(16)
    checksum = sum(theirs[:148]) + 8 * 0x20 + sum(theirs[156:])
    theirs[148:156] = b"%06o\0 " % checksum
    assert header(info.name, size, when) == bytes(theirs)


@pytest.mark.parametrize(
    ("path", "size", "when"),
    [
        ("x" * 101, 1, 1),
        ("x" * 156 + "/y", 1, 1),
        ("é", 1, 1),
        ("a\0b", 1, 1),
        ("", 1, 1),
        ("a", 1, -1),
        ("a", 1, 8**11),
        ("a", -1, 1),
        ("a", 1 << 40, 1),
    ],
)
def test_what_ustar_cannot_hold_is_refused(path: str, size: int, when: int) -> None:
    with pytest.raises(BadInput):
        header(path, size, when)


@pytest.mark.parametrize("data", [b"", b"{}\n", bytes(1 << 20)])
def test_ids_are_gits(data: bytes, tmp_path: Path) -> None:
    for algorithm, digits in (("sha1", 40), ("sha256", 64)):
        repo = tmp_path / algorithm
        command = ["git", "init", "--quiet", f"--object-format={algorithm}", str(repo)]
        subprocess.run(command, check=True)
        asked = ["git", "hash-object", "--stdin"]
        done = subprocess.run(asked, cwd=repo, input=data, capture_output=True, check=True)
        assert blob_id(data, digits) == done.stdout.decode().strip()


def test_a_repository_of_sha256_packs_too() -> None:
    shard = Shard("2024-W01", (archived(A, b"{}\n", "sha256"),))
    one = pack_one(shard, {A: b"{}\n"})
    assert dict(read_shard(BytesIO(one.data), shard.snapshots)) == {A: b"{}\n"}


@pytest.mark.parametrize(
    "given_to_it",
    [
        [],
        [(archived(A, b"a"), b"a")],
        [(archived(A, b"a"), b"a"), (archived(B, b"b"), b"b")],
        [(archived(B, b"b"), b"B"), (archived(A, b"a"), b"a")],
        [(archived(B, b"b"), b"bb"), (archived(A, b"a"), b"a")],
        [(archived(B, b"B"), b"B"), (archived(A, b"a"), b"a")],
        [(archived(B, b"b"), b"b"), (archived(A, b"a"), b"a"), (archived(B, b"b"), b"b")],
    ],
)
def test_bytes_that_are_not_the_plans_are_never_packed(
    given_to_it: list[tuple[Archived, bytes]],
) -> None:
    (shard,) = plan_of({A: b"a", B: b"b"}).shards
    with pytest.raises(GitFailed):
        pack(shard, given_to_it, BytesIO(), "x.tar.gz")


def test_progress_counts_every_snapshot() -> None:
    given_contents = {name.path("flat"): bytes(100) for name in NAMES}
    (shard,) = plan_of(given_contents).shards
    whole = [(one, given_contents[one.path]) for one in shard.snapshots]
    packed_now: list[int] = []
    out = BytesIO()
    pack(shard, whole, out, "x.tar.gz", packed_now.append)
    assert sum(packed_now) == len(NAMES)
    assert len(packed_now) > 3
    read_now: list[int] = []
    check_shard(BytesIO(out.getvalue()), progress=read_now.append)
    assert sum(read_now) == len(NAMES)
    assert len(read_now) > 3


def test_memory_does_not_grow_with_what_is_packed_or_read() -> None:
    data = bytes(20_000)
    given_contents = dict.fromkeys((name.path("flat") for name in NAMES[:1500]), data)
    (shard,) = plan_of(given_contents).shards
    out = BytesIO()
    tracemalloc.start()
    try:
        pack(shard, ((one, bytes(data)) for one in shard.snapshots), out, "x.tar.gz")
        out.seek(0)
        assert check_shard(out, shard.snapshots).bytes == 1500 * len(data)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 8 << 20 < 1500 * len(data)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_tar_and_reads_the_others(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_contents = {name.path("flat"): name.file_name.encode() * 40 for name in NAMES}
    (shard,) = plan_of(given_contents).shards
    if library == "zlib":
        monkeypatch.setattr(gz, "_fast", lambda: None)
    assert gz.library() == library
    one = pack_one(shard, given_contents)
    monkeypatch.undo()
    other = pack_one(shard, given_contents)
    assert one.packed.tar_sha256 == other.packed.tar_sha256
    assert gzip.decompress(one.data) == gzip.decompress(other.data)
    check_shard(BytesIO(one.data), shard.snapshots, sha256=one.packed.sha256)
