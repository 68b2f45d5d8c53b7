"""``archive run`` on real repositories: what leaves the tree, what stays, what is published."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from archiving import (
    BEFORE,
    FIRST,
    NOW,
    Place,
    archive,
    blobs,
    due,
    fill,
    forge_at,
    in_releases,
    new_remote,
    prune,
    snapshot,
    snapshot_name,
)
from memrepo.archive.summary import outcome_lines, render_summary
from memrepo.errors import BadInput, NeedsPerson, UnknownRevision, UsageError
from repositories import GitRepo, new_memory_repo, new_repo

OLD = 16
INDEX = ".memrepo/archive/index.jsonl"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def index_of(repo: GitRepo, rev: str = "main") -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in repo.read(INDEX, rev).splitlines()]


# --- the branch itself


def test_what_is_old_moves_from_the_tree_into_a_release(place: Place) -> None:
    before = blobs(place.remote)
    done = archive(place.work, place.forge)
    after = blobs(place.remote)
    gone = {path: blob for path, blob in before.items() if path not in after}
    assert gone == due(before)
    assert len(gone) == OLD
    assert in_releases(place.forge) == gone
    assert (done.state, done.archived, done.release_tag) == ("pruned", OLD, "history-2026-W30")
    assert done.pruned_commit == place.remote.head("main")
    assert (done.sizes_before.snapshots, done.sizes_after.snapshots) == (20, 4)
    # The clone follows, worktree and all.
    assert place.work.head() == done.pruned_commit
    assert place.work.git("status", "--porcelain") == ""


def test_the_commit_holds_the_removals_and_the_index_and_says_so(place: Place) -> None:
    archive(place.work, place.forge)
    changed = place.remote.git("diff", "--name-status", "main~1", "main").splitlines()
    assert {line.split("\t")[0] for line in changed} == {"A", "D"}
    added = [line.split("\t")[1] for line in changed if line.startswith("A")]
    assert all(path.startswith(".memrepo/archive/") for path in added)
    assert [line["shard"] for line in index_of(place.remote)] == [
        f"2026-W{week}" for week in range(10, 18)
    ]
    assert {line["tag"] for line in index_of(place.remote)} == {"history-2026-W30"}
    message = place.remote.git("log", "-1", "--format=%s%n%an%n%(trailers:only)", "main")
    assert message.splitlines()[:3] == [
        "memrepo: archive 16 snapshots to history-2026-W30",
        "Test Person",
        "Archive-Release: history-2026-W30",
    ]
    place.remote.git("fsck", "--strict")


def test_a_second_run_does_nothing(place: Place) -> None:
    archive(place.work, place.forge)
    tip = place.remote.head("main")
    again = archive(place.work, place.forge)
    assert (again.state, again.archived, again.shards) == ("nothing", 0, ())
    assert place.remote.head("main") == tip
    assert len(place.forge.list_releases()) == 1


def test_ten_missed_weeks_are_caught_up_in_one_run_a_shard_each(place: Place) -> None:
    archive(place.work, place.forge, before=FIRST + timedelta(weeks=1))
    done = archive(place.work, place.forge, now=NOW + timedelta(weeks=1))
    assert [one.shard for one in done.shards] == [f"2026-W{week}" for week in range(11, 18)]
    assert done.release_tag == "history-2026-W31"
    assert len(place.forge.list_releases()) == 2


def test_two_runs_in_one_week_have_a_release_each(place: Place) -> None:
    first = archive(place.work, place.forge, before=FIRST + timedelta(weeks=2))
    second = archive(place.work, place.forge)
    assert (first.release_tag, second.release_tag) == ("history-2026-W30", "history-2026-W30.2")
    assert len(in_releases(place.forge)) == OLD


def test_the_newest_snapshot_of_each_agent_stays_whatever_its_age(place: Place) -> None:
    done = archive(place.work, place.forge, before=NOW)
    left = [path for path in blobs(place.remote) if path.endswith(".json")]
    last = FIRST + timedelta(weeks=9)
    assert sorted(left) == [
        snapshot_name(last + timedelta(minutes=1), "bob", daily=True),
        snapshot_name(last, "ada"),
    ]
    assert (done.archived, done.kept) == (18, 2)


def test_one_agent_alone(place: Place) -> None:
    done = archive(place.work, place.forge, agents=("bob",))
    assert done.archived == OLD // 2
    assert all("-bob.json" in path for path in in_releases(place.forge))
    with pytest.raises(UnknownRevision, match="no agent boob"):
        archive(place.work, place.forge, agents=("boob",))


def test_an_age_and_the_policy_decide_where_no_time_is_given(place: Place) -> None:
    place.work.write(".memrepo/policy.yml", "version: 1\narchive:\n  older_than_days: 120\n")
    place.work.commit("policy")
    place.work.git("push", "--quiet")
    done = archive(place.work, place.forge, before=None)
    assert done.before == "2026-03-24T02:00:00Z"
    assert [one.shard for one in done.shards] == [f"2026-W{week}" for week in (10, 11, 12, 13)]
    done = archive(place.work, place.forge, before=None, older_than=timedelta(days=90))
    assert done.before == "2026-04-23T02:00:00Z"


def test_what_is_no_snapshot_stays(place: Place) -> None:
    old = snapshot_name(FIRST, "link")
    place.work.write("history/notes.txt", "mine\n")
    place.work.write("history/20260302-093000-ada.JSON", "{}\n")
    place.work.write("history/20269999-093000-ada.json", "{}\n")
    (place.work.path / old).symlink_to("../../../etc/passwd")
    place.work.commit("odd ones")
    place.work.git("push", "--quiet")
    before = blobs(place.remote)
    archive(place.work, place.forge)
    assert blobs(place.remote).keys() == before.keys() - due(before).keys() | {old}
    assert old not in in_releases(place.forge)


def test_commits_that_were_not_pushed_stay_as_they_are(place: Place) -> None:
    place.work.write("notes.txt", "mine\n")
    mine = place.work.commit("mine")
    done = archive(place.work, place.forge)
    assert done.state == "pruned"
    assert place.work.head() == mine
    place.work.git("pull", "--quiet", "--rebase")
    assert place.work.git("status", "--porcelain") == ""


def test_a_changed_worktree_is_left_alone(place: Place) -> None:
    path = snapshot_name(FIRST, "ada")
    place.work.write(path, "a person's edit\n")
    head = place.work.head()
    done = archive(place.work, place.forge)
    assert path not in blobs(place.remote)
    assert (place.work.path / path).read_text() == "a person's edit\n"
    assert place.work.head() == head != done.pruned_commit


# --- by pull request


def test_a_pull_request_holds_the_commit_and_the_summary(place: Place) -> None:
    tip = place.remote.head("main")
    done = archive(place.work, place.forge, "pr")
    assert (done.state, done.pull_request) == ("proposed", 1)
    assert place.remote.head("main") == tip == place.work.head()
    branch = "memory/archive/history-2026-W30"
    assert place.remote.head(branch) == done.pruned_commit
    assert not due(blobs(place.remote, branch))
    pull = place.forge.get_pull_request(1)
    assert (pull.head_ref, pull.base_ref) == (branch, "main")
    assert "memrepo archive restore history-2026-W30" in pull.body
    assert pull.title.startswith("Archive: 16 snapshots")


def test_a_pull_request_that_waits_is_brought_up_to_date_and_its_merge_ends_it(
    place: Place,
) -> None:
    first = archive(place.work, place.forge, "pr", before=FIRST + timedelta(weeks=2))
    assert archive(
        place.work, place.forge, "pr", before=FIRST + timedelta(weeks=2)
    ).pruned_commit == first.pruned_commit  # fmt: skip
    later = NOW - timedelta(days=1)
    place.work.write(snapshot_name(later, "ada"), snapshot("ada", later))
    place.work.commit("ada: more")
    place.work.git("push", "--quiet")
    done = archive(place.work, place.forge, "pr", now=NOW + timedelta(weeks=1))
    assert (done.pull_request, done.archived) == (1, OLD)
    assert len(place.forge.list_releases()) == 2
    branch = "memory/archive/history-2026-W30"
    assert snapshot_name(later, "ada") in blobs(place.remote, branch)
    assert not due(blobs(place.remote, branch))
    place.remote.git("merge-base", "--is-ancestor", first.pruned_commit, branch)
    place.remote.git("merge-base", "--is-ancestor", "main", branch)
    assert place.remote.git("diff", "--name-only", "--diff-filter=D", f"main...{branch}").count(
        ".json"
    ) == OLD  # fmt: skip
    place.remote.git("update-ref", "refs/heads/main", place.remote.head(branch))
    assert archive(place.work, place.forge, "pr").state == "nothing"
    assert len(index_of(place.remote)) == 8


def test_a_person_on_the_pull_requests_branch_is_not_overruled(
    place: Place, tmp_path: Path
) -> None:
    archive(place.work, place.forge, "pr", before=FIRST + timedelta(weeks=2))
    branch = "memory/archive/history-2026-W30"
    place.remote.git("clone", "--quiet", "--branch", branch, ".", str(tmp_path / "person"))
    person = GitRepo(tmp_path / "person")
    person.write("notes.txt", "keep that one\n")
    person.commit("a word")
    person.git("push", "--quiet")
    with pytest.raises(NeedsPerson, match="somebody committed"):
        archive(place.work, place.forge, "pr")
    assert place.remote.head(branch) == person.head()


def test_a_forks_branch_of_that_name_is_not_ours(place: Place) -> None:
    place.forge.open_pull_request(title="x", body="", head_ref="memory/archives", base_ref="main")
    assert archive(place.work, place.forge, "pr").pull_request == 2


# --- in steps


def test_nothing_is_pruned_when_it_is_not_wanted_and_prune_ends_it(place: Place) -> None:
    tip = place.remote.head("main")
    done = archive(place.work, place.forge, "no-prune")
    assert (done.state, done.release_tag) == ("published", "history-2026-W30")
    assert place.remote.head("main") == tip
    ended = prune(place.work, place.forge)
    assert (ended.state, ended.archived) == ("pruned", OLD)
    assert not due(blobs(place.remote))
    assert prune(place.work, place.forge).state == "nothing"
    assert len(place.forge.list_releases()) == 1


def test_a_dry_run_changes_nothing(place: Place) -> None:
    tip = place.remote.head("main")
    done = archive(place.work, place.forge, "dry-run")
    assert (done.state, done.archived, len(done.shards)) == ("planned", OLD, 8)
    assert (place.remote.head("main"), place.forge.list_releases()) == (tip, [])


def test_a_run_takes_over_what_was_published_and_adds_what_is_new(place: Place) -> None:
    archive(place.work, place.forge, "no-prune", before=FIRST + timedelta(weeks=3))
    done = archive(place.work, place.forge)
    assert (done.state, done.archived) == ("pruned", OLD)
    assert {one.tag for one in done.shards} == {"history-2026-W30", "history-2026-W30.2"}
    assert len(in_releases(place.forge)) == OLD
    assert sum(int(str(line["snapshots"])) for line in index_of(place.remote)) == OLD


def test_a_run_prunes_of_a_release_only_what_is_due_and_the_rest_later(place: Place) -> None:
    archive(place.work, place.forge, "no-prune")
    early = archive(place.work, place.forge, before=FIRST + timedelta(weeks=1))
    assert early.archived == 2
    assert len(due(blobs(place.remote))) == OLD - 2
    done = archive(place.work, place.forge)
    assert (done.state, done.archived) == ("pruned", OLD - 2)
    assert len(place.forge.list_releases()) == 1
    assert len(index_of(place.remote)) == 8


def test_what_was_brought_back_is_not_published_a_second_time(place: Place) -> None:
    before = blobs(place.remote)
    archive(place.work, place.forge)
    place.work.git("checkout", "--quiet", "HEAD~1", "--", "history")
    place.work.commit("look at the old ones")
    place.work.git("push", "--quiet")
    done = archive(place.work, place.forge)
    assert (done.state, done.archived) == ("pruned", OLD)
    assert not due(blobs(place.remote))
    assert len(place.forge.list_releases()) == 1
    assert in_releases(place.forge) == due(before)


# --- what changed meanwhile, and what cannot be trusted


def test_what_changed_or_vanished_since_is_reported_and_left(place: Place) -> None:
    archive(place.work, place.forge, "no-prune")
    changed, gone = snapshot_name(FIRST, "ada"), snapshot_name(FIRST + timedelta(weeks=1), "ada")
    place.work.write(changed, snapshot("ada", FIRST, "another text"))
    (place.work.path / gone).unlink()
    place.work.commit("a person")
    place.work.git("push", "--quiet")
    done = prune(place.work, place.forge)
    assert done.archived == OLD - 2
    assert changed in blobs(place.remote)
    # What the plan of a later run finds changed is due anew, in a release of its own.
    again = archive(place.work, place.forge)
    assert (again.archived, again.release_tag) == (1, "history-2026-W30.2")


def test_a_snapshot_that_became_its_agents_newest_stays(place: Place) -> None:
    archive(place.work, place.forge, "no-prune")
    for path in blobs(place.remote):
        if path.endswith("-ada.json") and path not in due(blobs(place.remote)):
            (place.work.path / path).unlink()
    place.work.commit("the newer ones are gone")
    place.work.git("push", "--quiet")
    prune(place.work, place.forge)
    left = [path for path in blobs(place.remote) if path.endswith("-ada.json")]
    assert left == [snapshot_name(FIRST + timedelta(weeks=7), "ada")]


def test_a_release_whose_bytes_changed_is_not_relied_on(place: Place, tmp_path: Path) -> None:
    archive(place.work, place.forge, "no-prune")
    shard = next((tmp_path / "forge").rglob("history-2026-W10.tar.gz"))
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    ended = prune(place.work, place.forge)
    assert ended.state == "nothing"
    assert "history-2026-W30 cannot be relied on" in ended.notes[0]
    assert len(due(blobs(place.remote))) == OLD
    done = archive(place.work, place.forge)
    assert (done.archived, done.release_tag) == (OLD, "history-2026-W30.2")


def test_other_peoples_releases_and_drafts_are_left_alone(place: Place, tmp_path: Path) -> None:
    note = tmp_path / "notes.txt"
    note.write_text("not ours\n")
    for tag in ("history-2026-W30", "history-of-all", "v1"):
        made = place.forge.create_release(
            tag=tag, commit=place.work.head(), name=tag, body="by a person"
        )
        if tag != "v1":
            place.forge.publish_release(made)
    done = archive(place.work, place.forge)
    assert (done.state, done.release_tag) == ("pruned", "history-2026-W30.2")
    assert len(place.forge.list_releases()) == 4


def test_a_damaged_index_stops_the_run_before_anything_is_sent(place: Place) -> None:
    place.work.write(INDEX, "{}\n")
    place.work.commit("broken")
    place.work.git("push", "--quiet")
    with pytest.raises(BadInput, match="index"):
        archive(place.work, place.forge)
    assert place.forge.list_releases() == []


def test_drafts_of_other_plans_go_and_a_draft_of_this_plan_is_used(place: Place) -> None:
    from memrepo.archive.adopt import marker

    archive(place.work, place.forge, "dry-run")
    stale = place.forge.create_release(
        tag="history-2026-W29", commit=place.work.head(), name="old", body=marker("0" * 64)
    )
    archive(place.work, place.forge)
    assert [one.draft for one in place.forge.list_releases()] == [False]
    assert all(one.id != stale.id or one.tag != stale.tag for one in place.forge.list_releases())


# --- repositories of all kinds


def test_a_repository_without_a_remote(tmp_path: Path) -> None:
    work = new_memory_repo(tmp_path / "work", "ada", "bob")
    fill(work)
    before, forge = blobs(work), forge_at(tmp_path / "forge")
    done = archive(work, forge, remote=None)
    assert (done.state, work.head()) == ("pruned", done.pruned_commit)
    assert in_releases(forge) == due(before)
    assert work.git("status", "--porcelain") == ""
    assert not (work.path / snapshot_name(FIRST, "ada")).exists()


def test_without_a_remote_a_persons_edit_of_an_old_snapshot_stops_the_prune(
    tmp_path: Path,
) -> None:
    work = new_memory_repo(tmp_path / "work", "ada", "bob")
    fill(work)
    path, head = snapshot_name(FIRST, "ada"), work.head()
    work.write(path, "edited\n")
    forge = forge_at(tmp_path / "forge")
    with pytest.raises(NeedsPerson, match="changed in the worktree"):
        archive(work, forge, remote=None)
    assert (work.head(), (work.path / path).read_text()) == (head, "edited\n")
    work.git("checkout", "--", path)
    assert archive(work, forge, remote=None).archived == OLD
    assert len(forge.list_releases()) == 1


def test_a_bare_repository(place: Place) -> None:
    before = blobs(place.remote)
    done = archive(place.remote, place.forge, remote=None, branch="main")
    assert done.pruned_commit == place.remote.head("main")
    assert in_releases(place.forge) == due(before)


@pytest.mark.parametrize("options", [("--depth=1",), ("--filter=blob:none", "--bare"), ()])
def test_shallow_and_blobless_clones(
    place: Place, tmp_path: Path, options: tuple[str, ...]
) -> None:
    place.remote.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{place.remote.path}"
    place.work.git("clone", "--quiet", *options, url, str(tmp_path / "ci"))
    before = blobs(place.remote)
    done = archive(GitRepo(tmp_path / "ci"), place.forge)
    assert (done.state, done.archived) == ("pruned", OLD)
    assert in_releases(place.forge) == due(before)
    assert done.sizes_after.bytes == (-1 if "--bare" in options else done.sizes_after.bytes)


def test_a_blobless_clone_fetches_what_is_due_at_once(place: Place, tmp_path: Path) -> None:
    place.remote.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{place.remote.path}"
    options = ("--filter=blob:none", "--no-checkout")
    place.work.git("clone", "--quiet", *options, url, str(tmp_path / "ci"))
    archive(GitRepo(tmp_path / "ci"), place.forge)
    packs = list((tmp_path / "ci/.git/objects/pack").glob("*.promisor"))
    assert len(packs) <= 3


def test_a_detached_head_needs_the_branchs_name(place: Place) -> None:
    place.work.git("checkout", "--quiet", "--detach")
    with pytest.raises(UsageError, match="detached"):
        archive(place.work, place.forge)
    assert archive(place.work, place.forge, branch="main").archived == OLD


def test_an_empty_repository_and_one_with_nothing_due(tmp_path: Path) -> None:
    empty = new_repo(tmp_path / "empty")
    forge = forge_at(tmp_path / "forge")
    done = archive(empty, forge, remote=None)
    assert (done.state, done.notes) == (
        "nothing",
        ("there is no commit yet, so there is nothing to archive",),
    )
    young = new_memory_repo(tmp_path / "young", "ada")
    assert archive(young, forge, remote=None).state == "nothing"
    assert forge.list_releases() == []


def test_a_branch_that_the_remote_does_not_have(place: Place) -> None:
    place.work.git("switch", "--quiet", "--create", "trial")
    with pytest.raises(UsageError, match="origin has no branch trial"):
        archive(place.work, place.forge)


# --- what a person can check by hand, and what the run tells


def test_sha256sum_and_tar_agree(place: Place, tmp_path: Path) -> None:
    before = blobs(place.remote)
    archive(place.work, place.forge)
    folder = next((tmp_path / "forge/releases").iterdir()) / "assets"
    sums = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    said = subprocess.run(sums, cwd=folder, check=True, capture_output=True, text=True).stdout
    assert said.count(": OK") == 9
    listed = [
        name
        for shard in sorted(folder.glob("*.tar.gz"))
        for name in subprocess.run(
            ["tar", "-tzf", shard], check=True, capture_output=True, text=True
        ).stdout.split()
    ]
    assert sorted(listed) == sorted(due(before))


def test_the_same_history_gives_the_same_assets_wherever_it_is_packed(tmp_path: Path) -> None:
    hashes = []
    for name in ("one", "two"):
        work = new_memory_repo(tmp_path / name / "work", "ada", "bob")
        if name == "two":
            work.write("notes.txt", "another commit, another clone\n")
            work.commit("notes")
        fill(work)
        new_remote(tmp_path / name / "remote.git", work)
        done = archive(work, forge_at(tmp_path / name / "forge"))
        hashes.append([one.tar_sha256 for one in done.shards])
    assert hashes[0] == hashes[1]


def test_the_summary_says_what_moved_and_how_to_get_it_back(place: Place) -> None:
    text = render_summary(archive(place.work, place.forge))
    assert text.startswith("### Archive: 16 snapshots moved out of history/ (history-2026-W30)")
    for part in (
        "| <code>history-2026-W10.tar.gz</code> | <code>history-2026-W30</code> | 2 | 504 bytes |",
        "| before | 20 | 5.0 kB |",
        "| after | 4 | 1.0 kB |",
        "memrepo archive restore history-2026-W30 --to DIR",
        "xychart-beta",
        "bar [0, 0, 0, 0, 0, 0, 0, 0, 2, 2]",
    ):
        assert part in text
    assert "nothing to do" in render_summary(archive(place.work, place.forge))


def test_the_outcome_on_a_terminal(place: Place) -> None:
    lines = list(outcome_lines(archive(place.work, place.forge)))
    assert lines[0] == "Archive: 16 snapshots moved out of history/ (history-2026-W30)"
    assert lines[-1] == "history/: 20 to 4 snapshots, 5.0 kB to 1.0 kB"


def test_shards_of_a_plan_that_is_long_go_in_several_runs(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrepo.archive.prepare.MOST_SHARDS", 3)
    archived = []
    while (done := archive(place.work, place.forge)).state != "nothing":
        archived.append(done.archived)
    assert archived == [6, 6, 4]
    assert not due(blobs(place.remote))
    assert BEFORE < NOW
