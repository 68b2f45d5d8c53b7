"""The two forges, and a hand on what lies behind each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forge.fake_github import FakeGithub, fake_github
from memrepo.forge.forge import Forge
from memrepo.forge.github import GitHubForge
from memrepo.forge.local import LocalForge
from memrepo.forge.patience import Patience

TOKEN = "t-anna"
QUICK = Patience(attempts=4, first_wait=0.01, limit_wait=0.02, longest_wait=5.0)


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    with fake_github() as server:
        yield server


@pytest.fixture
def connect(github: FakeGithub) -> Iterator[Callable[..., GitHubForge]]:
    """``connect(token="t-anna", **options)`` is a forge on the fake server."""
    opened: list[GitHubForge] = []

    def make(token: str = TOKEN, **options: object) -> GitHubForge:
        settings: dict[str, object] = {
            "api_url": github.api,
            "server_url": github.url,
            "seconds_between_writes": 0,
            "patience": QUICK,
            **options,
        }
        forge = GitHubForge(github.slug, token, **settings)  # type: ignore[arg-type]
        opened.append(forge)
        return forge

    yield make
    for forge in opened:
        forge.close()


@pytest.fixture(params=["local", "github"])
def forge(request: pytest.FixtureRequest, tmp_path: Path) -> Forge:
    """Either forge, as anna, with the branches main, one and two."""
    if request.param == "local":
        tips = {"main": "0" * 40, "one": "1" * 40, "two": "2" * 40}
        return LocalForge(tmp_path / "memory.forge", login="anna", tip=tips.get)
    made: Forge = request.getfixturevalue("connect")()
    return made
