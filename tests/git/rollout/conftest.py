"""A clone of a published memory repo with a treatment branch, for the rollout job."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from repositories import GitRepo
from rolloutwork import tools, treat


@pytest.fixture
def work(
    memory_repo: Callable[..., GitRepo],
    bare_remote: Callable[..., GitRepo],
    clone: Callable[..., GitRepo],
) -> GitRepo:
    """``support_agent_v1`` classifies; the treatment has it also look orders up."""
    source = memory_repo("support_agent_v1", "sales_v1")
    source.write_agent("support_agent_v1", tools=tools("classify"))
    source.commit("tools")
    repo = clone(bare_remote(source), "work")
    treat(repo, "classify", "find_order")
    return repo
