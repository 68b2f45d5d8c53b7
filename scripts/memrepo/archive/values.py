"""What a run of the archive comes to, as values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import msgspec

#: How far a run goes: to the branch itself, to a pull request, to the release, or nowhere.
Mode = Literal["push", "pr", "no-prune", "dry-run"]
#: How it ended: nothing was due; planned only; published only; pruned; put up for review.
State = Literal["nothing", "planned", "published", "pruned", "proposed"]
#: ``tell(what, done, of)``: how many of how many are done of ``what``; ``of`` 0 is unknown.
Tell = Callable[[str, int, int], None]


class Moved(msgspec.Struct, frozen=True):
    """One shard of this run: where it lies, what it holds, what proves it.

    ``bytes`` are those of its snapshots, ``size`` those of the asset.
    """

    shard: str
    tag: str
    asset: str
    url: str
    snapshots: int
    bytes: int
    size: int
    sha256: str
    tar_sha256: str


class Week(msgspec.Struct, frozen=True):
    """The history of one ISO week before the run: snapshots in the tree, those that go."""

    week: str
    snapshots: int
    going: int


class Sizes(msgspec.Struct, frozen=True):
    """Snapshots in the tree and their bytes; ``bytes`` is -1 where a clone does not know."""

    snapshots: int
    bytes: int


class Stayed(msgspec.Struct, frozen=True):
    """A snapshot that is old enough and stays all the same, and why, in words."""

    path: str
    why: str


class ArchiveOutcome(msgspec.Struct, frozen=True):
    """What a run did.

    ``archived`` counts the snapshots that a commit took out of the tree (with "pr", that
    will go when it is merged; with "no-prune" and "dry-run", that would). ``release_tag``
    and ``release_url`` are those of the newest release concerned, ``sha256`` and
    ``checksums`` the hash and the text of its ``SHA256SUMS``. ``pruned_commit`` is on the
    branch, or on the pull request's. "" or 0 stands for what there is not.
    """

    state: State
    mode: Mode
    branch: str
    commit: str
    before: str
    archived: int = 0
    shards: tuple[Moved, ...] = ()
    release_tag: str = ""
    release_url: str = ""
    sha256: str = ""
    checksums: str = ""
    pruned_commit: str = ""
    pull_request: int = 0
    pull_request_url: str = ""
    sizes_before: Sizes = Sizes(0, 0)
    sizes_after: Sizes = Sizes(0, 0)
    weeks: tuple[Week, ...] = ()
    kept: int = 0
    stayed: tuple[Stayed, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of ``archive run --json``."""
        built: dict[str, Any] = msgspec.to_builtins(self)
        return built


def quiet(_what: str, _done: int, _of: int) -> None:
    """A :data:`Tell` that says nothing."""
