"""Made-up snapshots for the tests of the archive: contents by path, planned and packed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO

import msgspec
from hypothesis import strategies as st

from memrepo.protocol.names import SnapshotName
from memrepo.shards.pack import pack
from memrepo.shards.plan import asset_name, plan_shards
from memrepo.shards.values import Archived, Packed, Plan, Shard

COMMIT = "c0ffee00" * 5
FAR = datetime(2200, 1, 1, tzinfo=UTC)

agent_ids = st.sampled_from(["a", "a-b", "A.b", "agent-1", "Z9_@x", "x" * 60])
times = st.datetimes(datetime(2023, 12, 28), datetime(2024, 1, 12)).map(
    lambda when: when.replace(microsecond=0, tzinfo=UTC)
)
paths = st.builds(
    lambda when, agent, layout: SnapshotName(when, agent).path(layout),
    times,
    agent_ids,
    st.sampled_from(["flat", "daily"]),
)
#: Contents by path, of some agents over some weeks, in both layouts.
contents = st.dictionaries(paths, st.binary(max_size=1200), max_size=25)


class PackedShard(msgspec.Struct, frozen=True):
    """A shard with what packing it gave."""

    shard: Shard
    packed: Packed
    data: bytes


def archived(path: str, data: bytes, algorithm: str = "sha1") -> Archived:
    """The value of one snapshot."""
    blob = hashlib.new(algorithm, b"blob %d\0" % len(data) + data).hexdigest()
    return Archived(path, blob, len(data))


def plan_of(given: Mapping[str, bytes], **options: object) -> Plan:
    """A plan of all of them; what is newest is only kept by a later one, so all are packed."""
    later = {SnapshotName(FAR, path.rpartition("/")[2][16:-5]).path("flat"): b"" for path in given}
    everything = [archived(path, data) for path, data in {**given, **later}.items()]
    asked = {"commit": COMMIT, "before": FAR, **options}
    return plan_shards(everything, **asked)  # type: ignore[arg-type]


def pack_one(shard: Shard, given: Mapping[str, bytes]) -> PackedShard:
    """Pack one shard into memory."""
    out = BytesIO()
    whole = ((one, given[one.path]) for one in shard.snapshots)
    packed = pack(shard, whole, out, asset_name(shard.name))
    return PackedShard(shard, packed, out.getvalue())


def pack_all(given: Mapping[str, bytes], **options: object) -> tuple[Plan, list[PackedShard]]:
    """Plan and pack all of them."""
    plan = plan_of(given, **options)
    return plan, [pack_one(shard, given) for shard in plan.shards]
