"""Shards fetched from a forge, and what they hold, checked against the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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


def folder_of(line: IndexLine) -> Path | None:
    """The folder forge that published a shard, as the index says; None for another forge."""
    path = Path(line.url)
    return path.parents[1] if path.is_absolute() and path.parent.name == "releases" else None


class Shelves:
    """The releases of a forge, asked for once, by tag.

    ``elsewhere`` opens the folder forge that the index names where the forge lacks a release;
    None is never asked.
    """

    def __init__(self, forge: Forge, elsewhere: Callable[[Path], Forge] | None = None) -> None:
        self.forge = forge
        self._elsewhere = elsewhere
        self._others: dict[Path, Forge] = {}
        self._found: dict[str, dict[str, Release]] = {}

    def release(self, line: IndexLine) -> tuple[Forge, Release | None]:
        """A shard's release and the forge it is on: the published one where there are drafts."""
        release = self._of(self.forge, line.tag)
        root = folder_of(line)
        if (release and not release.draft) or not self._elsewhere or not root or not root.is_dir():
            return self.forge, release
        if root not in self._others:
            self._others[root] = self._elsewhere(root)
        other = self._of(self._others[root], line.tag)
        return (self._others[root], other) if other else (self.forge, release)

    def _of(self, forge: Forge, tag: str) -> Release | None:
        if forge.place not in self._found:
            releases = sorted(forge.list_releases(), key=lambda one: not one.draft)
            self._found[forge.place] = {release.tag: release for release in releases}
        return self._found[forge.place].get(tag)

    def hint(self, line: IndexLine) -> str:
        """Where a release was published that is not found here; "" where that is no folder."""
        root = folder_of(line)
        if root is None:
            return ""
        if str(root) == self.forge.place:
            return f"not found in {root}, where it was published"
        gone = "" if root.is_dir() else ", which is gone"
        at = "PATH, where it is now" if gone else root
        return (
            f"not found in {self.forge.place}; it was published in {root}{gone};"
            f" pass --forge local:{at}"
        )

    def asset_of(self, line: IndexLine) -> tuple[Forge, Release, Asset]:
        """The forge, the release and the asset that hold a shard.

        Raises RemoteFailed where the forge has no such release (a draft is none) or asset.
        """
        forge, release = self.release(line)
        if release is None or release.draft:
            what = "no release" if release is None else "only a draft of the release"
            raise RemoteFailed(
                f"there is {what} {line.tag} in {forge.place}",
                self.hint(line)
                or "name the forge where it was published with --forge, and its remote with"
                " --remote",
            )
        asset = asset_called(release, line.asset)
        if asset is None:
            raise RemoteFailed(
                f"the release {line.tag} has no asset {line.asset}",
                f"memrepo archive verify {line.tag} says what it has",
            )
        return forge, release, asset


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
    forge, release, asset = shelves.asset_of(line)
    digest = download(forge, release, asset, into)
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
