"""Writers on one machine take turns at a remote branch, so that they do not lose races in vain.

This is a courtesy and no lock that anything rests on: whoever cannot get it in time, or has
no place for it, goes on without.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .process import caller_value

_LONGEST_WAIT = 60.0


def turn_folder(*key: str) -> Path | None:
    """This user's private folder for what ``key`` names; None where there can be none."""
    given = caller_value("XDG_RUNTIME_DIR")
    base = Path(given) if given else Path(tempfile.gettempdir())
    top = base / ("memrepo" if given else f"memrepo-{os.getuid()}")
    name = hashlib.sha256("\0".join(key).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return top / name if _private(top) and _private(top / name) else None


def _private(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return own and not found.st_mode & 0o077


class Turn:
    """The turn at one folder; held by at most one process of this machine."""

    def __init__(self, folder: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        self._descriptor = os.open(folder / "turn", flags, 0o600)

    def wait(self, enough: Callable[[], bool], seconds: float = _LONGEST_WAIT) -> bool:
        """Wait for the turn, for ``enough``, or for so many seconds; whether it is ours."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if enough() or time.monotonic() > deadline:
                    return False
                time.sleep(0.001 + 0.004 * random.random())  # noqa: S311 (spreads waiters out)
            except OSError:
                return False
            else:
                return True

    def close(self) -> None:
        """Give the turn up."""
        with suppress(OSError):
            os.close(self._descriptor)
