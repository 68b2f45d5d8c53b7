"""Snapshots written below a folder that a person named: all or none, nothing replaced.

Everything is written into a hidden folder inside first, and moved into place at the end. No
link is followed on the way.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from memrepo.errors import MemrepoError, NeedsPerson, PermissionDenied, UsageError
from memrepo.gitrepo.process import plain

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_STAGE = ".memrepo-restore-"
_MOST_OPEN = 64


def write_below(root: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Write ``files`` (path, content) below ``root``; how many were not there yet.

    Paths are relative and of plain names. ``root`` is made where it is not there. Raises
    NeedsPerson where something else is in a place, UsageError or PermissionDenied where
    nothing can be written, and what ``files`` raises; nothing is in ``root`` then.
    """
    made = not root.exists()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with _stage(root) as stage:
            names = _fill(stage, files)
            # One call for all of them: a file each would cost more than everything else.
            os.sync()
            return _move(stage, root, names)
    except OSError as error:
        raise _failure(error, root) from None
    finally:
        if made:
            with suppress(OSError):
                root.rmdir()  # only where it stayed empty


@contextmanager
def _stage(root: Path) -> Iterator[Path]:
    """A hidden folder in ``root`` that goes at the end; those of killed runs go too."""
    for old in root.glob(f"{_STAGE}*"):
        with suppress(OSError), _locked(old):
            shutil.rmtree(old)
    stage = Path(mkdtemp(prefix=_STAGE, dir=root))
    try:
        with _locked(stage):
            yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, _FOLDER)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


class _Folders:
    """Open folders below one, none of them reached through a link."""

    def __init__(self, root: Path) -> None:
        self._open = {"": os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)}

    def __enter__(self) -> _Folders:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)

    def at(self, path: str, *, make: bool = False) -> int:
        """The folder at ``path``, made where ``make`` is given."""
        known = self._open.get(path)
        if known is not None:
            return known
        above, _, name = path.rpartition("/")
        parent = self.at(above, make=make)
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent)
        descriptor = os.open(name, _FOLDER, dir_fd=parent)
        if len(self._open) >= _MOST_OPEN:
            old = next(key for key in self._open if key and not f"{path}/".startswith(f"{key}/"))
            os.close(self._open.pop(old))
        self._open[path] = descriptor
        return descriptor


def _fill(stage: Path, files: Iterable[tuple[str, bytes]]) -> list[str]:
    names = []
    with _Folders(stage) as folders:
        for path, data in files:
            above, _, name = path.rpartition("/")
            descriptor = os.open(name, _WRITE, 0o666, dir_fd=folders.at(above, make=True))
            try:
                left = memoryview(data)
                while left:
                    left = left[os.write(descriptor, left) :]
            finally:
                os.close(descriptor)
            names.append(path)
    return names


def _move(stage: Path, root: Path, names: list[str]) -> int:
    tops = {name.partition("/")[0] for name in names}
    if not any(os.path.lexists(root / top) for top in tops):
        for top in tops:
            (stage / top).rename(root / top)
        return len(names)
    with _Folders(stage) as new, _Folders(root) as there:
        found = {name: _in_place(there, new, name) for name in names}
        blocked = [name for name, same in found.items() if same is False]
        if blocked:
            raise _occupied(root, blocked)
        wanted = [name for name, same in found.items() if same is None]
        for path in wanted:
            above, _, name = path.rpartition("/")
            to = there.at(above, make=True)
            try:
                # Not a rename: that would replace what came into the place meanwhile.
                os.link(name, name, src_dir_fd=new.at(above), dst_dir_fd=to)
            except FileExistsError:
                raise _occupied(root, [path]) from None
    return len(wanted)


def _in_place(there: _Folders, new: _Folders, path: str) -> bool | None:
    """Whether a file is there already, the same; None where nothing is there."""
    above, _, name = path.rpartition("/")
    try:
        held = _content(there.at(above), name)
    except FileNotFoundError:
        return None
    except OSError:
        return False
    return held is not None and held == _content(new.at(above), name)


def _content(folder: int, name: str) -> bytes | None:
    """The bytes of a plain file; None for anything else."""
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def _occupied(root: Path, paths: list[str]) -> NeedsPerson:
    more = f" and {len(paths) - 1:,} others" if len(paths) > 1 else ""
    return NeedsPerson(
        f"{plain(f'{root}/{paths[0]}')}{more}: something else is in the place of a snapshot",
        "nothing there was replaced; restore into another folder, or move it away",
    )


def _failure(error: OSError, root: Path) -> MemrepoError:
    what = f"cannot write below {plain(str(root))}: {plain(error.strerror or str(error))}"
    if isinstance(error, PermissionError):
        return PermissionDenied(what, "name a folder that is yours to write")
    return UsageError(what, "name another folder, on a disk with enough space")
