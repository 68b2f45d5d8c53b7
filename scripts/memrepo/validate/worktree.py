"""Validate the files that lie in a worktree.

Folders are walked by hand and files opened without following links: with tens of
thousands of small files, what a file costs is what the whole run costs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from memrepo.gate.files import judge_file, judge_plain, too_large
from memrepo.gate.layout import Entry, judge_agents, judge_entry
from memrepo.gate.sides import Blob, mode_on_disk, read_plain
from memrepo.protocol.documents import KINDS, STATE_FILES
from memrepo.protocol.findings import Finding
from memrepo.protocol.layout import Place, place_of
from memrepo.protocol.names import agent_id_problem
from memrepo.protocol.policy import POLICY_PATH, Policy
from memrepo.protocol.policyfile import parse_policy
from memrepo.validate.parallel import in_parallel

#: Larger files are read with more care.
_QUICK = 1 << 15
_WHOLE = set(STATE_FILES)
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Look(msgspec.Struct, frozen=True):
    """What to judge, and how: ``text`` for the text rules too, ``modes`` where the file
    system keeps a mode that means something (``core.fileMode``)."""

    root: Path
    policy: Policy
    text: bool = True
    modes: bool = True


def judge_state(look: Look) -> list[Finding]:
    """Everything under ``state/``, by as many processes as there are processors."""
    if not _is_folder(f"{look.root}/state"):
        return judge_tree(look, "state")
    with os.scandir(f"{look.root}/state") as entries:
        folders = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
    findings, odd = in_parallel(lambda names: _judge_named(look, names, folders), sorted(folders))
    agents = {name: files for name in folders if (files := odd.get(name, _WHOLE))}
    return findings + judge_agents(agents, look.policy)


def _judge_named(
    look: Look, names: list[str], folders: dict[str, bool]
) -> tuple[list[Finding], dict[str, set[str]]]:
    """The findings about these names under ``state/``, and the files of those that are odd.

    Odd is what has not exactly the three files; what is no agent has none.
    """
    findings: list[Finding] = []
    odd: dict[str, set[str]] = {}
    policy, text = look.policy, look.text
    for name in names:
        if not folders[name] or agent_id_problem(name):
            findings += judge_tree(look, f"state/{name}")
            odd[name] = set()
            continue
        folder = f"{look.root}/state/{name}"
        files = _listed(folder)
        if files != _WHOLE:
            # An empty folder too, which Git does not see.
            odd[name] = files
        for file in files:
            kind = KINDS.get(file)
            path = f"state/{name}/{file}"
            data = read_quickly(f"{folder}/{file}", look.modes) if kind else None
            if kind is None or data is None:
                findings += judge_path(look, path) if kind else judge_tree(look, path)
                continue
            judged = judge_file(kind, data, path=path, agent_id=name, policy=policy, text=text)
            if judged.findings:
                findings += judged.findings
    return findings, odd


def _listed(folder: str) -> set[str]:
    """The names in a folder; what cannot be read has none, and is read again with words."""
    try:
        return set(os.listdir(folder))  # noqa: PTH208 (names alone, and quickly)
    except FileNotFoundError:
        return set()


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def read_quickly(path: str, modes: bool) -> bytes | None:
    """A small plain file that is not executable; None for everything that needs a look."""
    try:
        fd = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        mode = os.fstat(fd).st_mode
        if mode & 0o170100 != 0o100000 and not (not modes and mode & 0o170000 == 0o100000):
            return None
        data = os.read(fd, _QUICK)
        return data if len(data) < _QUICK else None
    except OSError:
        return None
    finally:
        os.close(fd)


def judge_tree(look: Look, start: str) -> list[Finding]:
    """Every path at or below ``start`` (from the root; [] for none), links not followed."""
    findings: list[Finding] = []
    for path in walk(look.root, start):
        findings += judge_path(look, path)
    return findings


def walk(root: Path, start: str) -> Iterator[str]:
    """The files at or below ``start``, as paths from the root, in order."""
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if _is_folder(f"{root}/{path}"):
            waiting += [f"{path}/{name}" for name in reversed(_names(f"{root}/{path}"))]
        elif os.path.lexists(f"{root}/{path}"):
            yield path


def judge_path(look: Look, path: str) -> list[Finding]:
    """One path of the worktree, whatever it is."""
    place = place_of(path)
    mode = mode_on_disk(look.root / path, look.modes)
    findings = judge_entry(Entry(path, mode), place, look.policy)
    if mode not in (0o100644, 0o100755):
        return findings
    blob = read_plain(look.root, path)
    return findings if blob is None else findings + _judge_blob(blob, path, place, look)


def _judge_blob(blob: Blob, path: str, place: Place, look: Look) -> list[Finding]:
    if blob.data is None:
        return too_large(path, blob.size, look.policy, place.agent_id)
    if place.role in ("state", "snapshot") and place.kind is not None:
        return judge_file(
            place.kind,
            blob.data,
            path=path,
            agent_id=place.agent_id,
            policy=look.policy,
            text=look.text,
        ).findings
    found = parse_policy(blob.data)[1] if path == POLICY_PATH else []
    if place.role == "rollout":
        from memrepo.gate.rollouts import judge_rollout_edit

        found += judge_rollout_edit(path, None, blob.data, look.policy, text=False).findings
    return found + judge_plain(path, blob.data, look.policy) if look.text else found
