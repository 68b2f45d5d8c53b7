"""How long until eight writers have published 25 cycles each, and is every one there?

Each writer is a process with a clone and a worktree of its own; all push to one bare remote,
after every commit. Beside it: ``git commit``, then ``git pull --rebase && git push`` until it
works.
"""

from __future__ import annotations

import multiprocessing
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median
from unittest import mock

from memrepo import MemoryRepo
from memrepo.gitrepo import sync
from memrepo.gitrepo.remote import push_commit

from . import measure
from .corpus import STEP, Corpus, check_out, copy, fill, message_for, named, snapshot

WRITERS = 8
#: Writes cycles into a clone; the seconds that each took until it was published, and the pushes.
Writer = Callable[[Path, int, int, int], tuple[list[float], int]]


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows for the time in all, the slowest cycle, and the pushes."""
    cycles, snapshots = bench.size(25, 2), bench.size(1_000, 20)
    corpus = Corpus(10 * WRITERS)
    template = bench.folder / "template.git"
    end = fill(template, corpus, snapshots=snapshots)
    runs: dict[str, list[tuple[float, list[float], int]]] = {"memrepo": [], "git": []}
    for number in range(bench.times(3)):
        for name, writer in (("memrepo", by_memrepo), ("git", by_git)):
            place = bench.folder / f"{name}-{number}"
            runs[name].append(race(place, template, writer, cycles, end))
            all_there(place / "remote.git", template, WRITERS * cycles)
            measure.call("rm", "-rf", str(place))
        measure.say(
            f"round {number + 1}: " + ", ".join(f"{n} {r[-1][0]:.1f} s" for n, r in runs.items())
        )
    case = f"{WRITERS} writers × {cycles} cycles, {snapshots:,} snapshots"
    names = {"memrepo": "commit and push", "git": "pull --rebase && push"}
    whole = {name: (names[name], [run[0] for run in runs[name]]) for name in runs}
    slow = {name: (f"{names[name]}, p99", [late(run[1]) for run in runs[name]]) for name in runs}
    pushes = {name: median(run[2] for run in runs[name]) / (WRITERS * cycles) for name in runs}
    return [
        measure.faster("concurrent push", case, whole["memrepo"], whole["git"], at_least=3),
        measure.faster("concurrent push", case, slow["memrepo"], slow["git"]),
        measure.amount(
            "concurrent push",
            case,
            "pushes",
            pushes["memrepo"],
            "a cycle",
            other=f"{pushes['git']:.3g} a cycle",
        ),
    ]


def race(
    place: Path, template: Path, writer: Writer, cycles: int, end: int
) -> tuple[float, list[float], int]:
    """Let all writers go at once: seconds in all, seconds of each cycle, and pushes."""
    place.mkdir()
    remote = copy(template, place / "remote.git")
    clones = [check_out(remote, place / f"writer-{number}") for number in range(WRITERS)]
    context = multiprocessing.get_context("spawn")
    go, ready, results = context.Event(), context.Semaphore(0), context.Queue()
    processes = [
        context.Process(target=_run, args=(writer, clone, number, cycles, end, go, ready, results))
        for number, clone in enumerate(clones)
    ]
    for process in processes:
        process.start()
    for _ in processes:
        ready.acquire()
    began = time.perf_counter()
    go.set()
    answers = [results.get() for _ in processes]
    seconds = time.perf_counter() - began
    for process in processes:
        process.join()
    failed = [answer for answer in answers if isinstance(answer, str)]
    if failed:
        raise SystemExit(f"a writer failed: {failed[0]}")
    return seconds, [one for taken, _ in answers for one in taken], sum(n for _, n in answers)


def _run(
    writer: Writer, clone: Path, number: int, cycles: int, end: int, go: Event, *shared: object
) -> None:
    ready, results = shared
    ready.release()  # type: ignore[attr-defined]
    go.wait()
    try:
        results.put(writer(clone, number, cycles, end))  # type: ignore[attr-defined]
    except BaseException as error:  # noqa: BLE001 (the parent must hear of anything)
        results.put(f"{type(error).__name__}: {error}")  # type: ignore[attr-defined]


def jobs(number: int, cycles: int, end: int) -> Iterator[tuple[Corpus, int, int]]:
    """A corpus, one of the writer's own agents, and the time of each of its cycles."""
    corpus = Corpus(10 * WRITERS, seed=100 + number)
    chance = random.Random(number)
    for cycle in range(cycles):
        agent = WRITERS * chance.randrange(10) + number
        yield corpus, agent, end + cycle * STEP + number


def by_memrepo(clone: Path, number: int, cycles: int, end: int) -> tuple[list[float], int]:
    """Through the Python API, one repository kept open."""
    taken: list[float] = []
    counted = mock.patch.object(sync, "push_commit", wraps=push_commit)
    with counted as pushes, MemoryRepo(clone) as repo:
        for corpus, agent, when in jobs(number, cycles, end):
            state = corpus.cycle(agent, when)
            for path, data in named(state).items():
                (clone / path).write_bytes(data)
            began = time.perf_counter()
            at = datetime.fromtimestamp(when, UTC)
            repo.commit(state.metadata.agent_id, "answered", at=at, push=True)
            taken.append(time.perf_counter() - began)
        return taken, pushes.call_count


def by_git(clone: Path, number: int, cycles: int, end: int) -> tuple[list[float], int]:
    """As a script would: pull and push until it works."""
    git = partial(subprocess.run, cwd=clone, capture_output=True)
    chance, taken, pushes = random.Random(number), [], 0
    for corpus, agent, when in jobs(number, cycles, end):
        state = corpus.cycle(agent, when)
        path, data = snapshot(state, when, "flat")
        files = {**named(state), path: data}
        for name, content in files.items():
            (clone / name).write_bytes(content)
        began = time.perf_counter()
        measure.git(clone, "add", "--", *files)
        measure.git(clone, "commit", "--quiet", "--message", message_for(state, path))
        while True:
            if git(["git", "pull", "--quiet", "--rebase"]).returncode:
                git(["git", "rebase", "--abort"])
                continue
            pushes += 1
            if git(["git", "push", "--quiet", "origin", "HEAD:main"]).returncode == 0:
                break
            time.sleep(0.05 * chance.random())
        taken.append(time.perf_counter() - began)
    return taken, pushes


def all_there(remote: Path, template: Path, cycles: int) -> None:
    """Stop unless every commit and every snapshot is on the remote, and all is sound."""
    begin = measure.git(template, "rev-parse", "main").decode().strip()
    commits = measure.git(remote, "log", "--format=%(trailers:key=Snapshot)", f"{begin}..main")
    listed = [line.split()[1] for line in commits.decode().splitlines() if line]
    added = measure.git(remote, "diff", "--name-only", "--diff-filter=A", begin, "main")
    if len(listed) != cycles or sorted(listed) != sorted(added.decode().split()):
        raise SystemExit(f"{len(listed)} commits and {len(added.split())} snapshots, not {cycles}")
    measure.git(remote, "fsck", "--strict", "--no-dangling")


def late(seconds: list[float]) -> float:
    """What 99 in 100 cycles were faster than."""
    return sorted(seconds)[int(0.99 * (len(seconds) - 1))]


if __name__ == "__main__":
    measure.main(question)
