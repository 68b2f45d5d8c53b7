"""Time what memrepo does beside what a team would otherwise run.

The machine is shared and noisy, so no number stands alone: the ways to do one thing take
turns, round after round, and what is said is the median over rounds of their ratio within a
round. Every script here is one question; it prints its rows as a table, or as JSON lines
for ``run_all.py``.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import msgspec

ROOT = Path(__file__).resolve().parents[1]
#: Beside this Python lie the programs that are compared: memrepo, check-jsonschema.
PROGRAMS = Path(sys.executable).parent
_GIT_CONFIG = """\
[user]
    name = Bench
    email = bench@example.org
[init]
    defaultBranch = main
[commit]
    gpgSign = false
[gc]
    auto = 0
[maintenance]
    auto = false
"""
# Starts a program and reports what the kernel says of it. A child's peak counts the memory of
# the process that started it, so a small one must do the starting.
_WATCH = """\
import os, sys, time
began = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(time.perf_counter() - began, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""

_HEADING = "| question | case | memrepo | beside it | result | goal |"

#: Prepares one round, and returns what is timed.
Way = Callable[[int], Callable[[], object]]


class Row(msgspec.Struct, frozen=True):
    """One line of the table; ``met`` is None where there is no goal."""

    question: str
    case: str
    ours: str
    other: str
    result: str
    goal: str = ""
    met: bool | None = None


class Bench(msgspec.Struct, frozen=True):
    """Where a script may put its repositories, and how much it shall do."""

    folder: Path
    small: bool
    rounds: int | None

    def size(self, full: int, small: int) -> int:
        """``full``, or ``small`` in a try-out."""
        return small if self.small else full

    def times(self, full: int) -> int:
        """How many rounds to run."""
        return self.rounds or (1 if self.small else full)


def cpu_seconds() -> float:
    """The processor's time of this process and of all those it started that have ended."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def take_turns(
    ways: Mapping[str, Way],
    rounds: int,
    *,
    warm: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds that each way took in each round; the ``warm`` rounds before are not counted.

    Seconds are the wall's, or those of another ``clock``. Each round begins with another way,
    so that none has the others' caches to itself.
    """
    taken: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    for number in range(warm + rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            action = ways[name](number)
            gc.collect()
            began = clock()
            action()
            seconds = clock() - began
            if number >= warm:
                taken[name].append(seconds)
        say(f"round {number + 1} of {warm + rounds}")
    return taken


def always(action: Callable[[], object]) -> Way:
    """A way that needs no preparation."""
    return lambda _: action


def share(
    question: str,
    case: str,
    ours: tuple[str, list[float]],
    other: tuple[str, list[float]],
    *,
    at_most: float | None = None,
) -> Row:
    """How much of the other way's time ours takes."""
    value = median(a / b for a, b in zip(ours[1], other[1], strict=True))
    goal = "" if at_most is None else f"≤ {at_most:g} ×"
    met = None if at_most is None else value <= at_most
    return Row(question, case, _named(ours), _named(other), f"{value:.3g} × the time", goal, met)


def faster(
    question: str,
    case: str,
    ours: tuple[str, list[float]],
    other: tuple[str, list[float]],
    *,
    at_least: float | None = None,
) -> Row:
    """How many times faster ours is than the other way."""
    value = median(b / a for a, b in zip(ours[1], other[1], strict=True))
    goal = "" if at_least is None else f"≥ {at_least:g} ×"
    met = None if at_least is None else value >= at_least
    return Row(question, case, _named(ours), _named(other), f"{value:.3g} × as fast", goal, met)


def amount(
    question: str,
    case: str,
    what: str,
    value: float,
    unit: str,
    *,
    at_most: float | None = None,
    other: str = "",
) -> Row:
    """A number that stands for itself: seconds, bytes, memory."""
    goal = "" if at_most is None else f"≤ {at_most:g} {unit}"
    met = None if at_most is None else value <= at_most
    return Row(question, case, what, other, f"{value:.3g} {unit}", goal, met)


def _named(way: tuple[str, list[float]]) -> str:
    return f"{way[0]}: {in_words(median(way[1]))}"


def in_words(seconds: float) -> str:
    """A time with three digits and its unit."""
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s"


def call(*command: str | Path, cwd: Path | None = None, accept: tuple[int, ...] = (0,)) -> bytes:
    """Run a program to its end and return what it printed. Stops the bench when it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, check=False)
    if done.returncode not in accept:
        words = done.stderr.decode(errors="replace").strip()[-2000:]
        raise SystemExit(f"{' '.join(map(str, command))[:200]}: exit {done.returncode}: {words}")
    return done.stdout


def git(repo: Path, *args: str) -> bytes:
    """Run Git in a repository."""
    return call("git", *args, cwd=repo)


def memrepo() -> str:
    """The command line of memrepo."""
    return str(PROGRAMS / "memrepo")


def watch(*command: str, cwd: Path) -> tuple[float, float]:
    """Seconds and peak memory (MB) of a program with all it started."""
    out = call(sys.executable, "-I", "-S", "-c", _WATCH, *command, cwd=cwd)
    seconds, peak, code = out.split()[-3:]
    if int(code) not in (0, 1):  # 1: the gate says no, which is an answer
        raise SystemExit(f"{' '.join(command)}: exit {int(code)}")
    return float(seconds), int(peak) / (1e6 if sys.platform == "darwin" else 1e3)


def bytes_under(folder: Path) -> int:
    """The apparent size of all files at or below ``folder``."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def say(text: str) -> None:
    """Tell the person who waits."""
    print(f"  {text}", file=sys.stderr, flush=True)


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [_HEADING, "|---" * _HEADING.count(" | ") + "|---|"]
    for row in rows:
        verdict = {None: "", True: ": met", False: ": **missed**"}[row.met]
        cells = (row.question, row.case, row.ours, row.other, row.result, row.goal + verdict)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(question: Callable[[Bench], list[Row]]) -> None:
    """Run one question as a script."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--small", action="store_true", help="a try-out: tiny, and says nothing")
    parser.add_argument("--rounds", type=int, help="how often each way takes its turn")
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build", help="where the repositories go for a while"
    )
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=given.folder.resolve()))
    try:
        _alone(folder)
        rows = question(Bench(folder, given.small, given.rounds))
    finally:
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False)
    if given.json:
        for row in rows:
            print(json.dumps(msgspec.structs.asdict(row), ensure_ascii=False))
    else:
        print(table(rows), end="")


def _alone(folder: Path) -> None:
    """No setting of the person's own Git may take part."""
    config = folder / "gitconfig"
    config.write_text(_GIT_CONFIG, encoding="utf-8")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        del os.environ[name]
    os.environ.update(
        HOME=str(folder),
        GIT_CONFIG_GLOBAL=str(config),
        GIT_CONFIG_NOSYSTEM="1",
        GIT_TERMINAL_PROMPT="0",
        LC_ALL="C.UTF-8",
        TZ="UTC",
    )
