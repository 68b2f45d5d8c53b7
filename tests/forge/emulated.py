"""A GitHub forge over the emulator, for a token of chosen permissions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from memrepo.forge.github import GitHubForge
from memrepo.forge.patience import Patience
from rig.world import World

QUICK = Patience(attempts=4, first_wait=0.01, limit_wait=0.02, longest_wait=5.0)
Connect = Callable[..., GitHubForge]


@pytest.fixture
def connect(world: World) -> Iterator[Connect]:
    opened: list[GitHubForge] = []

    def make(**permissions: str) -> GitHubForge:
        forge = GitHubForge(
            "acme/demo",
            world.token(**permissions),
            api_url=f"{world.url}/api/v3",
            server_url=world.url,
            seconds_between_writes=0,
            patience=QUICK,
        )
        opened.append(forge)
        return forge

    yield make
    for forge in opened:
        forge.close()
