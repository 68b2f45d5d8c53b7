"""What merging knowledge came to, as values; their JSON form is public."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from memrepo.protocol.findings import Finding
from memrepo.semdiff.asjson import diff_as_json
from memrepo.semdiff.change import Diff
from memrepo.semmerge.values import ABSENT, Conflict, Note

#: merged: its commits are in. nothing: there were none. The others were left out whole.
Result = Literal["merged", "nothing", "conflict", "refused", "invalid", "unrelated"]
LEFT_OUT: tuple[Result, ...] = ("conflict", "refused", "invalid", "unrelated")
Mode = Literal["push", "pr", "dry-run"]


class Touched(msgspec.Struct, frozen=True):
    """The commit that last changed a file on one side; "" where none is known."""

    commit: str = ""
    author: str = ""
    time: str = ""
    subject: str = ""


class Disagreement(msgspec.Struct, frozen=True):
    """A conflict, and who last changed the file on either side."""

    conflict: Conflict
    ours: Touched = Touched()
    theirs: Touched = Touched()

    def as_json(self) -> dict[str, Any]:
        """The public shape; a side without a value has no key for it."""
        conflict = self.conflict
        values = {
            side: plain_value(value)
            for side in ("base", "ours", "theirs")
            if (value := getattr(conflict, side)) is not ABSENT
        }
        return {
            "path": conflict.path,
            "pointer": conflict.pointer,
            "kind": conflict.kind,
            "message": conflict.message,
            **values,
            "commits": {
                "ours": msgspec.structs.asdict(self.ours),
                "theirs": msgspec.structs.asdict(self.theirs),
            },
        }


class Landed(msgspec.Struct, frozen=True):
    """A replayed commit: its own id, and the one on the knowledge branch that it is made from."""

    commit: str
    source: str
    subject: str
    author: str


class BranchOutcome(msgspec.Struct, frozen=True):
    """What became of one branch.

    ``tip`` is the branch's commit; ``head`` the target's after it. ``empty`` counts commits
    that changed nothing any more. ``message`` says why it was left out. ``diff`` is what it
    changes, or would change; ``ahead`` and ``behind`` count commits.
    """

    branch: str
    result: Result
    tip: str
    head: str
    commits: tuple[Landed, ...] = ()
    empty: int = 0
    conflicts: tuple[Disagreement, ...] = ()
    notes: tuple[Note, ...] = ()
    findings: tuple[Finding, ...] = ()
    diff: Diff = Diff()
    message: str = ""
    ahead: int = 0
    behind: int = 0

    @property
    def left_out(self) -> bool:
        """Whether a person has to look at it."""
        return self.result in LEFT_OUT

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of one branch."""
        return {
            "branch": self.branch,
            "result": self.result,
            "message": self.message,
            "tip": self.tip,
            "ahead": self.ahead,
            "behind": self.behind,
            "commits": [msgspec.structs.asdict(landed) for landed in self.commits],
            "empty": self.empty,
            "conflicts": [one.as_json() for one in self.conflicts],
            "notes": [msgspec.structs.asdict(note) for note in self.notes],
            "findings": [finding.as_json() for finding in self.findings],
            "diff": diff_as_json(self.diff),
        }


class MergeReport(msgspec.Struct, frozen=True):
    """One run: from ``before`` to ``after`` of the branch ``into``.

    In mode "pr" these are of the pull request's branch, ``number`` and ``url`` its own (0 and
    "" where there is none). ``moved`` says whether anything was published.
    """

    into: str
    mode: Mode
    before: str
    after: str
    branches: tuple[BranchOutcome, ...]
    moved: bool = False
    tries: int = 0
    branch: str = ""
    number: int = 0
    url: str = ""
    rewritten: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """3 when a branch was left out, else 0."""
        return 3 if any(branch.left_out for branch in self.branches) else 0

    @property
    def merged(self) -> tuple[str, ...]:
        """The branches whose commits went in."""
        return tuple(one.branch for one in self.branches if one.result == "merged")

    @property
    def conflicts(self) -> int:
        """How many branches were left out."""
        return sum(one.left_out for one in self.branches)

    @property
    def commits(self) -> int:
        """How many commits went in."""
        return sum(len(one.commits) for one in self.branches)

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of ``knowledge merge --json``."""
        return {
            "into": self.into,
            "mode": self.mode,
            "before": self.before,
            "after": self.after,
            "moved": self.moved,
            "merged": list(self.merged),
            "branch": self.branch,
            "pull_request": self.number,
            "url": self.url,
            "rewritten": list(self.rewritten),
            "branches": [one.as_json() for one in self.branches],
            "notes": list(self.notes),
        }


def plain_value(value: Any) -> Any:
    """A conflict's value as plain JSON."""
    return msgspec.json.decode(msgspec.json.encode(value))
