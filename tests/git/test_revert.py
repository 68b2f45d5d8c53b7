"""``memrepo revert``: one agent's bytes as they were, in a new commit, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commandline import Ran, everything, memrepo
from repositories import GitRepo

MakeRepo = Callable[..., GitRepo]
NAMES = ("context.json", "tools.json", "metadata.json")
VERSIONS = ("1.0.0", "1.1.0", "1.2.0", "2.0.0")
SNAPSHOTS = tuple(f"history/20260301-12000{n}-bot.json" for n in range(len(VERSIONS)))


def revert(repo: GitRepo, rev: str, *more: str, agent_id: str = "bot") -> Ran:
    return memrepo(repo, "revert", "--agent-id", agent_id, "--commit", rev, *more)


def held(repo: GitRepo, rev: str = "HEAD", agent_id: str = "bot") -> list[bytes]:
    return [repo.read(f"state/{agent_id}/{name}", rev) for name in NAMES]


def on_disk(repo: GitRepo, agent_id: str = "bot") -> list[bytes]:
    return [(repo.path / f"state/{agent_id}" / name).read_bytes() for name in NAMES]


@pytest.fixture
def repo(memory_repo: MakeRepo) -> GitRepo:
    """Four cycles of ``bot``, tagged by their version, then one of ``other``."""
    made = memory_repo("other")
    for number, version in enumerate(VERSIONS):
        made.write_agent("bot", version=version)
        # Bytes that memrepo itself would write otherwise, and a number with a spelling.
        tools = b'[ {"name": "t%d", "description": "", "parameters": {"x": 1.50e2}} ]' % number
        made.write("state/bot/tools.json", tools)
        at = f"2026-03-01T12:00:0{number}Z"
        done = memrepo(made, "commit", "--agent-id", "bot", "-m", version, "--at", at)
        assert done.code == 0
        made.git("tag", version)
    made.write_agent("other", version="5.0.0")
    assert memrepo(made, "commit", "--agent-id", "other", "-m", "x").code == 0
    return made


@pytest.mark.parametrize(
    "rev",
    [
        "1.1.0",
        "HEAD~3",
        "refs/tags/1.1.0",
        "sha",
        "short",
        "branch",
        SNAPSHOTS[1],
        SNAPSHOTS[1][8:],
    ],
)
def test_every_way_to_name_a_revision(rev: str, repo: GitRepo) -> None:
    repo.git("branch", "branch", "1.1.0")
    wanted, start = held(repo, "1.1.0"), repo.head()
    sha = repo.head("1.1.0")
    done = revert(repo, {"sha": sha, "short": sha[:8]}.get(rev, rev), "--json")
    assert done.code == 0
    assert done.json["commit"] == repo.head()
    assert done.json["changed"] is True
    assert held(repo) == on_disk(repo) == wanted
    assert repo.head("HEAD~1") == start
    paths = repo.git("diff-tree", "-r", "--no-commit-id", "--name-only", "HEAD").splitlines()
    assert paths == [done.json["snapshot"], "state/bot/metadata.json", "state/bot/tools.json"]
    trailers = repo.git("log", "-1", "--format=%(trailers:only)").splitlines()
    assert trailers == ["Agent-Id: bot", f"Snapshot: {done.json['snapshot']}", f"Reverts-To: {sha}"]
    assert repo.git("status", "--porcelain") == ""
    cycles = memrepo(repo, "history", "--agent-id", "bot", "--json").json
    assert [cycle["version"] for cycle in cycles] == ["1.1.0", *reversed(VERSIONS)]
    assert b"1.50e2" in repo.read(done.json["snapshot"])
    assert memrepo(repo, "validate", "--fail-on", "error").code == 0
    repo.git("fsck", "--strict")


def test_others_and_what_is_staged_stay(repo: GitRepo) -> None:
    before = held(repo, agent_id="other")
    repo.write_agent("other", version="6.0.0")
    repo.write("MEMORY.md", "staged\n")
    repo.git("add", "MEMORY.md")
    assert revert(repo, "1.0.0").code == 0
    assert held(repo, agent_id="other") == before
    status = repo.git("status", "--porcelain").splitlines()
    assert status == ["A  MEMORY.md", " M state/other/metadata.json"]


def test_there_and_back(repo: GitRepo) -> None:
    last = held(repo)
    assert revert(repo, "1.0.0").code == 0
    assert revert(repo, "HEAD~1", "-m", "no, it was right").code == 0
    assert held(repo) == last
    assert repo.git("log", "-1", "--format=%s") == "bot: no, it was right"


def test_nothing_to_do(repo: GitRepo) -> None:
    before = everything(repo)
    done = revert(repo, "HEAD")
    assert done.code == 0
    assert "nothing to do" in done.err
    assert everything(repo) == before


def test_a_dry_run(repo: GitRepo) -> None:
    before = everything(repo)
    done = revert(repo, "1.0.0", "--dry-run")
    assert (done.code, "state/bot/tools.json" in done.out) == (0, True)
    assert revert(repo, "HEAD", "--dry-run").code == 0
    assert everything(repo) == before


@pytest.mark.parametrize(
    "rev",
    ["nothing", "HEAD~99", "0" * 40, "HEAD:state", "HEAD^{tree}", "", "@{upstream}", "main..1.0.0",
     "20260301-120000-other.json", "history/20991231-235959-bot.json", "20260230-120000-bot.json"],
)  # fmt: skip
def test_what_is_not_there_is_wrong_use(rev: str, repo: GitRepo) -> None:
    before = everything(repo)
    done = revert(repo, rev)
    assert done.code == 2
    assert done.err.startswith("memrepo: ")
    assert everything(repo) == before


def test_an_agent_that_is_not_there(repo: GitRepo) -> None:
    before = everything(repo)
    root = repo.git("rev-list", "--max-parents=0", "HEAD")
    assert revert(repo, root).code == 2
    assert revert(repo, "HEAD", agent_id="nobody").code == 2
    assert revert(repo, "HEAD", agent_id="BOT").code == 2
    assert everything(repo) == before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("how", ["changed", "staged", "staged and put back", "a folder"])
def test_changes_that_no_commit_has_are_never_lost(how: str, name: str, repo: GitRepo) -> None:
    path = repo.path / "state/bot" / name
    kept = path.read_bytes()
    if how == "a folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(kept + b"\n")
    if how.startswith("staged"):
        repo.git("add", "state/bot")
    if how == "staged and put back":
        path.write_bytes(kept)
    before = everything(repo)
    done = revert(repo, "1.0.0")
    assert done.code == 3
    assert f"state/bot/{name}" in done.err
    assert everything(repo) == before


def test_a_removed_agent_comes_back(repo: GitRepo) -> None:
    last = held(repo)
    repo.git("rm", "--quiet", "-r", "state/bot")
    repo.commit("remove bot")
    assert not (repo.path / "state/bot").exists()
    assert revert(repo, "HEAD~1").code == 0
    assert held(repo) == on_disk(repo) == last
    assert repo.git("status", "--porcelain") == ""


def test_a_deleted_file_that_is_not_committed_comes_back_too(repo: GitRepo) -> None:
    wanted = held(repo, "1.0.0")
    (repo.path / "state/bot/tools.json").unlink()
    assert revert(repo, "1.0.0").code == 0
    assert held(repo) == on_disk(repo) == wanted
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    "data", [b"{", b"", b"[NaN]", b"\xff", b"[" * 5000, b'[{"role": "system"}]']
)
def test_memory_that_no_agent_could_load_is_nothing_to_go_back_to(
    data: bytes, repo: GitRepo
) -> None:
    good = (repo.path / "state/bot/context.json").read_bytes()
    repo.write("state/bot/context.json", data)
    repo.commit("broken")
    repo.write("state/bot/context.json", good)
    repo.commit("mended")
    before = everything(repo)
    done = revert(repo, "HEAD~1")
    assert done.code == 2
    assert "context.json" in done.err
    assert everything(repo) == before


def test_what_today_s_policy_would_refuse_can_still_be_brought_back(repo: GitRepo) -> None:
    """It was memory that an agent had: a person may want it back, and the gate then judges it."""
    turn = {"role": "user", "content": "What is my password?", "timestamp": "2026-03-01T12:00:00Z"}
    repo.write_agent("bot", turns=[turn] * 51)
    start = repo.commit("long")
    repo.write_agent("bot")
    repo.commit("short")
    assert revert(repo, start).code == 0
    assert held(repo) == held(repo, start)
    judged = memrepo(repo, "validate", "--base", "HEAD~1", "--json").json
    assert {"context-limit", "sensitive-word"} <= {finding["code"] for finding in judged}


def test_carriage_returns_come_back_as_they_were(repo: GitRepo) -> None:
    old = (repo.path / "state/bot/context.json").read_bytes()
    repo.write("state/bot/context.json", old.replace(b"\n", b"\r\n"))
    start = repo.commit("windows")
    repo.write("state/bot/context.json", old)
    repo.commit("mended")
    assert revert(repo, start).code == 0
    assert held(repo) == on_disk(repo) == held(repo, start)


def test_a_snapshot_that_no_commit_names_is_taken_for_what_it_holds(repo: GitRepo) -> None:
    imported = "history/20200101-000000-bot.json"
    repo.write(imported, repo.read(SNAPSHOTS[2]))
    repo.commit("imported", imported)
    assert revert(repo, imported).code == 0
    assert held(repo)[2] == held(repo, "1.2.0")[2]
    repo.write(imported, b"{" * 100_000)
    repo.commit("spoilt", imported)
    before = everything(repo)
    assert revert(repo, imported).code == 2
    assert everything(repo) == before


def test_a_bare_repository(repo: GitRepo, bare_remote: MakeRepo) -> None:
    remote = bare_remote(repo)
    wanted, sha = held(repo, "1.0.0"), repo.head("1.0.0")
    assert revert(remote, sha).code == 0
    assert held(remote) == wanted
    remote.git("fsck", "--strict")


def test_before_the_first_commit(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path)
    repo.git("init", "--quiet")
    assert revert(repo, "HEAD").code == 2
    assert revert(repo, SNAPSHOTS[0]).code == 2


@pytest.mark.parametrize("folder", ["", "history/"])
def test_a_snapshot_without_its_ending_is_hinted_at(folder: str, repo: GitRepo) -> None:
    ran = revert(repo, f"{folder}20260301-120001-bot")
    assert ran.code == 2
    assert f"a snapshot's name ends in .json: {folder}20260301-120001-bot.json" in ran.err
    assert "ends in .json" not in revert(repo, "no-such-branch").err


def test_a_branch_that_is_called_like_a_snapshot_is_a_branch(repo: GitRepo) -> None:
    repo.git("branch", "20260301-120001-bot", "1.0.0")
    assert revert(repo, "20260301-120001-bot", "-m", "back").code == 0
    assert held(repo) == held(repo, "1.0.0")
