"""What does a cycle cost, in time and in bytes, when a thousand are committed in one go?

Beside it: ``git add`` and ``git commit`` for each cycle, of which a part is run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memrepo import MemoryRepo

from . import measure
from .stage import Stage, write


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows for both layouts: a bare repository, and one with a worktree."""
    return [row for layout in ("flat", "daily") for row in _of_layout(bench, layout)]


def _of_layout(bench: measure.Bench, layout: str) -> list[measure.Row]:
    snapshots, cycles = bench.size(10_000, 20), bench.size(1_000, 10)
    part = bench.size(20, 2)
    stage = Stage(bench, layout, snapshots)

    def in_bulk(repo: Path) -> measure.Way:
        def prepare(number: int) -> Callable[[], object]:
            todo = [stage.state(number * cycles + k) for k in range(cycles)]

            def run() -> None:
                with MemoryRepo(repo) as memory, memory.bulk() as batch:
                    for state, at in todo:
                        batch.commit(state.metadata.agent_id, "answered", state=state, at=at)

            return run

        return prepare

    def by_git(number: int) -> Callable[[], object]:
        todo = [stage.files(number * cycles + k) for k in range(part)]

        def run() -> None:
            for files, message in todo:
                write(stage.cli, files)
                stage.add_and_commit(files, message)

        return run

    def objects() -> tuple[int, int]:
        folders = (stage.bare / "objects", stage.cli / ".git/objects")
        bare, cli = (measure.bytes_under(folder) for folder in folders)
        return bare, cli

    before = objects()
    rounds, warm = bench.times(5), 1
    ways = {"bare": in_bulk(stage.bare), "worktree": in_bulk(stage.ours), "git": by_git}
    taken = measure.take_turns(ways, rounds, warm=warm)
    after = objects()
    stage.agree(stage.bare, stage.ours)
    measure.git(stage.bare, "fsck", "--connectivity-only", "--no-dangling")
    made = int(measure.git(stage.bare, "rev-list", "--count", "HEAD")) - 1
    if made != (rounds + warm) * cycles:
        raise SystemExit(f"{made} commits instead of {(rounds + warm) * cycles}")

    case = f"{cycles:,} cycles onto {snapshots:,} snapshots, {layout}"
    git = ("git add, git commit, a cycle", [seconds / part for seconds in taken["git"]])
    bare = ("bulk, bare, a cycle", [seconds / cycles for seconds in taken["bare"]])
    worktree = ("bulk, worktree, a cycle", [seconds / cycles for seconds in taken["worktree"]])
    ours_kb = (after[0] - before[0]) / made / 1e3
    git_kb = (after[1] - before[1]) / ((rounds + warm) * part) / 1e3
    return [
        measure.faster("bulk", case, bare, git, at_least=20),
        measure.faster("bulk", case, worktree, git),
        measure.amount(
            "bulk",
            case,
            "growth of the repository a commit",
            ours_kb,
            "kB",
            at_most=10,
            other=f"git commit: {git_kb:.3g} kB",
        ),
    ]


if __name__ == "__main__":
    measure.main(question)
