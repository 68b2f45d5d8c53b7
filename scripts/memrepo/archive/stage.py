"""Shards as files on disk: packed one at a time from Git objects, each read back at once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from memrepo.archive.proof import members, on_disk
from memrepo.archive.values import Tell
from memrepo.errors import BadInput, GitFailed
from memrepo.gitrepo.blobstream import stream_blobs
from memrepo.gitrepo.repository import Repository
from memrepo.shards.manifest import (
    MANIFEST,
    SUMS,
    Manifest,
    manifest_parts,
    parse_manifest,
    parse_sums,
    sums_of,
)
from memrepo.shards.pack import pack
from memrepo.shards.plan import asset_name
from memrepo.shards.read import check_shard
from memrepo.shards.values import Archived, Packed, Plan, Shard


class Staged(msgspec.Struct, frozen=True):
    """One packed shard that lies in the file at ``path`` and was read back from there."""

    packed: Packed
    path: Path


#: Gives the staged shards one by one; each file is needed only until the next is asked for.
Stage = Callable[[], Iterator[Staged]]


def pack_shards(
    repo: Repository, plan: Plan, folder: Path, prefix: str, tell: Tell, *, keep: bool = False
) -> Iterator[Staged]:
    """Pack the shards of ``plan`` into ``folder``, one on disk at a time unless ``keep``.

    What was written is read back, and every member's blob id compared with the plan, before
    it is given. Raises GitFailed where the disk is full or an object is damaged.
    """
    total = sum(len(shard.snapshots) for shard in plan.shards)
    done = 0

    def note(count: int) -> None:
        nonlocal done
        done += count
        tell("packed", done, total)

    for shard in plan.shards:
        asset = asset_name(shard.name, prefix)
        path = folder / asset
        beside = folder / f".{asset}.part"
        with on_disk(folder):
            with beside.open("wb") as out:
                packed = pack(shard, _contents(repo, shard), out, asset, note)
                if keep:
                    out.flush()
                    os.fsync(out.fileno())
            _read_back(beside, packed, shard)
            beside.replace(path)
        yield Staged(packed, path)
        if not keep:
            with on_disk(folder):
                path.unlink(missing_ok=True)


def _contents(repo: Repository, shard: Shard) -> Iterator[tuple[Archived, bytes]]:
    found = shard.snapshots
    stream = stream_blobs(repo, (one.blob for one in found), (one.size for one in found))
    with closing(stream) as blobs:
        for one in found:
            try:
                data = next(blobs)
            except GitFailed:
                raise GitFailed(
                    f"{one.path} could not be read from the repository", "run git fsck on it"
                ) from None
            yield one, data


def _read_back(path: Path, packed: Packed, shard: Shard) -> None:
    try:
        with path.open("rb") as file:
            check_shard(file, shard.snapshots, sha256=packed.sha256, tar_sha256=packed.tar_sha256)
    except BadInput as error:
        raise GitFailed(
            f"{path.name} reads back otherwise than it was written: {error.message}",
            "check the disk and the memory of this machine, then run it again",
        ) from None


def write_manifest(manifest: Manifest, folder: Path) -> tuple[str, bytes]:
    """Write ``manifest.json`` and ``SHA256SUMS``; the manifest's SHA-256 and the sums' bytes."""
    digest = hashlib.sha256()
    with on_disk(folder):
        beside = folder / f".{MANIFEST}.part"
        with beside.open("wb") as file:
            for part in manifest_parts(manifest):
                digest.update(part)
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(folder / MANIFEST)
        sums = sums_of(manifest.shards, digest.hexdigest())
        beside = folder / f".{SUMS}.part"
        with beside.open("wb") as file:
            file.write(sums)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(folder / SUMS)
    return digest.hexdigest(), sums


def packed_before(folder: Path) -> Manifest:
    """The manifest in a folder that ``archive pack`` wrote, checked against its sums.

    Raises BadInput where the folder is none, or is not whole.
    """
    try:
        sums = parse_sums((folder / SUMS).read_bytes())
        data = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise BadInput(
            f"{folder} is not a folder that archive pack wrote: {error.strerror}",
            "make it with memrepo archive pack --out DIR",
        ) from None
    if hashlib.sha256(data).hexdigest() != sums.get(MANIFEST):
        raise BadInput(f"{folder / MANIFEST} is not the file that {SUMS} names", "pack it again")
    return parse_manifest(data)


def read_shards(manifest: Manifest, folder: Path, tell: Tell) -> Iterator[Staged]:
    """The shards that ``archive pack`` left in ``folder``, each read back before it is given.

    Raises BadInput for one that is missing or is not what the manifest says.
    """
    done = 0
    for packed in manifest.shards:
        path = folder / packed.asset
        try:
            with path.open("rb") as file:
                check_shard(
                    file, members(packed), sha256=packed.sha256, tar_sha256=packed.tar_sha256
                )
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {error.strerror}", "pack it again") from None
        done += len(packed.snapshots)
        tell("read back", done, manifest.snapshots)
        yield Staged(packed, path)
