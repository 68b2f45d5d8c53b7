"""What ``doctor`` knows of a clone, as values."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from memrepo.doctor.filesystem import Mount
from memrepo.doctor.snapshots import FlatHistory
from memrepo.protocol.layout import state_paths
from memrepo.protocol.names import SnapshotName
from memrepo.protocol.policy import Policy

MEMORY = ("state", "history")
#: The attributes that decide what Git does to a memory file.
ATTRIBUTES = ("text", "eol", "diff", "merge", "filter", "ident", "working-tree-encoding")

_PROBE = SnapshotName(datetime(2020, 2, 29, 12, tzinfo=UTC), "memrepo-probe")
#: Paths of an agent that does not exist, and how to speak of them: a rule that covers one
#: covers whatever comes next.
PROBES = {
    path: path.replace(_PROBE.agent_id, "<agent_id>") for path in state_paths(_PROBE.agent_id)
}
PROBES |= {
    _PROBE.path("flat"): "history/<snapshot>",
    _PROBE.path("daily"): "history/YYYY/MM/DD/<snapshot>",
}

FolderKind = Literal["absent", "folder", "link", "other"]


class Folder(msgspec.Struct, frozen=True):
    """What lies at ``state`` or ``history``: permission bits, and whether we own it."""

    kind: FolderKind
    mode: int = 0
    ours: bool = False


class Group(msgspec.Struct, frozen=True):
    """``count`` paths with the same attributes, the first of them, and name to value.

    A value is ``set``, ``unset``, ``unspecified`` or the text that a rule gives.
    """

    example: str
    count: int
    values: dict[str, str]


class Worktree(msgspec.Struct, frozen=True):
    """What only a clone with checked out files has.

    ``attributes_file`` is None where there is no ``.gitattributes``, or (with
    ``attributes_blocked``) where something that is no plain file stands in its place.
    ``overriding`` are the attribute files that win over it. ``crlf`` maps a file to the
    blob it would be with LF, "" where that is not what the index has. ``ignored`` maps a
    path to ``file:line:pattern`` of the rule. ``keeps_modes`` is only looked at when
    ``state/`` needs another mode.
    """

    folders: dict[str, Folder]
    attributes: tuple[Group, ...]
    attributes_file: bytes | None
    attributes_blocked: bool
    overriding: tuple[str, ...]
    ignored: dict[str, str]
    staged: tuple[str, ...]
    unmerged: tuple[str, ...]
    untracked: tuple[str, ...]
    crlf: dict[str, str]
    keeps_modes: bool
    #: Whether Git has begun to record resolutions of conflicts here (``rr-cache``).
    has_rerere: bool = False


class Facts(msgspec.Struct, frozen=True):
    """A clone as ``doctor`` finds it. ``now`` is in seconds since 1970.

    ``config`` is Git's configuration in the order it is read; ``expiry`` gives the ``gc``
    times of :func:`memrepo.gitrepo.doctorfacts.expiry_times`, and ``origins`` the file
    that each comes from. ``worktree`` is None in a bare repository.
    """

    root: Path
    now: int
    shallow: bool
    config: dict[str, list[str]]
    expiry: dict[str, int | None]
    origins: dict[str, str]
    identity: bool
    agents: tuple[str, ...]
    history: FlatHistory
    policy: Policy
    mount: Mount | None
    folds_case: bool
    worktree: Worktree | None
    #: The command that starts this memrepo, as a shell reads it, and whether the program
    #: that this clone has registered for memrepo's merge driver is still there.
    command: str = "memrepo"
    driver_starts: bool = True
