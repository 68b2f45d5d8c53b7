"""Releases of a forge: what they hold, and what every forge can do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

import msgspec


class Asset(msgspec.Struct, frozen=True):
    """One file of a release. ``sha256`` is what the forge says it is, "" when it does not say.

    ``state`` is "starter" for an upload that did not end. ``size`` is in bytes.
    """

    id: int
    name: str
    size: int
    sha256: str
    state: Literal["uploaded", "starter"]


class Release(msgspec.Struct, frozen=True):
    """One release with its assets; ``published_at`` (UTC) is None while it is a draft."""

    id: int
    tag: str
    name: str
    body: str
    url: str
    draft: bool
    created_at: datetime
    published_at: datetime | None
    assets: tuple[Asset, ...]


class Releases(Protocol):
    """The part of a forge that keeps releases.

    Errors as in :class:`memrepo.forge.forge.Forge`. A published release is never changed
    and never deleted here: each method that would raises UsageError for one. Whether it is
    published is asked anew each time, so a :class:`Release` may be as old as it likes.
    """

    def list_releases(self) -> list[Release]:
        """Every release, drafts too, the newest first, with all their assets.

        GitHub shows drafts only to a token that may write; to another they are not there.
        """
        ...

    def get_release(self, release_id: int) -> Release:
        """The release of that id, as it is now."""
        ...

    def create_release(self, *, tag: str, commit: str, name: str, body: str) -> Release:
        """A draft whose tag will point at ``commit`` (a full object name), to be filled.

        A draft of the same tag, name and body is what an earlier run, or a request whose
        answer was lost, has made: the oldest of those is given instead, with what it holds
        (and the commit that it was made for).
        Drafts that differ may share a tag. UsageError when ``tag`` exists already.
        """
        ...

    def upload_asset(
        self,
        release: Release,
        path: Path,
        name: str,
        sha256: str,
        *,
        progress: Callable[[int], None] = lambda _bytes: None,
    ) -> Asset:
        """Put the file at ``path`` into a draft as ``name``; the asset as the forge has it.

        An asset of that name with the same digest is taken as done; one left "starter" or
        with another digest or size is replaced. ``sha256`` is the file's, in hexadecimal.
        The file is read in pieces; ``progress`` is told how many bytes have gone, from the
        start again when they have to go again. UsageError for a name that GitHub would
        change, and for a file of no bytes or of 2 GiB and more.
        """
        ...

    def delete_asset(self, release: Release, asset: Asset) -> None:
        """Take an asset out of a draft. One that is gone is no error."""
        ...

    def download_asset(self, release: Release, asset: Asset) -> Iterator[bytes]:
        """The asset's bytes in pieces; a cut download raises RemoteFailed, never ends early.

        The last piece is given only when length and digest (where the forge says one) are
        right; RemoteFailed otherwise. So what a loop got to its end over is what was uploaded.
        """
        ...

    def publish_release(self, release: Release) -> Release:
        """Make a draft public, as the last step: where releases are immutable this locks it.

        One that is public already is taken as done. UsageError when its tag has come to be
        meanwhile, for another commit or another release, or when an asset is not whole.
        """
        ...

    def delete_release(self, release: Release) -> None:
        """Remove a draft with its assets. One that is gone is no error."""
        ...
