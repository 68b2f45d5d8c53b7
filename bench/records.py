"""What do shared records cost at a hundred thousand: to read, list, search, write, index anew?

Beside it: the memory server that the Model Context Protocol's authors publish, which reads and
writes its whole file at each call. It is put under the bench's folder and needs the npm
registry; a try-out leaves it out. Both are asked in process or over standard input and output
that stay open, so that no start-up counts.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memrepo.gitrepo.repository import Repository
from memrepo.protocol.record import Address, Lifecycle, Record, Writer
from memrepo.protocol.recorddump import dump_record
from memrepo.protocol.recordplace import new_record_id, record_path
from memrepo.records.store import Store
from memrepo.records.values import Filters, New

from . import measure

PEER = Path(__file__).parent / "peers" / "memory"
_AT_ADDRESS = 500
_WORDS = tuple(
    f"{a}{b}"
    for a in "ba ce di fo gu ka le mi no pu".split()
    for b in (
        *"ton ler mus rin dak sol vex pim gar nat".split(),
        *"bor cal dem fis gol hup jin kem lot mar".split(),
    )
)
ADDRESS = Address("acme", "repo-0")


def record(number: int, draw: random.Random) -> Record:
    """A record that a session wrote; five hundred in a row are about one repository."""
    when = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
    said = " ".join(draw.choices(_WORDS, k=14))
    name = f"{draw.choice(_WORDS)}_{draw.choice(_WORDS)}"
    return Record(
        id=new_record_id(when + timedelta(milliseconds=number)),
        key=f"key-{number}",
        address=Address("acme", f"repo-{number // _AT_ADDRESS}"),
        written_by=Writer("codex", "gpt"),
        created_at=when,
        updated_at=when,
        lifecycle=Lifecycle(ttl_seconds=604_800),
        attributes={"kind": "fact", "confidence": 0.5, "code_refs": [f"src/{name}.py:7"]},
        content={
            "summary": f"The pool {name} {said}.",
            "details": " ".join(draw.choices(_WORDS, k=40)),
        },
    )


def fill(repo: Path, count: int, *, bare: bool) -> None:
    """A repository with ``count`` records in one commit."""
    draw = random.Random(7)
    measure.call("git", "init", "--quiet", *(["--bare"] if bare else []), str(repo))
    stream = repo / "stream"
    with stream.open("wb") as out:
        out.write(b"commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\n")
        for number in range(count):
            one = record(number, draw)
            data = dump_record(one)
            path = record_path(one.address, one.id)
            out.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
    with stream.open("rb") as given:
        subprocess.run(["git", "fast-import", "--quiet"], cwd=repo, stdin=given, check=True)
    stream.unlink()
    if not bare:
        measure.git(repo, "reset", "--hard", "--quiet")


@contextmanager
def opened(repo: Path) -> Iterator[Store]:
    """The records of a repository, kept open."""
    with (
        Repository.open(repo) as opened_repo,
        Store(opened_repo, writer=Writer("codex", "gpt"), address=ADDRESS) as store,
    ):
        yield store


class Peer:
    """The reference memory server with ``count`` entities in its file."""

    def __init__(self, folder: Path, count: int) -> None:
        draw = random.Random(7)
        self._file = folder / f"memory-{count}.jsonl"
        with self._file.open("w", encoding="utf-8") as out:
            for number in range(count):
                one = record(number, draw)
                said = [one.summary, str(one.content["details"])]
                entity = {"type": "entity", "name": one.key, "entityType": "fact"}
                out.write(json.dumps({**entity, "observations": said}) + "\n")
        server = folder / "peer/node_modules/@modelcontextprotocol/server-memory/dist/index.js"
        self._process = subprocess.Popen(
            ["node", str(server)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={"MEMORY_FILE_PATH": str(self._file), "PATH": "/usr/local/bin:/usr/bin:/bin"},
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise SystemExit("the memory server has no pipes")
        self._in, self._out = self._process.stdin, self._process.stdout
        self._number = 0
        client = {"name": "bench", "version": "1"}
        self._ask(
            "initialize",
            {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def tool(self, name: str, **arguments: Any) -> Any:
        """What one tool answers."""
        answer = self._ask("tools/call", {"name": name, "arguments": arguments})
        if answer.get("isError"):
            raise SystemExit(f"{name}: {answer}")
        return answer

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.wait()
        self._file.unlink()

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while line := self._out.readline():
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer["result"]
        raise SystemExit("the memory server has ended")

    def _send(self, message: dict[str, Any]) -> None:
        self._in.write(json.dumps(message) + "\n")
        self._in.flush()


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows for each size, and the growth of a write from the first to the last."""
    if not bench.small:
        shutil.copytree(PEER, bench.folder / "peer")
        install = ("npm", "ci", "--silent", "--ignore-scripts", "--no-audit")
        measure.call(*install, cwd=bench.folder / "peer")
    sizes = (1_000, 10_000, 100_000) if not bench.small else (600, 1_200)
    rows: list[measure.Row] = []
    writes: dict[str, list[tuple[str, list[float]]]] = {"bare": [], "worktree": []}
    for count in sizes:
        rows += _of_size(bench, count, largest=count == sizes[-1], writes=writes)
    for kind, taken in writes.items():
        case = f"{kind}: one write at {sizes[-1]:,} beside one at {sizes[0]:,}"
        goal = 1.5 if kind == "bare" else None
        rows.append(measure.share("records", case, taken[-1], taken[0], at_most=goal))
    return rows


def _of_size(
    bench: measure.Bench,
    count: int,
    *,
    largest: bool,
    writes: dict[str, list[tuple[str, list[float]]]],
) -> list[measure.Row]:
    draw = random.Random(11)
    bare, tree = bench.folder / f"records-{count}.git", bench.folder / f"records-{count}"
    fill(bare, count, bare=True)
    fill(tree, count, bare=False)
    case = f"{count:,} records"
    with opened(bare) as store, opened(tree) as worktree:
        began = time.perf_counter()
        store.read("key-0")
        rebuilt = time.perf_counter() - began
        worktree.read("key-0")
        asked = [
            (f"key-{draw.randrange(_AT_ADDRESS)}", draw.choices(_WORDS, k=2)) for _ in range(64)
        ]
        everything = Filters(limit=0)
        peer = None if bench.small else Peer(bench.folder, count)

        def new(number: int, kind: str) -> New:
            return New(f"{kind}-{number}", f"The pool {number} {draw.random()} holds.")

        def with_peer(call: Callable[[Peer], object]) -> measure.Way:
            return measure.always(lambda: call(peer) if peer else None)

        ways: dict[str, measure.Way] = {
            "read": lambda n: lambda: store.read(asked[n][0]),
            "list": measure.always(lambda: store.list(everything)),
            "search": lambda n: lambda: store.search("pool " + " ".join(asked[n][1])),
            "write": lambda n: lambda: store.write(new(n, "bare")),
            "write in a worktree": lambda n: lambda: worktree.write(new(n, "tree")),
        }
        if peer:
            entity = {"name": "new", "entityType": "fact", "observations": ["The pool holds."]}
            ways |= {
                "open_nodes": with_peer(lambda p: p.tool("open_nodes", names=["key-7"])),
                "search_nodes": with_peer(lambda p: p.tool("search_nodes", query=asked[0][1][0])),
                "create_entities": lambda n: (
                    lambda: peer.tool("create_entities", entities=[{**entity, "name": f"new-{n}"}])
                ),
            }
        taken = measure.take_turns(ways, bench.times(9))
        if peer:
            peer.close()
    writes["bare"].append((case, taken["write"]))
    writes["worktree"].append((case, taken["write in a worktree"]))
    rows = []
    for ours, theirs, most in (
        ("read", "open_nodes", 10),
        ("search", "search_nodes", 100),
        ("write", "create_entities", None),
    ):
        if peer:
            pair = (ours, taken[ours]), (f"reference server: {theirs}", taken[theirs])
            rows.append(measure.share("records", case, *pair))
        if largest and most:
            rows.append(_at_most(case, ours, taken[ours], most))
    if largest:
        rows.append(_at_most(f"{case}, {_AT_ADDRESS} at the address", "list", taken["list"], 50))
        rows.append(measure.amount("records", case, "index made anew", rebuilt, "s", at_most=60))
    return rows


def _at_most(case: str, what: str, taken: list[float], most: float) -> measure.Row:
    return measure.amount(
        "records", case, what, sorted(taken)[len(taken) // 2] * 1e3, "ms", at_most=most
    )


if __name__ == "__main__":
    measure.main(question)
