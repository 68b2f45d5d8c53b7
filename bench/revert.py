"""What does it cost to bring one agent back to what it was?

Beside it: ``git checkout REV -- state/x`` and ``git commit``, which writes no snapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from memrepo import MemoryRepo

from . import measure
from .stage import Stage


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows for a worktree and for a bare repository."""
    snapshots = bench.size(10_000, 20)
    stage = Stage(bench, "flat", snapshots)
    first = measure.git(stage.cli, "rev-parse", "HEAD").decode().strip()
    with MemoryRepo(stage.bare) as bare, MemoryRepo(stage.ours) as ours:

        def by_memrepo(memory: MemoryRepo, go_on: measure.Way) -> measure.Way:
            def prepare(number: int) -> Callable[[], object]:
                go_on(number)()
                state, at = stage.state(number)
                later = at + timedelta(seconds=1)
                return lambda: memory.revert(state.metadata.agent_id, first, at=later)

            return prepare

        def by_git(number: int) -> Callable[[], object]:
            stage.by_git(number)()
            folder = f"state/{stage.state(number)[0].metadata.agent_id}"

            def run() -> None:
                measure.git(stage.cli, "checkout", "--quiet", first, "--", folder)
                measure.git(stage.cli, "commit", "--quiet", "--message", "revert")

            return run

        taken = measure.take_turns(
            {
                "bare": by_memrepo(bare, stage.on_bare(bare)),
                "worktree": by_memrepo(ours, stage.with_worktree(ours)),
                "git": by_git,
            },
            bench.times(11),
        )
    stage.agree(stage.bare, stage.ours)
    _all_back(stage.ours, first)
    case = f"{snapshots:,} snapshots, flat"
    git = ("git checkout, git commit", taken["git"])
    return [
        measure.share("revert", case, (f"revert, {kind}", taken[kind]), git)
        for kind in ("worktree", "bare")
    ]


def _all_back(repo: Path, first: str) -> None:
    if measure.git(repo, "diff", "--name-only", first, "HEAD", "--", "state"):
        raise SystemExit("an agent is not as it was")


if __name__ == "__main__":
    measure.main(question)
