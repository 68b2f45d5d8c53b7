"""Carries out an ``InitPlan``: the only part of ``init`` with effects."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.errors import GitFailed, PermissionDenied, UsageError
from memrepo.gitrepo.identity import FALLBACK
from memrepo.gitrepo.process import plain, run_git
from memrepo.setup.plan import InitPlan, Write

if TYPE_CHECKING:
    from collections.abc import Iterator

SUBJECT = "memrepo: set up the memory repository"


def apply_init(plan: InitPlan) -> tuple[str, list[str]]:
    """Do what ``plan`` says; returns the first commit's id ("" for none) and notes.

    Can be killed at any point and run again to the same end: each file is written
    beside and renamed, and the commit comes last. Raises PermissionDenied, UsageError
    (a file changed since the plan was made) or GitFailed.
    """
    notes: list[str] = []
    try:
        if plan.create_repository:
            plan.root.mkdir(parents=True, exist_ok=True)
            run_git(["init", "--quiet", "--initial-branch=main"], cwd=plan.root)
        for folder in plan.folders:
            with _folder(plan.root, folder) as (parent, name), suppress(FileExistsError):
                os.mkdir(name, dir_fd=parent)
        if plan.state_mode is not None:
            _set_mode(plan.root / "state", plan.state_mode, notes)
        for write in plan.writes:
            _write(plan.root, write)
    except PermissionError as error:
        place = plain(str(error.filename or plan.root))
        raise PermissionDenied(
            f"{place} in {plain(str(plan.root))} cannot be written: permission denied",
            "check who owns the folder, then run init again",
        ) from None
    except OSError as error:
        why = error.strerror or "the file system refused"
        raise UsageError(
            f"{plain(str(error.filename or plan.root))} cannot be written: {why}",
            "repair that, then run init again",
        ) from None
    for key, value in plan.config.items():
        run_git(["config", "--local", key, value], cwd=plan.root)
    return (_commit(plan, notes) if plan.commit else ""), notes


@contextmanager
def _folder(root: Path, path: str) -> Iterator[tuple[int, str]]:
    """The open folder that holds ``path`` and the last name; no link on the way is followed."""
    *above, name = path.split("/")
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    handle = os.open(root, flags)
    try:
        for part in above:
            inner = os.open(part, flags, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, name
    finally:
        os.close(handle)


def _write(root: Path, write: Write) -> None:
    with _folder(root, write.path) as (parent, name):
        now, mode = _read(parent, name)
        if now != write.before:
            raise UsageError(
                f"{write.path} changed while init was running", "look at it, then run init again"
            )
        # The name matches `*~` of the ignore block, should a kill leave it behind.
        beside = f".{name}.{os.getpid()}~"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(beside, flags, 0o666, dir_fd=parent), "wb") as file:
                file.write(write.data)
                file.flush()
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
            os.rename(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=parent)
            raise
        os.fsync(parent)


def _read(parent: int, name: str) -> tuple[bytes | None, int | None]:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
    except FileNotFoundError:
        return None, None
    with os.fdopen(handle, "rb") as file:
        return file.read(), stat.S_IMODE(os.fstat(file.fileno()).st_mode)


def _set_mode(path: Path, mode: int, notes: list[str]) -> None:
    with suppress(PermissionError):
        path.chmod(mode)
    if stat.S_IMODE(path.lstat().st_mode) & 0o777 & ~mode:
        notes.append(f"state/ could not be given mode {mode:o}: this file system keeps no modes")


def _commit(plan: InitPlan, notes: list[str]) -> str:
    """The repository's first commit, of exactly the files that ``init`` wrote."""
    paths = ["--", *plan.commit]
    who = [] if _knows_identity(plan.root) else [FALLBACK.name, FALLBACK.email]
    options = ["-c", "core.safecrlf=false"]
    if who:
        options += ["-c", f"user.name={who[0]}", "-c", f"user.email={who[1]}"]
        notes.append(f"Git knows no identity here; the first commit is by {who[0]} <{who[1]}>")
    try:
        run_git([*options, "add", "--force", *paths], cwd=plan.root)
        commit = [*options, "commit", "--quiet", "--only", f"--message={SUBJECT}", *paths]
        run_git(commit, cwd=plan.root)
    except GitFailed as error:
        raise GitFailed(
            f"the files are in place, but the first commit failed: {error.message}",
            "repair that and run init again, or commit them yourself",
        ) from None
    return run_git(["rev-parse", "HEAD"], cwd=plan.root).out.decode().strip()


def _knows_identity(root: Path) -> bool:
    options = ["-c", "user.useConfigOnly=true", "var"]
    return all(
        run_git([*options, f"GIT_{role}_IDENT"], cwd=root, check=False).code == 0
        for role in ("AUTHOR", "COMMITTER")
    )
