"""Which snapshots are due, and in which shards they go. Names decide: no clock, no Git.

A plan goes from one job to a matrix of others as JSON.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from memrepo.errors import BadInput, UsageError
from memrepo.protocol.timestamps import iso, parse_timestamp
from memrepo.shards.path import readable, shown, snapshot_at, week_of
from memrepo.shards.table import Snapshots, table_of
from memrepo.shards.tar import END, LONGEST_AGENT, fits, member_size, problem
from memrepo.shards.values import MOST_ASSET_BYTES, Archived, Left, Plan, Shard

_NAME = re.compile(r"([0-9]{4}-W[0-9]{2})(?:\.([1-9][0-9]{0,5}))?")
_PREFIX = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9])){0,49}")

_FORMAT = "memrepo archive plan 1"
_COMMIT = r"^([0-9a-f]{40}|[0-9a-f]{64})\Z"
_encode = msgspec.json.Encoder().encode


class _Snapshot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    blob: str
    size: Annotated[int, msgspec.Meta(ge=0)]


class _Left(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    why: str


class _Shard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    snapshots: msgspec.Raw


class _Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    commit: Annotated[str, msgspec.Meta(pattern=_COMMIT)]
    before: str
    key: str
    shards: list[_Shard]
    kept: list[_Snapshot]
    left: list[_Left]


_decode_plan = msgspec.json.Decoder(_Plan).decode
_decode_snapshots = msgspec.json.Decoder(list[_Snapshot]).decode


def plan_shards(
    snapshots: Iterable[Archived],
    *,
    commit: str,
    before: datetime,
    agents: Collection[str] = (),
    most_bytes: int = MOST_ASSET_BYTES,
) -> Plan:
    """The shards of everything in ``snapshots`` whose name's time is before ``before``.

    ``snapshots`` are files of ``commit`` (an id in hex) in any order; paths that are no
    snapshot's are never chosen. The newest snapshot of every agent stays, whatever its age.
    ``agents`` limits the choice to these. A shard's tar stays below ``most_bytes`` (at most
    ``MOST_ASSET_BYTES``), and so does its asset. The same input gives the same plan in any
    order. Raises BadInput for a path given twice or an id that is none.
    """
    before = before.astimezone(UTC).replace(microsecond=0)
    end, wanted = int(before.timestamp()), frozenset(agents)
    if not isinstance(snapshots, Snapshots):
        snapshots = (one for one in snapshots if snapshot_at(one.path))
    found = table_of(snapshots)
    newest: dict[str, int] = {}
    for agent, when in zip(found.agents(), found.times(), strict=True):
        if when > newest.get(agent, when - 1):
            newest[agent] = when
    weeks: dict[str, array[int]] = {}
    stay, left = array("I"), []
    fields = zip(found.agents(), found.times(), found.sizes(), strict=True)
    for place, (agent, when, size) in enumerate(fields):
        if when >= end or (wanted and agent not in wanted):
            continue
        if when == newest[agent]:
            stay.append(place)
        elif len(agent) <= LONGEST_AGENT and fits(size, when):
            weeks.setdefault(week_of(when), array("I")).append(place)
        else:
            path = found[place].path
            left.append(Left(path, problem(path, size, when) or ""))
    shards = tuple(
        shard
        for week in sorted(weeks)
        for shard in _parts(week, found.pick(weeks[week]), min(most_bytes, MOST_ASSET_BYTES))
    )
    return Plan(commit, before, shards, tuple(found.pick(stay)), plan_key(shards), tuple(left))


def _parts(week: str, due: Snapshots, most_bytes: int) -> Iterator[Shard]:
    """One shard, or as many as keep each tar below the limit."""
    part, start, total = 1, 0, len(END)
    for at, size in enumerate(map(member_size, due.sizes())):
        # What deflate cannot shrink it makes longer by 5 bytes in 16 kB (RFC 1951, 3.2.4).
        if at > start and (total + size) * 1001 // 1000 + 100 >= most_bytes:
            yield Shard(_name(week, part), due[start:at])
            part, start, total = part + 1, at, len(END)
        total += size
    if start < len(due):
        yield Shard(_name(week, part), due[start:] if start else due)


def _name(week: str, part: int) -> str:
    return week if part == 1 else f"{week}.{part}"


def plan_key(shards: Iterable[Shard]) -> str:
    """SHA-256 over the lines ``<blob> <path>`` of all shards: what is archived, nothing else."""
    digest = hashlib.sha256()
    for shard in shards:
        for one in shard.snapshots:
            digest.update(f"{one.blob} {one.path}\n".encode())
    return digest.hexdigest()


def shard_order(name: str) -> tuple[str, int] | None:
    """Week and part of a shard's name, in the order of which shards come; None for no name."""
    found = _NAME.fullmatch(name)
    if found is None or found[2] == "1":
        return None
    return found[1], int(found[2] or 1)


def asset_name(shard: str, prefix: str = "history") -> str:
    """The file name of a shard's asset: ``history-2026-W05.tar.gz``.  Raises UsageError."""
    return f"{_checked(prefix)}-{shard}.tar.gz"


def release_tag(prefix: str, when: datetime, taken: Collection[str]) -> str:
    """A free tag for a run at ``when``: ``history-2026-W05``, then ``history-2026-W05.2``, …

    ``taken`` are the tags that exist. Raises UsageError for a prefix that cannot stand in a
    tag and in a file name.
    """
    week = week_of(int(when.timestamp()))
    part, folded = 1, {tag.casefold() for tag in taken}
    while (tag := f"{_checked(prefix)}-{_name(week, part)}").casefold() in folded:
        part += 1
    return tag


def _checked(prefix: str) -> str:
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(
            f"{shown(prefix)} cannot begin the name of a tag and of a file",
            "take letters, digits, '-' and '_', at most 50",
        )
    return prefix


def plan_as_json(plan: Plan) -> bytes:
    """A plan as JSON, a snapshot a line; :func:`plan_from_json` reads it.

    ``{format, commit, before, key, shards: [{name, snapshots: [{path, blob, size}]}],
    kept: [{path, blob, size}], left: [{path, why}]}``.
    """
    head = {
        "format": _FORMAT,
        "commit": plan.commit,
        "before": iso(plan.before),
        "key": plan.key,
    }
    shards = b",\n".join(
        b'{"name":%b,"snapshots":[\n%b\n]}' % (_encode(shard.name), _lines(shard.snapshots))
        for shard in plan.shards
    )
    kept, left = _lines(plan.kept), b",\n".join(map(_encode, plan.left))
    parts = (_encode(head)[:-1], shards, kept, left)
    return b'%b,\n"shards":[\n%b\n],"kept":[\n%b\n],"left":[\n%b\n]}\n' % parts


def _lines(snapshots: Iterable[Archived]) -> bytes:
    return b",\n".join(map(_encode, snapshots))


def plan_from_json(data: bytes) -> Plan:
    """The plan that :func:`plan_as_json` wrote.  Raises BadInput for anything else.

    Nothing in it is believed: names, weeks, order, ids and the key are checked again.
    """
    try:
        return _believed(_decode_plan(data))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refused(readable(error)) from None
    except BadInput as error:
        raise _refused(error.message) from None


def _believed(file: _Plan) -> Plan:
    before = parse_timestamp(file.before)
    if file.format != _FORMAT:
        raise BadInput(f"its format is {shown(file.format)}")
    if before is None or iso(before) != file.before:
        raise BadInput(f"{shown(file.before)} is no time in UTC to the second")
    shards = tuple(_shard(shard, before) for shard in file.shards)
    _check_order(shards)
    kept = tuple(Archived(one.path, one.blob, one.size) for one in file.kept)
    left = tuple(Left(one.path, one.why) for one in file.left)
    for path in (*(one.path for one in kept), *(one.path for one in left)):
        if snapshot_at(path) is None:
            raise BadInput(f"{shown(path)} is not the path of a snapshot")
    if plan_key(shards) != file.key:
        raise BadInput("its key is not that of its snapshots")
    return Plan(file.commit, before, shards, kept, file.key, left)


def _shard(file: _Shard, before: datetime) -> Shard:
    order = shard_order(file.name)
    if order is None:
        raise BadInput(f"{shown(file.name)} is not the name of a shard")
    listed = _decode_snapshots(file.snapshots)
    snapshots = Snapshots(Archived(one.path, one.blob, one.size) for one in listed)
    if not listed or any(a.path != b.path for a, b in zip(snapshots, listed, strict=True)):
        raise BadInput(f"the snapshots of {file.name} are missing or not in order")
    for snapshot, when in zip(snapshots, snapshots.times(), strict=True):
        why = problem(snapshot.path, snapshot.size, when)
        if why or week_of(when) != order[0] or when >= before.timestamp():
            raise BadInput(f"{shown(snapshot.path)} {why or f'does not belong in {file.name}'}")
    return Shard(file.name, snapshots)


def _check_order(shards: Iterable[Shard]) -> None:
    """Weeks rise; a week's parts are numbered from 1, and their paths rise too."""
    week, part, last = "", 0, ""
    for shard in shards:
        order = shard_order(shard.name)
        follows = order == (week, part + 1) and shard.snapshots[0].path > last
        if order is None or not (follows or (order[0] > week and order[1] == 1)):
            raise BadInput(f"{shard.name} is not where it belongs")
        (week, part), last = order, shard.snapshots[-1].path


def _refused(why: str) -> BadInput:
    return BadInput(f"this is no plan of an archive: {why}", "make one with memrepo archive plan")
