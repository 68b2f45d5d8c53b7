"""Archived snapshots brought back by a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actions.archives import REPO, WRITE, Place, demo, go, half_a_year, tree
from actions.workflows import checkout, job
from archiving import blob_id
from memrepo.errors import MemrepoError
from memrepo.runner import archive, restore
from memrepo.runner.inputs import ArchiveInputs, RestoreInputs
from rig.box import Box
from rig.world import World


@pytest.fixture
def place(world: World, tmp_path: Path) -> Place:
    """A workspace, after an archive took the most of what was below history/."""
    before = demo(world, half_a_year())
    found = Place(world, tmp_path, before)
    given = ArchiveInputs(github_token=world.token(contents="write"))
    assert archive.run(found.job, given) == 0
    found.output.unlink()
    world.box.calm()
    return found


def workflow(permissions: str, **options: str) -> str:
    given = "".join(f"          {key.replace('_', '-')}: {v}\n" for key, v in options.items())
    steps = checkout(persist_credentials="false") + (
        "      - id: restore\n        uses: acme/memrepo/actions/restore@v1\n"
        f"        with:\n{given}"
        "      - run: git status --porcelain\n"
    )
    return job("workflow_dispatch", permissions, steps)


def test_onto_a_new_branch_and_onto_main(world: World, place: Place) -> None:
    before, left = place.before, tree(world)
    path = min(before.keys() - left.keys())
    one = go(world, workflow(WRITE, what=path, branch="restored/one"))
    assert one.good, str(one)
    assert tree(world, "restored/one") == {**left, path: before[path]}
    assert one.output("restore", "commit") == world.bare(REPO).head("restored/one")
    assert tree(world) == left

    everything = go(world, workflow(WRITE, all="'true'", commit="'true'"))
    assert everything.good, str(everything)
    assert tree(world) == before
    assert everything.output("restore", "commit") == world.bare(REPO).head("main")
    assert f"Restored: {len(before) - len(left)} snapshots" in everything.summary


def test_into_folders(world: World, box: Box, place: Place) -> None:
    before = place.before
    token = world.token(contents="read")
    mine = {path for path in before.keys() - tree(world).keys() if "airline-01" in path}
    assert restore.run(place.job, RestoreInputs(agent_id="airline-01", github_token=token)) == 0
    said = place.outputs()
    folder = Path(said["folder"])
    assert folder.parent == place.job.temp
    assert said["snapshots"] == said["written"] == str(len(mine))
    assert {p: blob_id((folder / p).read_bytes()) for p in mine} == {p: before[p] for p in mine}
    assert f"Restored: {len(mine)} snapshots" in place.summary.read_text()

    given = RestoreInputs(what=(min(mine),), folder="old", github_token=token)
    for written in ("1", "0"):
        assert restore.run(place.job, given) == 0
        assert place.outputs()["written"] == written
    assert (place.workspace / "old" / min(mine)).is_file()
    nothing = RestoreInputs(agent_id="airline-01", until="2001-01-01", github_token=token)
    assert restore.run(place.job, nothing) == 0
    assert place.outputs()["snapshots"] == "0"
    assert box.writes == []


WISHES: list[tuple[dict[str, Any], str]] = [
    ({}, "say what to bring back"),
    ({"all": True, "folder": "../out"}, "leads out of the workspace"),
    ({"all": True, "folder": "a", "commit": True}, "three places"),
    ({"all": True, "since": "soon"}, "no time, date or age"),
    ({"all": True, "branch": "main"}, "exists"),
    ({"what": ("history-1999-W01",)}, "neither a release nor a snapshot"),
]


def test_wishes_that_are_none(world: World, place: Place) -> None:
    token = world.token(contents="write")
    for given, words in WISHES:
        with pytest.raises(MemrepoError, match=words) as caught:
            restore.run(place.job, RestoreInputs(**given, github_token=token))
        assert caught.value.exit_code == 2
        assert caught.value.hint
    assert not place.output.exists()
