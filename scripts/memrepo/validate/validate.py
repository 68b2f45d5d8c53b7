"""Validate a repository, some of its paths, what is staged, or a change."""

from __future__ import annotations

import os
from pathlib import Path

from memrepo.errors import NotAMemoryRepo, UsageError
from memrepo.gate.layout import agents_of, judge_agents
from memrepo.gate.policy import policy_at, policy_of_worktree
from memrepo.gate.sides import read_plain
from memrepo.gitrepo.changes import files_outside
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.findings import Finding, in_order
from memrepo.protocol.rollout import ROLLOUTS_FOLDER
from memrepo.shards.values import INDEX_PATH
from memrepo.validate.drivers import judge_drivers
from memrepo.validate.records import judge_records
from memrepo.validate.worktree import Look, judge_path, judge_state, judge_tree, walk


def validate_all(repo: Repository, *, text: bool = True) -> list[Finding]:
    """Every file of the worktree: agents, snapshots, and the other files Git would keep.

    ``text``: run the text rules too. Raises :class:`NotAMemoryRepo` in a bare repository
    or where there is neither ``state/`` nor ``history/``.
    """
    root = _root(repo)
    if not (root / "state").is_dir() and not (root / "history").is_dir():
        raise NotAMemoryRepo(
            f"{root} has neither state/ nor history/",
            "memrepo init --repo-path PATH makes a memory repository",
        )
    look = _look(repo, root, text)
    findings = judge_state(look) + judge_tree(look, "history")
    findings += judge_records(look, repo)
    for path in files_outside(repo, ("state", "history", "records")):
        if path not in ("state", "history", "records"):
            findings += judge_path(look, path)
    findings += judge_drivers(repo, look.policy)
    return in_order(findings + _judge_record(look) + _judge_rollouts(look))


def _judge_record(look: Look) -> list[Finding]:
    """What the archive's record says, where there is one."""
    index = look.root / INDEX_PATH
    if not (index.exists() or index.is_symlink()):
        return []
    from memrepo.gate.archived import judge_record

    def read(path: str) -> bytes | None:
        blob = read_plain(look.root, path)
        return blob.data if blob else None

    return judge_record(read, look.policy)


def _judge_rollouts(look: Look) -> list[Finding]:
    """Whether the rollouts that there are meet each other."""
    folder = ROLLOUTS_FOLDER.rstrip("/")
    if not (look.root / folder).is_dir():
        return []
    from memrepo.gate.rollouts import judge_all

    def read(path: str) -> bytes | None:
        blob = read_plain(look.root, path)
        return blob.data if blob else None

    return judge_all(walk(look.root, folder), read, look.policy)


def validate_paths(repo: Repository, paths: list[Path], *, text: bool = True) -> list[Finding]:
    """The files and folders named, each inside the worktree."""
    root = _root(repo)
    look = _look(repo, root, text)
    findings: list[Finding] = []
    for start in [_inside(root, path) for path in paths]:
        if not start:
            return validate_all(repo, text=text)
        if start == "state":
            findings += judge_state(look)
            continue
        if start.partition("/")[0] == "records":
            findings += judge_records(look, repo, start)
            continue
        findings += judge_tree(look, start)
        if start.startswith("state/") and start.count("/") == 1:
            findings += judge_agents(agents_of(walk(root, start)), look.policy)
    # A file that was named twice is judged twice and said once.
    return in_order(list(dict.fromkeys(findings)))


def _look(repo: Repository, root: Path, text: bool) -> Look:
    modes = repo.config_true("core.filemode", default=True)
    return Look(root, policy_of_worktree(root), text, modes)


def _inside(root: Path, path: Path) -> str:
    """``path`` from the root, with ``/``; "" for the root itself. Links are not followed."""
    full = Path.cwd() / path
    # Not Path.resolve, which raises at a link that leads to itself.
    last = "" if full.name == ".." else full.name
    parent = Path(os.path.realpath(full if not last else full.parent), last)
    if not os.path.lexists(parent):
        raise UsageError(f"there is no {str(path)!a}", "paths are relative to where you are")
    if parent == root:
        return ""
    if root not in parent.parents:
        raise UsageError(
            f"{str(path)!a} is outside the memory repository {root}",
            "name the repository with --repo-path",
        )
    return parent.relative_to(root).as_posix()


def validate_staged(repo: Repository, index_file: Path | None = None) -> list[Finding]:
    """What the next ``git commit`` would change, against ``HEAD``.

    ``index_file`` is the index that Git gave to a hook; ``git commit -a`` makes its own.
    """
    from memrepo.gate.compare import compare
    from memrepo.gate.sides import Staged

    _root(repo)
    head = repo.tip()
    policy = policy_at(repo, head)
    found = compare(Staged(repo, head, index_file), policy).findings
    return in_order([*found, *judge_drivers(repo, policy)])


def validate_change(repo: Repository, base: str, head: str) -> list[Finding]:
    """What ``head`` changes since it left ``base``, judged by the policy of ``base``."""
    from memrepo.gate.compare import compare
    from memrepo.gate.sides import change_between

    base_id = repo.resolve(base)
    change = change_between(repo, base_id, repo.resolve(head))
    return compare(change, policy_at(repo, base_id)).findings


def _root(repo: Repository) -> Path:
    if repo.bare:
        raise NotAMemoryRepo(
            "this repository is bare: it has no files to validate",
            "validate a change instead: memrepo validate --base REV --head REV",
        )
    return repo.path
