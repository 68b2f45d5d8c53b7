"""The faults of ``find | xargs tar`` (tests/data/naive-archive.sh): there each, here none.

Every check is held against both: it must fail on the script and pass on ``archive run``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from archiving import (
    BEFORE,
    FIRST,
    Place,
    blob_id,
    blobs,
    due,
    in_releases,
    snapshot,
    snapshot_name,
)
from commandline import memrepo_process
from memrepo.protocol.timestamps import iso
from repositories import GitRepo

SCRIPT = Path(__file__).parents[2] / "data" / "naive-archive.sh"
LINK = "(a link)"


class Side(ABC):
    """One of the two at work in a clone of its own; how it ended, and what is where."""

    options: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = Place(folder)
        self.work = self.place.work
        self.code = 0
        self.before = self.tree()

    def tree(self) -> dict[str, str]:
        """Where memory is kept when the job is done: path to blob id."""
        return blobs(self.place.remote)

    @abstractmethod
    def run(self, limit_kb: int = 0, path: str = "", clone: GitRepo | None = None) -> None:
        """Run the job, perhaps with a limit on the size of files, or with other programs."""

    @abstractmethod
    def archived(self) -> dict[str, str]:
        """What is in the archive: path to blob id."""

    @abstractmethod
    def assets(self) -> list[Path]:
        """The archive's files."""

    @abstractmethod
    def block(self) -> None:
        """Let the upload fail."""

    def commit(self, text: str = "more") -> None:
        """Commit the worktree and push it."""
        self.work.commit(text)
        self.work.git("push", "--quiet")
        self.before |= blobs(self.work, "HEAD")

    def lost(self) -> set[str]:
        """What is neither in the tree nor in the archive."""
        safe = self.tree(), self.archived()
        return {p for p, blob in self.before.items() if all(s.get(p) != blob for s in safe)}


class Naive(Side):
    """The script. Its tree is the worktree, where it removes what it never commits."""

    def __init__(self, folder: Path) -> None:
        self.releases = folder / "releases"
        super().__init__(folder)
        self.releases.mkdir()
        self.age()

    def age(self) -> None:
        """Give old files an old time, as on the machine where the script was tried."""
        for path in (self.work.path / "history").rglob("*.json"):
            if path.name[:15] < f"{BEFORE:%Y%m%d-%H%M%S}":
                os.utime(path, (0, 0), follow_symlinks=False)

    def tree(self) -> dict[str, str]:
        root = self.work.path
        return {
            path.relative_to(root).as_posix(): blob_id(path.read_bytes())
            for path in (root / "history").rglob("*")
            if path.is_file() and not path.is_symlink()
        }

    def run(self, limit_kb: int = 0, path: str = "", clone: GitRepo | None = None) -> None:
        command = ["bash", str(SCRIPT), str((clone or self.work).path), str(self.releases)]
        if limit_kb:
            command = ["bash", "-c", f'ulimit -f {limit_kb}; exec "$@"', "-", *command]
        env = {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run([*command, *self.options], env=env, capture_output=True)
        self.code = done.returncode

    def archived(self) -> dict[str, str]:
        found = {}
        for file in self.assets():
            # What was cut holds what can still be read of it.
            with suppress(EOFError, tarfile.ReadError), tarfile.open(file) as tar:
                for member in tar:
                    data = tar.extractfile(member) if member.isreg() else None
                    found[member.name] = blob_id(data.read()) if data else LINK
        return found

    def assets(self) -> list[Path]:
        return sorted(self.releases.glob("*.tar.gz"))

    def block(self) -> None:
        self.releases.rmdir()


class Ours(Side):
    """``archive run``, as a process."""

    def run(self, limit_kb: int = 0, path: str = "", clone: GitRepo | None = None) -> None:
        forge = f"local:{self.folder / 'forge'}"
        command = [sys.executable, "-m", "memrepo", "archive", "run", "--before", iso(BEFORE)]
        if limit_kb:
            command = ["bash", "-c", f'ulimit -f {limit_kb}; exec "$@"', "-", *command]
        env = {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
        cwd = (clone or self.work).path
        command += ["--forge", forge]
        self.code = subprocess.run(command, cwd=cwd, env=env, capture_output=True).returncode

    def archived(self) -> dict[str, str]:
        return in_releases(self.place.forge)

    def assets(self) -> list[Path]:
        return sorted((self.folder / "forge" / "releases").rglob("*.tar.gz"))

    def block(self) -> None:
        (self.folder / "forge").mkdir()
        (self.folder / "forge" / "releases").write_text("in the way\n")


Check = Callable[[Side], None]


def fresh_clone(side: Side, *options: str) -> GitRepo:
    """A clone as actions/checkout makes it, every file of which is new."""
    url = f"file://{side.place.remote.path}"
    side.place.remote.git("clone", "--quiet", *options, url, str(side.folder / "fresh"))
    return GitRepo(side.folder / "fresh")


def shims(side: Side, name: str, text: str) -> str:
    """A folder for PATH with a program that takes another's place."""
    folder = side.folder / "programs"
    folder.mkdir()
    (folder / name).write_text(f"#!/bin/bash\n{text}\n")
    (folder / name).chmod(0o755)
    return str(folder)


def a_fresh_checkout_has_new_times(side: Side) -> None:
    side.run(clone=fresh_clone(side))
    assert side.archived() == due(side.before)


def thousands_of_names_are_one_archive(side: Side) -> None:
    for number in range(4_000):
        when = FIRST + timedelta(seconds=number)
        side.work.write(snapshot_name(when, "many"), f"{number}\n")
    side.commit()
    if isinstance(side, Naive):
        side.age()
    side.run()
    assert side.lost() == set()
    assert len(side.archived()) > 3_900


def what_becomes_old_meanwhile_is_not_lost(side: Side) -> None:
    """One more old file comes up behind the first look at the tree."""
    late = snapshot_name(FIRST, "late")
    side.work.write("late.json", snapshot("late", FIRST))
    side.commit()
    real = "/usr/bin/tar" if isinstance(side, Naive) else "/usr/bin/git"
    work = side.work.path
    if isinstance(side, Naive):
        program, extra = (
            "tar",
            f'cp "{work}/late.json" "{work}/{late}"; touch -d @0 "{work}/{late}"',
        )
    else:
        rival = fresh_clone(side)
        program = "git"
        extra = (
            f'[[ $* == *ls-tree* && ! -e "{side.folder}/once" ]] && touch "{side.folder}/once" &&'
            f' cd "{rival.path}" && cp late.json "{late}" && {real} add . &&'
            f" {real} commit -q -m late && {real} push -q"
        )
    side.before[late] = blob_id(snapshot("late", FIRST))
    side.run(path=shims(side, program, f'{real} "$@"; code=$?; {{ {extra}; }} >&2; exit $code'))
    assert side.code == 0
    assert side.lost() == set()


def a_full_disk_removes_nothing(side: Side) -> None:
    side.work.write(snapshot_name(FIRST, "large"), os.urandom(200_000).hex())
    side.work.write(snapshot_name(FIRST + timedelta(days=200), "large"), "{}\n")
    side.commit()
    if isinstance(side, Naive):
        side.age()
    side.run(limit_kb=64)
    assert side.lost() == set()


def a_tree_that_cannot_be_read_stops_the_job(side: Side) -> None:
    if isinstance(side, Naive):
        cannot = 'set -- "$@" -not -path "*ada*"; /usr/bin/find "$@"; echo "I/O error" >&2; exit 1'
        side.run(path=shims(side, "find", cannot))
    else:
        remote = side.place.remote
        tree = remote.git("rev-parse", "main:history/2026")
        side.before = {}
        fresh = fresh_clone(side, "--bare")
        for pack in (fresh.path / "objects/pack").glob("*.pack"):
            data = pack.read_bytes()
            pack.unlink()
            unpacked = ["git", "unpack-objects", "-q"]
            subprocess.run(unpacked, cwd=fresh.path, input=data, check=True)
        (fresh.path / "objects" / tree[:2] / tree[2:]).unlink()
        side.run(clone=fresh)
    assert side.code != 0
    assert side.archived() == {}


def what_was_removed_is_removed_for_everybody(side: Side) -> None:
    side.run()
    assert not due(blobs(side.place.remote))


def what_others_pushed_meanwhile_stays(side: Side) -> None:
    side.options = ("--push",)
    rival = fresh_clone(side)
    new = snapshot_name(BEFORE + timedelta(days=60), "rival")
    rival.write(new, snapshot("rival", BEFORE))
    rival.commit("rival")
    rival.git("push", "--quiet")
    side.run()
    assert new in blobs(side.place.remote)
    assert not due(blobs(side.place.remote))


def the_same_history_gives_the_same_bytes(side: Side) -> None:
    other = type(side)(side.folder / "other")
    if isinstance(other, Naive):
        for path in (other.work.path / "history").rglob("*.json"):
            if path.stat().st_mtime == 0:
                os.utime(path, (1_000_000, 1_000_000))
    side.run()
    other.run()
    made = [[path.read_bytes() for path in one.assets()] for one in (side, other)]
    assert made[0]
    assert made[0] == made[1]


def an_upload_that_fails_removes_nothing(side: Side) -> None:
    side.block()
    side.run()
    assert side.tree() == side.before
    assert side.code != 0


def a_second_run_on_one_day_replaces_nothing(side: Side) -> None:
    side.run()
    side.work.git("checkout", "--quiet", ".")
    side.work.git("pull", "--quiet", "--rebase")
    for path in due(side.before):
        (side.work.path / path).unlink(missing_ok=True)
    more = snapshot_name(FIRST + timedelta(hours=1), "ada")
    side.work.write(more, snapshot("ada", FIRST, "more"))
    side.commit()
    if isinstance(side, Naive):
        side.age()
    side.run()
    assert side.archived().keys() == due(side.before).keys()


def a_link_is_not_archived(side: Side) -> None:
    link = snapshot_name(FIRST, "link")
    (side.work.path / link).symlink_to("../../etc/passwd")
    side.commit()
    side.before.pop(link)
    if isinstance(side, Naive):
        side.age()
    side.run()
    assert side.archived() == due(side.before)


def a_checkout_without_history_knows_the_age_all_the_same(side: Side) -> None:
    """The one commit that a shallow checkout has is old here, and so is every file then."""
    side.options = ("--git-dates", "--push")
    old = "2020-01-01T00:00:00Z"
    subprocess.run(
        ["git", "commit", "--quiet", "--amend", "--no-edit", "--date", old],
        cwd=side.work.path,
        env={**os.environ, "GIT_COMMITTER_DATE": old},
        check=True,
    )
    side.work.git("push", "--quiet", "--force")
    side.run(clone=fresh_clone(side, "--depth=1"))
    assert side.archived() == due(side.before)


def there_is_a_manifest_and_a_way_back(side: Side) -> None:
    side.run()
    manifests = [
        path for path in side.folder.rglob("manifest.json") if "restored" not in path.parts
    ]
    assert len(manifests) == 1
    listed = {
        row[0]: row[1]
        for shard in msgspec.json.decode(manifests[0].read_bytes())["shards"]
        for row in (tuple(one.values()) for one in shard["snapshots"])
    }
    assert listed == due(side.before)
    restored = side.folder / "restored"
    done = memrepo_process(
        side.work.path, "archive", "restore", "--all", "--to", str(restored),
        "--forge", f"local:{side.folder / 'forge'}",
    )  # fmt: skip
    assert done.code == 0, done
    found = {
        path.relative_to(restored).as_posix(): blob_id(path.read_bytes())
        for path in restored.rglob("*")
        if path.is_file()
    }
    assert found == due(side.before)


CHECKS: tuple[Check, ...] = (
    a_fresh_checkout_has_new_times,
    thousands_of_names_are_one_archive,
    what_becomes_old_meanwhile_is_not_lost,
    a_full_disk_removes_nothing,
    a_tree_that_cannot_be_read_stops_the_job,
    what_was_removed_is_removed_for_everybody,
    what_others_pushed_meanwhile_stays,
    the_same_history_gives_the_same_bytes,
    an_upload_that_fails_removes_nothing,
    a_second_run_on_one_day_replaces_nothing,
    a_link_is_not_archived,
    a_checkout_without_history_knows_the_age_all_the_same,
    there_is_a_manifest_and_a_way_back,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_archive_has_none_of_the_faults(tmp_path: Path, check: Check) -> None:
    check(Ours(tmp_path))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_script_has_each_of_them(tmp_path: Path, check: Check) -> None:
    with pytest.raises(AssertionError):
        check(Naive(tmp_path))
