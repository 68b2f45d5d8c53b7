"""Shards fetched from a forge, and what they hold, checked against the record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from memrepo.archive.proof import download
from memrepo.archive.values import Tell, quiet
from memrepo.errors import BadInput, RemoteFailed
from memrepo.forge.forge import Forge
from memrepo.forge.releases import Asset, Release
from memrepo.gitrepo.repository import Repository
from memrepo.history.archived import ArchiveIndex
from memrepo.shards.index import InArchive
from memrepo.shards.read import check_shard, limits_of, read_shard
from memrepo.shards.values import Archived, IndexLine


class Shelves:
    """The releases of a forge, asked for once, by tag."""

    def __init__(self, forge: Forge) -> None:
        self.forge = forge
        self._found: dict[str, Release] | None = None

    def release(self, tag: str) -> Release | None:
        """The release of that tag: the published one where there are drafts too."""
        if self._found is None:
            releases = sorted(self.forge.list_releases(), key=lambda one: not one.draft)
            self._found = {release.tag: release for release in releases}
        return self._found.get(tag)

    def asset_of(self, line: IndexLine) -> tuple[Release, Asset]:
        """The release and the asset that hold a shard.

        Raises RemoteFailed where the forge has no such release (a draft is none) or asset.
        """
        release = self.release(line.tag)
        if release is None or release.draft:
            what = "no release" if release is None else "only a draft of the release"
            raise RemoteFailed(
                f"there is {what} {line.tag} in {self.forge.place}",
                "name the forge where it was published with --forge, and its remote with --remote",
            )
        asset = asset_called(release, line.asset)
        if asset is None:
            raise RemoteFailed(
                f"the release {line.tag} has no asset {line.asset}",
                f"memrepo archive verify {line.tag} says what it has",
            )
        return release, asset


def asset_called(release: Release, name: str) -> Asset | None:
    """The asset of that name, or None."""
    return next((asset for asset in release.assets if asset.name == name), None)


@contextmanager
def fetched(
    shelves: Shelves, lines: Sequence[IndexLine], *, tell: Tell = quiet
) -> Iterator[dict[IndexLine, Path]]:
    """The shards of ``lines`` in temporary files, each the very file that was archived.

    Raises BadInput where one is not (by SHA-256), RemoteFailed where one cannot be had. The
    files are gone at the end.
    """
    with TemporaryDirectory(prefix="memrepo-") as folder:
        found: dict[IndexLine, Path] = {}
        for number, line in enumerate(lines):
            path = Path(folder, f"{number}.tar.gz")
            tell("fetching shards", number, len(lines))
            fetch(shelves, line, path)
            found[line] = path
        yield found


def fetch(shelves: Shelves, line: IndexLine, into: Path) -> None:
    """Download one shard; see :func:`fetched`."""
    release, asset = shelves.asset_of(line)
    digest = download(shelves.forge, release, asset, into)
    if digest != line.sha256:
        raise BadInput(
            f"{_name(line)} is not the file that was archived: its SHA-256 is {digest},"
            f" the index says {line.sha256}",
            "nothing of it was used; look for another copy of that release",
        )


def contents(
    line: IndexLine, path: Path, members: Sequence[Archived]
) -> Iterator[tuple[str, bytes]]:
    """Each snapshot of a fetched shard (path, bytes), its blob id checked before it is given.

    Raises BadInput as soon as the tarball is not what the record says: what came before that
    must not be kept.
    """
    with path.open("rb") as file:
        yield from read_shard(file, members, limits=limits_of(line), name=_name(line))


def check_content(line: IndexLine, path: Path, members: Sequence[Archived]) -> None:
    """Read all of a fetched shard.  Raises BadInput where it is not what the record says."""
    with path.open("rb") as file:
        check_shard(
            file,
            members,
            sha256=line.sha256,
            tar_sha256=line.tar_sha256,
            limits=limits_of(line),
            name=_name(line),
        )


def _name(line: IndexLine) -> str:
    return f"{line.asset} of {line.tag}"


def content_of(shelves: Shelves, found: InArchive, index: ArchiveIndex) -> bytes:
    """The bytes of one archived snapshot, from the forge.  Raises as :func:`contents`."""
    with fetched(shelves, [found.line]) as files:
        members = index.members(found.line)
        for path, data in contents(found.line, files[found.line], members):
            if path == found.path:
                return data
    raise BadInput(f"{_name(found.line)} does not hold {found.path}", "run memrepo validate")


def bring(repo: Repository, shelves: Shelves, found: InArchive) -> None:
    """Store an archived snapshot as an object of this clone, where it can then be read."""
    index = ArchiveIndex(repo.view(repo.tip()))
    repo.writer.write("blob", content_of(shelves, found, index))
