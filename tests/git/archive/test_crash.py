"""Killed, or failed by the forge or the remote, at every point of a run: nothing is lost.

After each: every snapshot is in main's tree or in a published release whose bytes hold it.
The next run ends as an undisturbed one does: the same tree, the same tars, one release, no
draft.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from archiving import FIRST, archive, blobs, fill, forge_at, in_releases, new_remote
from memrepo.errors import MemrepoError, PermissionDenied, RemoteFailed
from memrepo.forge.local import LocalForge
from repositories import GitRepo, new_memory_repo

DYING = Path(__file__).parents[2] / "dying.py"
WEEKS = 3
_MOST_ACTS = 200


class Scene:
    """A clone, its remote and a forge that can be put back to how they began."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        source = new_memory_repo(folder / "source", "ada", "bob")
        fill(source, weeks=WEEKS)
        new_remote(folder / "origin.git", source)
        self.remote = GitRepo(folder / "remote.git")
        self.work = GitRepo(folder / "work")
        self.forge_folder = folder / "forge"
        self.again()
        self.before = blobs(self.remote)

    def again(self) -> None:
        """Begin anew."""
        for path in (self.remote.path, self.work.path, self.forge_folder):
            shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.folder / "origin.git", self.remote.path)
        self.remote.git("clone", "--quiet", ".", str(self.work.path))

    @property
    def forge(self) -> LocalForge:
        """The forge."""
        return forge_at(self.forge_folder, self.remote)

    def nothing_is_lost(self) -> None:
        """Each snapshot is in the tree or in a release."""
        safe = blobs(self.remote), in_releases(self.forge)
        lost = [
            path for path, blob in self.before.items() if all(s.get(path) != blob for s in safe)
        ]
        assert lost == []

    def end(self) -> tuple[Any, ...]:
        """What a finished run leaves: history, tars, and how many releases of which kind."""
        releases = self.forge.list_releases()
        index = self.remote.read(".memrepo/archive/index.jsonl", "main").splitlines()
        tars = sorted(line.partition(b'"tar_sha256":')[2][:67] for line in index)
        return blobs(self.remote), tars, [release.draft for release in releases]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def undisturbed(scene: Scene) -> tuple[Any, ...]:
    archive(scene.work, scene.forge)
    ended = scene.end()
    assert ended[2] == [False]
    assert len(ended[1]) == WEEKS - 1  # the newest stays
    scene.again()
    return ended


@pytest.fixture
def dying(scene: Scene) -> Iterator[Callable[[int], str]]:
    """Run until before the n-th lasting act; how it ended."""
    command = [sys.executable, str(DYING), str(scene.forge_folder), str(scene.work.path)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=DYING.parent
    )
    assert process.stdin
    assert process.stdout

    def run(number: int) -> str:
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{number}\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    yield run
    process.stdin.close()
    assert process.wait(10) == 0
    process.stdout.close()


@pytest.mark.parametrize("start", [1, 2, 3, 4])
def test_killed_before_each_act_that_lasts(
    scene: Scene, dying: Callable[[int], str], start: int
) -> None:
    wanted = undisturbed(scene)
    kills = 0
    for number in range(start, _MOST_ACTS, 4):
        how = dying(number)
        if how != "killed":
            assert how == "ended 0"
            break
        kills += 1
        scene.nothing_is_lost()
        archive(scene.work, scene.forge)
        assert scene.end() == wanted, number
        scene.again()
    assert kills >= 8


def test_killed_again_and_again_it_still_comes_to_its_end(
    scene: Scene, dying: Callable[[int], str]
) -> None:
    wanted = undisturbed(scene)
    number = 10
    while dying(number) == "killed":
        scene.nothing_is_lost()
        number += 5
    assert scene.end() == wanted


class Failing:
    """A forge whose n-th call fails: before it is done, or with its answer lost behind it."""

    def __init__(self, forge: LocalForge, number: int, *, done: bool, error: type[MemrepoError]):
        self._forge = forge
        self._left = number
        self._done = done
        self._error = error
        self.called = ""

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._forge, name)

        def call(*args: Any, **options: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                self.called = name
                if self._done:
                    real(*args, **options)
                raise self._error(f"{name} answered 502")
            return real(*args, **options)

        return call


@pytest.mark.parametrize("done", [False, True], ids=["not-done", "answer-lost"])
def test_each_call_of_the_forge_fails(scene: Scene, done: bool) -> None:
    wanted = undisturbed(scene)
    failed = set()
    for number in range(1, _MOST_ACTS):
        forge: Any = Failing(scene.forge, number, done=done, error=RemoteFailed)
        try:
            archive(scene.work, forge)
        except RemoteFailed:
            failed.add(forge.called)
        else:
            break
        scene.nothing_is_lost()
        archive(scene.work, scene.forge)
        assert scene.end() == wanted, forge.called
        scene.again()
    assert failed >= {
        "list_releases", "create_release", "upload_asset", "get_release", "publish_release"
    }  # fmt: skip


def test_a_token_that_may_not_write_changes_nothing(scene: Scene) -> None:
    tip = scene.remote.head("main")
    forge: Any = Failing(scene.forge, 2, done=False, error=PermissionDenied)
    with pytest.raises(PermissionDenied):
        archive(scene.work, forge)
    assert forge.called == "create_release"
    assert (scene.remote.head("main"), scene.forge.list_releases()) == (tip, [])


@pytest.mark.parametrize("hook", ["pre-receive", "update"])
def test_a_push_that_is_refused_is_made_up_for(scene: Scene, hook: str) -> None:
    wanted = undisturbed(scene)
    refuse = scene.remote.path / "hooks" / hook
    refuse.parent.mkdir(exist_ok=True)
    refuse.write_text("#!/bin/sh\necho the disk is full; exit 1\n")
    refuse.chmod(0o755)
    with pytest.raises(RemoteFailed, match="the disk is full"):
        archive(scene.work, scene.forge)
    scene.nothing_is_lost()
    assert blobs(scene.remote) == scene.before
    refuse.unlink()
    archive(scene.work, scene.forge)
    assert scene.end() == wanted


def test_main_that_moves_while_a_run_is_dead_ends_with_one_release(
    scene: Scene, dying: Callable[[int], str]
) -> None:
    """The release was public, the tree not pruned; then main moved."""
    archive(scene.work, scene.forge, "no-prune")
    scene.work.write("notes.txt", f"{FIRST}\n")
    scene.work.commit("moved")
    scene.work.git("push", "--quiet")
    assert dying(_MOST_ACTS) == "ended 0"
    scene.nothing_is_lost()
    assert scene.end()[2] == [False]
