"""Merging knowledge branches: one wide merge, a long line of commits, and a large repository.

The job merges in this process, by what the files mean; beside it is plain Git with memrepo's
own merge driver registered, one process a file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from memrepo.gitrepo.repository import Repository
from memrepo.knowledge.branches import ground, look
from memrepo.knowledge.outcome import BranchOutcome
from memrepo.protocol.canonical import dump
from memrepo.protocol.documents import Tool
from memrepo.protocol.layout import state_path

from . import measure
from .corpus import STEP, Corpus, Import, check_out, copy, fill

BRANCH = "knowledge/wiki"
_ATTRIBUTES = "*.json merge=memrepo\n"


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows for the three cases."""
    return [*wide(bench), *long(bench), *large(bench)]


def wide(bench: measure.Bench) -> list[measure.Row]:
    """Main and the branch each changed another tool of every agent, in one commit."""
    agents, few = bench.size(1_000, 20), bench.size(100, 10)
    ours, driver = Case(bench, "wide", agents), Case(bench, "wide-driver", few)
    for case in (ours, driver):
        everyone = range(len(case.corpus.ids))
        case.begin()
        case.commits("main", [everyone], tool=1)
        case.commits(BRANCH, [everyone], tool=0)
    clone = driver.with_driver()
    ways: dict[str, measure.Way] = {
        "merge": measure.always(ours.merge),
        "driver": lambda number: partial(merge_by_git, clone, number),
    }
    taken = measure.take_turns(ways, bench.times(3), warm=0)
    a_file = [seconds / few * agents for seconds in taken["driver"]]
    words = f"{agents:,} tools.json, both sides"
    name = f"git merge, driver ({few} files, as if {agents:,})"
    return [
        measure.amount("knowledge", words, "in one pass", min(taken["merge"]), "s", at_most=0.6),
        measure.faster("knowledge", words, ("in one pass", taken["merge"]), (name, a_file)),
    ]


def long(bench: measure.Bench) -> list[measure.Row]:
    """A hundred commits that all change one file, which main changed too."""
    commits = bench.size(100, 5)
    made = Case(bench, "long", 10)
    made.begin()
    made.commits("main", [[0]], tool=1)
    made.commits(BRANCH, [[0]] * commits, tool=0)
    clone = made.with_driver()
    ways: dict[str, measure.Way] = {
        "replay": measure.always(made.merge),
        "rebase": lambda number: partial(rebase_by_git, clone, number),
    }
    taken = measure.take_turns(ways, bench.times(3), warm=0)
    tree = measure.git(clone, "rev-parse", "rebased^{tree}")
    if tree != measure.git(made.repo, "rev-parse", f"{made.merge().head}^{{tree}}"):
        raise SystemExit("the rebase and the replay made different trees")
    return [
        measure.faster(
            "knowledge",
            f"{commits} commits on one tools.json",
            ("replay", taken["replay"]),
            ("git rebase, driver", taken["rebase"]),
            at_least=20,
        )
    ]


def large(bench: measure.Bench) -> list[measure.Row]:
    """The whole command: many commits that change a thousand agents of a large repository."""
    agents, commits, touched = bench.size(10_000, 50), bench.size(200, 4), bench.size(1_000, 20)
    made = Case(bench, "large", agents, snapshots=bench.size(10_000, 50))
    made.begin()
    made.commits("main", [range(touched)], tool=1)
    each = touched // commits
    groups = [range(n * each, (n + 1) * each) for n in range(commits)]
    made.commits(BRANCH, groups, tool=0)
    runs = []
    for number in range(bench.times(3)):
        remote = copy(made.repo, bench.folder / f"large-{number}.git")
        clone = check_out(remote, bench.folder / f"large-{number}")
        runs.append(measure.watch(measure.memrepo(), "knowledge", "merge", cwd=clone))
        there = measure.git(remote, "rev-list", "--count", "main", f"^{made.tip('main')}")
        if int(there) != commits:
            raise SystemExit(f"{int(there)} commits went in, not {commits}")
        measure.call("rm", "-rf", str(remote), str(clone))
    case = f"{commits} commits, {touched:,} of {agents:,} agents, 10,000 snapshots"
    seconds, peak = min(s for s, _ in runs), max(m for _, m in runs)
    what = "knowledge merge"
    return [
        measure.amount("knowledge", case, what, seconds, "s", at_most=10),
        measure.amount("knowledge", f"{case}: peak", what, peak, "MB", at_most=400),
    ]


class Case:
    """A bare repository with main and one knowledge branch."""

    def __init__(self, bench: measure.Bench, name: str, agents: int, *, snapshots: int = 0) -> None:
        self.folder, self.name = bench.folder, name
        self.repo = bench.folder / f"{name}.git"
        self.corpus = Corpus(agents)
        self.when = fill(self.repo, self.corpus, snapshots=snapshots)

    def begin(self) -> None:
        """Main gets the attributes, and the branch begins there."""
        with Import(self.repo) as stream:
            files = {".gitattributes": _ATTRIBUTES.encode()}
            stream.commit("main", self.when, "attributes", files, start="main")
        measure.git(self.repo, "branch", BRANCH, "main")

    def commits(self, branch: str, groups: Sequence[Sequence[int]], *, tool: int) -> None:
        """One commit a group of agents, which gives one of their tools another text."""
        tools = {n: list(self.corpus.states[n].tools) for group in groups for n in group}
        with Import(self.repo) as stream:
            for number, group in enumerate(groups):
                self.when += STEP
                start = "" if number else branch
                files = {}
                for n in group:
                    tools[n][tool] = self._reworded(tools[n][tool])
                    files[state_path(self.corpus.ids[n], "tools.json")] = dump(tools[n])
                stream.commit(branch, self.when, f"tools {self.when}", files, start=start)

    def _reworded(self, tool: Tool) -> Tool:
        return msgspec.structs.replace(tool, description=self.corpus.sentence())

    def tip(self, branch: str) -> str:
        """The commit of a branch."""
        return measure.git(self.repo, "rev-parse", branch).decode().strip()

    def merge(self) -> BranchOutcome:
        """The branch replayed on main, as the job does it, the gate apart."""
        with Repository.open(self.repo) as repo:
            done = look(
                ground(repo, "main", self.tip("main")), BRANCH, self.tip(BRANCH), judge=False
            )
        if done.result != "merged":
            raise SystemExit(f"{self.name}: {done.result} {done.message}")
        return done

    def with_driver(self) -> Path:
        """A clone in which Git calls memrepo's driver."""
        clone = check_out(self.repo, self.folder / f"{self.name}-driver")
        program = f"{sys.executable} -m memrepo merge-driver %O %A %B %P"
        measure.git(clone, "config", "merge.memrepo.driver", program)
        measure.git(clone, "config", "rerere.enabled", "false")
        measure.git(clone, "fetch", "--quiet", "origin", f"{BRANCH}:{BRANCH}")
        return clone


def merge_by_git(clone: Path, number: int) -> None:
    """``git merge`` of the branch into main."""
    measure.git(clone, "switch", "--quiet", "--force-create", f"merged-{number}", "origin/main")
    measure.git(clone, "merge", "--quiet", "--no-edit", BRANCH)


def rebase_by_git(clone: Path, number: int) -> None:
    """``git rebase`` of the branch onto main."""
    _ = number
    measure.git(clone, "switch", "--quiet", "--force-create", "rebased", BRANCH)
    measure.git(clone, "rebase", "--quiet", "origin/main")


if __name__ == "__main__":
    measure.main(question)
