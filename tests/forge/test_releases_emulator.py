"""Releases over a GitHub that others wrote, with tokens that may no more than they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.emulated import Connect, connect
from forge.release_cases import BIG, ReleaseCases, drafted, uploaded
from memrepo.errors import PermissionDenied, RemoteFailed, UsageError
from memrepo.forge.github import GitHubForge
from rig.exchange import Fault, secondary_limit
from rig.fixtures import box, world, world_of_session
from rig.tools import git_line
from rig.world import World

__all__ = ["box", "connect", "world", "world_of_session"]


@pytest.fixture
def commit(world: World) -> str:
    return world.repo("acme/demo", "agent-1").head()


@pytest.fixture
def forge(commit: str, connect: Connect) -> GitHubForge:
    assert commit
    return connect(contents="write")


class TestReleases(ReleaseCases):
    """Over the emulator. Its fixture is asked for by name: without one, these are left out."""

    @pytest.fixture(autouse=True)
    def _over_the_emulator(self, world: World) -> None:
        pass


def test_publishing_makes_the_tag_and_locks(
    world: World, forge: GitHubForge, commit: str, tmp_path: Path
) -> None:
    world.box.releases.immutable.add("acme/demo")
    draft = drafted(forge, commit)
    asset = uploaded(forge, draft, tmp_path, BIG)
    bare = world.bare("acme/demo").path
    assert git_line(bare, "tag") == ""
    published = forge.publish_release(draft)
    assert git_line(bare, "rev-parse", "history-2026-W31") == commit
    assert forge.publish_release(draft) == published
    assert b"".join(forge.download_asset(published, asset)) == BIG


def test_a_tag_of_the_repository_is_not_taken(
    world: World, forge: GitHubForge, commit: str
) -> None:
    work = world.clone("acme/demo", "alice")
    work.git("tag", "history-2026-W31")
    world.push(work, "history-2026-W31")
    with pytest.raises(UsageError, match="exists already"):
        drafted(forge, commit)
    assert world.box.writes == []


def test_a_token_that_only_reads(world: World, connect: Connect, commit: str) -> None:
    writer, reader = connect(contents="write"), connect(contents="read")
    published = writer.publish_release(drafted(writer, commit))
    hidden = drafted(writer, commit, "history-2026-W32")
    assert reader.list_releases() == [published]
    with pytest.raises(UsageError, match="may not see it"):
        reader.get_release(hidden.id)
    with pytest.raises(PermissionDenied) as caught:
        drafted(reader, commit, "history-2026-W33")
    assert caught.value.exit_code == 5
    assert "contents: write" in caught.value.hint
    assert writer.list_releases() == [hidden, published]


@pytest.mark.parametrize("kind", ["status_after", "cut_after", "half", "cut", "status"])
def test_one_release_whatever_becomes_of_the_answers(
    world: World, forge: GitHubForge, commit: str, tmp_path: Path, kind: str
) -> None:
    for method, path in (
        ("POST", "/releases$"),
        ("POST", "/assets$"),
        ("PATCH", r"/releases/\d+$"),
        ("GET", "/_assets/"),
    ):
        world.box.faults.append(Fault(method=method, path=path, kind=kind, times=1))  # type: ignore[arg-type]
    draft = drafted(forge, commit)
    asset = uploaded(forge, draft, tmp_path, BIG)
    assert b"".join(forge.download_asset(draft, asset)) == BIG
    published = forge.publish_release(draft)
    assert forge.list_releases() == [published]
    assert published.assets == (asset,)


def test_an_upload_that_broke_off_is_replaced(
    world: World, forge: GitHubForge, commit: str, tmp_path: Path
) -> None:
    draft = drafted(forge, commit)
    world.box.faults.append(Fault(method="POST", path="/assets$", kind="starter", times=2))
    world.box.faults.append(secondary_limit("/assets$", method="POST", seconds=0))
    asset = uploaded(forge, draft, tmp_path, BIG)
    assert forge.publish_release(draft).assets == (asset,)
    world.box.faults.append(Fault(method="POST", path="/assets$", kind="starter"))
    other = drafted(forge, commit, "history-2026-W32")
    with pytest.raises(RemoteFailed, match=r"failed to upload week\.tar\.gz") as caught:
        uploaded(forge, other, tmp_path, BIG)
    assert caught.value.exit_code == 4
    with pytest.raises(UsageError, match="not whole"):
        forge.publish_release(other)
