"""Releases on GitHub: drafts to be filled, files to and fro, and the step that fixes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from memrepo.errors import MemrepoError, RemoteFailed
from memrepo.forge.assets import (
    changed_file,
    checked_draft,
    checked_file,
    checked_release,
    checked_room,
    checked_whole,
    digest_of,
    equal_drafts,
    is_same,
    taken,
    unreadable,
    whole,
)
from memrepo.forge.failure import Attempt, Failure, plain
from memrepo.forge.releases import Asset, Release

from . import values
from .requester import PAGE, GithubFailed, Turns
from .session import Session
from .transfer import receive, send_file

_READ = "contents: read"
_WRITE = "contents: write"
# How many of a release's assets GitHub puts into the release itself is said nowhere; a page of
# their own list has thirty unless more are asked for.
_SURELY_ALL = 30
_TAKEN = ("already_exists", "used by an immutable release")


class _Found(msgspec.Struct, frozen=True):
    """A release as it is now; where its files are sent, and the commit its tag is for."""

    release: Release
    uploads: str
    commit: str


class Releases(Session):
    """The part of :class:`memrepo.forge.forge.Forge` that is about releases."""

    def list_releases(self) -> list[Release]:
        """Every release, drafts too, the newest first, with all their assets."""

        def look() -> list[Release]:
            # One that was made while the pages were read is on two of them.
            rows = {row["id"]: row for row in self._pages(self._releases)}
            return [self._release_value(rows[key]) for key in sorted(rows, reverse=True)]

        return self._read(look, Attempt("list the releases", _READ))

    def get_release(self, release_id: int) -> Release:
        """The release of that id, as it is now."""
        return self._look_up(release_id).release

    def create_release(self, *, tag: str, commit: str, name: str, body: str) -> Release:
        """A draft whose tag will point at ``commit`` (a full object name), to be filled."""
        checked_release(tag, commit, name, body)
        attempt = Attempt(f"create the release {tag}", _WRITE)

        def look() -> Release | None:
            return next(iter(equal_drafts(self.list_releases(), tag, name, body)), None)

        def send() -> Release:
            fields = {
                "tag_name": tag,
                "target_commitish": commit,
                "name": name,
                "body": body,
                "draft": True,
            }
            return self._release_value(self._ask("POST", self._releases, fields))

        everything = self.list_releases()
        if drafts := equal_drafts(everything, tag, name, body):
            return drafts[0]
        if any(not one.draft and one.tag == tag for one in everything):
            raise taken(tag, "a release has it")
        if self._tagged(tag, attempt):
            raise taken(tag, f"it is a tag of {self.place}")
        try:
            made = self._write(send, look)
        except GithubFailed as error:
            raise self._refused(error, attempt, tag) from None
        return self._only(made)

    def upload_asset(
        self,
        release: Release,
        path: Path,
        name: str,
        sha256: str,
        *,
        progress: Callable[[int], None] = lambda _bytes: None,
    ) -> Asset:
        """Put the file at ``path`` into a draft as ``name``; the asset as GitHub has it."""
        size = checked_file(path, name, sha256)
        attempt = Attempt(f"upload {name} to {plain(release.tag, 100)}", _WRITE)
        turns, sent = Turns(self._patience, self._tell), False
        while True:
            found = self._look_up(release.id)
            assets = checked_draft(found.release, f"by {name}").assets
            checked_room(assets, name)
            for there in (asset for asset in assets if asset.name == name):
                # Where the forge says no digest, what was just sent is taken by its length.
                if is_same(there, size, sha256) or (sent and is_same(there, size, "")):
                    return there
                self._delete_asset(there, attempt)
            try:
                sent = True
                data = send_file(self._requester, found.uploads, name, path, progress)
                made = values.asset(data)
            except GithubFailed as error:
                failed = error.failure
                if "already_exists" in failed.words:
                    failed = Failure(0, "it says that the file is there, and does not show it")
            except OSError as error:
                raise unreadable(path, error) from None
            else:
                if is_same(made, size, made.sha256 and sha256) and made.name == name:
                    return made
                self._delete_asset(made, attempt)
                if digest_of(path) != sha256:
                    raise changed_file(path)
                failed = Failure(0, "the file arrived changed")
            if not turns.wait_after(failed):
                raise self._error(GithubFailed(failed), attempt)

    def delete_asset(self, release: Release, asset: Asset) -> None:
        """Take an asset out of a draft. One that is gone is no error."""
        attempt = Attempt(f"delete {plain(asset.name, 100)} of {plain(release.tag, 100)}", _WRITE)
        checked_draft(self.get_release(release.id), f"by taking out {plain(asset.name, 100)}")
        self._delete_asset(asset, attempt)

    def download_asset(self, release: Release, asset: Asset) -> Iterator[bytes]:
        """The asset's bytes in pieces; a cut download raises RemoteFailed, never ends early."""
        about = f"{plain(asset.name, 100)} of {plain(release.tag, 100)}"
        if asset.state != "uploaded":
            raise RemoteFailed(f"{about} was never uploaded whole", "upload it again")
        attempt = Attempt(f"download {about}", _READ, about)
        return whole(self._pieces(asset, attempt), asset, self.place)

    def publish_release(self, release: Release) -> Release:
        """Make a draft public, as the last step: where releases are immutable this locks it."""
        attempt = Attempt(f"publish {plain(release.tag, 100)}", _WRITE)
        found = self._look_up(release.id)
        now = found.release
        if not now.draft:
            return now
        checked_whole(now)
        # GitHub would take a tag that is there, wherever it points.
        if (at := self._tagged(now.tag, attempt)) and at != found.commit:
            raise taken(now.tag, f"it points at {at[:12]}, not at this release's commit")

        def send() -> Release:
            # "Latest" is for what people install.
            fields = {"draft": False, "make_latest": "false"}
            made = self._release_value(self._ask("PATCH", f"{self._releases}/{release.id}", fields))
            if made.draft:
                raise GithubFailed(Failure(0, "it is still a draft"))
            return made

        def look() -> Release | None:
            there = self.get_release(release.id)
            return None if there.draft else there

        try:
            return self._write(send, look)
        except GithubFailed as error:
            raise self._refused(error, attempt, now.tag) from None

    def delete_release(self, release: Release) -> None:
        """Remove a draft with its assets. One that is gone is no error."""
        attempt = Attempt(f"delete the draft {plain(release.tag, 100)}", _WRITE)
        path = f"{self._releases}/{release.id}"

        def look() -> Release | None:
            try:
                return self._release_value(self._ask("GET", path))
            except GithubFailed as error:
                if error.failure.status != 404:
                    raise
                return None

        if (there := self._read(look, attempt)) is not None:
            checked_draft(there, "by deleting it")
            self._delete_at(path, attempt)

    @property
    def _releases(self) -> str:
        return f"/repos/{self._slug}/releases"

    def _ask(self, verb: str, path: str, fields: dict[str, object] | None = None) -> dict[str, Any]:
        _, data = self._requester.requestJsonAndCheck(verb, path, input=fields)
        return dict(data)

    def _pages(self, path: str) -> Iterator[dict[str, Any]]:
        """Every row of a list. PyGithub's own would ask once more for a row that lacks a field."""
        page = 1
        while True:
            headers, rows = self._requester.requestJsonAndCheck(
                "GET", path, parameters={"per_page": PAGE, "page": page}
            )
            yield from rows
            # A page may be shorter than asked for, where it holds what the token may not see.
            if 'rel="next"' not in headers.get("link", ""):
                return
            page += 1

    def _look_up(self, release_id: int) -> _Found:
        """A release with every asset, also those whose upload broke off."""
        path = f"{self._releases}/{release_id}"

        def look() -> _Found:
            data = self._ask("GET", path)
            assets = tuple(values.asset(row) for row in self._pages(f"{path}/assets"))
            return _Found(
                values.release(data, self._slug, _in_order(assets)),
                str(data["upload_url"]).partition("{")[0],
                str(data["target_commitish"]),
            )

        about = f"release {release_id}"
        return self._read(look, Attempt(f"read {about}", _READ, about))

    def _release_value(self, data: dict[str, Any]) -> Release:
        rows = data["assets"]
        if len(rows) >= _SURELY_ALL:
            rows = self._pages(f"{self._releases}/{int(data['id'])}/assets")
        assets = tuple(values.asset(row) for row in rows)
        return values.release(data, self._slug, _in_order(assets))

    def _tagged(self, tag: str, attempt: Attempt) -> str:
        """The object that a tag points at; "" when there is no such tag."""

        def look() -> str:
            try:
                data = self._ask("GET", f"/repos/{self._slug}/git/ref/tags/{quote(tag)}")
            except GithubFailed as error:
                if error.failure.status in (404, 409):  # 409: nothing was ever pushed
                    return ""
                raise
            return str(data["object"]["sha"])

        return self._read(look, attempt)

    def _only(self, made: Release) -> Release:
        """The oldest of the drafts that are equal to ``made``; empty ones of the others go.

        Two runs at once make two, and so does one whose answer was lost before GitHub's list
        had the draft. All of them come to the same.
        """
        # The list may not have the newest yet.
        known = {one.id: one for one in (made, *self.list_releases())}
        kept, *others = equal_drafts(known.values(), made.tag, made.name, made.body) or [made]
        for other in others:
            if not other.assets:
                self.delete_release(other)
        return kept

    def _delete_asset(self, asset: Asset, attempt: Attempt) -> None:
        self._delete_at(f"{self._releases}/assets/{asset.id}", attempt)

    def _delete_at(self, path: str, attempt: Attempt) -> None:
        def send() -> bool:
            try:
                self._requester.requestJsonAndCheck("DELETE", path)
            except GithubFailed as error:
                if error.failure.status != 404:
                    raise
            return True

        # Deleting what is gone already is no error, so there is nothing to look for.
        self._write_or_raise(send, lambda: None, attempt)

    def _pieces(self, asset: Asset, attempt: Attempt) -> Iterator[bytes]:
        """The bytes, going on where a download was cut; as often as patience allows."""
        place = f"{self._releases}/assets/{asset.id}"
        turns, count = Turns(self._patience, self._tell), 0
        while True:
            try:
                for piece in receive(self._requester, place, count):
                    count += len(piece)
                    yield piece
                failure = Failure(0, f"it ended after {count:,} of {asset.size:,} bytes")
            except GithubFailed as error:
                failure = error.failure
            if count >= asset.size:
                return
            if not turns.wait_after(failure):
                raise self._error(GithubFailed(failure), attempt)

    def _refused(self, error: GithubFailed, attempt: Attempt, tag: str) -> MemrepoError:
        words = error.failure.words
        if error.failure.status == 422 and any(sign in words for sign in _TAKEN):
            return taken(tag, words)
        return self._error(error, attempt)


def _in_order(assets: tuple[Asset, ...]) -> tuple[Asset, ...]:
    return tuple(sorted(assets, key=lambda asset: asset.name))
