"""A problem of a clone as a value, and the repairs that are safe."""

from __future__ import annotations

import msgspec

from memrepo.doctor.catalogue import KINDS
from memrepo.protocol.findings import Severity


class WriteFile(msgspec.Struct, frozen=True):
    """Give the file at ``path`` new bytes; ``before`` is what it holds now (None: absent)."""

    path: str
    before: bytes | None
    after: bytes

    @property
    def does(self) -> str:
        """What it does, in words that follow “would”."""
        return f"write memrepo's block at the end of {self.path}"


class WriteLf(msgspec.Struct, frozen=True):
    """Write files of the worktree with LF; ``files`` maps a path to the blob id it then has."""

    files: dict[str, str]

    @property
    def does(self) -> str:
        """What it does, in words that follow “would”."""
        return f"write {count(len(self.files), 'file')} with LF line ends"


class SetConfig(msgspec.Struct, frozen=True):
    """Set keys of the clone's own Git configuration."""

    settings: dict[str, str]

    @property
    def does(self) -> str:
        """What it does, in words that follow “would”."""
        return "set " + ", ".join(f"{key}={value}" for key, value in self.settings.items())


class SetMode(msgspec.Struct, frozen=True):
    """Give the folder ``path`` the permission bits ``mode``."""

    path: str
    mode: int

    @property
    def does(self) -> str:
        """What it does, in words that follow “would”."""
        return f"set the mode of {self.path} to {self.mode & 0o777:o}"


Repair = WriteFile | WriteLf | SetConfig | SetMode


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a clone.

    ``what`` is one line about this clone, ``repair`` what to do, with the command where
    there is one. ``fix`` is the repair that changes nothing a person would miss, or None.
    Texts may hold names from the repository as they are: escape them to show them.
    """

    name: str
    severity: Severity
    what: str
    reason: str
    repair: str
    fix: Repair | None = None

    @property
    def safe(self) -> bool:
        """Whether ``doctor --fix`` repairs it."""
        return self.fix is not None


def problem(name: str, what: str, repair: str = "", fix: Repair | None = None) -> Problem:
    """The problem ``name`` of the catalogue; ``repair`` defaults to the catalogue's."""
    kind = KINDS[name]
    return Problem(
        name=name,
        severity=kind.severity,
        what=what,
        reason=kind.reason,
        repair=repair or kind.repair,
        fix=fix,
    )


def repairs_of(problems: list[Problem]) -> list[Repair]:
    """The safe repairs, each once: several problems can share one."""
    repairs: list[Repair] = []
    for one in problems:
        if one.fix is not None and one.fix not in repairs:
            repairs.append(one.fix)
    return repairs


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def some(names: list[str], shown: int = 3) -> str:
    """The first few of ``names``, and how many more there are."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
