"""The phases of a run one by one: for people, and for jobs that publish a shard each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from memrepo.archive.prepare import Prepared, Request, only, prepare
from memrepo.archive.proof import Proven, members
from memrepo.archive.publish import Names, publish
from memrepo.archive.run import temporary_folder
from memrepo.archive.stage import pack_shards, packed_before, read_shards, write_manifest
from memrepo.archive.values import Tell, quiet
from memrepo.errors import BadInput, UsageError
from memrepo.forge.forge import Forge
from memrepo.gitrepo.blobs import bring_blobs
from memrepo.gitrepo.repository import Repository
from memrepo.shards.manifest import Manifest, manifest_of
from memrepo.shards.plan import asset_name, plan_as_json, plan_from_json, release_tag
from memrepo.shards.table import Snapshots
from memrepo.shards.values import Plan, Shard


class Ask(msgspec.Struct, frozen=True):
    """One shard for a job of its own, and the tag that its release goes by."""

    shard: str
    tag: str
    snapshots: int
    bytes: int


class PlanFile(msgspec.Struct, frozen=True):
    """What ``archive plan --json`` prints: the plan, and one row a shard for a matrix."""

    prefix: str
    branch: str
    matrix: tuple[Ask, ...]
    plan: msgspec.Raw


def plan_archive(
    repo: Repository, forge: Forge, request: Request, tell: Tell = quiet
) -> tuple[Prepared, tuple[Ask, ...]] | None:
    """What a run would publish, and a free tag for each shard; None before the first commit."""
    with temporary_folder() as folder:
        prepared = prepare(repo, forge, request, folder, tell)
    if prepared is None:
        return None
    taken = {release.tag for release in prepared.listed} | prepared.adopted.known.keys()
    asks = []
    for shard in prepared.plan.shards:
        tag = release_tag(prepared.start.prefix, request.now, taken)
        taken.add(tag)
        size = sum(one.size for one in shard.snapshots)
        asks.append(Ask(shard.name, tag, len(shard.snapshots), size))
    return prepared, tuple(asks)


def plan_file(prepared: Prepared, asks: Sequence[Ask]) -> bytes:
    """The bytes of ``plan.json``."""
    start = prepared.start
    plan = msgspec.Raw(plan_as_json(prepared.plan))
    return msgspec.json.encode(PlanFile(start.prefix, start.branch, tuple(asks), plan)) + b"\n"


def read_plan_file(data: bytes) -> tuple[PlanFile, Plan]:
    """A ``plan.json`` and the plan in it.  Raises BadInput; nothing in it is believed."""
    try:
        file = msgspec.json.decode(data, type=PlanFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(
            f"this is no plan of an archive: {error}", "make one with memrepo archive plan --json"
        ) from None
    return file, plan_from_json(bytes(file.plan))


def pack_archive(
    repo: Repository, plan: Plan, out: Path, prefix: str, tell: Tell = quiet
) -> tuple[Manifest, bytes]:
    """Pack every shard of ``plan`` into the folder ``out``, with its manifest and sums.

    The manifest, and the bytes of ``SHA256SUMS``. Done again over the same folder, it ends
    the same. Raises UsageError for a plan of nothing and a folder that cannot be used.
    """
    if not plan.shards:
        raise UsageError("the plan holds nothing to pack", "memrepo archive plan says what is due")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out} cannot be used: {error.strerror}", "name another --out") from None
    packed = [one.packed for one in pack_shards(repo, plan, out, prefix, tell, keep=True)]
    manifest = manifest_of(plan, packed)
    return manifest, write_manifest(manifest, out)[1]


def publish_folder(forge: Forge, source: Path, request: Request, tell: Tell = quiet) -> Proven:
    """Publish what ``archive pack`` left in a folder, every shard read back before it goes."""
    manifest = packed_before(source)
    plan = Plan(manifest.commit, manifest.before, tuple(_shards(manifest)), (), manifest.key)
    with temporary_folder() as folder:
        staged = read_shards(manifest, source, tell)
        names = Names(_prefix(manifest), request.now)
        listed = forge.list_releases()
        return publish(forge, listed, plan, staged, names, folder, tell, manifest=manifest)


def publish_shard(
    repo: Repository,
    forge: Forge,
    file: PlanFile,
    plan: Plan,
    name: str,
    request: Request,
    tell: Tell = quiet,
) -> Proven:
    """Pack one shard of a plan and publish it as a release of its own, under its own tag.

    Raises UsageError for a shard that the plan does not have.
    """
    ask = next((one for one in file.matrix if one.shard == name), None)
    shards = [shard for shard in plan.shards if shard.name == name]
    if ask is None or not shards:
        known = ", ".join(shard.name for shard in plan.shards[:8])
        raise UsageError(f"the plan has no shard {name!a}", f"it begins with {known}")
    one = only(plan, shards)
    bring_plan(repo, one, request.remote)
    with temporary_folder() as folder:
        staged = pack_shards(repo, one, folder, file.prefix, tell)
        names = Names(file.prefix, request.now, ask.tag)
        return publish(forge, forge.list_releases(), one, staged, names, folder, tell)


def bring_plan(repo: Repository, plan: Plan, remote: str | None) -> None:
    """Make sure that all that a plan from elsewhere names is in this clone."""
    blobs = (one.blob for shard in plan.shards for one in shard.snapshots)
    bring_blobs(repo, blobs, commit=plan.commit, remote=remote)


def _shards(manifest: Manifest) -> Iterator[Shard]:
    for packed in manifest.shards:
        yield Shard(packed.shard, Snapshots(members(packed)))


def _prefix(manifest: Manifest) -> str:
    """What the names of the packed files begin with."""
    first = manifest.shards[0]
    prefix = first.asset.removesuffix(f"-{first.shard}.tar.gz")
    if any(one.asset != asset_name(one.shard, prefix) for one in manifest.shards):
        raise BadInput("the manifest names files otherwise than archive pack does", "pack it again")
    return prefix


def published_as_json(proven: Proven) -> dict[str, Any]:
    """The public JSON shape of ``archive publish --json`` and ``pack-publish --json``."""
    manifest = proven.manifest
    return {
        "tag": proven.release.tag,
        "url": proven.release.url,
        "key": manifest.key,
        "snapshots": manifest.snapshots,
        "shards": [
            {"shard": one.shard, "asset": one.asset, "size": one.size, "sha256": one.sha256,
             "tar_sha256": one.tar_sha256, "snapshots": len(one.snapshots)}
            for one in manifest.shards
        ],
    }  # fmt: skip
