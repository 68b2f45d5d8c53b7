"""The bytes of a shard's tar: ustar (POSIX.1-2017, pax, "ustar Interchange Format").

Written by hand because every byte of a header follows from path, size and time, and because
Python's tarfile takes several times as long as all the rest of packing.
"""

from __future__ import annotations

from collections.abc import Iterable

from memrepo.errors import BadInput
from memrepo.shards.path import shown

BLOCK = 512
#: Two blocks of zeros end a tar.
END = bytes(2 * BLOCK)
#: GitHub takes no larger file into a repository, and a reader must know where a bomb begins.
MOST_SNAPSHOT_BYTES = 100 << 20

_NAME, _PREFIX = 100, 155
#: A snapshot's file name has 21 characters beside its agent's id, and must fit one field.
LONGEST_AGENT = _NAME - 21
_MOST_TIME = 8**11 - 1
_OWNER = b"0000644\0" + 2 * b"0000000\0"
_FILE = b" 0" + bytes(100) + b"ustar\00000" + bytes(32 + 32 + 8 + 8)
_REST = bytes(12)
# The checksum is that of a header whose checksum is eight spaces, of which _FILE has one.
_SUM = sum(_OWNER) + sum(_FILE) + 7 * 0x20


def header(path: str, size: int, when: int) -> bytes:
    """The 512 bytes before a file: owner 0, mode 0644, time ``when`` (seconds since 1970).

    Raises BadInput where ustar cannot hold it (see :func:`problem`).
    """
    prefix, name = b"", path.encode()
    plain = 0 < len(name) <= _NAME and path.isascii() and "\0" not in path
    if not (plain and fits(size, when)):
        why = problem(path, size, when)
        if why:
            raise BadInput(f"{shown(path)} {why}")
        prefix, _, name = name.rpartition(b"/")
    numbers = b"%011o\0%011o\0" % (size, when)
    checksum = _SUM + sum(name) + sum(prefix) + sum(numbers)
    return b"".join(
        (
            name.ljust(_NAME, b"\0"),
            _OWNER,
            numbers,
            b"%06o\0" % checksum,
            _FILE,
            prefix.ljust(_PREFIX, b"\0"),
            _REST,
        )
    )


def problem(path: str, size: int, when: int) -> str | None:
    """Why a shard's tar cannot hold a file, in words, or None when it can."""
    if not path.isascii() or "\0" in path or not path:
        return "is no path of ASCII characters"
    if len(path) > _NAME:
        folder, slash, name = path.rpartition("/")
        if not slash or len(name) > _NAME or len(folder) > _PREFIX:
            return f"has a name of {len(name)} characters, and a tar (ustar) holds {_NAME}"
    if fits(size, when):
        return None
    if not 0 <= when <= _MOST_TIME:
        return "has a time before 1970 or after 2242, which a tar (ustar) cannot hold"
    return f"has {size:,} bytes, and a shard holds snapshots of at most {MOST_SNAPSHOT_BYTES:,}"


def fits(size: int, when: int) -> bool:
    """Whether a shard's tar can hold a file of this size and time."""
    return 0 <= when <= _MOST_TIME and 0 <= size <= MOST_SNAPSHOT_BYTES


def padding(size: int) -> bytes:
    """The zeros that follow ``size`` bytes up to the next block."""
    return bytes(-size % BLOCK)


def member_size(size: int) -> int:
    """The bytes that a file of ``size`` bytes takes in a tar, header and padding included."""
    return BLOCK + size + -size % BLOCK


def tar_size(sizes: Iterable[int]) -> int:
    """The bytes of a tar that holds files of these sizes."""
    return sum(map(member_size, sizes)) + len(END)
