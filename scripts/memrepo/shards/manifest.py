"""``manifest.json`` and ``SHA256SUMS``: what a release holds, and what proves it.

The manifest is JSON with a snapshot a line, and every byte of it follows from its values, so
that it is written and read line by line, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO, TypeVar

import msgspec

from memrepo.errors import BadInput
from memrepo.shards.path import Named, at, readable, shown, snapshot_at, week_of
from memrepo.shards.plan import plan_key, shard_order
from memrepo.shards.table import Filling, Members, Snapshots, table_of
from memrepo.shards.tar import tar_size
from memrepo.shards.values import Archived, Packed, Plan, Shard

MANIFEST = "manifest.json"
SUMS = "SHA256SUMS"

_FORMAT = "memrepo archive 1"
_OPEN_SHARDS = b',"shards":[\n'
_OPEN_SNAPSHOTS = b',"snapshots":[\n'
_END = b"]}\n"
_MOST_LINE = 1 << 26
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
# Names that sha256sum neither escapes nor takes for a folder.
_ASSET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_SUM = re.compile(rf"([0-9a-f]{{64}})  ({_ASSET.pattern})")

_Line = TypeVar("_Line")


class Manifest(msgspec.Struct, frozen=True):
    """What ``manifest.json`` says. ``first`` and ``last`` are times from snapshots' names."""

    key: str
    commit: str
    before: datetime
    agents: tuple[str, ...]
    first: datetime
    last: datetime
    snapshots: int
    bytes: int
    shards: tuple[Packed, ...]


class _Head(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    key: str
    commit: str
    before: datetime
    agents: tuple[str, ...]
    first: datetime
    last: datetime
    snapshots: int
    bytes: int


class _Shard(msgspec.Struct, forbid_unknown_fields=True):
    shard: str
    asset: str
    size: int
    sha256: str
    tar_size: int
    tar_sha256: str


class _Member(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    blob: str
    size: int
    sha256: str
    time: datetime


_encode = msgspec.json.Encoder().encode
_decode_head = msgspec.json.Decoder(_Head).decode
_decode_shard = msgspec.json.Decoder(_Shard).decode
_decode_member = msgspec.json.Decoder(_Member).decode


def manifest_of(plan: Plan, packed: Sequence[Packed]) -> Manifest:
    """The manifest of a plan whose shards were all packed; ``packed`` in any order.

    Raises BadInput when these are not the plan's shards, or there are none.
    """
    by_name = {one.shard: one for one in packed}
    names = [shard.name for shard in plan.shards]
    if sorted(names) != sorted(one.shard for one in packed) or not names:
        raise BadInput("what was packed are not the shards of the plan", "pack the plan again")
    return _manifest(plan.commit, plan.before, tuple(by_name[name] for name in names))


def _manifest(commit: str, before: datetime, shards: tuple[Packed, ...]) -> Manifest:
    """The manifest of ``shards``: everything but commit and time follows from them."""
    agents: set[str] = set()
    times: list[int] = []
    snapshots = content = 0
    for shard in shards:
        held = held_by(shard)
        agents.update(held.agents())
        times += (min(held.times()), max(held.times()))
        snapshots += len(held)
        content += sum(one.size for one in held)
    return Manifest(
        key=plan_key(Shard(one.shard, held_by(one)) for one in shards),
        commit=commit,
        before=before,
        agents=tuple(sorted(agents)),
        first=at(min(times)),
        last=at(max(times)),
        snapshots=snapshots,
        bytes=content,
        shards=shards,
    )


def held_by(packed: Packed) -> Snapshots:
    """The snapshots of a packed shard."""
    members = packed.snapshots
    if isinstance(members, Members):
        return table_of(members.snapshots)
    return Snapshots(Archived(path, blob, size) for path, blob, size, _ in members)


def manifest_parts(manifest: Manifest) -> Iterator[bytes]:
    """The bytes of ``manifest.json``, piece by piece."""
    yield _head_line(manifest)
    last = len(manifest.shards) - 1
    for number, shard in enumerate(manifest.shards):
        yield _shard_line(shard)
        rest = len(shard.snapshots)
        for path, blob, size, sha256 in shard.snapshots:
            rest -= 1
            yield _member_line(path, blob, size, sha256) + (b",\n" if rest else b"\n")
        yield b"]},\n" if number < last else b"]}\n"
    yield _END


def _head_line(manifest: Manifest) -> bytes:
    head = _Head(
        _FORMAT,
        manifest.key,
        manifest.commit,
        manifest.before,
        manifest.agents,
        manifest.first,
        manifest.last,
        manifest.snapshots,
        manifest.bytes,
    )
    return _encode(head)[:-1] + _OPEN_SHARDS


def _shard_line(shard: Packed) -> bytes:
    line = _Shard(
        shard.shard, shard.asset, shard.size, shard.sha256, shard.tar_size, shard.tar_sha256
    )
    return _encode(line)[:-1] + _OPEN_SNAPSHOTS


def _member_line(path: str, blob: str, size: int, sha256: str) -> bytes:
    named = snapshot_at(path)
    if named is None:
        raise BadInput(f"{shown(path)} is not the path of a snapshot")
    return _encode(_Member(path, blob, size, sha256, at(named.when)))


def parse_manifest(source: BinaryIO | bytes) -> Manifest:
    """Read a ``manifest.json``, line by line.

    Raises BadInput with the number of the line for bytes that :func:`manifest_parts` would
    not give for the snapshots that are named: what follows from them is not believed.
    """
    return _Reader(BytesIO(source) if isinstance(source, bytes) else source).manifest()


class _Reader:
    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._number = 0

    def manifest(self) -> Manifest:
        opening = self._line()
        head = self._decoded(_decode_head, opening, _OPEN_SHARDS, b"}")
        shards: list[Packed] = []
        more = True
        while more:
            shard, more = self._shard()
            shards.append(shard)
        self._check(self._line() == _END and not self._source.read(1), "more than its end")
        order = [shard_order(shard.shard) for shard in shards]
        weeks = [week for week in order if week]
        self._check(weeks == order and weeks == sorted(set(weeks)), "the shards are not in order")
        made = _manifest(head.commit, head.before.astimezone(UTC), tuple(shards))
        self._number = 1
        self._check(
            bool(_ID.fullmatch(head.commit)) and _head_line(made) == opening,
            "not what the snapshots that are named say",
        )
        return made

    def _shard(self) -> tuple[Packed, bool]:
        """The next shard, and whether another must follow."""
        opening = self._line()
        head = self._decoded(_decode_shard, opening, _OPEN_SNAPSHOTS, b"}")
        filling, hashes = Filling(), bytearray()
        last, more = "", True
        while more:
            line = self._line()
            more = line.endswith(b",\n")
            one = self._decoded(_decode_member, line, b",\n" if more else b"\n", b"")
            named = self._member(one, line)
            self._check(one.path > last, f"{shown(one.path)} is not in order")
            try:
                filling.add(Archived(one.path, one.blob, one.size), named)
            except BadInput as error:
                raise self._bad(error.message) from None
            hashes += bytes.fromhex(one.sha256)
            last = one.path
        end = self._line()
        self._check(end in (b"]}\n", b"]},\n"), "the shard does not end")
        held = filling.end()
        shard = Packed(
            head.shard,
            head.asset,
            head.size,
            head.sha256,
            tar_size(one.size for one in held),
            head.tar_sha256,
            Members(held, hashes),
        )
        order = shard_order(head.shard)
        self._check(
            _shard_line(shard) == opening
            and _ASSET.fullmatch(head.asset) is not None
            and _SHA256.fullmatch(head.sha256) is not None
            and _SHA256.fullmatch(head.tar_sha256) is not None
            and order is not None
            and all(week_of(when) == order[0] for when in held.times()),
            "the shard before is not what its snapshots say",
        )
        return shard, end == b"]},\n"

    def _member(self, one: _Member, line: bytes) -> Named:
        named = snapshot_at(one.path)
        whole = _SHA256.fullmatch(one.sha256) and _ID.fullmatch(one.blob) and one.size >= 0
        if named is None or not whole:
            raise self._bad(f"{shown(one.path)} is no snapshot with its hashes")
        made = _member_line(one.path, one.blob, one.size, one.sha256)
        self._check(line.startswith(made) and len(line) <= len(made) + 2, "not as we write it")
        return named

    def _line(self) -> bytes:
        self._number += 1
        line = self._source.readline(_MOST_LINE)
        self._check(line.endswith(b"\n"), "it ends too early")
        return line

    def _decoded(
        self, decode: Callable[[bytes], _Line], line: bytes, ending: bytes, close: bytes
    ) -> _Line:
        self._check(line.endswith(ending), "not as we write it")
        try:
            return decode(line[: -len(ending)] + close)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._bad(readable(error)) from None

    def _check(self, right: bool, why: str) -> None:
        if not right:
            raise self._bad(why)

    def _bad(self, why: str) -> BadInput:
        return BadInput(
            f"{MANIFEST}, line {self._number}: {why}",
            "it is damaged or not memrepo's: fetch it again, or another copy",
        )


def sums_bytes(hashes: Mapping[str, str]) -> bytes:
    """The bytes of ``SHA256SUMS`` for {file name: SHA-256 in hex}; ``sha256sum -c`` reads it."""
    return "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes)).encode()


def sums_of(packed: Iterable[Packed], manifest_sha256: str) -> bytes:
    """``SHA256SUMS`` of a release: its assets and its manifest."""
    return sums_bytes({MANIFEST: manifest_sha256} | {one.asset: one.sha256 for one in packed})


def parse_sums(data: bytes) -> dict[str, str]:
    """{file name: SHA-256 in hex} of a ``SHA256SUMS``.

    Raises BadInput with the number of a line that is none, or that names a file again.
    """
    hashes: dict[str, str] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        found = _SUM.fullmatch(line)
        if found is None or found[2] in hashes:
            raise BadInput(
                f"{SUMS}, line {number}: not a checksum and the name of a new file",
                "fetch it again, or another copy",
            )
        hashes[found[2]] = found[1]
    return hashes
