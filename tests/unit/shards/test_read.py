"""Tarballs that nobody should take: each is refused, whole, and says why."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archived import PackedShard, archived, contents, pack_all
from memrepo.errors import BadInput
from memrepo.shards.index import index_line
from memrepo.shards.read import Limits, check_shard, limits_of, read_shard
from memrepo.shards.table import UNKNOWN_SIZE
from memrepo.shards.tar import END, header
from memrepo.shards.values import Archived

A = "history/20240101-000000-a.json"
B = "history/20240102-000001-b.json"
C = "history/20240103-000001-b.json"
NOON = 1_704_110_400


def packed(**files: bytes) -> PackedShard:
    (one,) = pack_all(dict(zip((A, B, C), files.values(), strict=False)))[1]
    return one


ONE = packed(a=b'{"a": 1}\n' * 30, b=b"[]\n" * 300, c=b"x")
TAR = gzip.decompress(ONE.data)


def gzipped(tar: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(tar) + packer.flush()


def entry(path: str, data: bytes = b"x", when: int = NOON, **fields: object) -> bytes:
    """A member as Python's tarfile writes it, whatever it is."""
    info = tarfile.TarInfo(path)
    info.size, info.mtime = len(data), when
    for name, value in fields.items():
        setattr(info, name, value)
    return info.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % 512)


def ours(path: str, data: bytes = b"x") -> bytes:
    """A member as the archive writes it."""
    names = {A: 1_704_067_200, B: 1_704_153_601, C: 1_704_240_001}
    return header(path, len(data), names.get(path, NOON)) + data + bytes(-len(data) % 512)


def sealed(block: bytes) -> bytes:
    """A header with its checksum made right again."""
    total = sum(block[:148]) + 8 * 0x20 + sum(block[156:])
    return block[:148] + b"%06o\0 " % total + block[156:]


def edited(at: int, new: bytes) -> bytes:
    """The header of a member of ours with some bytes changed, and its checksum right."""
    block = ours(A)
    return sealed(block[:at] + new + block[at + len(new) : 512]) + block[512:]


def pax(path: str) -> bytes:
    info = tarfile.TarInfo(path)
    info.size, info.pax_headers = 1, {"comment": "x"}
    return info.tobuf(tarfile.PAX_FORMAT) + b"x" + bytes(511)


def long_name() -> bytes:
    info = tarfile.TarInfo("history/20240101-000000-" + "x" * 100 + ".json")
    return info.tobuf(tarfile.GNU_FORMAT)


def _device(kind: bytes) -> bytes:
    return entry(A, b"", type=kind)


def _linked(kind: bytes) -> bytes:
    return entry(A, b"", type=kind, linkname="../../../etc/passwd")


HOSTILE: dict[str, tuple[bytes, str]] = {
    "absolute": (entry("/etc/passwd") + END, "an absolute path"),
    "climbs": (entry("history/../../x.json") + END, "climbs out"),
    "climbs by prefix": (edited(345, b".."), "climbs out"),
    "climbs on Windows": (entry("history/..\\..\\x.json") + END, "climbs out"),
    "symbolic link": (_linked(tarfile.SYMTYPE) + END, "a symbolic link"),
    "hard link": (_linked(tarfile.LNKTYPE) + END, "a hard link"),
    "link's name alone": (edited(157, b"/etc/passwd") + END, "does not write"),
    "character device": (_device(tarfile.CHRTYPE) + END, "a device"),
    "block device": (_device(tarfile.BLKTYPE) + END, "a device"),
    "pipe": (_device(tarfile.FIFOTYPE) + END, "a pipe"),
    "folder": (entry("history/", b"", type=tarfile.DIRTYPE) + END, "a folder"),
    "sparse": (_device(tarfile.GNUTYPE_SPARSE) + END, "a sparse file"),
    "unknown kind": (_device(b"Q") + END, "the kind 'Q'"),
    "pax": (pax(A) + END, "a pax header"),
    "global pax": (edited(156, b"g") + END, "a global pax header"),
    "long name": (long_name() + END, "a long name of GNU tar"),
    "GNU's own format": (entry(A, when=1_704_067_200) + END, "not ustar"),
    "not a snapshot": (ours("README.md") + END, "not the path of a snapshot"),
    "no snapshot's name": (ours("history/notes.json") + END, "not the path of a snapshot"),
    "the state": (ours("state/a/context.json") + END, "not the path of a snapshot"),
    "a wrong day's folder": (
        ours("history/2024/01/02/20240101-000000-a.json") + END,
        "not the path of a snapshot",
    ),
    "control characters": (entry("history/\x1b[2J.json") + END, "not the path of a snapshot"),
    "another time": (header(A, 1, NOON) + b"x" + bytes(511) + END, "does not write"),
    "executable": (edited(100, b"0000755\0") + END, "does not write"),
    "set-uid": (edited(100, b"0004755\0") + END, "does not write"),
    "an owner": (edited(108, b"0001750\0") + END, "does not write"),
    "an owner's name": (edited(265, b"root") + END, "does not write"),
    "size is no number": (edited(124, b"0x000000001") + END, "is no number"),
    "size in base 256": (edited(124, b"\x80" + bytes(10)) + END, "is no number"),
    "negative size": (edited(124, b"-0000000001") + END, "is no number"),
    "checksum": (ours(A)[:148] + b"000000" + ours(A)[154:] + END, "checksum is wrong"),
    "twice": (ours(A) + ours(A) + END, "there twice"),
    "out of order": (ours(B) + ours(A) + END, "not in order"),
    "padding": (ours(A)[:-1] + b"!" + END, "hides behind the end"),
    "no end": (ours(A), "ends too early"),
    "half an end": (ours(A) + END[:512], "ends too early"),
    "one more behind the end": (ours(A) + END + ours(B) + END, "more behind the end"),
    "one more behind half the end": (ours(A) + END[:512] + ours(B) + END, "more behind the end"),
    "zeros behind the end": (ours(A) + END + bytes(512), "more behind the end"),
    "cut in a header": (TAR[:300], "ends too early"),
    "cut in a content": (TAR[:600], "ends too early"),
    "nothing at all": (b"", "ends too early"),
}


@pytest.mark.parametrize(("tar", "why"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_tar_is_refused_with_the_reason(tar: bytes, why: str) -> None:
    data = gzipped(tar)
    with pytest.raises(BadInput, match=why) as refused:
        check_shard(BytesIO(data), name="history-2024-W01.tar.gz")
    assert refused.value.message.startswith("history-2024-W01.tar.gz is refused: ")
    assert refused.value.message.isprintable()
    with pytest.raises(BadInput, match=why):
        list(read_shard(BytesIO(data)))


def test_the_building_blocks_are_right() -> None:
    assert ours(A, b'{"a": 1}\n' * 30) + ours(B, b"[]\n" * 300) + ours(C) + END == TAR
    assert dict(read_shard(BytesIO(gzipped(ours(A) + END)))) == {A: b"x"}
    assert edited(0, b"h") == ours(A)


HEAD, BODY = ONE.data[:10], ONE.data[10:]
SPOILED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "no gzip"),
    "plain tar": (TAR, "no gzip"),
    "another compression": (b"BZh9" + bytes(40), "no gzip"),
    "a name inside": (HEAD[:3] + b"\x08" + HEAD[4:] + b"x\0" + BODY, "no gzip"),
    "a time inside": (HEAD[:4] + b"\1" + HEAD[5:] + BODY, "no gzip"),
    "header alone": (HEAD, "cut short"),
    "cut by a byte": (ONE.data[:-1], "cut short"),
    "cut in half": (ONE.data[: len(ONE.data) // 2], "cut short|ends too early"),
    "trailing zeros": (ONE.data + bytes(512), "behind the end of the gzip"),
    "trailing text": (ONE.data + b"x", "behind the end of the gzip"),
    "a second stream": (ONE.data + ONE.data, "behind the end of the gzip"),
    "checksum": (ONE.data[:-8] + bytes(4) + ONE.data[-4:], "damaged"),
    "length": (ONE.data[:-4] + bytes(4), "damaged"),
}


@pytest.mark.parametrize(("data", "why"), SPOILED.values(), ids=SPOILED)
def test_a_damaged_file_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        check_shard(BytesIO(data))


def _flipped(data: bytes, bit: int) -> bytes:
    spoiled = bytearray(data)
    spoiled[bit // 8] ^= 1 << bit % 8
    return bytes(spoiled)


@given(st.integers(0, 8 * len(ONE.data) - 1))
def test_no_flipped_bit_goes_unseen(bit: int) -> None:
    data = _flipped(ONE.data, bit)
    with pytest.raises(BadInput):
        check_shard(BytesIO(data), ONE.shard.snapshots, sha256=ONE.packed.sha256)


@given(st.integers(0, 8 * len(TAR) - 1))
def test_no_flipped_bit_of_the_tar_gives_another_content(bit: int) -> None:
    with pytest.raises(BadInput):
        check_shard(BytesIO(gzipped(_flipped(TAR, bit))), ONE.shard.snapshots)


@given(st.integers(0, len(ONE.data) - 1))
def test_no_cut_goes_unseen(length: int) -> None:
    with pytest.raises(BadInput):
        check_shard(BytesIO(ONE.data[:length]))


blocks = st.sampled_from([TAR[i : i + 512] for i in range(0, len(TAR), 512)] + [bytes(512)])


@given(st.lists(blocks | st.binary(max_size=600), max_size=8).map(b"".join) | st.binary())
def test_any_bytes_give_a_shard_of_ours_or_a_refusal(tar: bytes) -> None:
    try:
        files = dict(read_shard(BytesIO(gzipped(tar))))
    except BadInput:
        return
    again = pack_all(files)[1]
    assert b"".join(gzip.decompress(one.data)[:-1024] for one in again) == tar[:-1024]


@given(st.binary(max_size=400))
def test_any_bytes_that_are_no_gzip_are_refused(data: bytes) -> None:
    with pytest.raises(BadInput):
        check_shard(BytesIO(data))


SOME = list(ONE.shard.snapshots)
EXPECTED: dict[str, tuple[list[Archived], str]] = {
    "one is missing": ([*SOME, archived("history/20240105-000000-z.json", b"")], "is missing"),
    "one before is missing": (
        [archived("history/20231231-000000-z.json", b""), *SOME],
        "20231231-000000-z.json' is missing",
    ),
    "one too many": (SOME[:2], "not among its snapshots"),
    "one in the middle too many": ([SOME[0], SOME[2]], "not among its snapshots"),
    "another blob": ([SOME[0], archived(B, b"[]\n" * 299 + b"[] "), SOME[2]], "is not the blob"),
    "another size": ([SOME[0], Archived(B, SOME[1].blob, 5), SOME[2]], "900 bytes, not 5"),
    "nothing": ([], "not among its snapshots"),
}


@pytest.mark.parametrize(("expected", "why"), EXPECTED.values(), ids=EXPECTED)
def test_exactly_what_is_expected_must_be_there(expected: list[Archived], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        check_shard(BytesIO(ONE.data), expected)


@given(contents)
def test_the_ids_alone_are_enough(given_contents: dict[str, bytes]) -> None:
    for one in pack_all(given_contents)[1]:
        ids = [Archived(s.path, s.blob, UNKNOWN_SIZE) for s in one.shard.snapshots]
        assert check_shard(BytesIO(one.data), ids).snapshots == len(ids)


@pytest.mark.parametrize(
    ("hashes", "why"),
    [
        ({"sha256": "0" * 64}, "its SHA-256 is [0-9a-f]{64}, not '0000"),
        ({"tar_sha256": "0" * 64}, "of its tar is [0-9a-f]{64}, not '0000"),
    ],
)
def test_other_hashes_than_expected_are_refused(hashes: dict[str, str], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        check_shard(BytesIO(ONE.data), **hashes)  # type: ignore[arg-type]


BOMB = gzipped(header(A, 50 << 20, 1_704_067_200) + bytes(50 << 20) + END)


@pytest.mark.parametrize(
    ("data", "limits", "why"),
    [
        (BOMB, Limits(snapshot_bytes=1 << 20), "52,428,800 bytes, and 1,048,576 is the most"),
        (BOMB, Limits(tar_bytes=1 << 21), "unpacks to more than 2,097,152 bytes"),
        (ONE.data, Limits(snapshots=2), "more than 2 snapshots"),
        (gzipped(edited(124, b"77777777777")), Limits(), "does not write"),
    ],
)
def test_a_bomb_is_refused_before_it_unpacks(data: bytes, limits: Limits, why: str) -> None:
    source = BytesIO(data)
    with pytest.raises(BadInput, match=why):
        check_shard(source, limits=limits)


def test_an_expected_size_stops_a_bomb_at_its_header() -> None:
    source = _Counting(BOMB)
    with pytest.raises(BadInput, match="52,428,800 bytes, not 1"):
        check_shard(source, [archived(A, b"x")])
    assert source.given <= 1 << 17 < len(BOMB) * 4


def test_the_index_gives_limits_that_its_shard_keeps() -> None:
    line = index_line(ONE.packed, tag="history-2024-W01", commit="0" * 40)
    check_shard(BytesIO(ONE.data), limits=limits_of(line))
    bigger = packed(a=b"", b=bytes(1 << 20), c=b"")
    with pytest.raises(BadInput, match="unpacks to more than 5,267 bytes"):
        check_shard(BytesIO(bigger.data), limits=limits_of(line))


class _Counting(io.BytesIO):
    """Counts what is read of it."""

    given = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.given += len(data)
        return data


class _Dripping(io.BytesIO):
    """Gives a byte at a time, as a slow pipe may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(1 if size else 0)


def test_a_slow_source_is_read_as_well() -> None:
    seen = check_shard(_Dripping(ONE.data), ONE.shard.snapshots, sha256=ONE.packed.sha256)
    assert seen.snapshots == 3
    for spoil in (ONE.data[:-1], ONE.data + b"x", b"\x1f"):
        with pytest.raises(BadInput):
            check_shard(_Dripping(spoil))


def test_reading_begins_where_the_source_stands() -> None:
    source = BytesIO(b"before" + ONE.data)
    source.seek(6)
    assert check_shard(source).sha256 == ONE.packed.sha256
