"""What every forge holds the names and bytes of releases to, and how an asset gets to disk."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from memrepo.errors import BadInput, PermissionDenied, RemoteFailed, UsageError

from .failure import plain
from .forge import MOST_TITLE_CHARACTERS, same_text
from .releases import Asset, Release, Releases

# https://docs.github.com/en/repositories/releasing-projects-on-github/about-releases: fewer
# than 2 GiB a file, and a thousand files; one of exactly 2 GiB ends in a bare error 500.
TOO_MANY_BYTES = 2_147_483_648
MOST_ASSETS = 1_000
# What GitHub's refusal of longer notes says.
MOST_NOTES = 125_000
CHUNK = 1 << 18

# GitHub puts a full stop in place of any other sign, without a word, and takes full stops off
# the ends: https://docs.github.com/rest/releases/assets#upload-a-release-asset
ASSET_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.|\Z)){0,99}"
# Stricter than git-check-ref-format: a tag is also a folder's name and a part of an address.
_TAG = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|[./](?![./]|\Z)){0,199}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class ArrivedChanged(RemoteFailed):
    """An asset whose bytes are not those that were uploaded (exit 4)."""


def checked_release(tag: str, commit: str, name: str, body: str) -> None:
    """Raises UsageError for a release that no forge could keep as it is given."""
    if not _TAG.fullmatch(tag) or tag.endswith(".lock"):
        raise UsageError(
            f"{plain(tag, 100)!r} cannot be a release's tag",
            "take letters, digits, -, _, single full stops and slashes",
        )
    if not _COMMIT.fullmatch(commit):
        raise UsageError(f"{plain(commit, 100)!r} is no full name of a commit")
    if not name.strip() or not name.isprintable() or len(name) > MOST_TITLE_CHARACTERS:
        raise UsageError(
            f"a release's name is one line of up to {MOST_TITLE_CHARACTERS} characters"
        )
    if len(body) > MOST_NOTES:
        raise UsageError(
            f"the notes have {len(body):,} characters; a release takes {MOST_NOTES:,}",
            "put the rest into a file of the release",
        )
    try:
        body.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("the notes hold half a character (a lone surrogate)") from None


def checked_file(path: Path, name: str, sha256: str) -> int:
    """The file's size in bytes.  Raises UsageError when it cannot be an asset of that name."""
    if not re.fullmatch(ASSET_NAME, name):
        raise UsageError(
            f"GitHub would give {plain(name, 120)!r} another name",
            "name the file with letters, digits, -, _ and single full stops, up to 100 of them",
        )
    if not _SHA256.fullmatch(sha256):
        raise UsageError(f"{plain(sha256, 80)!r} is no SHA-256 in hexadecimal")
    try:
        with path.open("rb"):
            size = path.stat().st_size
    except OSError as error:
        raise unreadable(path, error) from None
    if size == 0:
        raise UsageError(f"{path} is empty, and a release takes no empty file")
    if size >= TOO_MANY_BYTES:
        raise UsageError(
            f"{path} has {size:,} bytes; GitHub takes fewer than 2 GiB ({TOO_MANY_BYTES:,})"
            " for one file of a release",
            "split it into smaller parts",
        )
    return size


def is_same(asset: Asset, size: int, sha256: str) -> bool:
    """Whether the forge says that an asset is whole and holds just these bytes."""
    return (asset.state, asset.size, asset.sha256) == ("uploaded", size, sha256)


def checked_draft(release: Release, doing: str) -> Release:
    """``release`` itself.  Raises UsageError when it is published: that is for ever."""
    if not release.draft:
        raise UsageError(
            f"the release {plain(release.tag, 100)} is published, and one that is published is"
            f" never changed: not {doing}",
            "make a new release under another tag",
        )
    return release


def checked_whole(release: Release) -> None:
    """Raises UsageError when an asset's upload did not end."""
    for asset in release.assets:
        if asset.state != "uploaded":
            raise UsageError(
                f"{plain(asset.name, 100)} of {plain(release.tag, 100)} is not whole, so the"
                " release is not published",
                "upload it again",
            )


def equal_drafts(releases: Iterable[Release], tag: str, name: str, body: str) -> list[Release]:
    """The drafts of that tag, name and body, the oldest first."""
    found = [
        one
        for one in releases
        if one.draft and (one.tag, one.name) == (tag, name) and same_text(one.body, body)
    ]
    return sorted(found, key=lambda one: one.id)


def taken(tag: str, why: str) -> UsageError:
    """The error for a tag that exists already."""
    return UsageError(
        f"the tag {plain(tag, 100)} exists already: {why}", "take the next free tag, as in TAG.2"
    )


def checked_room(assets: Sequence[Asset], name: str) -> None:
    """Raises UsageError when a release cannot hold one more asset."""
    if len(assets) >= MOST_ASSETS and all(asset.name != name for asset in assets):
        raise UsageError(
            f"the release holds {len(assets):,} files, and GitHub takes {MOST_ASSETS:,} at most",
            "spread them over several releases",
        )


def digest_of(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal, read in pieces.  Raises BadInput."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                digest.update(piece)
    except OSError as error:
        raise unreadable(path, error) from None
    return digest.hexdigest()


def changed_file(path: Path) -> BadInput:
    """The error for a file that is no longer what its digest says."""
    return BadInput(
        f"{path} does not have the SHA-256 that was given for it: it changed since",
        "make it anew",
    )


def whole(pieces: Iterable[bytes], asset: Asset, place: str) -> Iterator[bytes]:
    """``pieces`` as they come, the last one only when all of them are the asset.

    Raises RemoteFailed when they end early, and ArrivedChanged as soon as they are too many,
    or at their end when they are other bytes. ``place`` is where they come from, in words.
    """
    digest, size, held = hashlib.sha256(), 0, b""
    name = plain(asset.name, 100)
    for piece in pieces:
        size += len(piece)
        if size > asset.size:
            raise ArrivedChanged(
                f"{name} from {place} is longer than its {asset.size:,} bytes",
                "download it again; if that stays so, it is not what was archived",
            )
        digest.update(piece)
        if held:
            yield held
        held = piece
    if size < asset.size:
        raise RemoteFailed(
            f"{name} from {place} ended after {size:,} of {asset.size:,} bytes",
            "download it again",
        )
    if asset.sha256 and digest.hexdigest() != asset.sha256:
        raise ArrivedChanged(
            f"{name} from {place} arrived changed: its SHA-256 is not {asset.sha256}",
            "download it again; if that stays so, it is not what was archived",
        )
    if held:
        yield held


def save_asset(
    forge: Releases,
    release: Release,
    asset: Asset,
    path: Path,
    *,
    progress: Callable[[int], None] = lambda _bytes: None,
    attempts: int = 3,
) -> str:
    """Download an asset to the file ``path``, whole or not at all; its SHA-256 as computed here.

    The file is written beside and renamed. What arrived changed is loaded anew, ``attempts``
    times in all. ``progress`` is told how many bytes have come, from the start again when they
    have to come again. Raises as ``download_asset`` does, PermissionDenied and RemoteFailed
    when the file cannot be written.
    """
    while True:
        attempts -= 1
        try:
            return _save(forge.download_asset(release, asset), path, progress)
        except ArrivedChanged:
            if attempts <= 0:
                raise


def _save(pieces: Iterator[bytes], path: Path, progress: Callable[[int], None]) -> str:
    beside = path.with_name(f".{path.name}.{os.getpid()}~")
    digest, size = hashlib.sha256(), 0
    try:
        with beside.open("wb") as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                size += len(piece)
                progress(size)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        kind = PermissionDenied if isinstance(error, PermissionError) else RemoteFailed
        why = error.strerror or "the file system refused"
        raise kind(f"{plain(str(path))} cannot be written: {plain(why)}", "repair that") from None
    finally:
        with suppress(OSError):
            beside.unlink()
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unreadable(path: Path, error: OSError) -> BadInput:
    """The error for a file that is not there, or may not be read."""
    return BadInput(f"{path} cannot be read: {error.strerror}", "check that it is a file")
