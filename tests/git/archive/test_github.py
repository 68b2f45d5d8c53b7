"""``archive run`` against GitHub's API over HTTP, on good days and on bad ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from archiving import Place, archive, blobs, due, in_releases, prune
from forge.fake_github import SECONDARY, FakeGithub, Fault, Token, fake_github
from memrepo.errors import PermissionDenied, RemoteFailed
from memrepo.forge.github import GitHubForge
from memrepo.forge.patience import Patience

TOKEN = "t-anna"
QUICK = Patience(attempts=4, first_wait=0.01, limit_wait=0.02, longest_wait=5.0)
OLD = 16
CREATE, UPLOAD, PUBLISH = r"/releases$", r"/releases/\d+/assets\?", r"/releases/\d+$"


class World:
    """A place whose releases are on a GitHub."""

    def __init__(self, folder: Path, github: FakeGithub) -> None:
        self.place = Place(folder)
        self.github = github
        self.before = blobs(self.place.remote)

    def connect(self, token: str = TOKEN) -> GitHubForge:
        return GitHubForge(
            self.github.slug,
            token,
            api_url=self.github.api,
            server_url=self.github.url,
            seconds_between_writes=0,
            patience=QUICK,
        )

    def nothing_is_lost(self) -> None:
        forge = self.connect()
        safe = blobs(self.place.remote), in_releases(forge)
        forge.close()
        lost = [p for p, blob in self.before.items() if all(s.get(p) != blob for s in safe)]
        assert lost == []

    def ended(self) -> None:
        """What a run leaves: one public release with all that is due, and a tree without it."""
        forge = self.connect()
        assert [release.draft for release in forge.list_releases()] == [False]
        assert in_releases(forge) == due(self.before)
        forge.close()
        assert not due(blobs(self.place.remote))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with fake_github() as server:
        yield World(tmp_path, server)


def run(world: World, token: str = TOKEN) -> None:
    forge = world.connect(token)
    try:
        archive(world.place.work, forge)
    finally:
        forge.close()


@pytest.mark.parametrize("digests", [True, False], ids=["digests", "no-digests"])
def test_a_run_with_and_without_the_servers_digests(world: World, digests: bool) -> None:
    world.github.digests = digests
    run(world)
    world.ended()
    downloads = world.github.sent("GET", r"/releases/assets/\d+")
    assert downloads >= 10
    run(world)
    world.ended()


FAULTS = {
    "500": Fault("", "", status=500),
    "502": Fault("", "", status=502),
    "502, though it was done": Fault("", "", status=502, done=True),
    "cut after": Fault("", "", "cut_after"),
    "secondary limit": Fault("", "", status=403, message=SECONDARY),
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", CREATE), ("POST", UPLOAD), ("PATCH", PUBLISH)],
    ids=["create", "upload", "publish"],
)
def test_a_fault_that_passes_and_one_that_stays(
    world: World, method: str, path: str, name: str
) -> None:
    fault = FAULTS[name]
    stays = Fault(method, path, fault.what, fault.status, fault.message, done=fault.done, times=99)
    world.github.faults.append(stays)
    try:
        run(world)
    except RemoteFailed:
        world.nothing_is_lost()
        assert blobs(world.place.remote) == world.before
    stays.times = 1
    run(world)
    world.ended()


def test_an_upload_that_leaves_a_starter_is_replaced(world: World) -> None:
    world.github.faults.append(Fault("POST", UPLOAD, status=502, starter=True, skip=2))
    run(world)
    world.ended()


def test_bytes_that_arrive_changed_are_not_relied_on(world: World) -> None:
    forge = world.connect()
    archive(world.place.work, forge, "no-prune")
    flips = Fault("GET", "", "flip", times=99)
    world.github.faults.append(flips)
    try:
        done = prune(world.place.work, forge)
        assert done.state == "nothing"
    except RemoteFailed:
        pass
    assert blobs(world.place.remote) == world.before
    flips.times = 0
    assert prune(world.place.work, forge).archived == OLD
    forge.close()
    world.ended()


@pytest.mark.parametrize("write", [False, True], ids=["reads-only", "refused"])
def test_a_token_that_may_not_changes_nothing(world: World, write: bool) -> None:
    world.github.tokens["t-less"] = Token("less", write=write)
    if write:
        world.github.faults.append(
            Fault("POST", CREATE, status=403, message="Resource not accessible by integration")
        )
    tip = world.place.remote.head("main")
    with pytest.raises(PermissionDenied) as denied:
        run(world, "t-less")
    assert denied.value.exit_code == 5
    assert (world.place.remote.head("main"), world.github.releases) == (tip, {})


def test_more_releases_than_a_page_holds(world: World) -> None:
    for number in range(130):
        world.github.add_release(f"history-2025-W{number % 52 + 1:02}.{number}", draft=False)
    run(world)
    forge = world.connect()
    found = [one for one in forge.list_releases() if one.tag == "history-2026-W30"]
    assert len(found) == 1
    assert not found[0].draft
    forge.close()
    assert not due(blobs(world.place.remote))
