"""Move a flat ``history/`` to the daily layout: one commit, the same blobs at other paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memrepo.errors import NeedsPerson, NotAMemoryRepo
from memrepo.gitrepo.move import MoveRequest, commit_moves
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.repository import Listed, Repository
from memrepo.protocol.layout import place_of
from memrepo.protocol.layoutpolicy import with_daily_layout
from memrepo.protocol.names import parse_snapshot_name
from memrepo.protocol.policy import POLICY_PATH

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import TipView

MESSAGE = """\
memrepo: keep snapshots in a folder a day

Every snapshot moves from history/ to history/YYYY/MM/DD/, with the same bytes.
"""


class Moves(msgspec.Struct, frozen=True):
    """Old path to new path and raw blob id, and what stays flat because it is no plain snapshot."""

    paths: dict[str, tuple[str, bytes]]
    kept: tuple[str, ...]


class Converted(msgspec.Struct, frozen=True):
    """What the conversion did, or would do: ``commit`` is "" when there was none."""

    commit: str
    moved: int
    policy_changed: bool
    kept: tuple[str, ...]
    notes: tuple[str, ...]


def plan_moves(listed: list[Listed]) -> Moves:
    """Where each flat snapshot goes; ``listed`` are the names in ``history/``."""
    paths: dict[str, tuple[str, bytes]] = {}
    kept = []
    for one in listed:
        if one.is_folder or one.name == ".gitkeep":
            continue
        name = parse_snapshot_name(one.name)
        target = name.path("daily") if name else ""
        if one.mode != "100644" or place_of(target).role != "snapshot":
            kept.append(f"history/{one.name}")
        else:
            paths[f"history/{one.name}"] = (target, bytes.fromhex(one.oid))
    return Moves(paths, tuple(kept))


def convert_history(path: Path, *, dry_run: bool = False) -> Converted:
    """Move every flat snapshot to its day's folder and set ``history.layout: daily``.

    One commit of exactly those paths on HEAD. Raises NeedsPerson where a snapshot lies in
    both places and differs or has changes in the worktree, BadInput for a policy that
    cannot be edited, NotAMemoryRepo where there is no ``history/``.
    """
    with Repository.open(path) as repo:
        plans: list[tuple[Moves, bool]] = []

        def build(tip: TipView) -> MoveRequest | None:
            if not tip.exists("history"):
                raise NotAMemoryRepo(
                    f"{plain(str(repo.path))} has no history/ in its newest commit",
                    "run memrepo init there, or give the right --repo-path",
                )
            moves = plan_moves(tip.list_dir("history"))
            _refuse_clash(tip, moves)
            before = tip.read(POLICY_PATH)
            policy = with_daily_layout(before)
            plans.append((moves, policy != before))
            if not moves.paths and policy == before:
                return None
            contents = {POLICY_PATH: policy} if policy != before else {}
            return MoveRequest(moves.paths, contents, MESSAGE)

        if dry_run:
            build(repo.view(repo.tip()))
            made = ""
        else:
            made = commit_moves(repo, build) or ""
        moves, policy_changed = plans[-1]
        return Converted(made, len(moves.paths), policy_changed, moves.kept, tuple(repo.notes))


def _refuse_clash(tip: TipView, moves: Moves) -> None:
    """Raise NeedsPerson where a move would overwrite something."""
    there: dict[str, dict[str, bytes]] = {}
    for old, (new, oid) in moves.paths.items():
        folder, _, name = new.rpartition("/")
        if folder not in there:
            _refuse_file(tip, folder)
            there[folder] = {one.name: bytes.fromhex(one.oid) for one in tip.list_dir(folder)}
        if there[folder].get(name, oid) != oid:
            raise NeedsPerson(
                f"{plain(old)} and {plain(new)} both exist and differ; nothing was moved",
                "a snapshot is never overwritten: decide which is right and remove the other",
            )


def _refuse_file(tip: TipView, folder: str) -> None:
    parts = folder.split("/")
    for end in range(2, len(parts) + 1):
        entry = tip.entry("/".join(parts[:end]))
        if entry is not None and not entry.is_folder:
            raise NeedsPerson(
                f"{'/'.join(parts[:end])} must be a folder and is none; nothing was moved",
                "memrepo validate says what belongs there; remove it and commit that",
            )
