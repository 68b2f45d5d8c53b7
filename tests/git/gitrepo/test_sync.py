"""Publishing against a real remote while others publish: nothing lost, nothing forced."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from memrepo.errors import (
    BadInput,
    NeedsPerson,
    PermissionDenied,
    RemoteFailed,
    UnknownRevision,
)
from memrepo.gitrepo import handoff, sync, turns
from memrepo.gitrepo.commit import CommitRequest, commit
from memrepo.gitrepo.follow import follow
from memrepo.gitrepo.remote import find_remote
from memrepo.gitrepo.repository import Repository
from memrepo.gitrepo.sync import PushResult, push, push_head
from repositories import GitRepo, new_memory_repo

WRITER = Path(__file__).with_name("writer.py")


class Team(msgspec.Struct, frozen=True):
    """A bare remote and two clones of it."""

    remote: GitRepo
    one: GitRepo
    two: GitRepo


@pytest.fixture(autouse=True)
def own_runtime_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))


@pytest.fixture
def team(
    memory_repo: Callable[..., GitRepo],
    bare_remote: Callable[..., GitRepo],
    clone: Callable[..., GitRepo],
) -> Team:
    remote = bare_remote(memory_repo("a1", "b2", "c3"))
    return Team(remote, clone(remote, "one"), clone(remote, "two"))


def write(made: GitRepo, agent: str, text: str, *, number: int = 0, **changes: bytes | None) -> str:
    snapshot = f"history/20260301-1200{number:02}-{agent}.json"
    wanted: dict[str, bytes | None] = {
        f"state/{agent}/context.json": text.encode(),
        snapshot: text.encode(),
        **changes,
    }
    if not (made.path / "HEAD").exists():
        made.write(f"state/{agent}/context.json", text)
    with Repository.open(made.path) as repo:
        done = commit(repo, lambda _: CommitRequest(wanted, f"{agent}: {text}\n", when=1))
    assert done
    return done


def publish(made: GitRepo, *, notes: int = 0) -> PushResult:
    with Repository.open(made.path) as repo:
        done = push(repo, "main")
        assert len(repo.notes) == notes, repo.notes
    return done


def in_step(team: Team, made: GitRepo, tip: str) -> None:
    assert team.remote.head("main") == made.head() == made.head("origin/main") == tip
    assert made.git("status", "--porcelain") == ""
    team.remote.git("fsck", "--strict", "--no-dangling")


def test_a_plain_push(team: Team) -> None:
    done = write(team.one, "a1", "hi")
    assert publish(team.one) == PushResult(done, 1, 0, True)
    in_step(team, team.one, done)
    assert publish(team.one).tip == done


def test_a_late_push_is_rebuilt(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    first = write(team.one, "a1", "hi")
    publish(team.one)
    write(team.two, "b2", "one", number=1)
    late = write(team.two, "b2", "two", number=2)
    author = team.two.git("log", "-1", "--format=%an %ae %ad %B")
    done = publish(team.two)
    assert (done.tries, done.rebuilt, done.followed) == (2, 2, True)
    assert done.tip != late
    assert team.two.git("log", "-1", "--format=%an %ae %ad %B") == author
    assert team.two.head("HEAD~2") == first
    in_step(team, team.two, done.tip)
    assert team.two.read("state/a1/context.json") == b"hi"
    assert (team.two.path / "state/a1/context.json").read_bytes() == b"hi"
    assert len(team.two.git("ls-tree", "--name-only", "HEAD", "history/").splitlines()) == 4


@pytest.mark.parametrize("shared", [True, False])
def test_the_same_agent_twice_needs_a_person(
    team: Team, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shared:
        monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    theirs = write(team.one, "a1", "theirs")
    publish(team.one)
    mine = write(team.two, "a1", "mine", number=1)
    with pytest.raises(NeedsPerson, match="agent a1") as caught:
        publish(team.two)
    assert "state/a1/context.json" in caught.value.message
    assert team.remote.head("main") == theirs
    assert team.two.head() == mine
    assert (team.two.path / "state/a1/context.json").read_bytes() == b"mine"
    assert (team.one.path / "state/a1/context.json").read_bytes() == b"theirs"
    assert team.two.git("status", "--porcelain") == ""


def test_other_files_of_the_same_agent_need_a_person_too(team: Team) -> None:
    write(team.one, "a1", "theirs")
    publish(team.one)
    with Repository.open(team.two.path) as repo:
        changes: dict[str, bytes | None] = {"state/a1/tools.json": b"[1]"}
        commit(repo, lambda _: CommitRequest(changes, "tools"))
        with pytest.raises(NeedsPerson, match="a1"):
            push(repo, "main")


def test_published_before_the_branch_followed(team: Team) -> None:
    """Killed between the push and the move of the branch, then run again."""
    write(team.one, "b2", "theirs")
    publish(team.one)
    write(team.two, "a1", "first", number=1)
    local = write(team.two, "a1", "second", number=2)
    done = publish(team.two)
    assert done.rebuilt == 2
    team.two.git("reset", "-q", "--hard", local)
    write(team.two, "a1", "third", number=3)
    again = publish(team.two)
    assert again.rebuilt == 1
    assert team.two.head("HEAD~1") == done.tip
    in_step(team, team.two, again.tip)


def test_a_person_s_changes_stay_while_the_branch_follows(team: Team) -> None:
    write(team.one, "b2", "theirs")
    publish(team.one)
    team.two.write("state/c3/tools.json", "edited")
    team.two.write("staged.txt", "staged")
    team.two.git("add", "staged.txt")
    write(team.two, "a1", "mine", number=1)
    done = publish(team.two)
    assert done.followed
    status = team.two.git("status", "--porcelain").splitlines()
    assert sorted(status) == [" M state/c3/tools.json", "A  staged.txt"]


def test_changes_in_the_way_keep_the_branch_where_it_is(team: Team) -> None:
    write(team.one, "b2", "theirs")
    publish(team.one)
    team.two.write("state/b2/context.json", "a person's")
    mine = write(team.two, "a1", "mine", number=1)
    done = publish(team.two, notes=1)
    assert not done.followed
    assert team.remote.head("main") == done.tip
    assert team.two.head() == mine
    assert (team.two.path / "state/b2/context.json").read_bytes() == b"a person's"
    assert team.two.git("status", "--porcelain") == " M state/b2/context.json"
    team.two.git("stash")
    write(team.two, "a1", "more", number=2)
    again = publish(team.two)
    in_step(team, team.two, again.tip)
    assert len(team.two.git("rev-list", "HEAD").splitlines()) == 4


def test_touched_files_are_no_changes(team: Team) -> None:
    write(team.one, "b2", "theirs")
    publish(team.one)
    os.utime(team.two.path / "state/b2/context.json", (1, 1))
    write(team.two, "a1", "mine", number=1)
    in_step(team, team.two, publish(team.two).tip)


def test_from_a_bare_clone(team: Team, clone: Callable[..., GitRepo]) -> None:
    bare = clone(team.remote, "bare.git", "--bare")
    write(team.one, "a1", "theirs")
    publish(team.one)
    write(bare, "b2", "mine", number=1)
    done = publish(bare)
    assert team.remote.head("main") == bare.head() == done.tip


def test_a_new_branch(team: Team) -> None:
    team.one.git("checkout", "-q", "-b", "knowledge/wiki$(x)")
    done = write(team.one, "a1", "hi")
    with Repository.open(team.one.path) as repo:
        assert push_head(repo).tip == done
    assert team.remote.head("knowledge/wiki$(x)") == done


def test_a_branch_that_is_checked_out_in_another_worktree(team: Team, tmp_path: Path) -> None:
    write(team.one, "a1", "theirs")
    publish(team.one)
    team.two.git("checkout", "-q", "-b", "work")
    linked = GitRepo(tmp_path / "linked")
    team.two.git("worktree", "add", "-q", str(linked.path), "main")
    mine = write(linked, "b2", "mine", number=1)
    done = publish(team.two, notes=1)
    assert (done.followed, linked.head()) == (False, mine)
    assert linked.git("status", "--porcelain") == ""


def test_commits_that_plain_git_made(team: Team) -> None:
    write(team.one, "a1", "theirs")
    publish(team.one)
    team.two.git("rm", "-q", "state/b2/tools.json")
    team.two.git("mv", "state/c3/context.json", "state/c3/old.json")
    team.two.write("notes/é\nx.md", "new")
    script = team.two.write("run.sh", "#!/bin/sh\n")
    script.chmod(0o755)
    team.two.commit("by hand")
    team.two.commit("empty")
    done = publish(team.two)
    assert done.rebuilt == 2
    in_step(team, team.two, done.tip)
    assert "100755" in team.two.git("ls-tree", "HEAD", "run.sh")
    assert team.two.git(
        "diff", "--no-renames", "--name-only", "HEAD~2", "HEAD", "--", "state"
    ).splitlines() == [
        "state/b2/tools.json",
        "state/c3/context.json",
        "state/c3/old.json",
    ]


def test_a_merge_needs_a_person(team: Team) -> None:
    team.two.git("checkout", "-q", "-b", "side")
    team.two.commit("side")
    team.two.git("checkout", "-q", "main")
    write(team.two, "b2", "mine")
    team.two.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    merged = team.two.head()
    write(team.one, "a1", "theirs")
    publish(team.one)
    with pytest.raises(NeedsPerson, match="merge"):
        publish(team.two)
    assert team.two.head() == merged


def test_a_rewritten_remote_needs_a_person(team: Team) -> None:
    write(team.one, "a1", "dropped")
    publish(team.one)
    team.two.git("pull", "-q")
    team.one.git("reset", "-q", "--hard", "HEAD~1")
    write(team.one, "b2", "instead", number=1)
    team.one.git("push", "-q", "--force", "origin", "main")
    write(team.two, "c3", "mine", number=2)
    with pytest.raises(NeedsPerson, match="rewritten"):
        publish(team.two)


def test_unrelated_histories_need_a_person(team: Team, tmp_path: Path) -> None:
    other = new_memory_repo(tmp_path / "other", "z9")
    other.commit("another begin")
    other.git("remote", "add", "origin", str(team.remote.path))
    with pytest.raises(NeedsPerson, match="share no history"):
        publish(other)


def test_a_shallow_clone(team: Team, tmp_path: Path) -> None:
    for number in range(3):
        write(team.one, "a1", f"older {number}", number=number)
    publish(team.one)
    shallow = GitRepo(tmp_path / "shallow")
    address = f"file://{team.remote.path}"
    team.one.git("clone", "-q", "--depth=1", address, str(shallow.path))
    write(team.one, "a1", "newer", number=9)
    publish(team.one)
    write(shallow, "b2", "mine", number=10)
    done = publish(shallow)
    assert done.rebuilt == 1
    in_step(team, shallow, done.tip)


def hook(team: Team, name: str, text: str) -> None:
    team.remote.write(f"hooks/{name}", f"#!/bin/sh\n{text}\n").chmod(0o755)


def test_a_remote_that_refuses(team: Team) -> None:
    hook(team, "pre-receive", "echo 'too \033[31mlate'; echo 'no pushes today'; exit 1")
    mine = write(team.one, "a1", "hi")
    with pytest.raises(RemoteFailed, match="no pushes today") as caught:
        publish(team.one)
    assert "\033" not in caught.value.message
    hook(team, "pre-receive", "echo 'GH006: Protected branch update failed'; exit 1")
    with pytest.raises(PermissionDenied, match="Protected branch"):
        publish(team.one)
    assert team.one.head() == mine
    assert team.one.git("status", "--porcelain") == ""


def test_a_remote_that_is_gone_or_was_never_there(team: Team) -> None:
    write(team.one, "a1", "hi")
    team.one.git("remote", "set-url", "origin", str(team.remote.path / "gone"))
    with pytest.raises(RemoteFailed, match="origin"):
        publish(team.one)
    team.one.git("remote", "remove", "origin")
    with pytest.raises(RemoteFailed, match="no remote called origin"):
        publish(team.one)
    with Repository.open(team.two.path) as repo:
        with pytest.raises(BadInput):
            push(repo, "main", remote="--upload-pack=x")
        with pytest.raises(UnknownRevision, match="no branch"):
            push(repo, "none")
        team.two.git("checkout", "-q", "--detach")
        with pytest.raises(BadInput, match="detached"):
            push_head(repo)


def test_a_pre_push_hook_is_asked(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    write(team.one, "a1", "hi")
    team.one.write(".git/hooks/pre-push", "#!/bin/sh\nexit 1\n").chmod(0o755)
    with pytest.raises(RemoteFailed):
        publish(team.one)
    assert team.remote.head("main") == team.one.head("HEAD~1")


def test_what_others_say_of_a_reset_remote_is_not_believed(team: Team) -> None:
    """The trail says that the remote has a commit which was taken back since."""
    begin = team.remote.head("main")
    write(team.one, "a1", "taken back")
    publish(team.one)
    team.remote.git("update-ref", "refs/heads/main", begin)
    write(team.two, "b2", "mine", number=1)
    done = publish(team.two)
    assert team.remote.git("rev-list", f"{begin}..main") == done.tip
    in_step(team, team.two, done.tip)


def test_files_of_others_that_are_no_good_are_ignored(team: Team) -> None:
    write(team.one, "a1", "first")
    with Repository.open(team.two.path) as repo:
        at = find_remote(repo, "origin")
        folder = turns.turn_folder(at.url, at.incarnation, "refs/heads/main")
    assert folder
    publish(team.one)
    for place in folder.glob("*.commit"):
        carried = msgspec.msgpack.decode(place.read_bytes(), type=handoff.Carried)
        forged = msgspec.structs.replace(carried, body=carried.body.replace(b"first", b"worst"))
        place.write_bytes(msgspec.msgpack.encode(msgspec.structs.replace(forged, blobs=[b"x"])))
    (folder / "x.ask").write_bytes(b"junk")
    (folder / "y.ask").symlink_to("/etc/passwd")
    write(team.two, "b2", "mine", number=1)
    done = publish(team.two)
    in_step(team, team.two, done.tip)
    assert team.two.git("log", "--format=%s", "-2").splitlines() == ["b2: mine", "a1: first"]


def test_whoever_has_the_turn_takes_the_others_along(team: Team) -> None:
    first = write(team.one, "a1", "waits")
    with Repository.open(team.one.path) as repo:
        at = find_remote(repo, "origin")
        folder = turns.turn_folder(at.url, at.incarnation, "refs/heads/main")
        assert folder
        ask = handoff.make_ask(repo, folder, [first])
        assert ask
        write(team.two, "b2", "has the turn", number=1)
        done = publish(team.two)
        assert ask.answered()
        ask.close()
        assert team.remote.git("log", "--format=%s", "-2", "main").splitlines() == [
            "a1: waits",
            "b2: has the turn",
        ]
        assert push(repo, "main") == PushResult(done.tip, 0, 0, True)
    in_step(team, team.one, done.tip)


def test_nothing_is_published_for_a_writer_that_is_gone(team: Team) -> None:
    first = write(team.one, "a1", "gone")
    with Repository.open(team.one.path) as repo:
        at = find_remote(repo, "origin")
        folder = turns.turn_folder(at.url, at.incarnation, "refs/heads/main")
        assert folder
        ask = handoff.make_ask(repo, folder, [first])
        assert ask
        os.close(ask._descriptor)  # as when its process is killed
    mine = write(team.two, "b2", "mine", number=1)
    assert publish(team.two).tip == mine == team.remote.head("main")
    assert list(folder.glob("*.ask")) == []


def test_a_runtime_folder_that_others_could_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run" / "memrepo").mkdir(mode=0o700)
    assert turns.turn_folder("url", "ref")
    (tmp_path / "run" / "memrepo").chmod(0o770)
    assert turns.turn_folder("url", "ref") is None
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere" / "memrepo").symlink_to(tmp_path / "run")
    assert turns.turn_folder("url", "ref") is None


def test_a_commit_made_here_while_pushing_goes_on_top(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(team.one, "a1", "theirs")
    publish(team.one)
    write(team.two, "b2", "first", number=1)
    calls: list[str] = []

    def meanwhile(repo: Repository, ref: str, old: str, new: str) -> str:
        calls.append(new)
        if len(calls) == 1:
            write(team.two, "c3", "second", number=2)
        return follow(repo, ref, old, new)

    monkeypatch.setattr(sync, "follow", meanwhile)
    done = publish(team.two)
    assert len(calls) == 2
    in_step(team, team.two, done.tip)
    assert team.two.git("log", "--format=%s", "-3").splitlines() == [
        "c3: second",
        "b2: first",
        "a1: theirs",
    ]


@pytest.mark.parametrize("runtime", ["shared", "none"])
def test_many_writers_lose_nothing(
    team: Team, clone: Callable[..., GitRepo], runtime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if runtime == "none":
        monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    begin = team.remote.head("main")
    clones = [clone(team.remote, f"w{number}") for number in range(4)]
    writers = [
        subprocess.Popen(
            [sys.executable, str(WRITER), str(made.path), f"w{number}", "5", "push"],
            stderr=subprocess.PIPE,
            env=dict(os.environ),
        )
        for number, made in enumerate(clones)
    ]
    assert [writer.communicate()[1] for writer in writers] == [b""] * 4
    commits = team.remote.git("log", "--format=%s", f"{begin}..main").splitlines()
    assert sorted(commits) == sorted(f"w{w}: {n}" for w in range(4) for n in range(5))
    snapshots = team.remote.git("ls-tree", "--name-only", "main", "history/").splitlines()
    assert len(snapshots) == 21
    team.remote.git("fsck", "--strict", "--no-dangling")
    for made in clones:
        assert made.git("status", "--porcelain") == ""
        assert team.remote.git("merge-base", "--is-ancestor", made.head(), "main") == ""


def test_old_trails_are_not_followed(team: Team) -> None:
    write(team.one, "a1", "old")
    publish(team.one)
    with Repository.open(team.two.path) as repo:
        at = find_remote(repo, "origin")
        folder = turns.turn_folder(at.url, at.incarnation, "refs/heads/main")
        assert folder
        begin = repo.tip()
        assert begin
        assert handoff.follow_trail(repo, folder, begin) == team.one.head()
        for place in folder.glob("*.commit"):
            os.utime(place, (time.time() - 3600,) * 2)
        assert handoff.follow_trail(repo, folder, begin) == begin
