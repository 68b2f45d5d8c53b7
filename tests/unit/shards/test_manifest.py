from __future__ import annotations

import hashlib
import json
import subprocess
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archived import COMMIT, contents, pack_all
from memrepo.errors import BadInput
from memrepo.shards.manifest import (
    MANIFEST,
    SUMS,
    Manifest,
    manifest_of,
    manifest_parts,
    parse_manifest,
    parse_sums,
    sums_bytes,
    sums_of,
)

FILES = {
    "history/20240101-000000-a.json": b"{}",
    "history/20240102-000000-b.json": b"[]",
    "history/20240109-000000-a.json": b"",
}
PLAN, SHARDS = pack_all(FILES)


def whole(manifest: Manifest) -> bytes:
    """The bytes of ``manifest.json``."""
    return b"".join(manifest_parts(manifest))


BYTES = whole(manifest_of(PLAN, [one.packed for one in SHARDS]))


@given(contents.filter(bool), st.sampled_from([3000, 1 << 20]))
def test_a_manifest_comes_back(given_contents: dict[str, bytes], most: int) -> None:
    plan, shards = pack_all(given_contents, most_bytes=most)
    manifest = manifest_of(plan, [one.packed for one in reversed(shards)])
    data = whole(manifest)
    assert parse_manifest(data) == manifest
    assert parse_manifest(BytesIO(data)) == manifest
    assert manifest.shards == tuple(one.packed for one in shards)
    assert manifest.key == plan.key
    assert manifest.snapshots == len(given_contents)
    assert manifest.bytes == sum(map(len, given_contents.values()))


def test_a_manifest_is_json_that_says_all_of_every_snapshot() -> None:
    value = json.loads(BYTES)
    shards = value.pop("shards")
    assert value == {
        "format": "memrepo archive 1",
        "key": PLAN.key,
        "commit": COMMIT,
        "before": "2200-01-01T00:00:00Z",
        "agents": ["a", "b"],
        "first": "2024-01-01T00:00:00Z",
        "last": "2024-01-09T00:00:00Z",
        "snapshots": 3,
        "bytes": 4,
    }
    assert [shard["shard"] for shard in shards] == ["2024-W01", "2024-W02"]
    for shard, one in zip(shards, SHARDS, strict=True):
        listed = shard.pop("snapshots")
        assert shard == {
            "shard": one.shard.name,
            "asset": f"history-{one.shard.name}.tar.gz",
            "size": len(one.data),
            "sha256": one.packed.sha256,
            "tar_size": one.packed.tar_size,
            "tar_sha256": one.packed.tar_sha256,
        }
        for entry, snapshot in zip(listed, one.shard.snapshots, strict=True):
            assert entry.pop("time").replace("-", "").replace(":", "").replace("T", "-") in (
                snapshot.path.replace("history/", "")[:15] + "Z"
            )
            assert entry == {
                "path": snapshot.path,
                "blob": snapshot.blob,
                "size": snapshot.size,
                "sha256": hashlib.sha256(FILES[snapshot.path]).hexdigest(),
            }


def _in(old: bytes, new: bytes) -> bytes:
    assert old in BYTES
    return BYTES.replace(old, new, 1)


LINES = BYTES.splitlines(keepends=True)
SPOILED = {
    "empty": b"",
    "cut": BYTES[:-1],
    "without its end": b"".join(LINES[:-1]),
    "more": BYTES + b"\n",
    "line ends of Windows": BYTES.replace(b"\n", b"\r\n"),
    "spaces": _in(b'"commit":', b'"commit": '),
    "format": _in(b"archive 1", b"archive 2"),
    "key": _in(PLAN.key.encode(), b"0" * 64),
    "commit": _in(COMMIT.encode(), b"HEAD"),
    "before without a zone": _in(b"2200-01-01T00:00:00Z", b"2200-01-01T00:00:00"),
    "before in another zone": _in(b"2200-01-01T00:00:00Z", b"2200-01-01T01:00:00+01:00"),
    "agents": _in(b'["a","b"]', b'["b","a"]'),
    "another agent": _in(b'["a","b"]', b'["a","b","c"]'),
    "first": _in(b'"first":"2024-01-01', b'"first":"2023-01-01'),
    "number": _in(b'"snapshots":3', b'"snapshots":2'),
    "bytes": _in(b'"bytes":4', b'"bytes":5'),
    "field": _in(b'"bytes":4', b'"bytes":4,"more":1'),
    "field twice": _in(b'"bytes":4', b'"bytes":4,"bytes":4'),
    "tar's size": _in(b'"tar_size":3072', b'"tar_size":3584'),
    "tar's hash": _in(SHARDS[0].packed.tar_sha256.encode(), b"z" * 64),
    "asset's hash": _in(SHARDS[0].packed.sha256.encode(), b"0" * 63),
    "asset climbs": _in(b"history-2024-W01.tar.gz", b"../history-2024-W01.tar.gz"),
    "shard's name": _in(b'"shard":"2024-W01"', b'"shard":"2024-W03"'),
    "path climbs": _in(b"history/20240101-000000-a.json", b"history/../x-000000-a.json"),
    "blob": _in(SHARDS[0].shard.snapshots[0].blob.encode(), b"0" * 40),
    "blob of another kind": _in(SHARDS[0].shard.snapshots[0].blob.encode(), b"0" * 64),
    "content's hash": _in(hashlib.sha256(b"{}").hexdigest().encode(), b"0" * 62),
    "content's hash is long": _in(hashlib.sha256(b"{}").hexdigest().encode(), b"0" * 66),
    "size": _in(b'"size":2', b'"size":-2'),
    "time": _in(b'"time":"2024-01-01', b'"time":"2024-01-02'),
    "order of snapshots": b"".join(
        [*LINES[:2], LINES[3][:-1], b",\n", LINES[2][:-2], b"\n", *LINES[4:]]
    ),
    "a snapshot twice": b"".join([*LINES[:3], LINES[2], *LINES[3:]]),
    "a snapshot less": b"".join([*LINES[:2], *LINES[3:]]),
    "a shard less": b"".join([*LINES[:4], b"]}\n", LINES[-1]]),
    "order of shards": b"".join([LINES[0], *LINES[5:7], b"]},\n", *LINES[1:4], b"]}\n", LINES[-1]]),
    "a comma more": b"".join([*LINES[:3], LINES[3][:-1], b",\n", *LINES[4:]]),
    "not UTF-8": _in(b"archive 1", b"archive \xff"),
    "deep": b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("data", SPOILED.values(), ids=SPOILED)
def test_what_we_would_not_write_is_refused_with_its_line(data: bytes) -> None:
    with pytest.raises(BadInput, match=r"^manifest\.json, line [0-9]+: "):
        parse_manifest(data)


@given(st.integers(0, 8 * len(BYTES) - 1))
def test_no_flipped_bit_is_read_as_another_manifest(bit: int) -> None:
    spoiled = bytearray(BYTES)
    spoiled[bit // 8] ^= 1 << bit % 8
    try:
        read = parse_manifest(bytes(spoiled))
    except BadInput:
        return
    # Some values, such as a commit's id, stand for themselves.
    assert whole(read) == bytes(spoiled)


@given(st.lists(st.sampled_from([*LINES, b"{}\n", b"\n"]), max_size=9).map(b"".join))
def test_lines_in_any_order_make_a_manifest_or_a_refusal(data: bytes) -> None:
    try:
        read = parse_manifest(data)
    except BadInput:
        return
    assert whole(read) == data


def test_a_manifest_is_of_the_plans_shards() -> None:
    for packed in ([], [SHARDS[0].packed], [SHARDS[0].packed] * 2):
        with pytest.raises(BadInput, match="not the shards of the plan"):
            manifest_of(PLAN, packed)


def test_sha256sum_agrees(tmp_path: Path) -> None:
    for one in SHARDS:
        (tmp_path / one.packed.asset).write_bytes(one.data)
    (tmp_path / MANIFEST).write_bytes(BYTES)
    sums = sums_of([one.packed for one in SHARDS], hashlib.sha256(BYTES).hexdigest())
    (tmp_path / SUMS).write_bytes(sums)
    check = ["sha256sum", "--check", "--strict", SUMS]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "history-2024-W01.tar.gz: OK",
        "history-2024-W02.tar.gz: OK",
        "manifest.json: OK",
    ]
    (tmp_path / MANIFEST).write_bytes(BYTES + b" ")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True).returncode == 1
    assert sums_bytes(parse_sums(sums)) == sums


@pytest.mark.parametrize(
    "line",
    [
        b"x",
        b"0" * 64 + b" *manifest.json",
        b"0" * 63 + b"  manifest.json",
        b"0" * 64 + b"  ../manifest.json",
        b"0" * 64 + b"  -",
        b"\\" + b"0" * 64 + b"  a\\nb",
        b"0" * 64 + b"  manifest.json\n" + b"1" * 64 + b"  manifest.json",
        b"\xff",
        b"",
    ],
)
def test_sums_that_are_none_are_refused_with_the_line(line: bytes) -> None:
    with pytest.raises(BadInput, match=r"SHA256SUMS, line [23]"):
        parse_sums(b"0" * 64 + b"  first.tar.gz\n" + line + b"\n")


def test_times_are_of_the_names() -> None:
    manifest = parse_manifest(BYTES)
    assert (manifest.first, manifest.last) == (
        datetime(2024, 1, 1, tzinfo=UTC),
        datetime(2024, 1, 9, tzinfo=UTC),
    )
