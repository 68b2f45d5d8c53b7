"""Bring an agent back to what it was, as a new commit."""

from __future__ import annotations

import msgspec

from memrepo.errors import BadInput, NeedsPerson
from memrepo.gate.sides import mode_on_disk, read_plain
from memrepo.gitrepo.changes import staged_files
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.protocol.canonical import canonical_bytes
from memrepo.protocol.documents import STATE_FILES, Kind
from memrepo.protocol.layout import place_of, state_path, state_paths


def canonical_of(agent_id: str, files: dict[str, bytes], rev: str) -> dict[str, bytes]:
    """The canonical bytes of old files, which go into the new snapshot.

    Raises :class:`BadInput` when one of the three is missing or cannot be read: memory
    that no agent can load is nothing to go back to.
    """
    canonical: dict[str, bytes] = {}
    for name in STATE_FILES:
        kind: Kind | None = place_of(state_path(agent_id, name)).kind
        try:
            if kind is not None:
                canonical[name] = canonical_bytes(kind, files[name])
        except (KeyError, msgspec.MsgspecError, RecursionError, ValueError):
            raise BadInput(
                f"{name} of {agent_id} at {rev} is missing or cannot be read",
                "choose another revision: memrepo history lists them",
            ) from None
    return canonical


def refuse_if_dirty(repo: Repository, agent_id: str, tip: TipView) -> None:
    """Raise :class:`NeedsPerson` when the agent's files hold changes that no commit has."""
    if not repo.has_worktree:
        return
    staged = {change.path for change in staged_files(repo, tip.commit)}
    for path in state_paths(agent_id):
        blob = read_plain(repo.path, path)
        other = blob.data != tip.read(path) if blob else mode_on_disk(repo.path / path) != 0
        if other or path in staged:
            raise NeedsPerson(
                f"{path} has changes that are not committed",
                "commit them, or drop them with git restore, and then revert",
            )
