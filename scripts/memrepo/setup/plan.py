"""What ``init`` will do, decided from facts alone."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from memrepo.errors import UsageError
from memrepo.protocol.block import with_block
from memrepo.protocol.defaults import (
    ATTRIBUTES_BLOCK,
    IGNORE_BLOCK,
    README_TEXT,
    STATE_MODE,
    default_policy_bytes,
    driver_config,
)
from memrepo.protocol.policy import POLICY_PATH
from memrepo.setup.facts import Entry, Facts
from memrepo.setup.workflow import (
    WORKFLOW_PATHS,
    Source,
    workflow_purpose,
    workflow_text,
    written_by_init,
)

Action = Literal["created", "updated", "kept"]

CONFIG_PATH = ".git/config"
_ABSENT = Entry("absent")


class Change(NamedTuple):
    """What happens to one path."""

    path: str
    action: Action


class Write(msgspec.Struct, frozen=True):
    """Bytes for one file; ``before`` is what it held when the plan was made, None if absent."""

    path: str
    data: bytes
    before: bytes | None


class InitPlan(msgspec.Struct, frozen=True):
    """Everything ``init`` will do at ``root``, and what it leaves alone.

    ``commit`` names the files of the first commit; empty where the repository has
    commits, or nothing of ``init`` would be in it.
    """

    root: Path
    create_repository: bool
    folders: tuple[str, ...]
    state_mode: int | None
    writes: tuple[Write, ...]
    config: dict[str, str]
    commit: tuple[str, ...]
    changes: tuple[Change, ...]
    notes: tuple[str, ...]


def targets(workflows: tuple[str, ...]) -> tuple[str, ...]:
    """Every path that ``init`` may write, with ``/`` and from the repository's root.

    ``workflows`` are those that are asked for, of WORKFLOW_PATHS.
    """
    wanted = (".gitattributes", ".gitignore", "README.md", POLICY_PATH)
    keeps = ("state/.gitkeep", "history/.gitkeep")
    return (*keeps, *wanted, *workflows)


def plan_init(
    facts: Facts, source: Source | None, workflows: tuple[str, ...] = WORKFLOW_PATHS
) -> InitPlan:
    """Decide what to write so that ``facts`` becomes a memory repository.

    ``source`` asks for the starter workflows ``workflows``. Raises UsageError where a symlink or
    something else stands in the way, BadInput where a marked block has lost a mark.
    """
    for path, entry in facts.entries.items():
        if path == "README.md" and entry.kind == "link":
            continue  # present, so there is nothing to write
        _refuse_obstacle(path, entry, is_file=path in targets(WORKFLOW_PATHS))
    planner = _Planner(facts)
    planner.folder("state")
    planner.folder("history")
    planner.block(".gitattributes", ATTRIBUTES_BLOCK)
    planner.block(".gitignore", IGNORE_BLOCK)
    if not any(n.casefold().startswith("readme") for n in facts.names if n != "README.md"):
        planner.once("README.md", README_TEXT.encode())
    planner.folder(".memrepo", keep=False)
    planner.once(POLICY_PATH, default_policy_bytes())
    if source is not None:
        planner.folder(".github", keep=False)
        planner.folder(".github/workflows", keep=False)
        planner.workflows(source, workflows)
    config = {k: v for k, v in driver_config(facts.command).items() if k not in facts.config}
    action: Action = "created" if not facts.config else "updated" if config else "kept"
    planner.changes.append(Change(CONFIG_PATH, action))
    if facts.has_commits and planner.writes:
        names = " ".join(write.path for write in planner.writes)
        planner.notes.append(f"not committed, for you to look at: git add {names}")
    return InitPlan(
        root=facts.root,
        create_repository=not facts.is_repository,
        folders=tuple(planner.folders),
        state_mode=_state_mode(facts),
        writes=tuple(planner.writes),
        config=config,
        commit=() if facts.has_commits else tuple(planner.ours),
        changes=tuple(planner.changes),
        notes=tuple(planner.notes),
    )


def _refuse_obstacle(path: str, entry: Entry, *, is_file: bool) -> None:
    expected = "file" if is_file else "folder"
    if entry.kind in ("absent", expected):
        return
    kind = {"link": "a symlink", "file": "a file", "folder": "a folder"}.get(
        entry.kind, "neither a file nor a folder"
    )
    raise UsageError(
        f"{path} is {kind}; init writes to plain files and folders only, and follows no link",
        f"move it away, or put a {expected} in its place, then run init again",
    )


def _state_mode(facts: Facts) -> int | None:
    """The mode ``state/`` must be given, or None; a stricter one is left as it is."""
    entry = facts.entries.get("state", _ABSENT)
    if entry.kind == "absent":
        return STATE_MODE
    excess = 0o777 & ~STATE_MODE
    return entry.mode & ~excess if entry.mode & excess else None


class _Planner:
    """Collects the plan path by path."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.folders: list[str] = []
        self.writes: list[Write] = []
        self.changes: list[Change] = []
        self.ours: list[str] = []
        self.notes: list[str] = []

    def entry(self, path: str) -> Entry:
        return self.facts.entries.get(path, _ABSENT)

    def folder(self, path: str, *, keep: bool = True) -> None:
        """A folder; with ``keep``, a marker file in it, since Git has no empty folders."""
        entry = self.entry(path)
        if entry.kind == "absent":
            self.folders.append(path)
        if not keep:
            return
        action: Action = "created" if entry.kind == "absent" else "kept"
        if path == "state" and action == "kept" and _state_mode(self.facts) is not None:
            action = "updated"
        self.changes.append(Change(f"{path}/", action))
        marker = f"{path}/.gitkeep"
        if entry.empty:
            self.write(marker, b"")
        elif self.entry(marker).kind == "file":
            self.ours.append(marker)

    def write(self, path: str, data: bytes) -> None:
        entry = self.entry(path)
        before = entry.data if entry.kind == "file" else None
        self.ours.append(path)
        if before == data:
            self.changes.append(Change(path, "kept"))
            return
        self.writes.append(Write(path, data, before))
        self.changes.append(Change(path, "created" if before is None else "updated"))

    def once(self, path: str, data: bytes) -> None:
        """A file that is a person's own from the moment it exists."""
        entry = self.entry(path)
        if entry.kind == "absent" or entry.data == data:
            self.write(path, data)
        else:
            self.changes.append(Change(path, "kept"))

    def block(self, path: str, block: str) -> None:
        before = self.entry(path).data
        after = with_block(before, block.encode(), path)
        self.write(path, after)
        below = after.partition(block.encode())[2].splitlines()
        if any(line.strip() and not line.startswith(b"#") for line in below):
            self.notes.append(f"lines below memrepo's block in {path} win over it; see them")

    def workflows(self, source: Source, paths: tuple[str, ...]) -> None:
        following = False
        for path in paths:
            entry = self.entry(path)
            data = workflow_text(path, source).encode()
            if entry.kind == "absent" or entry.data == data or written_by_init(path, entry.data):
                self.write(path, data)
                following = True
                if self.changes[-1].action != "kept":
                    self.notes.append(f"{path}: {workflow_purpose(path)}")
            else:
                self.changes.append(Change(path, "kept"))
                self.notes.append(f"{path} is not as init writes it, so it stays as it is")
        if following and not source.is_pinned:
            self.notes.append(
                f"{source.ref} can be moved by whoever owns {source.owner}/{source.repo}; "
                "a full commit id after the @ cannot"
            )
