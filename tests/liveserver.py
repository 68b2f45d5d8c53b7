"""The server of shared records as a real process, and clients for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp import Client, StdioServerParameters

from repositories import GitRepo

_T = TypeVar("_T")
HANG_SECONDS = 120
Json = dict[str, Any]
Talk = Callable[[Client], Awaitable[_T]]


def arguments(repo: GitRepo, *more: str, agent: str = "codex", repo_name: str = "web") -> list[str]:
    """The command line of a server for the project ``acme/web``, after the program."""
    place = ["--repo-path", str(repo.path), "--org", "acme", "--repo", repo_name]
    return ["-m", "memrepo", "mcp", *place, "--agent", agent, *more]


def with_server(
    repo: GitRepo, talk: Talk[_T], *more: str, env: dict[str, str] | None = None, **named: str
) -> _T:
    """What ``talk`` answers, with the SDK's own client on a server of its own process."""
    command = StdioServerParameters(
        command=sys.executable,
        args=arguments(repo, *more, **named),
        env={**os.environ, **(env or {})},
    )

    async def run() -> _T:
        with anyio.fail_after(HANG_SECONDS):
            async with Client(command) as client:
                return await talk(client)

    return anyio.run(run)


async def call(client: Client, tool: str, **given: Any) -> Json:
    """The structured answer of a call, which must also stand in its text; an error fails."""
    done: Any = await client.call_tool(tool, given)
    assert not done.is_error, done.content[0].text
    (text,) = done.content
    assert json.loads(text.text) == done.structured_content
    value: Json = done.structured_content
    return value


async def refused(client: Client, tool: str, **given: Any) -> str:
    """What a call that must fail tells the model."""
    done: Any = await client.call_tool(tool, given)
    assert done.is_error, done.structured_content
    text: str = done.content[0].text
    return text


async def published(client: Client) -> Json:
    """Wait until nothing that was written here waits for the remote; how it stands then."""
    while True:
        remote: Json = (await call(client, "memory_list", limit=1))["remote"]
        if remote["state"] == "in-step" and not remote["waiting"]:
            return remote
        await anyio.sleep(0.1)


class RawServer:
    """A server without any client library: lines in, lines out."""

    def __init__(
        self, repo: GitRepo, *more: str, env: dict[str, str] | None = None, version: str
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments(repo, *more)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        self._number = 0
        self.ask(
            "initialize",
            protocolVersion=version,
            capabilities={},
            clientInfo={"name": "raw", "version": "1"},
        )
        self.answer()
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> int:
        """Send a request; its number."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        return self._number

    def write(self, key: str, summary: str) -> int:
        """Ask for a record to be written."""
        given = {"key": key, "summary": summary}
        return self.ask("tools/call", name="memory_write", arguments=given)

    def answer(self) -> Json:
        """The next message of the server."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read() if self.process.stderr else ""
        value: Json = json.loads(line)
        return value

    def answers(self) -> Iterator[Json]:
        """All messages until the server ends; what is no JSON fails."""
        assert self.process.stdout
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                yield json.loads(line)

    def cut(self, request: int) -> None:
        """Tell the server that nobody waits for a request any more."""
        self._send({"method": "notifications/cancelled", "params": {"requestId": request}})

    def _send(self, message: Json) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def raw_server(
    repo: GitRepo,
    *more: str,
    env: dict[str, str] | None = None,
    version: str = "2025-06-18",
) -> Iterator[RawServer]:
    """A server for the block, which is killed if it is still there afterwards."""
    server = RawServer(repo, *more, env=env, version=version)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait(HANG_SECONDS)
        for stream in (server.process.stdin, server.process.stdout, server.process.stderr):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue


def records_at(repo: GitRepo, rev: str = "HEAD") -> dict[str, bytes]:
    """The files of all records of a revision."""
    listed = repo.git("ls-tree", "-r", "--name-only", rev, "records", check=False).splitlines()
    return {path: repo.read(path, rev) for path in listed if Path(path).suffix == ".yml"}
