"""``memrepo maintain``: faster and smaller, and nothing that anyone could miss is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from commandline import Ran, everything, memrepo, memrepo_process
from memrepo import MemoryRepo
from memrepo.gitrepo.maintain import packs_to_join
from repositories import GitRepo

MakeRepo = Callable[..., GitRepo]
Clone = Callable[..., GitRepo]
OLD = time.time() - 30 * 86_400


@pytest.fixture
def repo(memory_repo: MakeRepo) -> GitRepo:
    """Twelve cycles, every object of them loose."""
    made = memory_repo("ada", "bob")
    with MemoryRepo(made.path) as memory:
        for number in range(12):
            agent_id = ("ada", "bob")[number % 2]
            made.write_agent(agent_id, version=f"1.{number + 1}.0")
            memory.commit(agent_id, f"cycle {number}")
    return made


def maintain(repo: GitRepo, *args: str) -> Ran:
    ran = memrepo(repo, "maintain", *args)
    assert ran.code == 0, ran
    assert repo.git("fsck", "--no-dangling") == ""
    return ran


def loose(repo: GitRepo) -> set[str]:
    """The ids of the loose objects."""
    found = (repo.path / ".git/objects").glob("[0-9a-f][0-9a-f]/*")
    return {path.parent.name + path.name for path in found}


def make_old(repo: GitRepo) -> None:
    """Let every object look as if it was written a month ago."""
    for path in (repo.path / ".git/objects").rglob("*"):
        os.utime(path, (OLD, OLD))


def has(repo: GitRepo, oid: str) -> bool:
    return subprocess.run(["git", "cat-file", "-e", oid], cwd=repo.path).returncode == 0


def blob(repo: GitRepo, text: str) -> str:
    """An object that nothing reaches."""
    return repo.git("hash-object", "-w", "--stdin", text=text)


# --- what it does


def test_everything_is_packed_and_indexed_by_path(repo: GitRepo) -> None:
    before = everything(repo)
    assert len(loose(repo)) > 40
    said = maintain(repo, "--json").json
    assert everything(repo) == before
    assert loose(repo) == set()
    assert said["before"]["loose"] > 40
    assert (said["after"]["loose"], said["after"]["packs"]) == (0, 1)
    assert said["after"]["filters"] is True
    assert said["saved_bytes"] == said["before"]["bytes"] - said["after"]["bytes"]
    assert repo.git("commit-graph", "verify") == ""
    assert repo.git("multi-pack-index", "verify", check=False) == ""


def test_a_second_run_has_nothing_to_do(repo: GitRepo) -> None:
    maintain(repo)
    packs = sorted((repo.path / ".git/objects/pack").glob("*.pack"))
    said = maintain(repo, "--json").json
    assert sorted((repo.path / ".git/objects/pack").glob("*.pack")) == packs
    assert said["saved_bytes"] == 0


def test_history_and_blame_are_the_same_after_it(repo: GitRepo) -> None:
    asked = [("history", "--json"), ("blame", "--json")]
    before = [memrepo(repo, command, "--agent-id", "ada", json).json for command, json in asked]
    maintain(repo)
    after = [memrepo(repo, command, "--agent-id", "ada", json).json for command, json in asked]
    assert after == before
    assert len(before[0]) == 6


def test_git_uses_the_paths_that_commits_changed(repo: GitRepo, tmp_path: Path) -> None:
    maintain(repo)
    trace = tmp_path / "trace"
    env = {**os.environ, "GIT_TRACE2_PERF": str(trace)}
    command = ["git", "log", "--format=%H", "--", "state/ada/metadata.json"]
    subprocess.run(command, cwd=repo.path, env=env, capture_output=True, check=True)
    assert "definitely_not" in trace.read_text()


def test_a_dry_run_changes_nothing(repo: GitRepo) -> None:
    blob(repo, "lost")
    make_old(repo)
    before = everything(repo), loose(repo), sorted((repo.path / ".git").rglob("*"))
    said = maintain(repo, "--dry-run").out
    assert (everything(repo), loose(repo), sorted((repo.path / ".git").rglob("*"))) == before
    assert "would pack" in said
    assert "would prune: 1 blob" in said


def test_packs_grow_by_twos(repo: GitRepo) -> None:
    for number in range(8):
        repo.write(f"notes/{number}.txt", os.urandom(2000 * (number + 1)))
        repo.commit(f"note {number}")
        maintain(repo)
    packs = sorted(p.stat().st_size for p in (repo.path / ".git/objects/pack").glob("*.pack"))
    assert 1 <= len(packs) <= 5
    assert packs_to_join({str(size): size for size in packs}) == []


@pytest.mark.parametrize(
    ("sizes", "joined"),
    [
        ({}, []),
        ({"a": 5}, []),
        ({"a": 1, "b": 2}, []),
        ({"a": 1, "b": 1}, ["a", "b"]),
        ({"a": 1, "b": 1, "c": 100}, ["a", "b"]),
        ({"a": 1, "b": 2, "c": 3}, ["a", "b", "c"]),
        ({"a": 10, "b": 100, "c": 150, "d": 1000}, ["a", "b", "c"]),
    ],
)
def test_which_packs_are_joined(sizes: dict[str, int], joined: list[str]) -> None:
    assert packs_to_join(sizes) == joined


# --- what it never takes


def test_what_nothing_reaches_goes_when_it_is_old(repo: GitRepo) -> None:
    lost = blob(repo, "lost")
    assert maintain(repo, "--json").json["pruned"]["objects"] == 0
    assert has(repo, lost)
    make_old(repo)
    assert maintain(repo, "--no-prune", "--json").json["pruned"]["why_not"]
    assert has(repo, lost)
    assert maintain(repo, "--json").json["pruned"]["by_kind"] == {"blob": 1}
    assert not has(repo, lost)


def test_what_stays_loose_is_told_with_the_reason(repo: GitRepo) -> None:
    assert "stay:" not in maintain(repo).out
    for text in ("one", "two"):
        blob(repo, text)
    why = "stay: 2 loose objects, unreachable, younger than two weeks\n"
    assert why in maintain(repo).out
    assert "stay:" not in maintain(repo, "--dry-run").out


def test_a_stash_stays_with_all_it_holds(repo: GitRepo) -> None:
    for text in ("first", "second"):
        repo.write("state/ada/context.json", text)
        repo.git("stash", "push", "-q", "-m", text)
    make_old(repo)
    maintain(repo)
    repo.git("stash", "pop", "-q")
    assert (repo.path / "state/ada/context.json").read_text() == "second"
    repo.git("checkout", "-q", "-f")
    repo.git("stash", "pop", "-q")
    assert (repo.path / "state/ada/context.json").read_text() == "first"


def test_a_stash_that_was_dropped_stays_too(repo: GitRepo) -> None:
    repo.write("state/ada/context.json", "dropped by mistake")
    repo.git("stash", "push", "-q")
    stash = repo.head("stash")
    repo.git("stash", "drop", "-q")
    make_old(repo)
    kept = maintain(repo, "--json").json["pruned"]["kept_commits"]
    assert stash in kept
    repo.git("stash", "apply", "-q", stash)
    assert (repo.path / "state/ada/context.json").read_text() == "dropped by mistake"


def test_commits_that_were_reset_away_stay(repo: GitRepo) -> None:
    """In the reflog they are reached; after it, they hold a snapshot that is nowhere else."""
    lost = repo.head()
    repo.git("reset", "-q", "--hard", "HEAD~1")
    make_old(repo)
    maintain(repo)
    assert has(repo, lost)
    repo.git("reflog", "expire", "--expire=now", "--all")
    # As they would lie if they had never been packed.
    pack = next((repo.path / ".git/objects/pack").glob("*.pack"))
    data = pack.read_bytes()
    for path in (repo.path / ".git/objects/pack").iterdir():
        path.unlink()
    subprocess.run(["git", "unpack-objects", "-q"], cwd=repo.path, input=data, check=True)
    make_old(repo)
    assert lost in maintain(repo, "--json").json["pruned"]["kept_commits"]
    assert has(repo, f"{lost}^{{tree}}")


def test_a_draft_that_was_made_again_goes(repo: GitRepo) -> None:
    """A writer that lost a race leaves a commit whose files are all on the branch."""
    tree = repo.git("rev-parse", "HEAD^{tree}")
    draft = repo.git("commit-tree", tree, "-p", "HEAD~1", "-m", "the same on an older tip")
    make_old(repo)
    assert maintain(repo, "--json").json["pruned"] == {
        "objects": 1,
        "by_kind": {"commit": 1},
        "kept_commits": [],
        "why_not": "",
    }
    assert not has(repo, draft)


def test_a_detached_head_another_worktree_and_an_index_are_reached(
    repo: GitRepo, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "other"))
    other = GitRepo(tmp_path / "other")
    other.write("note.txt", "only here")
    commit = other.commit("on no branch")
    other.write("staged.txt", "staged only")
    other.git("add", "staged.txt")
    make_old(repo)
    said = maintain(repo, "--json").json
    assert said["pruned"]["objects"] == 0
    assert has(repo, commit)
    assert other.git("show", ":staged.txt") == "staged only"


# --- beside others


def test_nothing_is_pruned_while_someone_writes(repo: GitRepo) -> None:
    lost = blob(repo, "lost")
    make_old(repo)
    lock = repo.path / ".git/refs/heads/main.lock"
    lock.touch()
    said = maintain(repo).out
    assert "nothing pruned: another writer is at work (refs/heads/main.lock)" in said
    assert has(repo, lost)
    lock.unlink()
    (repo.path / ".git/objects/pack/tmp_pack_1_2").touch()
    assert maintain(repo, "--json").json["pruned"]["why_not"]
    assert has(repo, lost)


def test_one_maintenance_at_a_time(repo: GitRepo) -> None:
    lock = repo.path / ".git/objects/maintenance.lock"
    lock.touch()  # as Git holds it
    ran = memrepo(repo, "maintain")
    assert ran.code == 3
    assert "another maintenance" in ran.err
    assert lock.exists()
    lock.write_text("memrepo maintain\n")  # as a killed run leaves it
    maintain(repo)
    assert not lock.exists()


def test_killed_at_any_time_it_can_run_again(repo: GitRepo) -> None:
    before = everything(repo)
    command = [sys.executable, "-m", "memrepo", "maintain"]
    for tenths in range(1, 8):
        blob(repo, f"lost {tenths}")
        process = subprocess.Popen(command, cwd=repo.path, stderr=subprocess.PIPE)
        try:
            process.wait(tenths / 10)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        assert repo.git("fsck", "--no-dangling") == ""
    maintain(repo)
    assert everything(repo) == before


def test_agents_commit_all_the_while(repo: GitRepo) -> None:
    script = (
        "import sys\nfrom memrepo import MemoryRepo\n"
        "state = {f'{n}.json': open(f'state/ada/{n}.json', 'rb').read().replace(b'ada', b'cy')"
        " for n in ('context', 'tools', 'metadata')}\n"
        "with MemoryRepo('.') as repo:\n"
        "    for number in range(25):\n"
        "        version = b'2.%d.0' % number\n"
        "        state['metadata.json'] = state['metadata.json'].replace("
        "state['metadata.json'].split(b'\"')[7], version)\n"
        "        repo.commit('cy', f'cycle {number}', state=state)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", script], cwd=repo.path)
    # What fsck lists first it may find outdated a moment later, so it looks at the end.
    while writer.poll() is None:
        assert memrepo(repo, "maintain").code == 0
    assert writer.returncode == 0
    maintain(repo)
    assert len(memrepo(repo, "history", "--agent-id", "cy", "--json").json) == 25


# --- other clones


def test_a_shallow_clone(repo: GitRepo, bare_remote: Clone, tmp_path: Path) -> None:
    remote = bare_remote(repo)
    remote.git("clone", "-q", "--depth=1", f"file://{remote.path}", str(tmp_path / "shallow"))
    shallow = GitRepo(tmp_path / "shallow")
    assert "commit-graph: none, since this clone is shallow" in maintain(shallow).out
    assert shallow.git("rev-list", "--count", "HEAD") == "1"


@pytest.mark.parametrize("kept", ["blob:none", "tree:0"])
def test_a_partial_clone(kept: str, repo: GitRepo, bare_remote: Clone, tmp_path: Path) -> None:
    remote = bare_remote(repo)
    remote.git("config", "uploadpack.allowFilter", "true")
    url = f"file://{remote.path}"
    remote.git("clone", "-q", f"--filter={kept}", url, str(tmp_path / "partial"))
    partial = GitRepo(tmp_path / "partial")
    here = partial.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    said = maintain(partial, "--json").json
    assert partial.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)") == here
    assert said["after"]["filters"] is (kept == "blob:none")
    assert len(partial.git("log", "--format=%H", "--", "state/ada").split()) > 3


def test_a_bare_repository(repo: GitRepo, bare_remote: Clone) -> None:
    remote = bare_remote(repo)
    head = remote.head("main")
    ran = memrepo(remote, "maintain")
    assert ran.code == 0
    assert remote.head("main") == head
    assert remote.git("fsck", "--no-dangling") == ""


def test_a_repository_that_others_borrow_from_is_left_alone(repo: GitRepo) -> None:
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.preciousObjects", "true")
    ran = memrepo_process(repo.path, "maintain")
    assert ran.code == 5
    assert "precious" in ran.err


def test_no_repository(tmp_path: Path) -> None:
    assert memrepo(tmp_path, "maintain").code == 2
