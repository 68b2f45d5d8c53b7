"""The way back from the archive: list, status, verify, restore and show, by the command line."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from archiving import Place, archive, blobs, snapshot, snapshot_name
from commandline import Ran, everything, memrepo_process
from memrepo.archive.status import look
from memrepo.forge.local import LocalForge
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.policy import Archive
from repositories import GitRepo, new_memory_repo

INDEX = ".memrepo/archive/index.jsonl"
TAG = "history-2026-W30"


class Filled(msgspec.Struct, frozen=True):
    """A place whose old snapshots were archived: what left, path to bytes, and where it lies."""

    place: Place
    gone: dict[str, bytes]

    def run(self, *args: str | Path, repo: GitRepo | None = None) -> Ran:
        """``memrepo archive ARGS`` with this place's forge where one is needed."""
        command, *rest = args
        where = ("--forge", f"local:{self.place.forge.place}")
        needs = where if command not in ("list", "status") else ()
        given = ("archive", command, "--repo-path", str((repo or self.place.work).path))
        return memrepo_process(self.place.work.path.parent, *map(str, (*given, *rest, *needs)))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """One that no test changes."""
    return filled(tmp_path_factory.mktemp("archived"))


@pytest.fixture
def own(tmp_path: Path) -> Filled:
    """One to change."""
    return filled(tmp_path)


def filled(folder: Path) -> Filled:
    place = Place(folder)
    before = blobs(place.work)
    data = {path: place.work.read(path) for path in before}
    archive(place.work, place.forge)
    left = blobs(place.work)
    return Filled(place, {path: data[path] for path in before if path not in left})


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, path to bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows(repo: GitRepo) -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in repo.read(INDEX).splitlines()]


# --- list


def test_list_says_what_the_index_says(shared: Filled) -> None:
    (release,) = shared.run("list", "--json").json
    lines = rows(shared.place.work)
    assert release["shards"] == lines
    assert (release["tag"], release["snapshots"]) == (TAG, len(shared.gone))
    assert release["size"] == sum(int(str(line["size"])) for line in lines)
    text = shared.run("list").out
    assert text.startswith(f"{TAG}  {len(shared.gone)} snapshots")
    assert all(str(line["asset"]) in text for line in lines)


def test_list_of_an_older_commit_and_of_none(shared: Filled) -> None:
    ran = shared.run("list", "--commit", "HEAD~1")
    assert (ran.code, ran.out, ran.err) == (0, "", "nothing is archived yet\n")


def test_a_broken_index_is_named_with_its_line(own: Filled) -> None:
    work = own.place.work
    work.write(INDEX, work.read(INDEX) + b"{}\n")
    work.commit("broken")
    ran = own.run("list")
    assert ran.code == 2
    assert f"{INDEX}, line {len(rows(work))}" in ran.err


# --- status


DAY = timedelta(days=1)
MOMENT = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ages", "due", "overdue"),
    [
        ((10, 20), 0, False),
        ((10, 90), 0, False),
        ((10, 91), 1, False),
        ((10, 104), 1, False),
        ((10, 105), 1, True),
        ((10, 95, 300), 2, True),
        ((300,), 0, False),  # the newest of its agent
    ],
)
def test_due_and_overdue_follow_the_policy(
    ages: tuple[int, ...], due: int, overdue: bool, tmp_path: Path
) -> None:
    repo = new_memory_repo(tmp_path / "memory", "ada")
    for age in ages:
        when = MOMENT - age * DAY
        repo.write(snapshot_name(when, "ada"), snapshot("ada", when))
    repo.commit("history")
    with Repository.open(repo.path) as git:
        found = look(git, repo.head(), Archive(), now=MOMENT)
    assert (found.due, found.overdue, found.snapshots) == (due, overdue, len(ages))
    assert (found.due_since is None) == (due == 0)


def test_status_exits_1_when_the_archive_has_stopped(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    repo = new_memory_repo(tmp_path / "memory", "ada")
    for age in (1, 200):
        repo.write(snapshot_name(now - age * DAY, "ada"), snapshot("ada", now - age * DAY))
    repo.commit("history")
    ran = memrepo_process(repo.path, "archive", "status")
    assert ran.code == 1
    assert "overdue: some are due for more than 14 days" in ran.out
    repo.write(".memrepo/policy.yml", "version: 1\narchive:\n  older_than_days: 365\n")
    repo.commit("policy")
    ran = memrepo_process(repo.path, "archive", "status", "--json")
    assert (ran.code, ran.json["due"], ran.json["overdue"]) == (0, 0, False)


def test_status_knows_the_last_archive(shared: Filled) -> None:
    with Repository.open(shared.place.work.path) as git:
        found = look(git, shared.place.work.head(), Archive())
    assert (found.last_tag, found.archived) == (TAG, len(shared.gone))
    assert found.archived_at is not None


def test_a_shallow_clone_does_not_guess_the_age(shared: Filled, tmp_path: Path) -> None:
    ran = shared.run("status", repo=shallow_clone(shared, tmp_path / "shallow"))
    assert "not known in a shallow clone" in ran.out


def shallow_clone(filled: Filled, folder: Path) -> GitRepo:
    """A clone in which what was archived is neither a file nor an object."""
    remote = filled.place.remote
    remote.git("clone", "-q", "--depth=1", f"file://{remote.path}", str(folder))
    return GitRepo(folder)


# --- verify


@pytest.mark.parametrize("deep", [(), ("--deep",)])
def test_all_is_well(deep: tuple[str, ...], shared: Filled) -> None:
    ran = shared.run("verify", TAG, *deep, "--json")
    assert ran.code == 0
    lines = rows(shared.place.work)
    assert [row["asset"] for row in ran.json] == [line["asset"] for line in lines]
    assert all(row["problems"] == [] and row["deep"] is bool(deep) for row in ran.json)
    assert shared.run("verify", "--all", *deep).out.count("ok ") == len(lines)


def assets(forge: LocalForge) -> Path:
    (folder,) = Path(forge.place, "releases").glob("*/assets")
    return folder


def first_asset(own: Filled) -> Path:
    return assets(own.place.forge) / str(rows(own.place.work)[0]["asset"])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_flipped_bit_is_found_by_a_deep_look(own: Filled) -> None:
    flip(first_asset(own))
    ran = own.run("verify", "--deep", "--json")
    assert ran.code == 1
    bad = [row for row in ran.json if row["problems"]]
    assert [row["asset"] for row in bad] == [first_asset(own).name]


@pytest.mark.parametrize("name", ["", "SHA256SUMS", "manifest.json"])
@pytest.mark.parametrize("what", ["gone", "cut"])
def test_a_file_of_the_release_that_is_gone_or_cut_is_found(
    name: str, what: str, own: Filled
) -> None:
    path = assets(own.place.forge) / name if name else first_asset(own)
    if what == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-10])
    ran = own.run("verify", "--all")
    assert ran.code == 1
    assert "wrong  " in ran.out


def test_no_release_at_all_is_found(own: Filled) -> None:
    ran = memrepo_process(
        own.place.work.path, "archive", "verify", "--forge", f"local:{own.place.work.path}.none"
    )
    assert ran.code == 1
    assert f"the release {TAG} is not there" in ran.out


def test_a_list_that_is_not_the_one_named_is_found(own: Filled) -> None:
    work = own.place.work
    (path,) = list((work.path / ".memrepo/archive/members").glob(f"*/{rows(work)[0]['shard']}.txt"))
    path.write_bytes(path.read_bytes() + b"x")
    work.commit("tampered")
    ran = own.run("verify")
    assert ran.code == 1
    assert "is not the file that the archive's index names" in ran.out


def test_a_tag_that_the_archive_does_not_know(shared: Filled) -> None:
    ran = shared.run("verify", "history-1999-W01")
    assert ran.code == 2
    assert "knows no release history-1999-W01" in ran.err
    assert shared.run("verify", TAG, "--all").code == 2


# --- restore into a folder


def test_everything_comes_back_byte_for_byte(shared: Filled, tmp_path: Path) -> None:
    ran = shared.run("restore", "--all", "--to", tmp_path / "out", "--json")
    assert files_below(tmp_path / "out") == shared.gone
    assert ran.json["snapshots"] == ran.json["written"] == len(shared.gone)
    again = shared.run("restore", TAG, "--to", tmp_path / "out", "--json")
    assert (again.code, again.json["written"]) == (0, 0)
    assert files_below(tmp_path / "out") == shared.gone


def test_one_agent_and_a_time(shared: Filled, tmp_path: Path) -> None:
    ran = shared.run(
        "restore", "--agent-id", "ada", "--from", "2026-03-09", "--to", "2026-03-31",
        "--to", tmp_path / "out",
    )  # fmt: skip
    assert ran.code == 0, ran
    wanted = {
        path: data
        for path, data in shared.gone.items()
        if "-ada.json" in path and "20260309" <= path.rpartition("/")[2][:8] < "20260331"
    }
    assert wanted
    assert files_below(tmp_path / "out") == wanted


def test_paths_and_names(shared: Filled, tmp_path: Path) -> None:
    one, *_, other = sorted(shared.gone)
    shared.run("restore", one, other.rpartition("/")[2], "--to", tmp_path / "out")
    assert files_below(tmp_path / "out") == {path: shared.gone[path] for path in (one, other)}


def test_a_dry_run_asks_no_forge(shared: Filled, tmp_path: Path) -> None:
    ran = memrepo_process(
        shared.place.work.path, "archive", "restore", "--all", "--to", str(tmp_path / "out"),
        "--dry-run", "--forge", "local:/nowhere",
    )  # fmt: skip
    assert (ran.code, ran.out.splitlines()) == (0, sorted(shared.gone))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "args",
    [
        ("--to", "out"),
        ("--all",),
        ("--all", TAG, "--to", "out"),
        ("--all", "--agent-id", "ada", "--to", "out"),
        ("--all", "--to", "out", "--commit"),
        ("--all", "--to", "out", "--to", "other"),
        ("history/20260301-000000-nobody.json", "--to", "out"),
        ("--all", "--branch", "-x"),
    ],
)
def test_a_wish_that_is_none_is_refused(args: tuple[str, ...], shared: Filled) -> None:
    ran = shared.run("restore", *args)
    assert ran.code == 2, ran
    assert not (shared.place.work.path.parent / "out").exists()


def test_something_else_in_the_place_stops_all_of_it(shared: Filled, tmp_path: Path) -> None:
    last = max(shared.gone)
    mine = tmp_path / "out" / last
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    ran = shared.run("restore", "--all", "--to", tmp_path / "out")
    assert ran.code == 3
    assert files_below(tmp_path / "out") == {last: b"mine"}


def test_no_link_is_followed(shared: Filled, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "history").symlink_to(tmp_path / "elsewhere")
    ran = shared.run("restore", "--all", "--to", tmp_path / "out")
    assert ran.code == 3
    assert files_below(tmp_path / "elsewhere") == {}
    (tmp_path / "out" / "history").unlink()
    flat = next(path for path in sorted(shared.gone) if path.count("/") == 1)
    (tmp_path / "out" / "history").mkdir()
    (tmp_path / "out" / flat).symlink_to(tmp_path / "elsewhere" / "target")
    assert shared.run("restore", flat, "--to", tmp_path / "out").code == 3
    assert files_below(tmp_path / "elsewhere") == {}


def test_a_damaged_shard_stops_all_of_it(own: Filled, tmp_path: Path) -> None:
    flip(assets(own.place.forge) / str(rows(own.place.work)[-1]["asset"]))
    ran = own.run("restore", "--all", "--to", tmp_path / "out")
    assert ran.code in (2, 4)
    assert not (tmp_path / "out").exists()


# --- restore into the repository


def test_commit_puts_them_back_where_they_were(own: Filled) -> None:
    work = own.place.work
    work.write("notes.txt", "mine, not staged")
    work.write("staged.txt", "mine, staged")
    work.git("add", "staged.txt")
    index = work.read(INDEX)
    ran = own.run("restore", "--all", "--commit", "--json")
    assert ran.json["commit"] == work.head()
    assert {path: work.read(path) for path in own.gone} == own.gone
    assert work.read(INDEX) == index
    assert work.git("status", "--porcelain") == "A  staged.txt\n?? notes.txt"
    assert work.git("log", "-1", "--format=%(trailers:key=Restored-From,valueonly)").strip() == TAG
    before = everything(work)
    again = own.run("restore", "--all", "--commit")
    assert (again.code, everything(work)) == (0, before)
    assert again.out.startswith("nothing to do")
    assert work.git("fsck", "--strict", "--no-dangling") == ""


def test_a_branch_is_made_and_nothing_else_moves(own: Filled) -> None:
    work = own.place.work
    before = everything(work)
    ran = own.run("restore", "--agent-id", "bob", "--branch", "back")
    assert ran.code == 0
    bob = {path: data for path, data in own.gone.items() if path.endswith("-bob.json")}
    assert {path: work.read(path, "back") for path in bob} == bob
    assert work.git("diff", "--name-only", "HEAD", "back").split() == sorted(bob)
    refs = work.git("for-each-ref", "--format=%(refname)", "refs/heads").split()
    assert (work.head(), refs) == (work.head("main"), ["refs/heads/back", "refs/heads/main"])
    assert everything(work)[2:] == before[2:]
    again = own.run("restore", "--all", "--branch", "back")
    assert again.code == 2
    assert "the branch back exists" in again.err


def test_another_content_at_a_path_is_for_a_person(own: Filled) -> None:
    work = own.place.work
    work.write(min(own.gone), "something else")
    work.commit("in the way")
    before = everything(work)
    ran = own.run("restore", "--all", "--commit")
    assert ran.code == 3
    assert everything(work) == before


def test_what_a_person_left_in_the_worktree_stays(own: Filled) -> None:
    work = own.place.work
    work.write(min(own.gone), "mine")
    ran = own.run("restore", "--all", "--commit")
    assert ran.code == 0
    assert work.read(min(own.gone)) == own.gone[min(own.gone)]
    assert (work.path / min(own.gone)).read_text() == "mine"


# --- show


def test_show_prints_the_bytes(shared: Filled, tmp_path: Path) -> None:
    path, data = min(shared.gone.items())
    shallow = shallow_clone(shared, tmp_path / "shallow")
    for repo in (shared.place.work, shallow):
        assert shared.run("show", path, repo=repo).out.encode() == data
    gone = shared.run("show", "20260301-000000-ada.json")
    assert (gone.code, gone.out) == (2, "")


def test_a_forge_without_the_release_is_said_in_words(shared: Filled, tmp_path: Path) -> None:
    shallow = shallow_clone(shared, tmp_path / "shallow")
    name = min(shared.gone)
    ran = memrepo_process(shallow.path, "archive", "show", name, "--forge", "local:none")
    assert ran.code == 4
    assert f"there is no release {TAG}" in ran.err
    agent = name.rpartition("-")[2].removesuffix(".json")
    ran = memrepo_process(
        shallow.path, "show", "--agent-id", agent, "--commit", name, "--forge", "local:none"
    )
    assert ran.code == 4
    assert f"{name} is archived in release {TAG}" in ran.err


def test_killed_at_any_time_it_can_run_again(shared: Filled, tmp_path: Path) -> None:
    out = tmp_path / "out"
    forge = f"local:{shared.place.forge.place}"
    command = [sys.executable, "-m", "memrepo", "archive", "restore", "--all", "--to", str(out)]
    for hundredths in range(10, 60, 5):
        process = subprocess.Popen(
            [*command, "--forge", forge], cwd=shared.place.work.path, stdout=subprocess.DEVNULL
        )
        try:
            process.wait(hundredths / 100)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        hidden = {p: d for p, d in files_below(out).items() if not p.startswith(".memrepo-")}
        assert hidden in ({}, shared.gone)
    assert shared.run("restore", "--all", "--to", out).code == 0
    assert files_below(out) == shared.gone
