"""What the page says to put into the files of agents' programs starts a server."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from contract.pages import ROOT, blocks
from repositories import GitRepo

PAGE = ROOT / "docs" / "mcp.md"
FILES = {block.path: block for block in blocks(PAGE) if block.path}


def server_of(path: str) -> dict[str, Any]:
    text = FILES[path].text
    if path.endswith(".toml"):
        found: dict[str, Any] = tomllib.loads(text)["mcp_servers"]["memory"]
    else:
        found = json.loads(text)["mcpServers"]["memory"]
    return found


def test_each_program_has_its_file() -> None:
    assert set(FILES) == {".mcp.json", ".cursor/mcp.json", ".codex/config.toml"}


@pytest.mark.parametrize("path", FILES)
def test_the_server_of_the_file_starts(path: str, memory_repo: Callable[..., GitRepo]) -> None:
    repo = memory_repo("agent-1", name="memory")
    server = server_of(path)
    assert server.get("type", "stdio") == "stdio"
    assert server["command"] == "memrepo"
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memrepo", *server["args"]],
        env=dict(os.environ),
        cwd=repo.path.parent,
    )

    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(command) as client:
                assert len((await client.list_tools()).tools) == 5

    anyio.run(run)
