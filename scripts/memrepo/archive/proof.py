"""What a release holds, proven: by the forge's own digests, or from the bytes it sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from memrepo.archive.values import Tell
from memrepo.errors import BadInput, GitFailed, RemoteFailed
from memrepo.forge.assets import ArrivedChanged, save_asset
from memrepo.forge.releases import Asset, Release, Releases
from memrepo.shards.manifest import MANIFEST, SUMS, Manifest, parse_manifest, parse_sums
from memrepo.shards.read import check_shard
from memrepo.shards.values import Archived, Packed

_MOST_SUMS_BYTES = 1 << 20


class Sent(msgspec.Struct, frozen=True):
    """A file as it was sent to a release: its size in bytes, and its SHA-256."""

    size: int
    sha256: str


class Proven(msgspec.Struct, frozen=True):
    """A published release whose every shard was read back against its manifest.

    ``sums`` is the text of its ``SHA256SUMS``.
    """

    release: Release
    manifest: Manifest
    sums: bytes


@contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Give words to what the temporary folder refuses."""
    try:
        yield
    except OSError as error:
        raise GitFailed(
            f"{folder} could not be written or read: {error.strerror or error}",
            "free some space (or set TMPDIR to a larger disk), then run it again",
        ) from None


def download(releases: Releases, release: Release, asset: Asset, path: Path) -> str:
    """Bring an asset into the file at ``path``; the SHA-256 of what came.

    Raises BadInput when it is not what the forge says it is, again and again.
    """
    try:
        return save_asset(releases, release, asset, path)
    except ArrivedChanged as error:
        raise BadInput(error.message, error.hint) from None


def check_sent(
    releases: Releases, release: Release, sent: Mapping[str, Sent], folder: Path
) -> None:
    """Whether ``release`` holds exactly the files of ``sent``, byte for byte.

    The forge's digest decides; where it gives none, the asset is downloaded and hashed.
    Raises RemoteFailed.
    """
    there = {asset.name: asset for asset in release.assets}
    if there.keys() != sent.keys():
        names = ", ".join(sorted(there.keys() ^ sent.keys()))
        raise _differs(release, f"these are missing or too many: {names}")
    for name, asset in sorted(there.items()):
        if asset.state != "uploaded" or asset.size != sent[name].size:
            raise _differs(release, f"{name} has not arrived whole")
        sha256 = asset.sha256
        if not sha256:
            try:
                sha256 = download(releases, release, asset, folder / "again")
            except BadInput as error:
                raise _differs(release, error.message) from None
        if sha256 != sent[name].sha256:
            raise _differs(release, f"{name} has another SHA-256 than what was sent")


def _differs(release: Release, why: str) -> RemoteFailed:
    return RemoteFailed(
        f"the release {release.tag} does not hold what was sent: {why}",
        "nothing was removed from the repository; run it again, what is wrong is sent anew",
    )


def read_manifest(releases: Releases, release: Release, folder: Path) -> tuple[Manifest, bytes]:
    """The manifest of a release and its ``SHA256SUMS``, each checked against the other.

    Raises BadInput where the release is none of the archive's, or is damaged.
    """
    there = {asset.name: asset for asset in release.assets if asset.state == "uploaded"}
    if MANIFEST not in there or SUMS not in there:
        raise BadInput(f"{release.tag} has no {MANIFEST} or no {SUMS}")
    if there[SUMS].size > _MOST_SUMS_BYTES:
        raise BadInput(f"{SUMS} of {release.tag} has {there[SUMS].size:,} bytes")
    path = folder / "downloaded"
    download(releases, release, there[SUMS], path)
    with on_disk(folder):
        sums = path.read_bytes()
    hashes = parse_sums(sums)
    if download(releases, release, there[MANIFEST], path) != hashes.get(MANIFEST):
        raise BadInput(f"{MANIFEST} of {release.tag} is not the one that {SUMS} names")
    with on_disk(folder), path.open("rb") as file:
        manifest = parse_manifest(file)
    if hashes != {**{one.asset: one.sha256 for one in manifest.shards}, MANIFEST: hashes[MANIFEST]}:
        raise BadInput(f"{SUMS} of {release.tag} does not list what {MANIFEST} does")
    return manifest, sums


def prove(
    releases: Releases, release: Release, manifest: Manifest, sums: bytes, folder: Path, tell: Tell
) -> Proven:
    """Download every shard of a published release and compare every snapshot's blob id.

    Raises BadInput where one is not what the manifest says.
    """
    there = {asset.name: asset for asset in release.assets}
    path = folder / "downloaded"
    done = 0
    for shard in manifest.shards:
        asset = there.get(shard.asset)
        if asset is None or asset.state != "uploaded":
            raise BadInput(f"{release.tag} lacks {shard.asset}")
        download(releases, release, asset, path)
        with on_disk(folder), path.open("rb") as file:
            check_shard(file, members(shard), sha256=shard.sha256, tar_sha256=shard.tar_sha256)
        done += len(shard.snapshots)
        tell(f"read back {release.tag}", done, manifest.snapshots)
    with on_disk(folder):
        path.unlink(missing_ok=True)
    return Proven(release, manifest, sums)


def members(shard: Packed) -> Iterator[Archived]:
    """The snapshots of a packed shard."""
    for path, blob, size, _ in shard.snapshots:
        yield Archived(path, blob, size)
