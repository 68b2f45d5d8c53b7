"""What ``init`` finds at a path, as values. Reads only."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal

import msgspec

from memrepo.errors import NotAMemoryRepo, PermissionDenied, UsageError
from memrepo.gitrepo.drivercommand import can_start, own_command
from memrepo.gitrepo.process import plain, run_git
from memrepo.protocol.defaults import DRIVER_CONFIG

Kind = Literal["absent", "file", "folder", "link", "other"]


class Entry(msgspec.Struct, frozen=True):
    """What lies at one path: ``mode`` is its permission bits, ``data`` a file's bytes."""

    kind: Kind
    mode: int = 0
    data: bytes = b""
    empty: bool = True


class Facts(msgspec.Struct, frozen=True):
    """A folder as ``init`` finds it.

    ``root`` is absolute. ``entries`` holds every path asked for and every folder above
    it; ``names`` are the names in ``root``; ``config`` the clone's own Git settings among
    those that memrepo registers, as far as they work; ``command`` starts this memrepo.
    """

    root: Path
    is_repository: bool
    has_commits: bool
    entries: dict[str, Entry]
    names: tuple[str, ...] = ()
    config: dict[str, str] = {}
    command: str = "memrepo"


def gather(path: Path, targets: tuple[str, ...]) -> Facts:
    """The facts about ``path`` and the ``targets`` below it (with ``/``).

    Raises UsageError where no memory repository can be (a file, a bare repository, the
    inside of another repository) and PermissionDenied where reading is not allowed.
    """
    if "\0" in str(path):
        raise UsageError("the path holds a NUL character", "give another --repo-path")
    root = Path(os.path.realpath(path))
    try:
        exists = _is_folder(root)
        is_repository = _is_repository_root(root, exists)
        entries: dict[str, Entry] = {}
        for target in targets:
            _look(root, target, entries)
        names = tuple(sorted(p.name for p in root.iterdir())) if exists else ()
    except PermissionError as error:
        place = plain(str(error.filename or root))
        raise PermissionDenied(
            f"{place} cannot be read: permission denied", "check who owns it"
        ) from None
    except OSError as error:
        why = error.strerror or "it cannot be read"
        raise UsageError(f"{plain(str(root))}: {why}", "give another --repo-path") from None
    if exists and not os.access(root, os.W_OK | os.X_OK):
        raise PermissionDenied(f"{plain(str(root))} is not writable", "check who owns it")
    return Facts(
        root,
        is_repository,
        is_repository and _has_commits(root),
        entries,
        names,
        _config(root) if is_repository else {},
        own_command(),
    )


def _is_folder(root: Path) -> bool:
    for place in (root, *root.parents):
        try:
            if stat.S_ISDIR(place.lstat().st_mode):
                return place == root
        except (FileNotFoundError, NotADirectoryError):
            continue
        raise UsageError(f"{plain(str(place))} is a file, not a folder", "give another --repo-path")
    return False


def _is_repository_root(root: Path, exists: bool) -> bool:
    """Whether ``root`` is a repository's own root; refuses what lies inside another one."""
    probe = root if exists else next(place for place in root.parents if place.is_dir())
    try:
        found = run_git(
            ["rev-parse", "--is-bare-repository", "--is-inside-git-dir", "--absolute-git-dir"],
            cwd=probe,
        )
    except NotAMemoryRepo:
        return False
    bare, inside, git_dir = os.fsdecode(found.out).rstrip("\n").split("\n", 2)
    if bare == "true" and (inside == "false" or (exists and root.samefile(git_dir))):
        raise UsageError(
            f"{plain(str(root))} is a bare repository; init needs one with a work tree",
            "clone it, run memrepo init in the clone, and push",
        )
    if inside == "true":
        raise UsageError(
            f"{plain(str(root))} lies inside the Git directory {plain(git_dir)}",
            "give a --repo-path outside of it",
        )
    top = Path(os.fsdecode(run_git(["rev-parse", "--show-toplevel"], cwd=probe).out).rstrip("\n"))
    if exists and top.samefile(root):
        return True
    # What the outer repository ignores (a build folder, say) is a place of its own.
    if _ignores(top, root):
        return False
    raise UsageError(
        f"{plain(str(root))} lies inside another repository, and state/ must be at a root; "
        f"that root is {plain(str(top))}",
        "give --repo-path that root; for a repository of its own, run git init there first",
    )


def _ignores(top: Path, folder: Path) -> bool:
    # check-ignore refuses literal pathspecs, but takes its arguments literally once a
    # leading colon is out of the way. The last slash says that this is a folder.
    below = f"./{folder.relative_to(top.resolve())}/"
    env = {"GIT_LITERAL_PATHSPECS": "0"}
    args = ["check-ignore", "--quiet", "--", below]
    return run_git(args, cwd=top, env=env, check=False).code == 0


def _look(root: Path, target: str, entries: dict[str, Entry]) -> None:
    """Add ``target`` and every folder above it; stops at the first that is no folder."""
    parts = target.split("/")
    for count in range(1, len(parts) + 1):
        name = "/".join(parts[:count])
        if name not in entries:
            entries[name] = _entry(root / name)
        if entries[name].kind != "folder":
            entries.setdefault(target, Entry("absent"))
            return


def _entry(path: Path) -> Entry:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return Entry("absent")
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return Entry("link", mode)
    if stat.S_ISDIR(status.st_mode):
        with os.scandir(path) as inside:
            return Entry("folder", mode, empty=next(inside, None) is None)
    if stat.S_ISREG(status.st_mode):
        return Entry("file", mode, path.read_bytes())
    return Entry("other", mode)


def _has_commits(root: Path) -> bool:
    refs = run_git(["for-each-ref", "--count=1"], cwd=root).out
    head = run_git(["rev-parse", "--quiet", "--verify", "HEAD"], cwd=root, check=False).code
    return bool(refs) or head == 0


def _config(root: Path) -> dict[str, str]:
    found = {}
    for key in DRIVER_CONFIG:
        result = run_git(["config", "--local", "--null", "--get", key], cwd=root, check=False)
        if result.code != 1:  # 1 is "not set"
            found[key] = result.out.rstrip(b"\0").decode("utf-8", "replace")
    if not can_start(found.get("merge.memrepo.driver", "git")):
        # What was registered is gone, as after a virtual environment was made anew.
        for key in ("merge.memrepo.driver", "diff.memrepo.textconv"):
            found.pop(key, None)
    return found
