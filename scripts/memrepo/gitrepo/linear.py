"""A branch as a line of changes that can be made again elsewhere, merges included.

The rule for merges: a branch is taken along its first parents. A merge of another branch
counts as that branch's own commits followed by what the merge says beyond the join of its
parents. A merge that took over what is there already (the main branch) counts only for what
it says beyond that join. Where the parents do not join by themselves a person decided in
the merge, and it stands whole: for what the other branch brought, or, where that was the
main branch, for everything before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from .process import run_git
from .replay import ParsedCommit, parse_commit
from .threeway import changes_between

if TYPE_CHECKING:
    from .repository import Repository

#: Joins two trees (ids: base, one, other) by meaning; None where they disagree.
Join = Callable[[str, str, str], str | None]


class Step(msgspec.Struct, frozen=True):
    """One change to make again: the trees before and after it, and the commit it is of.

    ``stands_for`` are further commits that it takes the place of, oldest first.
    """

    commit: str
    before: str
    after: str
    parsed: ParsedCommit
    stands_for: tuple[str, ...] = ()


def steps_of(repo: Repository, tip: str, onto: str, join: Join) -> list[Step]:
    """What ``tip`` has beyond ``onto`` (commit ids), oldest first."""
    return _Line(repo, tip, onto, join).steps()


def count_beyond(repo: Repository, tip: str, known: str) -> int:
    """How many commits ``tip`` reaches and ``known`` does not."""
    return int(run_git(["rev-list", "--count", tip, f"^{known}", "--"], cwd=repo.path).out)


def messages_with(repo: Repository, tip: str, text: str) -> Iterator[tuple[str, str, str]]:
    """Id, committer's date (ISO 8601) and message of commits that say ``text``, newest first."""
    options = ["-z", "--encoding=UTF-8", "--format=%H%n%cI%n%B", "--fixed-strings"]
    args = ["-c", "log.showSignature=false", "log", *options, f"--grep={text}", tip, "--"]
    for found in run_git(args, cwd=repo.path).out.decode("utf-8", "replace").split("\0"):
        if found.strip():
            commit, when, message = found.split("\n", 2)
            yield commit, when, message


def same_commits(repo: Repository, steps: Sequence[Step], tip: str, onto: str) -> set[str]:
    """Those of ``steps`` that ``onto`` has, made again by hand: the same author, date, message
    and changed paths in a commit that ``tip`` does not reach."""
    wanted = {(step.parsed.author, step.parsed.message): step for step in steps}
    listed = run_git(["rev-list", onto, f"^{tip}", "--"], cwd=repo.path).out.decode("ascii").split()
    found = set()
    for body in repo.reader.read_many(listed):
        parsed = parse_commit(body.data) if body is not None and body.data else None
        step = wanted.get((parsed.author, parsed.message)) if parsed else None
        if parsed and step and len(parsed.parents) == 1 and step.commit not in found:
            parent = repo.root_of(parsed.parents[0]).hex()
            pairs = [(parent, parsed.root.hex()), (step.before, step.after)]
            here, there = ({c.path for c in some} for some in changes_between(repo, pairs))
            if here == there:
                found.add(step.commit)
    return found


class _Line:
    def __init__(self, repo: Repository, tip: str, onto: str, join: Join) -> None:
        self.repo, self.tip, self.onto, self.join = repo, tip, onto, join
        self.above = self.listed(tip)
        self.parsed = self.read()

    def listed(self, tip: str, *without: str) -> dict[str, list[str]]:
        """The commits of ``tip`` beyond ``onto`` and ``without``, oldest first, with parents."""
        refused = [f"^{commit}" for commit in (self.onto, *without)]
        args = ["rev-list", "--reverse", "--topo-order", "--parents", tip, *refused, "--"]
        lines = run_git(args, cwd=self.repo.path).out.decode("ascii").splitlines()
        return {commit: above for commit, *above in map(str.split, lines)}

    def read(self) -> dict[str, ParsedCommit]:
        found = self.repo.reader.read_many(self.above)
        return {
            commit: parse_commit(body.data)
            for commit, body in zip(self.above, found, strict=True)
            if body is not None and body.data is not None
        }

    def tree(self, commit: str) -> str:
        known = self.parsed.get(commit)
        return (known.root if known else self.repo.root_of(commit)).hex()

    def steps(self) -> list[Step]:
        line: list[str] = []
        at = self.tip
        while at in self.above:
            line.append(at)
            if not self.above[at]:
                break
            at = self.above[at][0]
        steps: list[Step] = []
        for commit in reversed(line):
            parents = self.above[commit]
            if len(parents) == 2:
                steps = self.merge(commit, parents[0], parents[1], steps)
            else:
                steps.append(self.plain(commit))
        return steps

    def plain(self, commit: str) -> Step:
        parents = self.above[commit]
        before = self.tree(parents[0]) if parents else self.repo.empty_tree
        return Step(commit, before, self.tree(commit), self.parsed[commit])

    def merge(self, commit: str, first: str, other: str, before: list[Step]) -> list[Step]:
        start = self.repo.merge_base(first, other)
        base = self.tree(start) if start else self.repo.empty_tree
        joined = self.join(base, self.tree(first), self.tree(other))
        if other not in self.above:
            if joined is None:
                stands = tuple(step.commit for step in before)
                after = self.tree(commit)
                return [Step(commit, self.tree(other), after, self.parsed[commit], stands)]
            return [*before, *self.beyond(commit, joined)]
        side = self.listed(other, first)
        if joined is None or any(len(parents) != 1 for parents in side.values()):
            return [*before, self.plain(commit)]
        return [*before, *map(self.plain, side), *self.beyond(commit, joined)]

    def beyond(self, commit: str, joined: str) -> list[Step]:
        """What a merge says beyond the join of its parents; nothing, as a rule."""
        after = self.tree(commit)
        return [] if joined == after else [Step(commit, joined, after, self.parsed[commit])]
