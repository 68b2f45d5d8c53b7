"""What the file system under a clone is, and what it can do."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from pathlib import Path

import msgspec

#: Where Linux lists what is mounted; other systems have no such file.
MOUNTS = Path("/proc/self/mountinfo")

_WINDOWS = frozenset(
    ["drvfs", "vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuseblk", "cifs", "smb3", "smbfs"]
)
_DRIVE = re.compile(r"[A-Za-z]:(?:$|[\\/])")
_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(msgspec.Struct, frozen=True):
    """A mounted file system: its folder, type, source and options."""

    folder: str
    kind: str
    source: str
    options: str

    @property
    def from_windows(self) -> bool:
        """Whether it is Windows's own, or reached over Windows's protocol.

        WSL 2 mounts a drive by 9p, which others use for ordinary file systems: there the
        source, or an option, names the drive.
        """
        named = _DRIVE.match(self.source) is not None or "drvfs" in self.options
        return self.kind in _WINDOWS or (self.kind in ("9p", "virtiofs") and named)


def mount_of(path: Path, mounts: Path | None = None) -> Mount | None:
    """The file system that holds ``path``; None where the system does not tell."""
    try:
        text = (mounts or MOUNTS).read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    return find_mount(os.path.realpath(path), text)


def find_mount(path: str, mountinfo: str) -> Mount | None:
    """The mount in ``mountinfo`` (proc(5)) that holds the absolute ``path``."""
    best: Mount | None = None
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        place, words = left.split(" "), right.split(" ")
        if len(place) < 5 or len(words) < 3:
            continue
        folder = _plain(place[4])
        holds = path == folder or path.startswith(folder.rstrip("/") + "/")
        # A later mount on the same folder hides the earlier one.
        if holds and (best is None or len(folder) >= len(best.folder)):
            best = Mount(folder, words[0], _plain(words[1]), words[2])
    return best


def _plain(text: str) -> str:
    return _OCTAL.sub(lambda found: chr(int(found[1], 8)), text)


def folds_case(path: Path) -> bool:
    """Whether the last name of ``path``, in another case, is the same file or folder."""
    name = path.name
    other = path.with_name(name[0].swapcase() + name[1:])
    try:
        return os.path.samestat(path.lstat(), other.lstat())
    except OSError:
        return False


def keeps_modes(folder: Path) -> bool:
    """Whether a file in ``folder`` gets the mode it is given; True where that cannot be tried."""
    try:
        descriptor, name = tempfile.mkstemp(prefix="memrepo-probe-", dir=folder)
    except OSError:
        return True
    try:
        kept = True
        for mode in (0o640, 0o600):
            os.fchmod(descriptor, mode)
            kept &= stat.S_IMODE(os.fstat(descriptor).st_mode) == mode
    except OSError:
        return False
    else:
        return kept
    finally:
        os.close(descriptor)
        Path(name).unlink()
