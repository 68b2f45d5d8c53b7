"""Releases of a local forge: a folder each, with its assets as files.

A file counts as an asset once ``release.json`` lists it, which is written last: what a killed
upload left behind is no asset, and the next one of its name replaces it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC
from pathlib import Path

import msgspec

from memrepo.errors import BadInput, RemoteFailed, UsageError
from memrepo.forge.assets import (
    CHUNK,
    changed_file,
    checked_draft,
    checked_file,
    checked_release,
    checked_room,
    checked_whole,
    equal_drafts,
    is_same,
    taken,
    unreadable,
    whole,
)
from memrepo.forge.failure import plain
from memrepo.forge.releases import Asset, Release

from .formats import read_text, write_text
from .releasejson import ReleaseFile, Row, read_release, write_release
from .store import Store

_LAST = "releases/.last"
_FOLDER = re.compile(r"0*([1-9][0-9]{0,8})(?:-.*)?")


class Releases(Store):
    """The part of :class:`memrepo.forge.forge.Forge` that is about releases."""

    def list_releases(self) -> list[Release]:
        """Every release, drafts too, the newest first, with all their assets."""
        found = []
        for number, path in sorted(self._release_paths().items(), reverse=True):
            try:
                found.append(self._load_release(number, path))
            except BadInput as error:
                # One that a person broke holds up no other.
                self._tell(f"{error.message}; left out")
        return found

    def get_release(self, release_id: int) -> Release:
        """The release of that id, as it is now."""
        return self._load_release(release_id, self._release_path(release_id))

    def create_release(self, *, tag: str, commit: str, name: str, body: str) -> Release:
        """A draft whose tag will point at ``commit`` (a full object name), to be filled."""
        checked_release(tag, commit, name, body)
        with self._folder.lock():
            self._folder.sweep("releases")
            paths = self._release_paths()
            everything = self._all_releases()
            if drafts := equal_drafts(everything, tag, name, body):
                return drafts[0]
            self._refuse_taken(everything, tag)
            number = max([*paths, self._last_number()]) + 1
            file = ReleaseFile(
                tag=tag,
                name=name,
                commit=commit,
                draft=True,
                author=self._login,
                created_at=self._now().replace(microsecond=0),
            )
            path = f"releases/{number:04d}-{tag.replace('/', '-')}"
            files = {"release.json": write_release(file), "body.md": write_text(body)}
            self._folder.add_folder(path, files)
        return self.get_release(number)

    def upload_asset(
        self,
        release: Release,
        path: Path,
        name: str,
        sha256: str,
        *,
        progress: Callable[[int], None] = lambda _bytes: None,
    ) -> Asset:
        """Put a copy of the file at ``path`` into a draft as ``name``."""
        size = checked_file(path, name, sha256)
        with ExitStack() as stack:
            with self._folder.lock():
                folder = f"{self._release_path(release.id)}/assets"
                self._folder.sweep(folder)
                if there := self._there(release.id, name, size, sha256):
                    return there
                file, put = stack.enter_context(self._folder.incoming(f"{folder}/{name}"))
            # Others need not wait while the bytes are copied.
            for piece in _copied(path, sha256, progress):
                file.write(piece)
            with self._folder.lock():
                if there := self._there(release.id, name, size, sha256):
                    return there
                # Never listed while other bytes of its length may lie there.
                self._edit_assets(release.id, name, None)
                put()
                self._edit_assets(release.id, name, Row(name, size, sha256))
        return Asset(_id_of(name, sha256), name, size, sha256, "uploaded")

    def delete_asset(self, release: Release, asset: Asset) -> None:
        """Take an asset out of a draft. One that is gone is no error."""
        with self._folder.lock():
            now = checked_draft(
                self.get_release(release.id), f"by taking out {plain(asset.name, 100)}"
            )
            for there in now.assets:
                if there.id == asset.id:
                    self._edit_assets(release.id, there.name, None)
                    path = self._release_path(release.id)
                    self._folder.remove(f"{path}/assets/{there.name}")

    def download_asset(self, release: Release, asset: Asset) -> Iterator[bytes]:
        """The asset's bytes in pieces; one that was cut raises RemoteFailed, never ends early."""
        about = f"{plain(asset.name, 100)} of {plain(release.tag, 100)}"
        assets = self.get_release(release.id).assets
        there = next((one for one in assets if one.id == asset.id), None)
        if there is None:
            raise UsageError(f"{self.place} has no {about}", "list what it holds")
        if there.state != "uploaded":
            raise RemoteFailed(
                f"{about} is not whole in {self.place}",
                "put back the file that release.json lists",
            )
        path = f"{self._release_path(release.id)}/assets/{there.name}"
        return whole(self._folder.pieces(path, CHUNK), there, self.place)

    def publish_release(self, release: Release) -> Release:
        """Make a draft public, as the last step: from then on it is never changed."""
        with self._folder.lock():
            now = self.get_release(release.id)
            if not now.draft:
                return now
            checked_whole(now)
            self._refuse_taken(self._all_releases(), now.tag)
            self._edit_release(
                release.id, draft=False, published_at=self._now().replace(microsecond=0)
            )
        return self.get_release(release.id)

    def delete_release(self, release: Release) -> None:
        """Remove a draft with its assets. One that is gone is no error."""
        with self._folder.lock():
            paths = self._release_paths()
            if path := paths.get(release.id):
                checked_draft(self._load_release(release.id, path), "by deleting it")
                # Whoever still knows a number must not take another release for it.
                last = max([*paths, self._last_number()])
                self._folder.write(_LAST, f"{last}\n".encode())
                self._folder.remove_folder(path)

    def _release_paths(self) -> dict[int, str]:
        """Each release's number, and its folder."""
        found: dict[int, str] = {}
        for name in self._folder.names("releases"):
            match = _FOLDER.fullmatch(name)
            if match is None:
                continue
            number, path = int(match[1]), f"releases/{name}"
            if number in found:
                raise BadInput(
                    f"{self._folder.where(found[number])} and {plain(name)} are one number",
                    "give one of them a number of its own",
                )
            found[number] = path
        return found

    def _last_number(self) -> int:
        data = (self._folder.read(_LAST) or b"").strip()
        return int(data) if data.isdigit() and len(data) < 10 else 0

    def _release_path(self, release_id: int) -> str:
        path = self._release_paths().get(release_id)
        if path is None:
            raise UsageError(f"{self.place} has no release {release_id}", "check the number")
        return path

    def _all_releases(self) -> list[Release]:
        """Every release; a broken one is an error, for nobody knows its tag."""
        return [self._load_release(*found) for found in self._release_paths().items()]

    def _release_file(self, path: str) -> ReleaseFile:
        file = f"{path}/release.json"
        data = self._folder.read(file)
        if data is None:
            raise BadInput(
                f"{self._folder.where(path)} has no release.json",
                "put it back, or move the folder away",
            )
        return read_release(data, self._folder.where(file))

    def _load_release(self, number: int, path: str) -> Release:
        file = self._release_file(path)
        body = self._folder.read(f"{path}/body.md") or b""
        published = None if file.draft else file.published_at or file.created_at
        return Release(
            id=number,
            tag=file.tag,
            name=file.name,
            body=read_text(body, self._folder.where(f"{path}/body.md")),
            url=str((self._folder.root / path).absolute()),
            draft=file.draft,
            created_at=file.created_at.astimezone(UTC),
            published_at=published and published.astimezone(UTC),
            assets=tuple(self._asset(path, row) for row in file.assets),
        )

    def _asset(self, path: str, row: Row) -> Asset:
        there = self._folder.size(f"{path}/assets/{row.name}") == row.size
        return Asset(
            id=_id_of(row.name, row.sha256),
            name=row.name,
            size=row.size,
            sha256=row.sha256,
            state="uploaded" if there else "starter",
        )

    def _there(self, release_id: int, name: str, size: int, sha256: str) -> Asset | None:
        """The asset, when the draft holds it already.  Raises UsageError when none can be added."""
        now = checked_draft(self.get_release(release_id), f"by {name}")
        checked_room(now.assets, name)
        same = (one for one in now.assets if one.name == name and is_same(one, size, sha256))
        return next(same, None)

    def _edit_assets(self, release_id: int, name: str, made: Row | None) -> None:
        before = self._release_file(self._release_path(release_id)).assets
        rows = [row for row in before if row.name != name] + ([made] if made else [])
        assets = tuple(sorted(rows, key=lambda row: row.name))
        if assets != before:
            self._edit_release(release_id, assets=assets)

    def _edit_release(self, release_id: int, **edits: object) -> None:
        path = self._release_path(release_id)
        file = msgspec.structs.replace(self._release_file(path), **edits)
        self._folder.write(f"{path}/release.json", write_release(file))

    def _refuse_taken(self, releases: list[Release], tag: str) -> None:
        if any(not one.draft and one.tag == tag for one in releases):
            raise taken(tag, "a release has it")


def _copied(path: Path, sha256: str, progress: Callable[[int], None]) -> Iterator[bytes]:
    """A file's bytes.  Raises BadInput at their end when they are not those of the digest."""
    digest, count = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                digest.update(piece)
                count += len(piece)
                yield piece
                progress(count)
    except OSError as error:
        raise unreadable(path, error) from None
    if digest.hexdigest() != sha256:
        raise changed_file(path)


def _id_of(name: str, sha256: str) -> int:
    """An asset's id: it is another once the bytes are, so an old one never means a new file."""
    return int(hashlib.sha256(f"{name}\0{sha256}".encode()).hexdigest()[:13], 16)
