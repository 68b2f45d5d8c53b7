"""``memrepo doctor --convert-history``: every snapshot moves, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memrepo.cli import app
from memrepo.doctor.convert import convert_history
from memrepo.doctor.doctor import examine
from memrepo.errors import BadInput, NeedsPerson, NotAMemoryRepo
from memrepo.gitrepo.move import MoveRequest, commit_moves
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.protocol.policyfile import parse_policy
from repositories import GitRepo, new_memory_repo, new_repo

POLICY = "# ours\nversion: 1\n\nhistory:\n  # why\n  layout: flat  # for now\n"
NAMES = ("20260101-235959-bob.json", "20260102-000000-bob.json", "20260102-000000-eve.json")
DAILY = (
    "history/2026/01/01/20260101-235959-bob.json",
    "history/2026/01/02/20260102-000000-bob.json",
    "history/2026/01/02/20260102-000000-eve.json",
)


@pytest.fixture
def flat(tmp_path: Path) -> GitRepo:
    repo = new_memory_repo(tmp_path / "memory", "bob")
    for name in NAMES:
        repo.write(f"history/{name}", f'{{"{name}": "é"}}\n')
    repo.write(".memrepo/policy.yml", POLICY)
    repo.commit("snapshots")
    return repo


def blobs(repo: GitRepo, rev: str = "HEAD") -> dict[str, str]:
    """File name to blob id of everything under history/."""
    lines = repo.git("ls-tree", "-r", rev, "history/").splitlines()
    return {line.rpartition("/")[2]: line.split()[2] for line in lines}


def paths(repo: GitRepo, rev: str = "HEAD") -> list[str]:
    return repo.git("ls-tree", "-r", "--name-only", rev, "history/").splitlines()


def unchanged(
    repo: GitRepo, act: Callable[[], object], error: type[BaseException], match: str
) -> None:
    """``act`` is refused, and branch, index and worktree are as before."""
    before = repo.head(), repo.git("status", "--porcelain"), repo.git("ls-files", "--stage")
    with pytest.raises(error, match=match):
        act()
    assert before == (
        repo.head(),
        repo.git("status", "--porcelain"),
        repo.git("ls-files", "--stage"),
    )
    assert not list((repo.path / ".git").glob("memrepo-index*"))


def test_one_commit_moves_all_with_the_same_blobs_and_sets_the_policy(flat: GitRepo) -> None:
    before, objects = blobs(flat), flat.git("count-objects")
    done = convert_history(flat.path / "state")
    assert (done.moved, done.policy_changed, done.kept) == (3, True, ())
    assert done.commit == flat.head()
    assert flat.git("rev-list", "--count", "HEAD") == "3"
    assert sorted(paths(flat)) == sorted((*DAILY, "history/.gitkeep"))
    assert blobs(flat) == before
    assert flat.read(".memrepo/policy.yml").decode() == POLICY.replace(
        "layout: flat", "layout: daily"
    )
    assert flat.git("status", "--porcelain") == ""
    assert not (flat.path / "history" / NAMES[0]).exists()
    assert (flat.path / DAILY[0]).read_bytes() == flat.read(DAILY[0])
    # One commit, its six folders and the policy: no snapshot is stored again.
    assert int(flat.git("count-objects").split()[0]) == int(objects.split()[0]) + 9
    assert flat.git("fsck", "--strict") == ""
    assert len(flat.git("log", "--follow", "--format=%s", "--", DAILY[1]).splitlines()) == 2


def test_a_second_run_has_nothing_to_do(flat: GitRepo) -> None:
    convert_history(flat.path)
    tip = flat.head()
    done = convert_history(flat.path)
    assert (done.commit, done.moved, done.policy_changed) == ("", 0, False)
    assert flat.head() == tip


def test_what_is_staged_or_changed_elsewhere_stays(flat: GitRepo) -> None:
    flat.write("README.md", "staged\n")
    flat.git("add", "README.md")
    flat.write("README.md", "and changed\n")
    flat.write("state/bob/tools.json", "[ ]\n")
    flat.write("notes", "untracked\n")
    convert_history(flat.path)
    assert flat.git("status", "--porcelain").splitlines() == [
        "AM README.md",
        " M state/bob/tools.json",
        "?? notes",
    ]
    assert "README.md" not in flat.git("show", "--name-only", "--format=", "HEAD")


def test_doctor_recommends_it_and_is_content_afterwards(flat: GitRepo) -> None:
    flat.write(".memrepo/policy.yml", "history: {recommend_daily_at: 2, layout: flat}\n")
    flat.commit("few")
    found = [p for p in examine(flat.path).left if p.name == "history-outgrown"]
    assert "3 snapshots" in found[0].what
    assert "--convert-history" in found[0].repair
    convert_history(flat.path)
    policy = parse_policy(flat.read(".memrepo/policy.yml"))[0]
    assert (policy.history.layout, policy.history.recommend_daily_at) == ("daily", 2)
    assert "history-outgrown" not in [p.name for p in examine(flat.path).left]


def test_a_dry_run_tells_and_changes_nothing(flat: GitRepo) -> None:
    tip, status = flat.head(), flat.git("status", "--porcelain")
    done = convert_history(flat.path, dry_run=True)
    assert (done.commit, done.moved, done.policy_changed) == ("", 3, True)
    assert (flat.head(), flat.git("status", "--porcelain")) == (tip, status)


def test_a_bare_repository_and_one_without_a_policy(flat: GitRepo) -> None:
    flat.git("rm", "--quiet", ".memrepo/policy.yml")
    flat.git("commit", "--quiet", "--message", "no policy")
    flat.git("clone", "--quiet", "--bare", ".", str(flat.path.parent / "bare.git"))
    bare = GitRepo(flat.path.parent / "bare.git")
    before = blobs(bare)
    assert convert_history(bare.path).moved == 3
    assert blobs(bare) == before
    assert parse_policy(bare.read(".memrepo/policy.yml"))[0].history.layout == "daily"
    assert convert_history(flat.path).moved == 3
    assert flat.git("rev-parse", "HEAD^{tree}") == bare.git("rev-parse", "HEAD^{tree}")


def test_only_plain_snapshots_move(flat: GitRepo) -> None:
    flat.write("history/notes.json", "{}\n")
    flat.write("history/20260132-000000-bob.json", "{}\n")
    (flat.path / "history/20260103-000000-link.json").symlink_to("notes.json")
    flat.write("history/20260103-000000-run.json", "{}\n").chmod(0o755)
    flat.commit("odd ones")
    done = convert_history(flat.path)
    assert done.moved == 3
    assert [Path(path).name for path in done.kept] == [
        "20260103-000000-link.json",
        "20260103-000000-run.json",
        "20260132-000000-bob.json",
        "notes.json",
    ]
    assert set(done.kept) <= set(paths(flat))


def test_half_converted_histories_are_finished(flat: GitRepo) -> None:
    (flat.path / DAILY[0]).parent.mkdir(parents=True)
    (flat.path / DAILY[0]).write_bytes((flat.path / "history" / NAMES[0]).read_bytes())
    flat.commit("in both places")
    before = blobs(flat)
    assert convert_history(flat.path).moved == 3
    assert blobs(flat) == before
    assert sorted(paths(flat)) == sorted((*DAILY, "history/.gitkeep"))


def test_a_snapshot_is_never_overwritten(flat: GitRepo) -> None:
    flat.write(DAILY[0], "{}\n")
    flat.commit("another one")
    unchanged(flat, lambda: convert_history(flat.path), NeedsPerson, "both exist and differ")


def test_a_file_in_the_place_of_a_days_folder_is_a_case_for_a_person(flat: GitRepo) -> None:
    flat.write("history/2026", "no folder\n")
    flat.commit("in the way")
    unchanged(
        flat, lambda: convert_history(flat.path), NeedsPerson, "history/2026 must be a folder"
    )


@pytest.mark.parametrize("path", [f"history/{NAMES[0]}", ".memrepo/policy.yml", DAILY[2]])
def test_changes_that_are_not_committed_are_a_case_for_a_person(flat: GitRepo, path: str) -> None:
    flat.write(path, "mine\n")
    unchanged(flat, lambda: convert_history(flat.path), NeedsPerson, "nothing was moved")
    assert (flat.path / path).read_text() == "mine\n"


def test_a_policy_that_cannot_be_edited_is_told(flat: GitRepo) -> None:
    flat.write(".memrepo/policy.yml", "history: [\n")
    flat.commit("broken")
    unchanged(flat, lambda: convert_history(flat.path), BadInput, "line 2, cannot be read")


def test_a_repository_without_history_is_refused(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "code")
    with pytest.raises(NotAMemoryRepo):
        convert_history(repo.path)
    repo.write("main.py", "pass\n")
    repo.commit()
    unchanged(repo, lambda: convert_history(repo.path), NotAMemoryRepo, "no history/")


def test_another_writer_who_is_faster_loses_nothing(flat: GitRepo) -> None:
    tips: list[str | None] = []
    with Repository.open(flat.path) as repo:

        def build(tip: TipView) -> MoveRequest:
            tips.append(tip.commit)
            entry = tip.entry(f"history/{NAMES[0]}")
            assert entry
            if len(tips) == 1:
                flat.git("commit", "--quiet", "--allow-empty", "--message", "faster")
            return MoveRequest({f"history/{NAMES[0]}": (DAILY[0], entry.oid)}, {}, "move")

        commit_moves(repo, build)
    assert len(tips) == 2
    assert flat.git("log", "--format=%s", "-3").splitlines() == ["move", "faster", "snapshots"]
    assert flat.git("status", "--porcelain") == ""
    assert (flat.path / DAILY[0]).exists()


def test_a_failure_on_the_way_leaves_everything_as_it_was(
    flat: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bool:
        raise KeyboardInterrupt("stopped")

    monkeypatch.setattr("memrepo.gitrepo.refs.RefWriter.swap", fail)
    unchanged(flat, lambda: convert_history(flat.path), KeyboardInterrupt, "stopped")


def test_the_command_says_what_it_did(flat: GitRepo, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["doctor", "--convert-history", "--repo-path", str(flat.path)]
    assert app._run([*args, "--dry-run"]) == 0
    told = "would move 3 snapshots to history/YYYY/MM/DD/ and set history.layout: daily"
    assert capsys.readouterr().out == f"{told}, in one commit\n"
    assert app._run([*args, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "commit": flat.head(),
        "moved": 3,
        "policy_changed": True,
        "kept": [],
        "notes": [],
    }
    assert app._run(args) == 0
    assert capsys.readouterr().out.startswith("nothing to convert")
    flat.write("history/2026/01/01/x", "")
    flat.write(f"history/{NAMES[0]}", "again\n")
    flat.git("add", ".")
    flat.git("commit", "--quiet", "--message", "again")
    assert app._run(args) == 3
    assert "both exist and differ" in capsys.readouterr().err
