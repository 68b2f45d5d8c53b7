"""Writers of one machine that publish for each other, through files in their private folder.

Whoever has the turn pushes for all who wait: a waiting writer leaves its commits as an *ask*,
and finds everything that was pushed as a *trail* of commits, so it needs neither push nor
fetch. All of it is a shortcut. What is read here becomes objects only under ids computed
anew, and a writer takes its commits for published only when they are in the trail itself.
"""

from __future__ import annotations

import fcntl
import os
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import MemrepoError

from .commit import LooseSink
from .paths import Applied, Value
from .replay import Change, changes_of, parse_commit

if TYPE_CHECKING:
    from .repository import Repository

_LARGEST = 4 << 20
_MOST_COMMITS = 64
_LONGEST_TRAIL = 512
_SECONDS_FRESH = 60.0


class Carried(msgspec.Struct, frozen=True):
    """A commit with all that another clone needs to make it, or to make it again."""

    body: bytes
    before: dict[bytes, Value | None]
    after: dict[bytes, Value | None]
    blobs: list[bytes]


def carry(repo: Repository, change: Change) -> Carried:
    """A commit of this repository, ready to be carried."""
    oids = {value.oid for value in change.applied.after.values() if value}
    blobs = [repo.trees.blob(oid) for oid in sorted(oids)]
    body = repo.read_commit(change.commit)
    return Carried(body, change.applied.before, change.applied.after, blobs)


class Ask:
    """This writer's commits, left for whoever has the turn.

    The file is locked while its writer lives and still wants it, so that nothing is ever
    published for a writer that is gone.
    """

    def __init__(self, folder: Path, commits: Sequence[Carried]) -> None:
        name = f"{os.getpid():x}-{random.getrandbits(48):x}"
        self._path = folder / f"{name}.ask"
        beside = folder / f"{name}.new"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        self._descriptor = os.open(beside, flags, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            with open(self._descriptor, "wb", closefd=False) as file:
                file.write(msgspec.msgpack.encode(commits))
            beside.rename(self._path)
        except OSError:
            os.close(self._descriptor)
            beside.unlink(missing_ok=True)
            raise

    def answered(self) -> bool:
        """Whether someone took the commits along (and with that removed the file)."""
        return not self._path.exists()

    def close(self) -> None:
        """Want it no more."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def make_ask(repo: Repository, folder: Path, commits: Sequence[str]) -> Ask | None:
    """Leave ``commits`` (ids) for whoever has the turn; None where that cannot be."""
    if not 0 < len(commits) <= _MOST_COMMITS:
        return None
    try:
        carried = [carry(repo, change) for change in changes_of(repo, commits)]
        return None if _size(carried) > _LARGEST else Ask(folder, carried)
    except (OSError, MemrepoError):
        return None


def waiting(repo: Repository, folder: Path) -> Iterator[tuple[Path, list[Change]]]:
    """The asks of living writers, each with its commits; their files are stored here."""
    for path in sorted(folder.glob("*.ask")):
        try:
            if _abandoned(path):
                path.unlink(missing_ok=True)
                continue
            asked = msgspec.msgpack.decode(_read(path), type=list[Carried])
            yield path, [_unpacked(repo, one) for one in asked]
        except (OSError, msgspec.MsgspecError, MemrepoError, ValueError):
            continue


def _unpacked(repo: Repository, carried: Carried) -> Change:
    for blob in carried.blobs:
        repo.writer.write("blob", blob)
    parsed = parse_commit(carried.body)
    return Change("0" * 12, parsed, Applied(b"", dict(carried.before), dict(carried.after)))


def _abandoned(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def leave_trail(repo: Repository, folder: Path, commits: Sequence[str]) -> None:
    """Leave commits that were pushed, each under the id of its parent."""
    if len(commits) > _MOST_COMMITS:
        return
    with suppress(OSError, MemrepoError):
        for change in changes_of(repo, commits):
            carried = carry(repo, change)
            if len(change.parsed.parents) != 1 or _size([carried]) > _LARGEST:
                return
            place = folder / f"{change.parsed.parents[0]}.commit"
            beside = place.with_suffix(f".{os.getpid():x}")
            beside.write_bytes(msgspec.msgpack.encode(carried))
            beside.replace(place)
        _tidy(folder)


def _tidy(folder: Path) -> None:
    if random.randrange(32) == 0:  # noqa: S311
        old = sorted(folder.glob("*.commit"), key=lambda path: path.stat().st_mtime)
        for path in old[: -_LONGEST_TRAIL // 2]:
            path.unlink(missing_ok=True)


def follow_trail(repo: Repository, folder: Path, tip: str) -> str:
    """The tip that the trail leads to from ``tip``, every commit of it stored here.

    Stops at whatever does not come out under the id that the commit itself names.
    """
    sink = LooseSink(repo.writer)
    with suppress(OSError, msgspec.MsgspecError, MemrepoError, ValueError):
        for _ in range(_LONGEST_TRAIL):
            carried = msgspec.msgpack.decode(_read(folder / f"{tip}.commit"), type=Carried)
            parsed = parse_commit(carried.body)
            if parsed.parents != (tip,):
                break
            for blob in carried.blobs:
                sink.write("blob", blob)
            applied = repo.trees.apply(repo.root_of(tip), carried.after, sink)
            if applied.root != parsed.root:
                break
            tip = sink.write("commit", carried.body).hex()
            repo.remember(tip, applied)
    return tip


def _read(path: Path) -> bytes:
    """The bytes of a file that is young enough to speak of the remote as it is now."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        if time.time() - os.fstat(file.fileno()).st_mtime > _SECONDS_FRESH:
            raise ValueError("too old")
        return file.read(2 * _LARGEST)


def _size(commits: Sequence[Carried]) -> int:
    return sum(len(blob) for carried in commits for blob in carried.blobs)
