"""The fixtures ``world`` and ``box``, for a ``conftest.py`` to import."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rig import openapi
from rig.box import Box
from rig.world import World


@pytest.fixture(scope="session")
def world_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The world that is started once; ask for ``world``, which is empty in each test."""
    world = World(tmp_path_factory.mktemp("world"))
    yield world
    world.close()


@pytest.fixture
def world(world_of_session: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """An empty GitHub. Afterwards, each request it got must be one that GitHub describes."""
    world_of_session.reset()
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file:http")
    yield world_of_session
    assert world_of_session.box.problems == []
    assert openapi.problems(world_of_session.box.log) == []


@pytest.fixture
def box(world: World) -> Box:
    """The server in front of it: ``log``, ``faults``, ``writes``."""
    return world.box
