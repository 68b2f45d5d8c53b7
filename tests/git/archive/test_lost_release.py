"""A release that is in the index and no longer on the forge: its tag is never given again."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from archiving import FIRST, Place, archive, blobs, due, forge_at, request, snapshot, snapshot_name
from memrepo.archive.phases import plan_archive
from memrepo.gitrepo.repository import Repository

INDEX = ".memrepo/archive/index.jsonl"


@pytest.fixture
def lost(tmp_path: Path) -> Place:
    """The first run's release is gone, and a snapshot of one of its weeks came late."""
    place = Place(tmp_path)
    archive(place.work, place.forge)
    shutil.rmtree(tmp_path / "forge")
    place.forge = forge_at(tmp_path / "forge", place.remote)
    late = FIRST + timedelta(hours=3)
    place.work.write(snapshot_name(late, "ada"), snapshot("ada", late, "late"))
    place.work.commit("late")
    place.work.git("push", "--quiet")
    return place


def test_the_next_run_takes_another_tag(lost: Place) -> None:
    done = archive(lost.work, lost.forge)
    assert (done.state, done.archived, done.release_tag) == ("pruned", 1, "history-2026-W30.2")
    rows = [msgspec.json.decode(line) for line in lost.remote.read(INDEX, "main").splitlines()]
    shards = [(row["tag"], row["shard"]) for row in rows]
    assert len(set(shards)) == len(shards) == 9
    assert not due(blobs(lost.remote))
    assert archive(lost.work, lost.forge).state == "nothing"


def test_a_release_under_the_old_tag_does_not_stop_the_archive(lost: Place) -> None:
    """As a version that gave the tag again would have left it."""
    with Repository.open(lost.work.path) as git:
        index = lost.work.read(INDEX)
        lost.work.git("rm", "--quiet", "-r", ".memrepo/archive")
        lost.work.commit("for the time of one run")
        lost.work.git("push", "--quiet")
        again = archive(lost.work, lost.forge, "no-prune")
        assert again.release_tag == "history-2026-W30"
        lost.work.git("revert", "--no-edit", "HEAD")
        lost.work.git("push", "--quiet")
        assert lost.work.read(INDEX) == index
        done = archive(lost.work, lost.forge)
        assert (done.archived, done.release_tag) == (1, "history-2026-W30.2")
        assert not due(blobs(lost.remote))
        planned = plan_archive(git, lost.forge, request())
    assert planned is not None


def test_a_plan_gives_free_tags_only(lost: Place) -> None:
    with Repository.open(lost.work.path) as git:
        planned = plan_archive(git, lost.forge, request())
    assert planned is not None
    assert [ask.tag for ask in planned[1]] == ["history-2026-W30.2"]
