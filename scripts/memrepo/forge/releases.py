"""Releases of a forge: what they hold, and what every forge can do with them."""

from __future__ import annotations

from collections.abc import Iterator
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
    and never deleted here: each method that would raises UsageError for one.
    """

    def list_releases(self) -> list[Release]:
        """Every release, drafts too, the newest first, with all their assets."""
        ...

    def get_release(self, release_id: int) -> Release:
        """The release of that id, as it is now."""
        ...

    def create_release(self, *, tag: str, commit: str, name: str, body: str) -> Release:
        """A new draft whose tag will point at ``commit``.

        When the answer was lost, a draft of the same tag, name and body is looked for
        before it is asked for once more. UsageError when ``tag`` exists already.
        """
        ...

    def upload_asset(self, release: Release, path: Path, name: str, sha256: str) -> Asset:
        """Put the file at ``path`` into a draft as ``name``; the asset as the forge has it.

        An asset of that name with the same digest is taken as done; one left "starter" or
        with another digest or size is replaced.
        """
        ...

    def delete_asset(self, release: Release, asset: Asset) -> None:
        """Take an asset out of a draft. One that is gone is no error."""
        ...

    def download_asset(self, release: Release, asset: Asset) -> Iterator[bytes]:
        """The asset's bytes in pieces; a cut download raises RemoteFailed, never ends early."""
        ...

    def publish_release(self, release: Release) -> Release:
        """Make a draft public; one that is public already is taken as done."""
        ...

    def delete_release(self, release: Release) -> None:
        """Remove a draft with its assets. One that is gone is no error."""
        ...
