"""The phases one by one, on the command line: plan, pack, publish, a job a shard, prune."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from archiving import BEFORE, Place, blobs, due, in_releases
from commandline import Ran, memrepo, memrepo_process
from memrepo.protocol.timestamps import iso

OLD = 16


class Desk:
    """A place, and its command line."""

    def __init__(self, folder: Path) -> None:
        self.place = Place(folder)
        self.folder = folder
        self.forge = f"local:{folder / 'forge'}"

    def run(self, *args: str | Path) -> Ran:
        """One ``memrepo archive`` command."""
        return memrepo(self.place.work, "archive", *args, "--forge", self.forge)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = Desk(tmp_path)
    # ``memrepo`` puts the path behind the first word, which is the group's here.
    monkeypatch.chdir(made.place.work.path)
    return made


def archive_cli(desk: Desk, *args: str | Path) -> Ran:
    words = [str(arg) for arg in args]
    return memrepo_process(desk.place.work.path, "archive", *words, "--forge", desk.forge)


AGE = ("--before", iso(BEFORE))


def test_a_summary_that_cannot_be_written_is_found_out_first(desk: Desk) -> None:
    before = blobs(desk.place.remote)
    done = archive_cli(desk, "run", *AGE, "--summary", desk.folder)
    assert (done.code, done.out) == (2, "")
    assert "it is a folder" in done.err
    assert blobs(desk.place.remote) == before


def test_run_answers_in_json_and_in_words(desk: Desk) -> None:
    done = archive_cli(desk, "run", *AGE, "--json", "--summary", desk.folder / "summary.md")
    assert done.code == 0
    assert (done.json["state"], done.json["archived"]) == ("pruned", OLD)
    assert done.json["shards"][0].keys() == {
        "shard", "tag", "asset", "url", "snapshots", "bytes", "size", "sha256", "tar_sha256"
    }  # fmt: skip
    assert "history-2026-W10.tar.gz" in (desk.folder / "summary.md").read_text()
    again = archive_cli(desk, "run", *AGE)
    assert (again.code, again.out.splitlines()[0]) == (
        0,
        f"Archive: nothing to do, no snapshot from before {iso(BEFORE)} is due",
    )


def test_phase_by_phase_comes_to_the_same_end(desk: Desk) -> None:
    before = blobs(desk.place.remote)
    plan = archive_cli(desk, "plan", *AGE)
    assert plan.out.splitlines()[0].startswith("2026-W10  2 snapshots")
    out = desk.folder / "out"
    packed = archive_cli(desk, "pack", *AGE, "--out", out)
    assert packed.code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "SHA256SUMS", *(f"history-2026-W{week}.tar.gz" for week in range(10, 18)), "manifest.json"
    ]  # fmt: skip
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=out, check=True)
    assert blobs(desk.place.remote) == before
    first = archive_cli(desk, "publish", "--from", out, "--json")
    assert first.json["snapshots"] == OLD
    # Done again, it finds its release.
    assert archive_cli(desk, "publish", "--from", out, "--json").json == first.json
    assert blobs(desk.place.remote) == before
    assert "16 snapshots moved" in archive_cli(desk, "prune").out
    assert not due(blobs(desk.place.remote))
    assert in_releases(desk.place.forge) == due(before)
    assert len(desk.place.forge.list_releases()) == 1


def test_a_packed_folder_that_was_damaged_is_not_published(desk: Desk) -> None:
    out = desk.folder / "out"
    archive_cli(desk, "pack", *AGE, "--out", out)
    shard = out / "history-2026-W12.tar.gz"
    data = shard.read_bytes()
    for bad in (data[:-9], data[:40] + b"\0" + data[41:], b""):
        shard.write_bytes(bad)
        done = archive_cli(desk, "publish", "--from", out)
        assert done.code == 2, done
    shard.unlink()
    assert archive_cli(desk, "publish", "--from", out).code == 2
    assert archive_cli(desk, "publish", "--from", desk.folder / "none").code == 2
    assert [one for one in desk.place.forge.list_releases() if not one.draft] == []
    shard.write_bytes(data)
    assert archive_cli(desk, "publish", "--from", out).code == 0
    assert [one.draft for one in desk.place.forge.list_releases()] == [False]


def test_a_job_a_shard_side_by_side_and_one_prune(desk: Desk) -> None:
    before = blobs(desk.place.remote)
    planned = archive_cli(desk, "plan", *AGE, "--json")
    plan = desk.folder / "plan.json"
    plan.write_text(planned.out)
    shards = [row["shard"] for row in planned.json["matrix"]]
    assert len(shards) == 8

    def job(shard: str) -> Ran:
        return archive_cli(desk, "pack-publish", "--plan", plan, "--shard", shard, "--json")

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(job, [*shards, shards[0]]))
    assert [one.code for one in done] == [0] * 9
    assert {one.json["tag"] for one in done} == {row["tag"] for row in planned.json["matrix"]}
    # A job that is run again finds its release.
    assert job(shards[3]).json == done[3].json
    releases = desk.place.forge.list_releases()
    assert sum(not one.draft for one in releases) == 8
    pruned = archive_cli(desk, "prune", "--json")
    assert (pruned.json["archived"], len(pruned.json["shards"])) == (OLD, 8)
    assert in_releases(desk.place.forge) == due(before)
    assert not due(blobs(desk.place.remote))
    assert archive_cli(desk, "plan", *AGE, "--json").json["matrix"] == []


def test_a_plan_that_was_tampered_with_is_refused(desk: Desk) -> None:
    plan = desk.folder / "plan.json"
    good = archive_cli(desk, "plan", *AGE, "--json")
    hurt = {
        "another path": good.out.replace("history/20260302-093000-ada.json", "state/ada/x.json"),
        "another blob": good.out.replace(
            blobs(desk.place.remote)["history/20260302-093000-ada.json"], "0" * 40
        ),
        "no JSON": "[",
        "another shape": "{}",
    }
    for what, text in hurt.items():
        assert text != good.out
        plan.write_text(text)
        done = archive_cli(desk, "pack-publish", "--plan", plan, "--shard", "2026-W10")
        assert done.code == 2, (what, done)
    plan.write_text(good.out)
    done = archive_cli(desk, "pack-publish", "--plan", plan, "--shard", "2026-W99")
    assert (done.code, "no shard" in done.err) == (2, True)
    assert desk.place.forge.list_releases() == []


def test_a_plan_of_a_commit_that_this_clone_lacks(desk: Desk) -> None:
    planned = archive_cli(desk, "plan", *AGE, "--json")
    plan = desk.folder / "plan.json"
    data = msgspec.json.decode(planned.out)
    plan.write_text(planned.out)
    desk.place.remote.git(
        "clone", "--quiet", "--depth=1", f"file://{desk.place.remote.path}", str(desk.folder / "ci")
    )
    assert data["plan"]["commit"] == desk.place.remote.head("main")
    done = memrepo_process(
        desk.folder / "ci",
        "archive",
        "pack",
        "--plan",
        str(plan),
        "--out",
        str(desk.folder / "out"),
    )
    assert done.code == 0


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("run", "--push", "--pr"), "three ways to end"),
        (("run", "--older-than", "90"), "is no age"),
        (("run", "--older-than", "90d", "--before", "2026-01-01"), "name one of them"),
        (("run", "--before", "yesterday"), "is no ISO 8601 time"),
        (("run", "--tag-prefix", "../x"), "cannot begin"),
        (("run", "--agent-id", "../x"), "agent"),
        (("run", "--branch", "-x"), "branch"),
        (("pack", "--plan", "none.json", "--out", "x"), "cannot read none.json"),
    ],
)
def test_wrong_use_is_one_line(desk: Desk, args: tuple[str, ...], words: str) -> None:
    done = archive_cli(desk, *args)
    assert done.code == 2
    assert words in done.err
    assert desk.place.forge.list_releases() == []
