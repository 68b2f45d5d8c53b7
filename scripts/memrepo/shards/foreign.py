"""Why a header of a tar is not one of ours, in words that name the danger."""

from __future__ import annotations

from memrepo.shards.path import shown, snapshot_at
from memrepo.shards.tar import BLOCK

_CHECKSUM = slice(148, 156)
_KINDS = {
    "1": "a hard link",
    "2": "a symbolic link",
    "3": "a device",
    "4": "a device",
    "5": "a folder",
    "6": "a pipe",
    "7": "a contiguous file",
    "x": "a pax header",
    "g": "a global pax header",
    "L": "a long name of GNU tar",
    "K": "a long link of GNU tar",
    "S": "a sparse file",
    "M": "a continued file",
    "V": "a volume's name",
    "D": "a folder's listing",
}


def path_in(block: bytes) -> str:
    """The path in a header; bytes that are not ASCII as surrogates."""
    name, prefix = _text(block[:100]), _text(block[345:500])
    return f"{prefix}/{name}" if prefix else name


def size_in(block: bytes) -> int | None:
    """The size in a header, in bytes, or None where there is no octal number."""
    digits = block[124:135]
    return int(digits, 8) if digits.isdigit() and max(digits) < 0x38 else None


def why_refused(block: bytes) -> str:
    """What is wrong with a header that the archive would not have written."""
    if not block.strip(b"\0"):
        return "zeros stand where a file should begin"
    if not _sum_is_right(block):
        return "a header's checksum is wrong"
    path, kind = path_in(block), chr(block[156])
    name = shown(path)
    if kind not in "0\0":
        return f"it holds {_KINDS.get(kind, f'an entry of the kind {kind!a}')}, {name}"
    if path.startswith("/"):
        return f"it holds an absolute path, {name}"
    if ".." in path.replace("\\", "/").split("/"):
        return f"it holds a path that climbs out, {name}"
    if snapshot_at(path) is None:
        return f"it holds {name}, which is not the path of a snapshot"
    if block[257:265] != b"ustar\00000":
        return f"the header of {name} is not ustar"
    if size_in(block) is None:
        return f"the size of {name} is no number"
    return f"the header of {name} has an owner, a mode or a time that the archive does not write"


def _sum_is_right(block: bytes) -> bool:
    digits = block[_CHECKSUM].strip(b" \0")
    total = sum(block) - sum(block[_CHECKSUM]) + 8 * 0x20
    return len(block) == BLOCK and digits.isdigit() and digits == b"%06o" % total


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("ascii", "surrogateescape")
