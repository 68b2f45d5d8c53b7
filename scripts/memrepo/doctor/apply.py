"""Carry out the repairs that are safe: the only part of ``doctor`` with effects."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from memrepo.doctor.files import read_file, replace_file
from memrepo.doctor.problem import Repair, SetConfig, SetMode, WriteFile, WriteLf
from memrepo.errors import MemrepoError
from memrepo.gitrepo.doctorfacts import set_local
from memrepo.gitrepo.objects import object_id

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository


def apply(repo: Repository, repairs: list[Repair]) -> list[str]:
    """Do each repair; one line for each that could not be done.

    Whether a repair helped is not decided here: the clone is examined again.
    """
    failed = []
    for repair in repairs:
        try:
            why = _one(repo, repair)
        except MemrepoError as error:
            why = error.message
        except OSError as error:
            why = error.strerror or "the file system refused"
        if why:
            failed.append(f"could not {repair.does}: {why}")
    return failed


def _one(repo: Repository, repair: Repair) -> str:
    """Do one repair; why it was not done, or ""."""
    if isinstance(repair, SetConfig):
        set_local(repo, repair.settings)
        return ""
    if isinstance(repair, SetMode):
        return _set_mode(repo, repair)
    if isinstance(repair, WriteFile):
        done = replace_file(repo, repair.path, repair.before, repair.after)
        return "" if done else f"{repair.path} has changed meanwhile"
    return _write_lf(repo, repair)


def _write_lf(repo: Repository, repair: WriteLf) -> str:
    changed = 0
    for path, oid in repair.files.items():
        before = read_file(repo, path)
        after = (before or b"").replace(b"\r\n", b"\n")
        same = object_id(repo.object_format, "blob", after).hex() == oid
        if before is None or not same or not replace_file(repo, path, before, after):
            changed += 1
    return f"{changed:,} of them changed meanwhile" if changed else ""


def _set_mode(repo: Repository, repair: SetMode) -> str:
    # Opened without following a link, so that nothing outside the clone is changed.
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    descriptor = os.open(repo.path / repair.path, flags)
    try:
        os.fchmod(descriptor, repair.mode)
        now = stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
    # Of the other bits, the system may take the group's away from one who is not in it.
    return "" if now & 0o777 == repair.mode & 0o777 else "the file system keeps no modes"
