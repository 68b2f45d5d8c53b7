"""The index of the archive in the memory repository: one line a shard, and its members."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta

import msgspec

from memrepo.errors import BadInput
from memrepo.protocol.names import agent_id_problem
from memrepo.shards.manifest import held_by
from memrepo.shards.path import at, readable, shown
from memrepo.shards.plan import shard_order
from memrepo.shards.table import UNKNOWN_SIZE, Snapshots
from memrepo.shards.values import ARCHIVE_FOLDER, INDEX_PATH, Archived, IndexLine, Packed

_TAG = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9])){0,99}")
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_URL = re.compile(r"[!-~]{0,2000}")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(IndexLine).decode


class InArchive(msgspec.Struct, frozen=True):
    """A snapshot that lies in the archive: its path, its blob id, and its shard."""

    path: str
    blob: str
    line: IndexLine


def index_line(packed: Packed, *, tag: str, commit: str, url: str = "") -> IndexLine:
    """The line for a packed shard that release ``tag`` holds."""
    held = held_by(packed)
    return IndexLine(
        shard=packed.shard,
        tag=tag,
        asset=packed.asset,
        size=packed.size,
        sha256=packed.sha256,
        tar_sha256=packed.tar_sha256,
        snapshots=len(held),
        bytes=sum(one.size for one in held),
        first=at(min(held.times())),
        last=at(max(held.times())),
        agents=tuple(sorted(set(held.agents()))),
        commit=commit,
        members=hashlib.sha256(members_bytes(held)).hexdigest(),
        url=url,
    )


def index_bytes(lines: Iterable[IndexLine]) -> bytes:
    """The bytes of ``index.jsonl``: one JSON object a line, keys in order, in the order given."""
    return b"".join(_encode(line) + b"\n" for line in lines)


def parse_index(data: bytes, path: str = INDEX_PATH) -> list[IndexLine]:
    """The lines of an index, in order.  Raises BadInput with the number of the bad line.

    ``path`` is how a message calls the file. No two lines are about one shard of one tag.
    """
    lines: list[IndexLine] = []
    seen: set[tuple[str, str]] = set()
    for number, raw in enumerate(data.splitlines(keepends=True), 1):
        try:
            line = _decode(raw)
            why = "not as memrepo writes it" if _encode(line) + b"\n" != raw else _problem(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            why = readable(error)
        else:
            if not why and (line.tag, line.shard) in seen:
                why = f"{line.shard} of {line.tag} stands here a second time"
        if why:
            raise BadInput(
                f"{path}, line {number}: {why}",
                "take back the file's last good version: git log -- " + path,
            )
        seen.add((line.tag, line.shard))
        lines.append(line)
    return lines


def _problem(line: IndexLine) -> str:
    """What cannot be in a line, in words, or ""."""
    if shard_order(line.shard) is None:
        return f"{shown(line.shard)} is not the name of a shard"
    for name in (line.tag, line.asset):
        if not _TAG.fullmatch(name):
            return f"{shown(name)} is no name of a tag or an asset"
    if not all(map(_SHA256.fullmatch, (line.sha256, line.tar_sha256, line.members))):
        return "a hash is no SHA-256"
    if not _ID.fullmatch(line.commit):
        return f"{shown(line.commit)} is no id of a commit"
    if {line.first.utcoffset(), line.last.utcoffset()} != {timedelta()}:
        return "a time is not in UTC"
    if line.snapshots < 1 or line.size < 1 or line.bytes < 0 or line.first > line.last:
        return "a number or a time cannot be"
    if list(line.agents) != sorted(set(line.agents)) or not line.agents:
        return "the agents are not in order"
    if any(map(agent_id_problem, line.agents)):
        return "an agent's id cannot be one"
    return "" if _URL.fullmatch(line.url) else "the address cannot be one"


def append_lines(data: bytes, lines: Iterable[IndexLine], path: str = INDEX_PATH) -> bytes:
    """The index ``data`` with ``lines`` at its end; one that is there already is not repeated.

    Raises BadInput where ``data`` is no index, or has another line about the same shard of
    the same tag.
    """
    there = {(line.tag, line.shard): line for line in parse_index(data, path)}
    new = []
    for line in lines:
        old = there.get((line.tag, line.shard))
        if old is None:
            there[line.tag, line.shard] = line
            new.append(line)
        elif old != line:
            raise BadInput(
                f"{path} already has another line about {line.shard} of {line.tag}",
                "look at what was archived under this tag: memrepo archive verify " + line.tag,
            )
    return data + index_bytes(new)


def members_path(tag: str, shard: str) -> str:
    """Where a shard's members are listed: ``.memrepo/archive/members/<tag>/<shard>.txt``.

    Raises BadInput for names that are none.
    """
    if not _TAG.fullmatch(tag) or shard_order(shard) is None:
        raise BadInput(f"{shown(tag)} and {shown(shard)} are not names of a tag and a shard")
    return f"{ARCHIVE_FOLDER}/members/{tag}/{shard}.txt"


def members_bytes(snapshots: Iterable[Archived]) -> bytes:
    """The file of a shard's members: ``<blob> <path>`` a line, in the order given (of paths)."""
    return "".join(f"{one.blob} {one.path}\n" for one in snapshots).encode()


def parse_members(data: bytes, line: IndexLine) -> Snapshots:
    """The snapshots in the members file of ``line``, sizes unknown (``UNKNOWN_SIZE``).

    Raises BadInput where it is not the file that the line names, or no such file at all.
    """
    path = members_path(line.tag, line.shard)
    hint = "take back the file's first version: git log -- " + path
    if hashlib.sha256(data).hexdigest() != line.members:
        raise BadInput(f"{path} is not the file that the archive's index names", hint)
    try:
        pairs = (row.partition(" ") for row in data.decode("ascii").splitlines())
        members = Snapshots(Archived(path, blob, UNKNOWN_SIZE) for blob, _, path in pairs)
    except (BadInput, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {readable(error)}", hint) from None
    if members_bytes(members) != data or len(members) != line.snapshots:
        raise BadInput(f"{path} does not list the {line.snapshots:,} members of its shard", hint)
    return members


def archived_snapshots(
    lines: Iterable[IndexLine],
    read: Callable[[str], bytes | None],
    *,
    agent_id: str = "",
) -> Iterator[InArchive]:
    """Every snapshot that the index knows, shard by shard; of one agent where that is given.

    ``read`` gives the bytes of a path of the repository, or None: BadInput names the
    members file that is missing or is not what its line says. Shards without the agent are
    not read.
    """
    for line in lines:
        if agent_id and agent_id not in line.agents:
            continue
        path = members_path(line.tag, line.shard)
        data = read(path)
        if data is None:
            raise BadInput(f"{path} is missing", "take it back: git log --diff-filter=D -- " + path)
        members = parse_members(data, line)
        for one, whose in zip(members, members.agents(), strict=True):
            if not agent_id or whose == agent_id:
                yield InArchive(one.path, one.blob, line)
