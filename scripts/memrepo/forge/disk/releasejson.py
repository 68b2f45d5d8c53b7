"""``release.json`` of a local forge's release: what it is, and which files are its assets."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from memrepo.errors import BadInput
from memrepo.forge.assets import ASSET_NAME
from memrepo.forge.failure import plain

# A name is looked up in a folder, so it must not lead out of it.
_Name = Annotated[str, msgspec.Meta(pattern=rf"\A{ASSET_NAME}\Z")]
_Digest = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Size = Annotated[int, msgspec.Meta(ge=1)]
_Time = Annotated[datetime, msgspec.Meta(tz=True)]


class Row(msgspec.Struct, frozen=True):
    """One asset: the file ``assets/NAME`` as it was when its upload ended. ``size`` in bytes."""

    name: _Name
    size: _Size
    sha256: _Digest


class ReleaseFile(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file; ``published_at`` is None while it is a draft."""

    tag: str
    name: str
    commit: str
    draft: bool
    author: str = "unknown"
    created_at: _Time
    published_at: _Time | None = None
    assets: tuple[Row, ...] = ()


def read_release(data: bytes, where: str) -> ReleaseFile:
    """The file's value.  Raises BadInput."""
    try:
        return msgspec.json.decode(data, type=ReleaseFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{where}: {plain(str(error))}", "repair the file by hand") from None


def write_release(file: ReleaseFile) -> bytes:
    """The file, for people: a key a line."""
    return msgspec.json.format(msgspec.json.encode(file), indent=2) + b"\n"
