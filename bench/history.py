"""How long does it take to list one agent's cycles among ten thousand commits?

Beside it: the two questions a person asks plain Git, by path and by trailer.
"""

from __future__ import annotations

from collections.abc import Callable

from memrepo import MemoryRepo

from . import corpus, measure


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows for both layouts: kept open, opened anew, and as a whole process."""
    return [row for layout in ("flat", "daily") for row in _of_layout(bench, layout)]


def _of_layout(bench: measure.Bench, layout: str) -> list[measure.Row]:
    commits, agents = bench.size(10_000, 60), bench.size(1_000, 6)
    made = corpus.Corpus(agents)
    repo = bench.folder / f"history-{layout}.git"
    corpus.fill(repo, made, snapshots=commits, commits=commits, layout=layout)
    measure.git(repo, "repack", "-a", "-d", "--quiet")
    # Every round asks for another agent: none is answered from what the last one read.
    asked = [made.ids[made.any_agent()] for _ in range(64)]

    def opened_anew(agent: str) -> Callable[[], object]:
        def run() -> None:
            with MemoryRepo(repo) as memory:
                memory.history(agent)

        return run

    def by_path(agent: str) -> list[str]:
        return ["log", "--format=%H", "main", "--", f"state/{agent}"]

    def by_trailer(agent: str) -> list[str]:
        return ["log", "--format=%H", f"--grep=^Agent-Id: {agent}$", "main"]

    for agent in asked[:3]:
        first = measure.git(repo, "rev-list", "--max-parents=0", "main").decode().split()
        known = measure.git(repo, *by_path(agent)).decode().split()
        with MemoryRepo(repo) as memory:
            cycles = [cycle.commit for cycle in memory.history(agent)]
        if cycles != [commit for commit in known if commit not in first]:
            raise SystemExit(f"memrepo and git do not agree on {agent}")

    command = [measure.memrepo(), "history", "--agent-id"]
    with MemoryRepo(repo) as memory:
        taken = measure.take_turns(
            {
                "kept": lambda n: lambda: memory.history(asked[n]),
                "anew": lambda n: opened_anew(asked[n]),
                "process": lambda n: lambda: measure.call(*command, asked[n], cwd=repo),
                "path": lambda n: lambda: measure.git(repo, *by_path(asked[n])),
                "grep": lambda n: lambda: measure.git(repo, *by_trailer(asked[n])),
            },
            bench.times(9),
        )
    case = f"{commits:,} commits, {agents:,} agents, {layout}"
    kept, anew = ("history, repo open", taken["kept"]), ("history, opened anew", taken["anew"])
    process = ("memrepo history", taken["process"])
    path, grep = ("git log -- state/x", taken["path"]), ("git log --grep", taken["grep"])
    return [
        measure.share("history", case, kept, path, at_most=0.15),
        measure.share("history", case, anew, path),
        measure.share("history", case, process, path),
        measure.share("history", case, kept, grep),
    ]


if __name__ == "__main__":
    measure.main(question)
