"""Judge what a change does to the archive: snapshots that left, and the record of where to. Pure.

A snapshot may only leave the tree when the archive's record, in the same change or in its
base, lists it by path and content. That record is only ever added to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from memrepo.errors import BadInput
from memrepo.gate.files import is_record, make
from memrepo.gate.sides import PLAIN, Sides
from memrepo.gitrepo.changes import FileChange
from memrepo.protocol.findings import Finding
from memrepo.protocol.layout import place_of
from memrepo.protocol.policy import Policy
from memrepo.report.phrases import count
from memrepo.shards.index import members_path, parse_index, parse_members
from memrepo.shards.values import ARCHIVE_FOLDER, INDEX_PATH, Archived, IndexLine


class Left(msgspec.Struct, frozen=True):
    """The deleted snapshots that the archive holds, by path, and the findings about it."""

    archived: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()


def judge_archive(
    changes: Sequence[FileChange], deleted: Sequence[str], sides: Sides, policy: Policy
) -> Left:
    """What ``changes`` do to the archive; ``deleted`` are the snapshots that are gone.

    Members files are read for lines that are new, and for older ones that may explain what
    is gone.
    """
    touched = {change.path: change for change in changes if is_record(change.path)}
    if not touched and not deleted:
        return Left()
    return _Judge(touched, sides, policy).judge(changes, deleted)


class _Judge:
    """One look at the record of a change."""

    def __init__(self, touched: dict[str, FileChange], sides: Sides, policy: Policy) -> None:
        self.touched, self.sides, self.policy = touched, sides, policy
        self.findings: list[Finding] = []

    def judge(self, changes: Sequence[FileChange], deleted: Sequence[str]) -> Left:
        old, new = self._index()
        try:
            lines = parse_index(new, INDEX_PATH) if new else []
        except BadInput as error:
            self._say(INDEX_PATH, error.message)
            return Left(frozenset(), tuple(self.findings))
        rows = old.splitlines()
        self._only_added_to(rows, new.splitlines())
        known = set(rows)
        fresh = {
            line for line, row in zip(lines, new.splitlines(), strict=True) if row not in known
        }
        self._lists_are_kept({members_path(line.tag, line.shard) for line in lines})
        wanted = set(deleted)
        gone = {change.path: change.old_oid for change in changes if change.path in wanted}
        archived: set[str] = set()
        for line in [*fresh, *(line for line in reversed(lines) if line not in fresh)]:
            if line not in fresh and not _may_hold(line, gone.keys() - archived):
                continue
            held = {
                one.path
                for one in self._members(line)
                if gone.get(one.path) == one.blob and one.path not in archived
            }
            archived |= held
            self.findings += self._left(line, len(held)) if held else []
        return Left(frozenset(archived), tuple(self.findings))

    def _index(self) -> tuple[bytes, bytes]:
        """The index before and after; b"" where there is none."""
        change = self.touched.get(INDEX_PATH)
        if change is None:
            same = self.sides.unchanged([INDEX_PATH]).get(INDEX_PATH)
            data = same.data or b"" if same else b""
            return data, data
        old = self.sides.before([change]).get(INDEX_PATH)
        new = self.sides.after([change]).get(INDEX_PATH)
        return (old.data or b"" if old else b"", new.data or b"" if new else b"")

    def _only_added_to(self, old: list[bytes], new: list[bytes]) -> None:
        rest = iter(new)
        lost = [row for row in old if row not in rest]
        if lost:
            message = (
                f"{count(len(lost), 'line')} of the archive's index "
                f"{'is' if len(lost) == 1 else 'are'} gone, rewritten or moved; it is only ever"
                " added to"
            )
            self._say(INDEX_PATH, message)

    def _lists_are_kept(self, named: set[str]) -> None:
        for path, change in self.touched.items():
            if change.new_mode and change.new_mode not in PLAIN:
                self._say(path, "the archive's record is no plain file")
            elif path == INDEX_PATH:
                continue
            elif change.old_mode:
                verb = "changed" if change.new_mode else "deleted"
                self._say(path, f"a list of archived snapshots was {verb}; it is written once")
            elif path not in named:
                self._say(path, "no line of the archive's index names this list of snapshots")

    def _members(self, line: IndexLine) -> Sequence[Archived]:
        path = members_path(line.tag, line.shard)
        change = self.touched.get(path)
        blob = (self.sides.after([change]) if change else self.sides.unchanged([path])).get(path)
        if blob is None or blob.data is None:
            self._say(path, f"the list of what {line.asset} holds is missing")
            return ()
        try:
            return parse_members(blob.data, line)
        except BadInput as error:
            self._say(path, error.message)
            return ()

    def _left(self, line: IndexLine, number: int) -> Iterator[Finding]:
        verb = "leaves" if number == 1 else "leave"
        message = f"{count(number, 'snapshot')} {verb} the tree; the release {line.tag} holds them"
        hint = f"memrepo archive verify {line.tag} --deep proves it"
        path = members_path(line.tag, line.shard)
        yield from make(self.policy, "snapshot-archived", path, message, hint)

    def _say(self, path: str, message: str) -> None:
        hint = f"take it back: git checkout <base> -- {ARCHIVE_FOLDER}"
        self.findings += make(self.policy, "archive-index", path, message, hint)


def judge_record(read: Callable[[str], bytes | None], policy: Policy) -> list[Finding]:
    """Whether the record of one state of a repository, which has one, fits together.

    ``read`` gives the bytes of a path, or None where no plain file is.
    """
    hint = "take back its last good version: git log -- " + ARCHIVE_FOLDER
    try:
        data = read(INDEX_PATH)
        if data is None:
            raise BadInput(f"{INDEX_PATH} is no plain file")
        lines = parse_index(data, INDEX_PATH)
    except BadInput as error:
        return make(policy, "archive-index", INDEX_PATH, error.message, hint)
    found: list[Finding] = []
    for line in lines:
        path = members_path(line.tag, line.shard)
        data = read(path)
        try:
            if data is None:
                raise BadInput(f"the list of what {line.asset} holds is missing")
            parse_members(data, line)
        except BadInput as error:
            found += make(policy, "archive-index", path, error.message, hint)
    return found


def _may_hold(line: IndexLine, paths: Iterable[str]) -> bool:
    """Whether a shard can hold one of these snapshots, by agent and time."""
    for path in paths:
        snapshot = place_of(path).snapshot
        if snapshot is None or snapshot.agent_id not in line.agents:
            continue
        if line.first <= snapshot.when <= line.last:
            return True
    return False
