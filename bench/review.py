"""How long does it take, and how much memory, to review a change of a thousand agents?

Beside it: ``git diff`` of the same change, which is the text a person would have to read.
"""

from __future__ import annotations

from pathlib import Path

from memrepo.protocol.documents import AgentState

from . import corpus, measure

_REPORTS = ("--json", "review.json", "--html", "review.html", "--markdown", "review.md")


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows for both layouts."""
    # A commit writes a flat folder's tree anew, so there the change comes in fewer of them.
    return [*_of_layout(bench, "flat", 50), *_of_layout(bench, "daily", 1)]


def _change(repo: Path, made: corpus.Corpus, begin: int, touched: int, at_once: int) -> None:
    layout = "daily" if "daily" in repo.name else "flat"
    with corpus.Import(repo) as stream:
        for first in range(0, touched, at_once):
            files: dict[str, bytes] = {}
            for agent in range(first, min(first + at_once, touched)):
                # Every tenth agent of the repository, not a block of neighbours.
                number = agent * len(made.ids) // touched
                state = made.rewrite(number, begin + agent)
                files |= named_with_snapshot(state, begin + agent, layout)
            when = begin + first
            stream.commit("change", when, "rewrite", files, start="" if first else "main")


def named_with_snapshot(state: AgentState, when: int, layout: str) -> dict[str, bytes]:
    """The four files of a cycle."""
    path, data = corpus.snapshot(state, when, layout)
    return {**corpus.named(state), path: data}


def _of_layout(bench: measure.Bench, layout: str, at_once: int) -> list[measure.Row]:
    agents, snapshots = bench.size(10_000, 40), bench.size(100_000, 100)
    touched = bench.size(1_000, 10)
    made = corpus.Corpus(agents)
    repo = bench.folder / f"review-{layout}.git"
    # The last state of every agent is what the branch goes on from.
    end = corpus.fill(repo, made, snapshots=snapshots, commits=0, layout=layout)
    with corpus.Import(repo) as stream:
        everyone = ((p, d) for state in made.states for p, d in corpus.named(state).items())
        stream.commit("main", end, "catch up", everyone, start="main")
    _change(repo, made, end + corpus.STEP, touched, min(at_once, touched))

    command = [measure.memrepo(), "review", "--base", "main", "--head", "change", *_REPORTS]
    peaks: list[float] = []

    def review() -> None:
        peaks.append(measure.watch(*command, cwd=repo)[1])

    taken = measure.take_turns(
        {
            "review": measure.always(review),
            "diff": measure.always(lambda: measure.git(repo, "diff", "main...change")),
        },
        bench.times(5),
    )
    case = f"{touched:,} of {agents:,} agents changed, {snapshots:,} snapshots, {layout}"
    ours = sorted(taken["review"])[len(taken["review"]) // 2]
    what = "review to JSON, HTML and Markdown"
    return [
        measure.amount("review", case, what, ours, "s", at_most=3),
        measure.amount("review", f"{case}: peak", what, max(peaks), "MB", at_most=300),
        measure.share(
            "review", case, (what, taken["review"]), ("git diff base...head", taken["diff"])
        ),
    ]


if __name__ == "__main__":
    measure.main(question)
