"""Where archived snapshots are read from: this clone's objects, the forge, another's folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from archiving import FIRST, Place, archive, blobs, snapshot, snapshot_name
from commandline import Ran, memrepo
from memrepo.archive.status import look
from memrepo.archive.summary import headline, outcome_lines, render_summary
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.policy import Archive
from memrepo.runner.archivepage import overdue_words
from repositories import GitRepo

INDEX = ".memrepo/archive/index.jsonl"
TAG = "history-2026-W30"
OWN = "read from this clone's own objects"


class Filled(msgspec.Struct, frozen=True):
    """A place whose old snapshots were archived: what left, path to bytes."""

    place: Place
    gone: dict[str, bytes]

    def run(self, command: str, *args: str | Path) -> Ran:
        """``memrepo archive COMMAND`` in the clone, with its forge named."""
        forge = f"local:{self.place.forge.place}"
        return memrepo(self.place.work, f"archive {command}", *args, "--forge", forge)


@pytest.fixture
def own(tmp_path: Path) -> Filled:
    place = Place(tmp_path)
    data = {path: place.work.read(path) for path in blobs(place.work)}
    archive(place.work, place.forge)
    left = blobs(place.work)
    return Filled(place, {path: data[path] for path in data if path not in left})


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, path to bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def rows(repo: GitRepo) -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in repo.read(INDEX).splitlines()]


@pytest.fixture
def shallow(own: Filled, tmp_path: Path) -> GitRepo:
    """A clone that has the archived snapshots neither as files nor as objects."""
    remote = own.place.remote
    remote.git("clone", "-q", "--depth=1", f"file://{remote.path}", str(tmp_path / "shallow"))
    return GitRepo(tmp_path / "shallow")


def restore(repo: GitRepo, *args: str | Path) -> Ran:
    return memrepo(repo, "archive restore", *args)


# --- this clone's own objects


def test_without_its_forge_a_whole_clone_gives_everything(own: Filled, tmp_path: Path) -> None:
    shutil.rmtree(own.place.forge.place)
    ran = restore(own.place.work, "--all", "--to", tmp_path / "out")
    assert (ran.code, ran.out.strip().endswith(OWN)) == (0, True)
    assert files_below(tmp_path / "out") == own.gone
    some = restore(own.place.work, "--agent-id", "ada", "--branch", "back", "--json").json
    assert some["written"] == sum(path.endswith("-ada.json") for path in own.gone)
    assert (
        own.gone.items()
        >= {
            path: own.place.work.read(path, "back")
            for path in own.gone
            if path.endswith("-ada.json")
        }.items()
    )


def test_a_lost_forge_is_filled_again(own: Filled) -> None:
    shutil.rmtree(own.place.forge.place)
    work = own.place.work
    assert restore(work, "--all", "--commit").code == 0
    work.git("push", "--quiet", "origin", "main")
    again = archive(work, own.place.forge)
    assert (again.state, again.archived) == ("pruned", len(own.gone))
    assert not blobs(work).keys() & own.gone.keys()
    ran = own.run("restore", again.release_tag, "--to", work.path.parent / "out")
    assert ran.code == 0, ran
    assert files_below(work.path.parent / "out") == own.gone


def test_one_object_that_is_not_whole_sends_it_to_the_forge(own: Filled, tmp_path: Path) -> None:
    work = own.place.work
    path = min(own.gone)
    oid = work.git("rev-parse", f"HEAD~1:{path}")
    loose = work.path / ".git/objects" / oid[:2] / oid[2:]
    other = work.git("rev-parse", "HEAD~1:state/ada/tools.json")
    loose.unlink()
    shutil.copy(work.path / ".git/objects" / other[:2] / other[2:], loose)
    ran = restore(work, "--all", "--to", tmp_path / "out")
    assert (ran.code, OWN in ran.out) == (0, False), ran
    assert f"read from {own.place.forge.place}" in ran.out
    assert files_below(tmp_path / "out") == own.gone


def test_a_forge_that_is_named_is_used(own: Filled, tmp_path: Path) -> None:
    ran = own.run("restore", TAG, "--to", tmp_path / "out", "--json")
    assert ran.json["source"] == own.place.forge.place


# --- the folder of another clone


def test_another_clones_folder_is_found_by_the_index(
    own: Filled, shallow: GitRepo, tmp_path: Path
) -> None:
    place = own.place.forge.place
    said = f"read from {place}, where it was published, not {shallow.path}.forge"
    ran = memrepo(shallow, "archive verify", "--all", "--deep")
    assert (ran.code, ran.out.count("ok ")) == (0, len(rows(own.place.work))), ran
    assert ran.err.count(said) == 1
    ran = restore(shallow, "--all", "--to", tmp_path / "out")
    assert files_below(tmp_path / "out") == own.gone
    assert (said in ran.err, f"read from {place}" in ran.out) == (True, True)
    path = min(own.gone)
    assert memrepo(shallow, "archive show", path).out.encode() == own.gone[path]
    name = path.rpartition("/")[2]
    agent = name[16:].removesuffix(".json")
    assert memrepo(shallow, "show", "--agent-id", agent, "--commit", name).code == 0


def test_a_folder_that_is_named_is_the_only_one(own: Filled, shallow: GitRepo) -> None:
    other = f"{shallow.path}.other"
    ran = memrepo(shallow, "archive verify", "--forge", f"local:{other}")
    hint = (
        f"not found in {other}; it was published in {own.place.forge.place};"
        f" pass --forge local:{own.place.forge.place}"
    )
    assert (ran.code, hint in ran.out) == (1, True)
    ran = restore(shallow, "--all", "--commit", "--forge", f"local:{other}")
    assert (ran.code, hint in ran.err) == (4, True)


def test_a_folder_that_is_gone_says_where_it_was(own: Filled, shallow: GitRepo) -> None:
    shutil.rmtree(own.place.forge.place)
    ran = memrepo(shallow, "archive verify")
    assert ran.code == 1
    assert f"it was published in {own.place.forge.place}, which is gone;" in ran.out
    assert "pass --forge local:PATH, where it is now" in ran.out
    ran = own.run("verify")
    assert f"not found in {own.place.forge.place}, where it was published" in ran.out


# --- selections and words


def test_a_week_and_an_asset_are_selections(own: Filled, tmp_path: Path) -> None:
    first, second = (str(row["shard"]) for row in rows(own.place.work)[:2])
    week = restore(own.place.work, first, "--to", tmp_path / "week", "--json").json
    asset = restore(own.place.work, f"history-{second}.tar.gz", "--to", tmp_path / "a", "--json")
    counts = {str(row["shard"]): row["snapshots"] for row in rows(own.place.work)}
    assert (week["snapshots"], asset.json["snapshots"]) == (counts[first], counts[second])
    assert not files_below(tmp_path / "week").keys() & files_below(tmp_path / "a").keys()
    ran = restore(own.place.work, "2001-W01", "--to", tmp_path / "none")
    assert (ran.code, "neither a release nor a snapshot, week or file" in ran.err) == (2, True)


def test_a_week_means_all_its_parts(own: Filled, tmp_path: Path) -> None:
    work = own.place.work
    lines = rows(work)
    first = lines[0]
    week = str(first["shard"])
    first["shard"] = f"{week}.2"
    old = work.path / f".memrepo/archive/members/{first['tag']}/{week}.txt"
    old.rename(old.with_name(f"{week}.2.txt"))
    lines[1]["shard"], other = week, lines[1]["shard"]
    members = work.path / f".memrepo/archive/members/{first['tag']}/{other}.txt"
    members.rename(members.with_name(f"{week}.txt"))
    work.write(INDEX, b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    work.commit("two parts of one week")
    total = int(str(first["snapshots"])) + int(str(lines[1]["snapshots"]))
    both = memrepo(work, "archive restore", week, "--branch", "x", "--dry-run", "--json")
    one = memrepo(work, "archive restore", f"{week}.2", "--branch", "x", "--dry-run", "--json")
    assert (len(both.json), len(one.json)) == (total, first["snapshots"])


def test_since_and_until_are_from_and_to(own: Filled) -> None:
    def meant(*args: str) -> object:
        return restore(own.place.work, *args, "--branch", "x", "--dry-run", "--json").json

    new = meant("--since", "2026-03-09", "--until", "2026-03-31")
    assert new == meant("--from", "2026-03-09", "--to", "2026-03-31")
    assert new
    for twice in (("--since", "1d", "--from", "1d"), ("--until", "2w", "--to", "2026-01-01")):
        ran = restore(own.place.work, *twice, "--branch", "x", "--dry-run")
        assert (ran.code, "one thing" in ran.err) == (2, True)


def test_a_branch_that_is_made_is_said(own: Filled) -> None:
    work = own.place.work
    assert restore(work, "--all", "--commit").code == 0
    ran = restore(work, "--all", "--branch", "back")
    assert "nothing to do" not in ran.out
    assert ran.out.startswith(f"new branch back at {work.head('back')}: ")
    assert restore(work, "--all", "--commit").out.startswith("nothing to do")


@pytest.mark.parametrize("what", ["longer", "shorter", "gone"])
def test_an_asset_that_changed_is_no_upload_that_never_ended(what: str, own: Filled) -> None:
    name = str(rows(own.place.work)[0]["asset"])
    (path,) = Path(own.place.forge.place).glob(f"releases/*/assets/{name}")
    data = path.read_bytes()
    if what == "gone":
        path.unlink()
    else:
        path.write_bytes(data + b"x" if what == "longer" else data[:-1])
    ran = own.run("verify")
    assert ran.code == 1
    assert f"{name} is gone, or its size or hash differs from the index" in ran.out
    assert "never ended" not in ran.out


def test_what_was_never_archived_has_not_stopped(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ran = memrepo(place.work, "archive status")
    assert (ran.code, "the archive has never run:" in ran.out) == (1, True)
    assert "has stopped" not in ran.out
    with Repository.open(place.work.path) as git:
        words = overdue_words(look(git, place.work.head(), Archive()))
    assert words.endswith("It had never run.")
    archive(place.work, place.forge)
    place.work.write(snapshot_name(FIRST, "ada"), snapshot("ada", FIRST, "late"))
    place.work.commit("another one that is due")
    ran = memrepo(place.work, "archive status")
    assert (ran.code, "the archive has stopped:" in ran.out) == (1, True)


# --- which tree is judged


def test_a_clone_that_is_ahead_is_told_what_is_archived(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert "judged" not in memrepo(place.work, "archive status").err
    for number in range(2):
        place.work.write("note.txt", f"{number}")
        place.work.commit("ahead")
    forge = f"local:{place.forge.place}"
    ran = memrepo(place.work, "archive run", "--before", "2026-04-01", "--forge", forge)
    note = "main here is 2 commits ahead of origin/main"
    assert f"{note}, which is what is archived" in ran.err
    ran = memrepo(place.work, "archive status")
    assert "judged is main here, 2 commits ahead of and 1 commit behind origin/main" in ran.err
    place.work.git("pull", "--quiet", "--rebase")
    place.work.git("push", "--quiet")
    assert "judged" not in memrepo(place.work, "archive status").err
    ran = memrepo(place.work, "archive run", "--before", "2026-04-01", "--forge", forge)
    assert "ahead of" not in ran.err


# --- several releases


def test_an_outcome_of_several_releases_names_each_and_a_week_once(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert archive(place.work, place.forge, "no-prune", agents=("ada",)).state == "published"
    outcome = archive(place.work, place.forge)
    assert {one.tag for one in outcome.shards} == {TAG, f"{TAG}.2"}
    assert f"({TAG} and {TAG}.2)" in headline(outcome)
    lines = list(outcome_lines(outcome))
    weeks = [line.split()[0] for line in lines if line.startswith("  2026-W")]
    assert len(weeks) == len(set(weeks)) == 8
    assert "  2026-W10  2 snapshots, 504 bytes" in "\n".join(lines)
    assert sum(line.startswith("release: ") for line in lines) == 2
    assert f"memrepo archive restore {TAG} {TAG}.2 --to DIR" in render_summary(outcome)
