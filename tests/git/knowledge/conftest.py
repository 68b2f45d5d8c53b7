"""A clone of a published memory repo with two agents, for the knowledge job."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from knowledgework import tools
from repositories import GitRepo


@pytest.fixture
def work(
    memory_repo: Callable[..., GitRepo],
    bare_remote: Callable[..., GitRepo],
    clone: Callable[..., GitRepo],
) -> GitRepo:
    """``bot`` has the tools find and refund."""
    source = memory_repo("bot", "other")
    source.write_agent("bot", tools=tools("find", "refund"))
    source.commit("tools")
    return clone(bare_remote(source), "work")
