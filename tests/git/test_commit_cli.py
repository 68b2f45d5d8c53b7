"""``memrepo commit``: exactly one agent's files and one snapshot, whatever else lies around."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commandline import Ran, everything, memrepo, memrepo_process
from memrepo import MemoryRepo
from memrepo.protocol.canonical import snapshot_bytes
from repositories import GitRepo, new_memory_repo, new_repo

MakeRepo = Callable[..., GitRepo]
NAMES = ("context.json", "tools.json", "metadata.json")
AT = ("--at", "2026-03-01T12:00:00Z")
SNAPSHOT = "history/20260301-120000-bot.json"
PATHS = [SNAPSHOT, *sorted(f"state/bot/{name}" for name in NAMES)]


def commit(repo: GitRepo | Path, *more: str, agent_id: str = "bot") -> Ran:
    return memrepo(repo, "commit", "--agent-id", agent_id, "--message", "a cycle", *more)


def changed(repo: GitRepo, rev: str = "HEAD") -> list[str]:
    """The paths that one commit changed."""
    listed = ["diff-tree", "--root", "-r", "--no-commit-id", "--name-only", "-z", rev]
    return repo.git(*listed).split("\0")[:-1]


def on_disk(repo: GitRepo, agent_id: str = "bot") -> list[bytes]:
    return [(repo.path / f"state/{agent_id}" / name).read_bytes() for name in NAMES]


def committed(repo: GitRepo, rev: str = "HEAD") -> list[bytes]:
    return [repo.read(f"state/bot/{name}", rev) for name in NAMES]


@pytest.fixture
def repo(memory_repo: MakeRepo) -> GitRepo:
    """A memory repo in which ``bot`` has a cycle that is not committed."""
    made = memory_repo("bot", "other")
    turn = {"role": "user", "content": "☀ 東京", "timestamp": "2026-03-01T12:00:00Z"}
    made.write_agent("bot", turns=[turn], version="1.0.1", last_updated="2026-03-01T13:00:00Z")
    made.write("state/bot/tools.json", '[{"name":"a","description":"","parameters":{"x":1e5}}]')
    return made


def test_a_commit_holds_the_state_as_it_lies_there_and_one_snapshot(repo: GitRepo) -> None:
    before, start = on_disk(repo), repo.head()
    done = commit(repo, *AT)
    assert done.code == 0
    assert done.out == repo.head() + "\n"
    assert repo.head("HEAD~1") == start
    assert changed(repo) == PATHS
    assert on_disk(repo) == committed(repo) == before
    canonical = [before[0], repo.read(SNAPSHOT), before[2]]
    assert b'"x": 1e5' in canonical[1]
    assert (repo.path / SNAPSHOT).read_bytes() == repo.read(SNAPSHOT)
    assert repo.git("log", "-1", "--format=%B").splitlines() == [
        "bot: a cycle", "", "Agent-Id: bot", f"Snapshot: {SNAPSHOT}", "",
    ][:-1]  # fmt: skip
    assert repo.git("log", "-1", "--format=%ad %cd", "--date=unix") == "1772366400 1772366400"
    assert repo.git("status", "--porcelain") == ""
    listed = repo.git("ls-tree", "-r", "HEAD").splitlines()
    assert {line.split()[0] for line in listed} == {"100644"}
    repo.git("fsck", "--strict")


def test_a_snapshot_is_the_three_files(repo: GitRepo) -> None:
    repo.write_agent("bot", version="1.0.2")
    commit(repo, *AT)
    assert repo.read(SNAPSHOT) == snapshot_bytes(*on_disk(repo))


def test_everything_else_stays_as_it_was(repo: GitRepo) -> None:
    repo.write_agent("other", version="2.0.0")
    repo.git("add", "state/other")
    repo.write_agent("other", version="3.0.0")
    repo.write("MEMORY.md", "staged\n")
    repo.git("add", "MEMORY.md")
    repo.write("MEMORY.md", "and changed again\n")
    repo.write("untracked.md", "new\n")
    repo.write("state/bot/notes.txt", "not ours\n")
    repo.git("rm", "--quiet", "--cached", "state/.gitkeep")
    dirty = repo.git("status", "--porcelain").splitlines()
    staged = repo.git("diff", "--cached", "--", ":!state/bot")
    assert commit(repo, *AT).code == 0
    assert changed(repo) == PATHS
    assert repo.git("diff", "--cached") == staged
    ours = (" M state/bot/tools.json", " M state/bot/context.json", " M state/bot/metadata.json")
    assert repo.git("status", "--porcelain").splitlines() == [
        line for line in dirty if line not in ours
    ]


def test_what_was_staged_of_the_agent_itself_is_replaced_by_what_lies_there(repo: GitRepo) -> None:
    final = on_disk(repo)
    repo.write_agent("bot", version="9.9.9")
    repo.git("add", "state/bot")
    for name, data in zip(NAMES, final, strict=True):
        repo.write(f"state/bot/{name}", data)
    assert commit(repo).code == 0
    assert committed(repo) == final
    assert repo.git("status", "--porcelain") == ""


def test_two_cycles_in_one_second_take_the_next_free_one(repo: GitRepo) -> None:
    taken = "history/20260301-120001-bot.json"
    repo.write(taken, "someone's file, not committed\n")
    names = []
    for version in ("1.1.0", "1.2.0", "1.3.0"):
        repo.write_agent("bot", version=version)
        names.append(commit(repo, *AT, "--json").json["snapshot"])
    seconds = [name.removeprefix("history/20260301-").removesuffix("-bot.json") for name in names]
    assert seconds[0] == "120000"
    assert seconds == sorted(set(seconds))
    # What a person left in a snapshot's place is kept, and no snapshot was written over it.
    assert (repo.path / taken).read_bytes() == b"someone's file, not committed\n"
    assert len({repo.read(name) for name in names}) == 3


def test_a_taken_second_counts_in_either_layout(repo: GitRepo) -> None:
    daily = "history/2026/03/01/20260301-120000-bot.json"
    repo.write(daily, b"{}\n")
    repo.commit("daily", daily)
    done = commit(repo, *AT, "--json")
    assert done.json["snapshot"] == "history/20260301-120001-bot.json"
    assert repo.read(daily) == b"{}\n"


def test_the_daily_layout(repo: GitRepo) -> None:
    repo.write(".memrepo/policy.yml", "history: {layout: daily}\n")
    repo.commit("policy", ".memrepo")
    assert commit(repo, *AT, "--json").json["snapshot"] == (
        "history/2026/03/01/20260301-120000-bot.json"
    )
    assert repo.git("status", "--porcelain") == ""


def test_nothing_to_commit(repo: GitRepo) -> None:
    first = commit(repo)
    before = everything(repo)
    again = commit(repo)
    assert (again.code, again.out) == (0, first.out)
    assert "nothing to commit" in again.err
    assert commit(repo, "--json").json["changed"] is False
    assert everything(repo) == before


def test_a_dry_run_changes_nothing(repo: GitRepo) -> None:
    before = everything(repo)
    done = commit(repo, "--dry-run", *AT)
    assert done.code == 0
    assert SNAPSHOT in done.out
    assert commit(repo, "--dry-run", "--json", *AT).json["changed"] is True
    assert everything(repo) == before


@pytest.mark.parametrize(
    ("at", "seconds"),
    [
        ("2026-03-01T12:00:00Z", "20260301-120000"),
        ("2026-03-01T23:30:00-05:00", "20260302-043000"),
        ("2026-03-01", "20260301-000000"),
        ("1970-01-01T00:00:00Z", "19700101-000000"),
        ("9000-01-01T00:00:00.999Z", "90000101-000000"),
    ],
)
def test_the_time_of_a_cycle(at: str, seconds: str, repo: GitRepo) -> None:
    assert commit(repo, "--at", at, "--json").json["snapshot"] == f"history/{seconds}-bot.json"
    repo.git("fsck", "--strict")


@pytest.mark.parametrize(
    "at",
    [
        "yesterday",
        "",
        "2026-02-30",
        "2026-03-01T12:00:00",
        "1969-12-31",
        "0001-01-01",
        "9999-12-31",
    ],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_time_that_cannot_be_is_wrong_use(at: str, more: tuple[str], repo: GitRepo) -> None:
    before = everything(repo)
    assert commit(repo, "--at", at, *more).code == 2
    assert everything(repo) == before


def test_a_state_with_an_error_is_refused_and_nothing_is_touched(repo: GitRepo) -> None:
    repo.git("add", "state/bot/context.json")
    for name, data in (
        ("context.json", b"[1]"),
        ("tools.json", b"[]\r\n"),
        ("metadata.json", b"{"),
        ("metadata.json", None),
    ):
        kept = on_disk(repo)
        path = repo.path / "state/bot" / name
        path.unlink() if data is None else path.write_bytes(data)
        before = everything(repo)
        done = commit(repo)
        assert done.code == 1
        assert f"state/bot/{name}" in done.err
        assert everything(repo) == before
        for each, old in zip(NAMES, kept, strict=True):
            repo.write(f"state/bot/{each}", old)


def test_no_agent_there(repo: GitRepo) -> None:
    before = everything(repo)
    assert commit(repo, agent_id="nobody").code == 2
    (repo.path / "state/nobody").mkdir()
    assert commit(repo, agent_id="nobody").code == 2
    assert everything(repo)[:3] == before[:3]


def test_a_file_in_place_of_the_history_stops_everything(repo: GitRepo) -> None:
    (repo.path / "history/.gitkeep").unlink()
    (repo.path / "history").rmdir()
    repo.write("history", "in the way\n")
    repo.git("add", "state/bot/context.json")
    before = everything(repo)
    assert commit(repo, *AT).code == 2
    assert everything(repo) == before


def test_a_folder_in_a_snapshot_s_place_stays(repo: GitRepo) -> None:
    repo.write(f"{SNAPSHOT}/x", "in the way\n")
    done = commit(repo, *AT)
    assert done.code == 0
    assert "left as it is" in done.err
    assert changed(repo) == PATHS
    assert (repo.path / SNAPSHOT / "x").read_bytes() == b"in the way\n"


# --- repositories of every shape


def test_a_bare_repository_has_no_files_but_takes_a_state(
    repo: GitRepo, bare_remote: MakeRepo
) -> None:
    remote = bare_remote(repo)
    assert commit(remote).code == 2
    state = dict(zip(NAMES, on_disk(repo), strict=True))
    with MemoryRepo(remote.path) as memory:
        done = memory.commit("bot", "a cycle", state=state, at=datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert remote.head() == done.commit
    assert changed(remote) == PATHS
    assert committed(remote) == on_disk(repo)
    remote.git("fsck", "--strict")


def test_a_detached_head(repo: GitRepo, bare_remote: MakeRepo) -> None:
    start = repo.head()
    remote = bare_remote(repo)
    repo.git("checkout", "--quiet", "--detach")
    before = everything(repo)
    assert commit(repo, "--push").code == 2
    assert everything(repo) == before
    done = commit(repo)
    assert done.code == 0
    assert repo.git("rev-parse", "main") == start == remote.git("rev-parse", "main")
    assert repo.head() == done.out.strip()
    assert repo.git("status", "--porcelain") == ""


def test_the_first_commit_of_all(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "unborn")
    repo.write_agent("bot")
    repo.write("README.md", "staged\n")
    repo.git("add", "README.md")
    assert commit(repo, *AT).code == 0
    assert changed(repo) == PATHS
    assert repo.git("status", "--porcelain") == "A  README.md"


def test_from_a_folder_inside(repo: GitRepo) -> None:
    assert commit(repo.path / "state/bot", *AT).code == 0
    assert changed(repo) == PATHS
    repo.write_agent("bot", version="1.1.0")
    ran = memrepo_process(repo.path / "history", "commit", "--agent-id", "bot", "-m", "x")
    assert ran.code == 0
    assert repo.git("status", "--porcelain") == ""


def test_a_linked_worktree_commits_on_its_own_branch(repo: GitRepo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = GitRepo(tmp_path / "side")
    side.write_agent("bot", version="1.5.0")
    start, dirty = repo.head(), repo.git("status", "--porcelain")
    assert commit(side, *AT).code == 0
    assert changed(side) == [SNAPSHOT, "state/bot/metadata.json"]
    assert side.git("status", "--porcelain") == ""
    assert (repo.head(), repo.git("status", "--porcelain")) == (start, dirty)


def test_sha256(tmp_path: Path) -> None:
    path = tmp_path / "sha256"
    path.mkdir()
    repo = GitRepo(path)
    repo.git("init", "--quiet", "--object-format=sha256")
    repo.write_agent("bot")
    done = commit(repo, *AT)
    assert done.out.strip() == repo.head()
    assert len(repo.head()) == 64
    assert len(memrepo(repo, "history", "--agent-id", "bot", "--json").json) == 1
    assert repo.git("status", "--porcelain") == ""
    repo.git("fsck", "--strict")


@pytest.mark.parametrize(
    "config", [{"core.autocrlf": "true"}, {"core.autocrlf": "input"}, {"core.eol": "crlf"}, {}]
)
@pytest.mark.parametrize("attributes", ["", "* text=auto\n", "*.json binary\n", "*.json eol=lf\n"])
def test_bytes_are_never_converted(config: dict[str, str], attributes: str, repo: GitRepo) -> None:
    if attributes:
        repo.write(".gitattributes", attributes)
        repo.commit("attributes", ".gitattributes")
    for key, value in config.items():
        repo.git("config", key, value)
    before = on_disk(repo)
    assert commit(repo, *AT).code == 0
    assert committed(repo) == on_disk(repo) == before
    assert b"\r" not in repo.read(SNAPSHOT)
    assert repo.git("status", "--porcelain") == ""


def test_hooks_are_not_run(repo: GitRepo) -> None:
    for name in (
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-index-change",
    ):
        hook = repo.path / ".git/hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {name}-ran\nexit 1\n")
        hook.chmod(0o755)
    assert commit(repo).code == 0
    assert not list(repo.path.glob("*-ran"))


def test_the_caller_s_environment_of_a_hook_leads_nowhere_else(
    repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = new_memory_repo(tmp_path / "elsewhere", "bot")
    start = elsewhere.head()
    monkeypatch.setenv("GIT_DIR", str(elsewhere.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(elsewhere.path))
    monkeypatch.setenv("GIT_INDEX_FILE", str(elsewhere.path / ".git/index"))
    assert commit(repo).code == 0
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name)
    assert elsewhere.head() == start
    assert changed(repo)


def test_a_person_who_git_does_not_know_commits_under_a_name_that_says_so(
    repo: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    repo.git("config", "user.useConfigOnly", "true")
    done = commit(repo)
    assert done.code == 0
    assert "user.name" in done.err
    assert repo.git("log", "-1", "--format=%an") == "memrepo"


# --- pushing


def test_where_no_push_can_follow_nothing_is_committed(repo: GitRepo) -> None:
    before = everything(repo)
    done = commit(repo, "--push")
    assert done.code == 4
    assert "remote" in done.err
    assert everything(repo) == before


def test_a_remote_that_is_gone_leaves_the_commit_here(repo: GitRepo, bare_remote: MakeRepo) -> None:
    remote = bare_remote(repo)
    remote.path.rename(remote.path.with_name("moved.git"))
    done = commit(repo, "--push")
    assert done.code == 4
    assert changed(repo)[1:] == PATHS[1:]
    assert repo.git("status", "--porcelain", "--untracked-files=no") == ""
    remote.path.with_name("moved.git").rename(remote.path)
    again = commit(repo, "--push", "--json")
    assert (again.code, again.json["pushed"], again.json["changed"]) == (0, True, False)
    assert remote.head() == repo.head()


def test_one_agent_from_two_places_is_a_person_s_to_decide(
    repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(repo)
    other = clone(remote, "two")
    commit(repo, "--push", *AT)
    published = remote.head()
    other.write_agent("bot", version="1.9.0")
    mine = on_disk(other)
    done = commit(other, "--push")
    assert done.code == 3
    assert "bot" in done.err
    assert remote.head() == published
    assert on_disk(other) == committed(other) == mine
    assert committed(remote) == on_disk(repo)
    # The two lines are both whole; a rebase by hand is what is left.
    other.git("fetch", "--quiet", "origin")
    assert other.git("merge-base", "HEAD", "origin/main") == repo.head("HEAD~1")
    assert commit(other, "--push").code == 3
    assert remote.head() == published


def test_another_agent_s_push_is_no_conflict(
    repo: GitRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    remote = bare_remote(repo)
    two = clone(remote, "two")
    commit(repo, "--push", *AT)
    two.write_agent("other", version="1.9.0")
    done = commit(two, "--push", "--json", agent_id="other")
    assert done.code == 0
    assert done.json["pushed"] is True
    assert done.json["commit"] == two.head() == remote.head()
    assert remote.head("HEAD~1") == repo.head()
    assert two.git("status", "--porcelain") == ""
    assert committed(two) == on_disk(repo)


_WRITER = """
import sys
from commandline import memrepo
from repositories import GitRepo
from pathlib import Path
repo, agent, count = GitRepo(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
for number in range(count):
    repo.write_agent(agent, version=f"1.{number}.0")
    ran = memrepo(repo, "commit", "--agent-id", agent, "-m", f"cycle {number}", "--push")
    assert ran.code == 0, ran
"""


def test_eight_processes_publish_side_by_side_and_lose_nothing(
    memory_repo: MakeRepo, bare_remote: MakeRepo, clone: MakeRepo
) -> None:
    writers, cycles = 8, 5
    remote = bare_remote(memory_repo())
    clones = [clone(remote, f"writer-{n}") for n in range(writers)]
    tests = Path(__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": str(tests)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(one.path), f"agent-{n}", str(cycles)], env=env
        )
        for n, one in enumerate(clones)
    ]
    assert [process.wait(timeout=300) for process in running] == [0] * writers
    assert len(remote.git("rev-list", "HEAD").splitlines()) == 1 + writers * cycles
    names = remote.git("ls-tree", "-r", "--name-only", "HEAD", "history/").splitlines()
    assert len([name for name in names if name.endswith(".json")]) == writers * cycles
    for number, one in enumerate(clones):
        agent = f"agent-{number}"
        seen = memrepo(remote, "history", "--agent-id", agent, "--json").json
        assert [cycle["version"] for cycle in seen] == [f"1.{n}.0" for n in reversed(range(cycles))]
        assert one.git("status", "--porcelain") == ""
        assert one.read(f"state/{agent}/metadata.json") == remote.read(
            f"state/{agent}/metadata.json"
        )
    remote.git("fsck", "--strict")
