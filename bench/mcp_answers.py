"""How long does an agent wait for an answer of the MCP server?

The server is a process of its own on a clone with ten thousand records, asked by the SDK's
client, so that the JSON and the checks of schemas on both sides count. Beside it: the same asked
of the Python API in this process. Start-up and the first index do not count.
"""

from __future__ import annotations

import sys
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters

from memrepo.records.values import Filters, New

from . import measure
from .records import ADDRESS, fill, opened


def question(bench: measure.Bench) -> list[measure.Row]:
    """Rows: the middle time of each tool."""
    count = bench.size(10_000, 50)
    repo = bench.folder / f"served-{count}"
    fill(repo, count, bare=False)
    where = ["--repo-path", str(repo), "--org", ADDRESS.org, "--repo", ADDRESS.repo]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memrepo", "mcp", *where, "--agent", "codex", "--sync", "0"],
    )
    with (
        opened(repo) as store,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):

        def ask(tool: str, **given: Any) -> None:
            done: Any = portal.call(client.call_tool, tool, given)
            if done.is_error:
                raise SystemExit(done.content[0].text)

        asked: dict[str, tuple[measure.Way, measure.Way]] = {
            "memory_read": (
                measure.always(lambda: ask("memory_read", key="key-7")),
                measure.always(lambda: store.read("key-7")),
            ),
            "memory_list of 50": (
                measure.always(lambda: ask("memory_list")),
                measure.always(lambda: store.list(Filters(limit=50))),
            ),
            "memory_search, 10 hits": (
                measure.always(lambda: ask("memory_search", query="pool")),
                measure.always(lambda: store.search("pool", Filters(limit=10))),
            ),
            "memory_write": (
                lambda n: lambda: ask("memory_write", key=f"new-{n}", summary=f"The pool {n}."),
                lambda n: lambda: store.write(New(f"own-{n}", f"The pool {n}.")),
            ),
        }
        ways = {tool: ours for tool, (ours, _) in asked.items()}
        ways |= {f"{tool} in Python": other for tool, (_, other) in asked.items()}
        taken = measure.take_turns(ways, bench.times(20), warm=2)

    def middle(name: str) -> float:
        return sorted(taken[name])[len(taken[name]) // 2] * 1e3

    case = f"{count:,} records, by the SDK's client"
    return [
        measure.amount(
            "mcp answers",
            case,
            tool,
            middle(tool),
            "ms",
            other=f"in Python {middle(f'{tool} in Python'):.3g} ms",
        )
        for tool in asked
    ]


if __name__ == "__main__":
    measure.main(question)
