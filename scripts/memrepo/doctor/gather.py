"""Gather the facts about a clone. Reads only; no link is followed."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.doctor import filesystem
from memrepo.doctor.facts import (
    ATTRIBUTES,
    MEMORY,
    PROBES,
    Facts,
    Folder,
    FolderKind,
    Group,
    Worktree,
)
from memrepo.doctor.files import read_file
from memrepo.doctor.snapshots import flat_history
from memrepo.errors import NotAMemoryRepo
from memrepo.gitrepo import changes
from memrepo.gitrepo import doctorfacts as ask
from memrepo.gitrepo.drivercommand import can_start, own_command
from memrepo.gitrepo.objects import object_id
from memrepo.gitrepo.process import plain
from memrepo.protocol.layout import place_of
from memrepo.protocol.names import agent_id_problem
from memrepo.protocol.policy import POLICY_PATH
from memrepo.protocol.policyfile import parse_policy

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository

_BELOW = ("state/", "history/")
_ABSENT = Folder("absent")


def gather(repo: Repository) -> Facts:
    """The facts about an open clone.

    Raises NotAMemoryRepo where neither its newest commit nor its worktree has both
    ``state/`` and ``history/``.
    """
    tip = repo.view(repo.tip())
    folders = {} if not repo.has_worktree else {name: _folder(repo.path / name) for name in MEMORY}
    for name in MEMORY:
        entry = tip.entry(name)
        if not (entry and entry.is_folder) and folders.get(name, _ABSENT).kind == "absent":
            raise NotAMemoryRepo(
                f"{plain(str(repo.path))} is no memory repository: it has no {name}/",
                f"run memrepo init --repo-path {plain(str(repo.path))}",
            )
    policy = parse_policy(tip.read(POLICY_PATH) or b"")[0]
    agents = {listed.name for listed in tip.list_dir("state") if listed.is_folder}
    if folders.get("state", _ABSENT).kind == "folder":
        agents |= {name for name in _names(repo.path / "state") if not agent_id_problem(name)}
    keys = [key for key in repo.config() if _is_expiry(key)]
    return Facts(
        root=repo.path,
        now=int(time.time()),
        shallow=repo.is_shallow,
        config=repo.config(),
        expiry=ask.expiry_times(repo, keys),
        origins={key: ask.config_origin(repo, key) for key in keys},
        identity=ask.knows_identity(repo),
        agents=tuple(sorted(agents)),
        history=flat_history(tip),
        policy=policy,
        mount=filesystem.mount_of(repo.path),
        folds_case=filesystem.folds_case(repo.git_dir / "HEAD")
        or ("state" in folders and filesystem.folds_case(repo.path / "state")),
        command=own_command(),
        driver_starts=can_start(repo.config_value("merge.memrepo.driver", "git")),
        worktree=_worktree(repo, folders) if folders else None,
    )


def _folder(path: Path) -> Folder:
    try:
        status = path.lstat()
    except OSError:
        return _ABSENT
    kind: FolderKind = "folder" if stat.S_ISDIR(status.st_mode) else "other"
    if stat.S_ISLNK(status.st_mode):
        kind = "link"
    return Folder(kind, stat.S_IMODE(status.st_mode), status.st_uid == os.geteuid())


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def _is_expiry(key: str) -> bool:
    return key == "gc.pruneexpire" or (
        key.startswith("gc.") and key.endswith((".reflogexpire", ".reflogexpireunreachable"))
    )


def _worktree(repo: Repository, folders: dict[str, Folder]) -> Worktree:
    # Git itself refuses to look at paths behind a link or a file.
    real = [name for name in MEMORY if folders[name].kind in ("absent", "folder")]
    tracked = [path for name in MEMORY for path in changes.index_paths(repo, f"{name}/")]
    untracked = ask.untracked_files(repo, MEMORY)
    attributes_file, blocked = _attributes_file(repo)
    every = changes.staged_files(repo)
    state = folders["state"]
    return Worktree(
        folders=folders,
        attributes=_groups(ask.attributes(repo, _to_probe(tracked), ATTRIBUTES)),
        attributes_file=attributes_file,
        attributes_blocked=blocked,
        overriding=tuple(_overriding(repo, [*tracked, *untracked])),
        ignored=_ignored(repo, real),
        staged=tuple(o.path for o in every if o.status != "U" and o.path.startswith(_BELOW)),
        unmerged=tuple(o.path for o in every if o.status == "U"),
        untracked=tuple(path for path in untracked if _is_snapshot(path)),
        crlf=_crlf(repo) if "state" in real else {},
        keeps_modes=state.mode & 0o027 == 0 or filesystem.keeps_modes(repo.git_dir),
        has_rerere=(repo.common_dir / "rr-cache").is_dir(),
    )


def _to_probe(tracked: list[str]) -> list[str]:
    """Every path under ``state/``, one of each folder of ``history/``, and the probes."""
    memory = [path for path in tracked if path.endswith(".json")]
    folders = {path.rpartition("/")[0]: path for path in memory if path.startswith("history/")}
    return [*(path for path in memory if path.startswith("state/")), *folders.values(), *PROBES]


def _groups(attributes: dict[str, dict[str, str]]) -> tuple[Group, ...]:
    found: dict[tuple[str, ...], list[str]] = {}
    for path, values in attributes.items():
        found.setdefault(tuple(values.values()), []).append(path)
    return tuple(
        Group(paths[0], sum(path not in PROBES for path in paths), attributes[paths[0]])
        for paths in found.values()
    )


def _is_snapshot(path: str) -> bool:
    return place_of(path).role == "snapshot"


def _attributes_file(repo: Repository) -> tuple[bytes | None, bool]:
    found = read_file(repo, ".gitattributes")
    if found is not None:
        return found, False
    return None, os.path.lexists(repo.path / ".gitattributes")


def _overriding(repo: Repository, paths: Iterable[str]) -> Iterator[str]:
    """The attribute files that win over the one at the root, with a rule in them."""
    info = repo.common_dir / "info" / "attributes"
    try:
        if _has_rule(info.read_bytes()):
            yield str(info)
    except OSError:
        pass
    for path in paths:
        if path.endswith("/.gitattributes") and _has_rule(read_file(repo, path) or b""):
            yield path


def _has_rule(data: bytes) -> bool:
    return any(line.strip() and not line.lstrip().startswith(b"#") for line in data.splitlines())


def _ignored(repo: Repository, folders: list[str]) -> dict[str, str]:
    asked = [path for path in PROBES if path.partition("/")[0] in folders]
    if folders:
        hidden = ask.untracked_files(repo, folders, ignored=True)
        asked += [path for path in hidden if place_of(path).role in ("state", "snapshot")]
    return ask.ignored(repo, asked)


def _crlf(repo: Repository) -> dict[str, str]:
    found = ask.crlf_files(repo, "state")
    for path, oid in found.items():
        data = read_file(repo, path) if oid else None
        lf = data.replace(b"\r\n", b"\n") if data else b""
        if not lf or object_id(repo.object_format, "blob", lf).hex() != oid:
            found[path] = ""
    return found
