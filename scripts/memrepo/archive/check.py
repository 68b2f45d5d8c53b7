"""Whether the forge still has what the index says: state, digests, and every byte if asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from memrepo.archive.fetch import Shelves, asset_called, check_content, fetch
from memrepo.archive.proof import download
from memrepo.archive.values import Tell, quiet
from memrepo.errors import BadInput, RemoteFailed
from memrepo.forge.forge import Forge
from memrepo.forge.releases import Asset, Release
from memrepo.history.archived import ArchiveIndex
from memrepo.shards.manifest import MANIFEST, SUMS, parse_sums
from memrepo.shards.values import Archived, IndexLine

_MOST_SUMS = 1 << 20


class Checked(msgspec.Struct, frozen=True):
    """One shard that was checked: ``problems`` is empty where all is as it should be.

    ``deep`` says whether its content was read; ``snapshots`` how many it holds.
    """

    tag: str
    shard: str
    asset: str
    snapshots: int
    deep: bool
    problems: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of one element of ``archive verify --json``."""
        value: dict[str, Any] = msgspec.to_builtins(self)
        return value


def check(
    shelves: Shelves,
    lines: Sequence[IndexLine],
    index: ArchiveIndex,
    *,
    deep: bool = False,
    tell: Tell = quiet,
) -> Iterator[Checked]:
    """Check each shard against the forge, one at a time.

    Published, whole, and of the size and digest that the index and ``SHA256SUMS`` say; an
    asset without a digest is downloaded for it. ``deep``: download it in any case, read
    every snapshot and compare its blob id with the members file. What is wrong with a shard,
    or cannot be downloaded, is a problem of that shard. Raises RemoteFailed for a forge that
    cannot be asked for its releases, PermissionDenied.
    """
    sums: dict[str, tuple[dict[str, str], list[str]]] = {}
    for number, line in enumerate(lines):
        tell("checking shards", number, len(lines))
        problems: list[str] = []
        forge, release = shelves.release(line)
        try:
            members = index.members(line)
            if release is None or release.draft:
                what = "is not there" if release is None else "is a draft, not published"
                hint = shelves.hint(line)
                problems.append(f"the release {line.tag} {what}{hint and f': {hint}'}")
            else:
                if line.tag not in sums:
                    sums[line.tag] = _sums(forge, release)
                said, wrong = sums[line.tag]
                problems += [*wrong, *_asset(forge, release, line, said, deep)]
                if deep and not problems:
                    _read_all(shelves, line, members)
        except (BadInput, RemoteFailed) as error:
            problems.append(error.message)
        yield Checked(line.tag, line.shard, line.asset, line.snapshots, deep, tuple(problems))


def _sums(forge: Forge, release: Release) -> tuple[dict[str, str], list[str]]:
    """What ``SHA256SUMS`` says, and what is wrong with it and with the manifest."""
    asset = asset_called(release, SUMS)
    if asset is None or asset.state != "uploaded" or asset.size > _MOST_SUMS:
        return {}, [f"the release has no whole {SUMS}"]
    try:
        data = b"".join(forge.download_asset(release, asset))
        said = parse_sums(data)
    except BadInput as error:
        return {}, [f"{SUMS} cannot be read: {error.message}"]
    manifest = asset_called(release, MANIFEST)
    if manifest is None or manifest.state != "uploaded":
        return said, [f"the release has no whole {MANIFEST}"]
    digest = _digest(forge, release, manifest)
    if said.get(MANIFEST) != digest:
        return said, [f"{MANIFEST} is not the file that {SUMS} names"]
    return said, []


def _digest(forge: Forge, release: Release, asset: Asset) -> str:
    if asset.sha256:
        return asset.sha256
    with TemporaryDirectory(prefix="memrepo-") as folder:
        return download(forge, release, asset, Path(folder, "asset"))


def _asset(
    forge: Forge, release: Release, line: IndexLine, sums: dict[str, str], deep: bool
) -> Iterator[str]:
    asset = asset_called(release, line.asset)
    if asset is None:
        yield f"the release has no asset {line.asset}"
        return
    if asset.state != "uploaded":
        # A forge says the digest of an upload that did end.
        lost = f"{line.asset} is gone, or its size or hash differs from the index"
        yield lost if asset.sha256 else f"the upload of {line.asset} never ended"
        return
    if asset.size != line.size:
        yield f"{line.asset} has {asset.size:,} bytes, the index says {line.size:,}"
    # A deep check reads the bytes anyway.
    digest = asset.sha256 if deep else _digest(forge, release, asset)
    if digest and digest != line.sha256:
        yield f"the SHA-256 of {line.asset} is {digest}, the index says {line.sha256}"
    if sums and sums.get(line.asset) != line.sha256:
        yield f"{SUMS} says {sums.get(line.asset, 'nothing')} of {line.asset}, not {line.sha256}"


def _read_all(shelves: Shelves, line: IndexLine, members: Sequence[Archived]) -> None:
    with TemporaryDirectory(prefix="memrepo-") as folder:
        path = Path(folder, "shard")
        fetch(shelves, line, path)
        check_content(line, path, members)
