"""``memrepo propose`` and ``pr list`` with real Git, a real remote, and the local forge."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memrepo import MemoryRepo
from memrepo.errors import GateRefused, NeedsPerson, RemoteFailed, UsageError
from memrepo.forge.local import LocalForge
from memrepo.proposals.waiting import list_waiting
from memrepo.propose.propose import Proposed, propose
from memrepo.publish.publish import publish
from repositories import GitRepo

TURNS = [
    {"role": "user", "content": "Hello", "timestamp": "2026-03-01T11:59:00Z"},
    {"role": "assistant", "content": "Hi!", "timestamp": "2026-03-01T12:00:00Z"},
]
MORE = {"role": "user", "content": "One more", "timestamp": "2026-03-01T12:01:00Z"}
BRANCH = "memory/bot/learn-more"


@pytest.fixture
def work(
    memory_repo: Callable[..., GitRepo],
    bare_remote: Callable[..., GitRepo],
    clone: Callable[..., GitRepo],
) -> GitRepo:
    return clone(bare_remote(memory_repo("bot", "other")), "work")


def forge_of(repo: GitRepo) -> LocalForge:
    remote = GitRepo(Path(repo.git("remote", "get-url", "origin")))

    def tip(branch: str) -> str | None:
        found = remote.git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False)
        return found or None

    return LocalForge(repo.path.parent / "forge", login="memrepo", tip=tip)


def put_up(repo: GitRepo, message: str = "learn more", **options: object) -> Proposed:
    with MemoryRepo(repo.path) as memory:
        return propose(memory, forge_of(repo), "bot", message, remote="origin", **options)  # type: ignore[arg-type]


def remote_of(repo: GitRepo) -> GitRepo:
    return GitRepo(Path(repo.git("remote", "get-url", "origin")))


def test_a_proposal_leaves_the_worktree_as_it_was(work: GitRepo) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    work.write("notes.txt", "mine\n")
    work.git("add", "notes.txt")
    before = (work.head(), work.git("status", "--porcelain"), work.git("branch", "--list"))
    done = put_up(work)
    assert (done.operation, done.number, done.branch) == ("created", 1, BRANCH)
    assert before == (work.head(), work.git("status", "--porcelain"), work.git("branch", "--list"))
    remote = remote_of(work)
    assert remote.head(BRANCH) == done.commit
    changed = remote.git("diff", "--name-only", f"main..{BRANCH}").splitlines()
    assert len(changed) == 2
    assert changed[1] == "state/bot/context.json"
    pull = forge_of(work).get_pull_request(1)
    assert "1 agent, 1 turn" in pull.body
    assert "learn more" in pull.body
    assert pull.base_ref == "main"


def test_again_with_nothing_new_does_nothing(work: GitRepo) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    first = put_up(work)
    second = put_up(work)
    assert (second.operation, second.number, second.commit) == ("none", 1, first.commit)


def test_nothing_to_propose_opens_nothing(work: GitRepo) -> None:
    assert put_up(work).operation == "none"
    assert forge_of(work).find_pull_requests(state="all") == []


def test_a_second_change_updates_the_same_pull_request(work: GitRepo) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    first = put_up(work)
    work.write_agent("bot", turns=[*TURNS, MORE, MORE | {"content": "And another"}])
    second = put_up(work)
    assert (second.operation, second.number) == ("updated", 1)
    assert remote_of(work).git("rev-list", "--count", f"{first.commit}..{second.commit}") == "1"
    assert "2 turns" in forge_of(work).get_pull_request(1).body


@pytest.mark.parametrize("theirs", ["MEMORY.md", "state/bot/tools.json"])
def test_a_persons_commit_on_the_branch_survives(
    work: GitRepo, clone: Callable[..., GitRepo], theirs: str
) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    put_up(work)
    person = clone(remote_of(work), "person")
    person.git("switch", "--quiet", BRANCH)
    person.write(theirs, "[]\n" if theirs == "MEMORY.md" else '[\n  {\n    "name": "x",\n    '
                 '"description": "Say hello.",\n    "parameters": {}\n  }\n]\n')  # fmt: skip
    theirs_id = person.commit("a person's touch")
    person.git("push", "--quiet", "origin", BRANCH)
    work.write_agent("bot", turns=[*TURNS, MORE, MORE | {"content": "And another"}])
    done = put_up(work)
    remote = remote_of(work)
    assert done.operation == "updated"
    assert remote.git("merge-base", "--is-ancestor", theirs_id, done.commit) == ""
    assert remote.read(theirs, done.commit) == person.read(theirs)
    assert b"And another" in remote.read("state/bot/context.json", done.commit)


def test_one_file_changed_two_ways_stops(work: GitRepo, clone: Callable[..., GitRepo]) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    put_up(work)
    person = clone(remote_of(work), "person")
    person.git("switch", "--quiet", BRANCH)
    person.write_agent("bot", turns=[TURNS[0], TURNS[1] | {"content": "Hello there!"}, MORE])
    theirs = person.commit("kinder")
    person.git("push", "--quiet", "origin", BRANCH)
    work.write_agent("bot", turns=[*TURNS, MORE, MORE | {"content": "And another"}])
    with pytest.raises(NeedsPerson, match=r"context\.json"):
        put_up(work)
    assert remote_of(work).head(BRANCH) == theirs


def test_words_that_people_wrote_stay(work: GitRepo) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    put_up(work)
    forge = forge_of(work)
    edited = "Please look at turn 3.\n\n" + forge.get_pull_request(1).body + "\nThanks!\n"
    forge.update_pull_request(1, title="A better title", body=edited)
    work.write_agent("bot", turns=[*TURNS, MORE, MORE | {"content": "And another"}])
    put_up(work)
    pull = forge.get_pull_request(1)
    assert pull.title == "A better title"
    assert pull.body.startswith("Please look at turn 3.")
    assert pull.body.rstrip().endswith("Thanks!")
    assert "2 turns" in pull.body


def test_what_was_merged_or_closed_is_done_with(work: GitRepo) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    put_up(work)
    state = work.path.parent / "forge/pulls/0001/pull.yml"
    state.write_text(state.read_text().replace("state: open", "state: closed"))
    work.write_agent("bot", turns=[*TURNS, MORE, MORE | {"content": "And another"}])
    again = put_up(work)
    assert (again.operation, again.number, again.branch) == ("created", 2, f"{BRANCH}-2")


def test_broken_files_are_refused(work: GitRepo) -> None:
    work.write("state/bot/context.json", "[1,]\n")
    with pytest.raises(GateRefused):
        put_up(work)
    assert forge_of(work).find_pull_requests(state="all") == []


def test_a_detached_head_asks_for_the_base(work: GitRepo) -> None:
    work.git("checkout", "--quiet", "--detach")
    work.write_agent("bot", turns=[*TURNS, MORE])
    with pytest.raises(UsageError, match="detached"):
        put_up(work)
    assert put_up(work, base="main").operation == "created"


def test_a_dry_run_changes_nothing(work: GitRepo) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    assert put_up(work, dry_run=True).operation == "created"
    assert remote_of(work).git("branch", "--list", "memory/*") == ""
    assert forge_of(work).find_pull_requests(state="all") == []


def test_without_a_remote_the_branch_is_here(memory_repo: Callable[..., GitRepo]) -> None:
    repo = memory_repo("bot")
    repo.write_agent("bot", turns=[*TURNS, MORE])
    forge = LocalForge(repo.path.parent / "forge", login="memrepo", tip=lambda b: repo.head(b))
    with MemoryRepo(repo.path) as memory:
        done = propose(memory, forge, "bot", "learn more")
    assert done.operation == "created"
    assert repo.head(BRANCH) == done.commit


def test_what_waits_is_listed_with_its_age_verdict_and_staleness(work: GitRepo) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    put_up(work)
    work.write_agent("bot", turns=[*TURNS, MORE | {"content": "What is my password?"}])
    work.git("switch", "--quiet", "--create", "by-hand")
    work.commit("bad", "state/bot")
    work.git("push", "--quiet", "origin", "by-hand")
    forge = forge_of(work)
    forge.open_pull_request(title="By hand", body="", head_ref="by-hand", base_ref="main")
    forge.open_pull_request(title="Gone", body="", head_ref="memory/bot/gone", base_ref="main")
    remote_of(work)
    work.git("switch", "--quiet", "main")
    work.write_agent("bot", turns=[TURNS[0]])
    work.commit("the base moves", "state/bot")
    work.git("push", "--quiet", "origin", "main")
    later = datetime.now(UTC) + timedelta(days=3)
    with MemoryRepo(work.path) as memory:
        rows = list_waiting(memory, forge, remote="origin", now=later)
        assert [(r.number, r.age_days, r.verdict, r.stale, r.applies) for r in rows] == [
            (1, 3, "pass", True, False),
            (2, 3, "fail", True, False),
            (3, 3, "", False, True),
        ]
        assert "gone" in rows[2].problem
        list_waiting(memory, forge, remote="origin", again=True)
    (comment,) = forge.list_comments(2)
    assert "sensitive-word" in comment.body
    assert "memory:error" in forge.get_pull_request(2).labels


def test_one_comment_however_often(work: GitRepo) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    put_up(work)
    forge = forge_of(work)
    work.git("fetch", "--quiet", "origin")
    work.git("fetch", "--quiet", "origin")
    with MemoryRepo(work.path) as memory:
        review = memory.review("main", f"origin/{BRANCH}")
        operations = [publish(forge, 1, review).operation for _ in range(3)]
    assert operations == ["created", "unchanged", "unchanged"]
    assert len(forge.list_comments(1)) == 1


def test_a_clean_worktree_takes_nothing_back(work: GitRepo) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    first = put_up(work)
    work.git("restore", ".")
    again = put_up(work)
    assert (again.operation, again.number, again.commit) == ("none", 1, first.commit)
    assert remote_of(work).head(BRANCH) == first.commit


@pytest.mark.parametrize("with_memrepo", [False, True])
def test_what_a_person_did_survives_every_later_run(
    work: GitRepo, clone: Callable[..., GitRepo], with_memrepo: bool
) -> None:
    work.write_agent("bot", turns=[*TURNS, MORE])
    put_up(work)
    person = clone(remote_of(work), "person")
    person.git("switch", "--quiet", BRANCH)
    tool = {"name": "x", "description": "Say hello.", "parameters": {}}
    person.write_agent("bot", turns=[*TURNS, MORE], tools=[tool])
    if with_memrepo:
        with MemoryRepo(person.path) as memory:
            memory.commit("bot", "a tool")
    else:
        person.commit("a tool")
    person.git("push", "--quiet", "origin", BRANCH)
    theirs = remote_of(work).head(BRANCH)
    # Only its text is new: it shows the person's tool.
    assert [put_up(work).operation for _ in range(2)] == ["updated", "none"]
    assert remote_of(work).head(BRANCH) == theirs
    work.write_agent("bot", turns=[*TURNS, MORE, MORE | {"content": "And another"}])
    assert put_up(work).operation == "updated"
    last = put_up(work)
    assert last.operation == "none"
    remote = remote_of(work)
    assert remote.read("state/bot/tools.json", last.commit) == person.read("state/bot/tools.json")
    assert b"And another" in remote.read("state/bot/context.json", last.commit)
    work.write_agent("bot", turns=[*TURNS, MORE], tools=[tool | {"name": "y"}])
    with pytest.raises(NeedsPerson, match=r"tools\.json"):
        put_up(work)


def test_another_base_is_built_on(work: GitRepo) -> None:
    work.git("switch", "--quiet", "--create", "feature")
    work.write("notes.txt", "of the feature alone\n")
    work.commit("notes")
    work.write_agent("bot", turns=[*TURNS, MORE])
    done = put_up(work, base="main")
    changed = remote_of(work).git("diff", "--name-only", f"main..{done.commit}").splitlines()
    assert "notes.txt" not in changed
    assert "state/bot/context.json" in changed


def test_a_pull_request_that_could_not_be_opened_is_opened_by_the_next_run(
    work: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RemoteFailed("the forge is away")

    work.write_agent("bot", turns=[*TURNS, MORE])
    with monkeypatch.context() as broken:
        broken.setattr(LocalForge, "open_pull_request", fails)
        with pytest.raises(RemoteFailed):
            put_up(work)
    pushed = remote_of(work).head(BRANCH)
    done = put_up(work)
    assert (done.operation, done.number, done.commit) == ("created", 1, pushed)
