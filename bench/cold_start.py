"""How long does a command take that starts from nothing?

Beside it: Git doing the same, and a Python that does nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median

from . import measure
from .stage import Stage

#: All that the largest command loads before it is done.
_HEAVIEST = (
    "import memrepo.cli.app as app; app.build(['review']);"
    "import memrepo.memory, memrepo.review.review;"
    "import memrepo.report.html, memrepo.report.markdown, memrepo.report.jsonform"
)


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows: --version, history, commit, and the imports of the largest command."""
    stage = Stage(bench, "daily", bench.size(10_000, 20))
    agent = stage.made.ids[0]
    python = [sys.executable, "-I", "-c"]
    history = [measure.memrepo(), "history", "--agent-id", agent]
    log = ["log", "--format=%H", "--", f"state/{agent}"]

    def commit(number: int) -> Callable[[], object]:
        agent_id, at = stage.write_state(number)
        asked = ["--agent-id", agent_id, "--message", "answered", "--at", at.isoformat()]
        return lambda: measure.call(measure.memrepo(), "commit", *asked, cwd=stage.ours)

    taken = measure.take_turns(
        {
            "version": measure.always(lambda: measure.call(measure.memrepo(), "--version")),
            "git version": measure.always(lambda: measure.call("git", "--version")),
            "nothing": measure.always(lambda: measure.call(*python, "pass")),
            "heaviest": measure.always(lambda: measure.call(*python, _HEAVIEST)),
            "history": measure.always(lambda: measure.call(*history, cwd=stage.bare)),
            "log": measure.always(lambda: measure.git(stage.bare, *log)),
            "commit": commit,
            "git commit": stage.by_git,
        },
        bench.times(15),
    )
    stage.agree(stage.ours, stage.cli)
    case = "a whole process"

    def pair(ours: str, name: str, other: str, beside: str, at_most: float | None) -> measure.Row:
        found = median(taken[ours])
        words = f"{beside}: {measure.in_words(median(taken[other]))}"
        return measure.amount("cold start", case, name, found, "s", at_most=at_most, other=words)

    return [
        pair("version", "memrepo --version", "git version", "git --version", 0.25),
        pair("history", "memrepo history", "log", "git log -- state/x", None),
        pair("commit", "memrepo commit", "git commit", "git add, git commit", None),
        pair("heaviest", "imports of memrepo review", "nothing", "python -c pass", None),
    ]


if __name__ == "__main__":
    measure.main(question)
