"""Judge rollout files: readable, not moving units, not two on one agent; and say what an edit does.

Pure: the bytes come from the two sides of a change, or from whoever reads the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from memrepo.gate.files import make
from memrepo.gate.sides import Sides
from memrepo.gate.withhold import plain_holds_secret
from memrepo.gitrepo.changes import FileChange
from memrepo.protocol.findings import Finding
from memrepo.protocol.names import agent_id_problem
from memrepo.protocol.policy import Policy
from memrepo.protocol.rollout import ROLLOUTS_FOLDER, Rollout, overlap, rollout_name, rollout_path
from memrepo.protocol.rolloutfile import parse_rollout
from memrepo.protocol.rolloutwords import describe_change, fixed_changes
from memrepo.semdiff.change import OtherFile

_FIXED = "abort it with memrepo rollout abort, and write a new one under another name"
_OVERLAP = "end one, narrow its agents, or declare both `layered: true`"


class Edited(msgspec.Struct, frozen=True):
    """A rollout's file in a change: what its edit does, in raw sentences, and what is wrong."""

    words: tuple[str, ...]
    findings: list[Finding]


class JudgedRollouts(msgspec.Struct, frozen=True):
    """Every rollout's file in a change: the words by path, and all findings."""

    words: dict[str, tuple[str, ...]]
    findings: list[Finding]

    def shown(self, file: OtherFile) -> OtherFile:
        """A file of the diff, with what its edit does where it is a rollout."""
        if file.path not in self.words:
            return file
        return msgspec.structs.replace(file, kind="rollout", words=self.words[file.path])


def judge_rollout_edit(
    path: str, old: bytes | None, new: bytes | None, policy: Policy, *, text: bool = True
) -> Edited:
    """One rollout's file before and after (None: not there).

    ``text``: say in words what the edit does.
    """
    before = parse_rollout(old, path)[0] if old is not None else None
    after, findings = None, list[Finding]()
    if new is not None:
        findings += _misnamed(path, policy)
        after, wrong = parse_rollout(new, path)
        findings += wrong
    if before is not None and after is not None:
        for sentence in fixed_changes(before, after):
            findings += make(policy, "rollout-fixed", path, sentence, _FIXED)
    elif before is not None and new is None and before.is_live:
        message = f"the rollout is removed while it is {before.state.phase}"
        findings += make(policy, "rollout-fixed", path, message, _FIXED)
    # With a mistake in it, the file does nothing that could be described.
    is_read = after is not None or new is None
    words = describe_change(before, after).splitlines() if text and is_read else []
    return Edited(tuple(words), findings)


def _misnamed(path: str, policy: Policy) -> list[Finding]:
    name = rollout_name(path)
    if name is not None and not agent_id_problem(name):
        return []
    message = f"a rollout is called {ROLLOUTS_FOLDER}<name>.yml, so nothing reads this file"
    return make(policy, "rollout-value", path, message, "rename it, or move it elsewhere")


def judge_overlaps(
    rollouts: Sequence[Rollout], policy: Policy, *, only: Iterable[str] | None = None
) -> list[Finding]:
    """Pairs that assign one agent; with ``only`` (names), those that one of these is part of."""
    wanted = None if only is None else set(only)
    found: list[Finding] = []
    for one, other, agents in overlap(rollouts):
        if wanted is not None and not wanted & {one.name, other.name}:
            continue
        if one.control != other.control:
            continue  # one of them came along with a merge and holds on its own branch alone
        at, beside = (other, one) if wanted is None or other.name in wanted else (one, other)
        message = f"{beside.name} is {beside.state.phase} and covers {agents} too"
        found += make(policy, "rollout-overlap", rollout_path(at.name), message, _OVERLAP)
    return found


def judge_rollouts(touched: Sequence[FileChange], sides: Sides, policy: Policy) -> JudgedRollouts:
    """The rollout files that a change touches, alone and beside those that are there after it."""
    old, new = sides.before(touched), sides.after(touched)
    words: dict[str, tuple[str, ...]] = {}
    findings: list[Finding] = []
    for change in touched:
        before, after = (side.get(change.path) for side in (old, new))
        if change.new_mode and (after is None or after.data is None):
            continue  # no plain file, or a huge one: a finding of its own
        sides_data = (before.data if before else None, after.data if after else None)
        edited = judge_rollout_edit(change.path, *sides_data, policy)
        findings += edited.findings
        if not any(plain_holds_secret(change.path, data, policy) for data in sides_data):
            words[change.path] = edited.words
    there = sides.unchanged(set(sides.paths_in(ROLLOUTS_FOLDER)) - words.keys()) | new
    rollouts = readable({path: blob.data for path, blob in there.items()})
    names = [name for path in new if (name := rollout_name(path))]
    findings += judge_overlaps(rollouts, policy, only=names)
    return JudgedRollouts(words, findings)


def readable(files: dict[str, bytes | None]) -> list[Rollout]:
    """The rollouts among files by path, in order; one that cannot be read assigns nobody."""
    found = []
    for path in sorted(files):
        data = files[path]
        if rollout_name(path) is not None and data is not None:
            rollout = parse_rollout(data, path)[0]
            if rollout is not None:
                found.append(rollout)
    return found


def judge_all(
    paths: Iterable[str], read: Callable[[str], bytes | None], policy: Policy
) -> list[Finding]:
    """Overlaps among the rollouts that lie at ``paths``, read with ``read``."""
    return judge_overlaps(readable({path: read(path) for path in paths}), policy)
