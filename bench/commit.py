"""What does one commit cost, and does it grow with the repository?

Beside it: ``git add`` and ``git commit`` of the same four files, written before the clock
starts. memrepo's time holds the validation and the writing of the snapshot. Where there is no
worktree the CLI has no way to add a file, so that case too stands beside the CLI's worktree.
"""

from __future__ import annotations

from contextlib import ExitStack

from memrepo import MemoryRepo

from . import measure
from .stage import Stage


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows for two sizes and both layouts, with a worktree and without."""
    sizes = (bench.size(10_000, 20), bench.size(100_000, 40))
    return [row for layout in ("flat", "daily") for row in _of_layout(bench, layout, *sizes)]


def _of_layout(bench: measure.Bench, layout: str, small: int, large: int) -> list[measure.Row]:
    stages = {size: Stage(bench, layout, size) for size in (small, large)}
    ways: dict[str, measure.Way] = {}
    with ExitStack() as opened:
        for size, stage in stages.items():
            bare = opened.enter_context(MemoryRepo(stage.bare))
            ours = opened.enter_context(MemoryRepo(stage.ours))
            ways[f"bare {size}"] = stage.on_bare(bare)
            ways[f"worktree {size}"] = stage.with_worktree(ours)
            ways[f"git {size}"] = stage.by_git
        taken = measure.take_turns(ways, bench.times(15), warm=2)
    rows = []
    for size, stage in stages.items():
        stage.agree(stage.bare, stage.ours, stage.cli)
        case = f"{size:,} snapshots, {layout}"
        git = ("git add, git commit", taken[f"git {size}"])
        for kind, goal in (("worktree", 0.7), ("bare", 0.15)):
            way = (f"commit, {kind}", taken[f"{kind} {size}"])
            rows.append(measure.share("commit", case, way, git, at_most=goal))
    growth = [
        measure.share(
            "commit",
            f"growth with the snapshots, {layout}, {kind}",
            (f"{large:,}", taken[f"{kind} {large}"]),
            (f"{small:,}", taken[f"{kind} {small}"]),
            at_most=1.25 if (layout, kind) == ("daily", "bare") else None,
        )
        for kind in ("bare", "worktree")
    ]
    return rows + growth


if __name__ == "__main__":
    measure.main(question)
