"""The server as the MCP Inspector's command line sees it, a client that someone else wrote."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from liveserver import arguments
from repositories import GitRepo
from rig.tools import RIG, run

INSPECTOR = RIG / "node" / "node_modules" / ".bin" / "mcp-inspector"
TOOLS = ["memory_write", "memory_read", "memory_list", "memory_search", "memory_archive"]
MakeRepo = Callable[..., GitRepo]


@pytest.fixture
def repo(memory_repo: MakeRepo) -> GitRepo:
    return memory_repo("agent-1")


def inspect(repo: GitRepo, method: str, *more: str) -> Any:
    """What the Inspector prints for one method, as JSON; it fails the test where it fails."""
    server = [sys.executable, *arguments(repo, "--sync", "0")]
    done = run(
        INSPECTOR,
        *("--cli", "--method", method, *more, "--", *server),
        cwd=repo.path.parent,
        env=dict(os.environ),
        check=True,
    )
    return json.loads(done.stdout)


def use(repo: GitRepo, tool: str, **given: str) -> Any:
    """The Inspector's call of a tool."""
    pairs = [word for name, text in given.items() for word in ("--tool-arg", f"{name}={text}")]
    return inspect(repo, "tools/call", "--tool-name", tool, *pairs)


def test_it_lists_the_tools(repo: GitRepo) -> None:
    listed = inspect(repo, "tools/list")["tools"]
    assert [tool["name"] for tool in listed] == TOOLS
    assert all(tool["inputSchema"] and tool["outputSchema"] for tool in listed)
    assert [tool["annotations"]["readOnlyHint"] for tool in listed] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_it_calls_them(repo: GitRepo) -> None:
    written = use(
        repo, "memory_write", key="pool-size", summary="Twenty.", code_refs='["src/pool.py:3"]'
    )
    record = written["structuredContent"]["record"]
    assert record["attributes"]["code_refs"] == ["src/pool.py:3"]
    assert json.loads(written["content"][0]["text"]) == written["structuredContent"]
    read = use(repo, "memory_read", key="pool-size")["structuredContent"]
    assert read["record"] == record
    found = use(repo, "memory_search", query="twenty")["structuredContent"]["results"]
    assert [one["record"]["id"] for one in found] == [record["id"]]
    gone = use(repo, "memory_archive", id=record["id"], reason="wrong")["structuredContent"]
    assert gone["record"]["lifecycle"]["status"] == "archived"
    assert use(repo, "memory_list")["structuredContent"]["records"] == []


def test_it_reads_the_resources(repo: GitRepo) -> None:
    listed = inspect(repo, "resources/list")["resources"]
    assert {one["uri"] for one in listed} == {"memory://active", "memory://brief"}
    (content,) = inspect(repo, "resources/read", "--uri", "memory://active")["contents"]
    assert json.loads(content["text"])["records"] == []
