"""Commits on real repositories: what they hold, what they leave alone, and who gets in the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.errors import BadInput, GitFailed
from memrepo.gitrepo import commit as commit_module
from memrepo.gitrepo.commit import CommitRequest, commit, message_bytes
from memrepo.gitrepo.identity import FALLBACK, Identity
from memrepo.gitrepo.repository import Repository, TipView
from repositories import GitRepo, new_memory_repo, new_repo

WRITER = Path(__file__).with_name("writer.py")
STATE, SNAPSHOT = "state/a1/context.json", "history/20260301-120000-a1.json"


@pytest.fixture
def made(memory_repo: Callable[..., GitRepo]) -> GitRepo:
    return memory_repo("a1", "b2")


@pytest.fixture
def repo(made: GitRepo) -> Iterator[Repository]:
    with Repository.open(made.path) as opened:
        yield opened


def request(changes: dict[str, bytes | None] | None = None, **more: object) -> CommitRequest:
    wanted = {STATE: b"[]\n", SNAPSHOT: b"{}\n"} if changes is None else changes
    return CommitRequest(wanted, str(more.pop("message", "a1: hi\n\nAgent-Id: a1\n")), **more)  # type: ignore[arg-type]


def sound(made: GitRepo) -> None:
    made.git("fsck", "--strict", "--no-dangling")


def test_a_cycle(made: GitRepo, repo: Repository) -> None:
    before = made.head()
    made.write(STATE, b"[]\n")
    seen: list[str | None] = []

    def build(tip: TipView) -> CommitRequest:
        seen.append(tip.commit)
        assert not tip.exists(SNAPSHOT)
        return request(when=1_772_366_400, offset=-90)

    done = commit(repo, build)
    assert seen == [before]
    assert done == made.head()
    assert made.head("HEAD~1") == before
    assert made.git("status", "--porcelain") == ""
    assert made.git("diff-files", "--name-only") == ""
    assert (made.path / SNAPSHOT).read_bytes() == b"{}\n"
    assert made.git("show", "--format=%an %ae %ad %cd", "--date=raw", "--name-only") == (
        f"Test Person test@example.org 1772366400 -0130 1772366400 -0130\n\n{SNAPSHOT}\n{STATE}"
    )
    assert made.git("log", "-1", "--format=%B").rstrip() == "a1: hi\n\nAgent-Id: a1"
    assert "by memrepo" in made.git("reflog", "-1")
    sound(made)


def test_nothing_to_do(made: GitRepo, repo: Repository) -> None:
    before = made.head()
    assert commit(repo, lambda _: None) is None
    assert made.head() == before


def test_what_else_is_there_stays(made: GitRepo, repo: Repository) -> None:
    made.write("state/b2/context.json", b"staged\n")
    made.git("add", "state/b2/context.json")
    made.write("state/b2/tools.json", b"unstaged\n")
    made.write("notes.txt", b"untracked\n")
    made.write(STATE, b"[]\n")
    assert commit(repo, lambda _: request())
    assert made.git("status", "--porcelain").splitlines() == [
        "M  state/b2/context.json",
        " M state/b2/tools.json",
        "?? notes.txt",
    ]
    assert repo.notes == []


def test_a_person_s_edit_is_never_overwritten(made: GitRepo, repo: Repository) -> None:
    made.write(STATE, b"edited meanwhile\n")
    made.write(SNAPSHOT, b"someone's file\n")
    assert commit(repo, lambda _: request())
    assert (made.path / STATE).read_bytes() == b"edited meanwhile\n"
    assert (made.path / SNAPSHOT).read_bytes() == b"someone's file\n"
    assert made.read(STATE) == b"[]\n"
    assert made.git("status", "--porcelain").splitlines() == [f" M {SNAPSHOT}", f" M {STATE}"]
    assert len(repo.notes) == 2


def test_an_unedited_file_follows_and_goes(made: GitRepo, repo: Repository) -> None:
    assert commit(repo, lambda _: request({STATE: b"brought back\n"}))
    assert (made.path / STATE).read_bytes() == b"brought back\n"
    assert commit(repo, lambda _: request({STATE: None, "state/a1/tools.json": None}))
    assert not (made.path / STATE).exists()
    assert made.git("status", "--porcelain") == ""
    assert made.git("ls-tree", "--name-only", "HEAD", "state/a1/") == "state/a1/metadata.json"
    sound(made)


@pytest.mark.parametrize("kind", ["unborn", "unborn-bare", "detached", "sha256", "linked"])
def test_every_kind_of_repository(kind: str, made: GitRepo, tmp_path: Path) -> None:
    where = made
    if kind.startswith("unborn"):
        where = new_repo(tmp_path / "unborn", bare=kind.endswith("bare"))
    elif kind == "sha256":
        where = GitRepo(tmp_path / "wide")
        made.git("init", "-q", "--object-format=sha256", str(where.path))
    elif kind == "detached":
        made.git("checkout", "-q", "--detach")
    else:
        made.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
        where = GitRepo(tmp_path / "linked")
    main = made.head("main")
    with Repository.open(where.path) as repo:
        for number in range(3):
            changes: dict[str, bytes | None] = {STATE: b"%d" % number, f"history/{number}": b"x"}
            done = commit(repo, lambda _, changes=changes: request(changes))  # type: ignore[misc]
            assert done == where.head()
    assert where.git("log", "--format=%s").splitlines()[:3] == ["a1: hi"] * 3
    assert made.head("main") == main
    if not kind.endswith("bare"):
        assert where.git("status", "--porcelain") == ""
    where.git("fsck", "--strict", "--no-dangling")


def test_a_branch_with_a_hostile_name(made: GitRepo, repo: Repository) -> None:
    made.git("checkout", "-q", "-b", "x/$(id)'\";&")
    assert commit(repo, lambda _: request()) == made.head("x/$(id)'\";&")


def test_it_is_built_again_on_a_tip_that_moved(made: GitRepo, repo: Repository) -> None:
    tips: list[str | None] = []

    def build(tip: TipView) -> CommitRequest:
        tips.append(tip.commit)
        if len(tips) == 1:
            made.git("commit", "-q", "--allow-empty", "-m", "faster")
            return request({STATE: b"x", "history/first-try.json": b"1"})
        return request({STATE: b"x", "history/second-try.json": b"2"})

    assert commit(repo, build) == made.head()
    assert tips[1] == made.head("HEAD~1")
    assert len(tips) == 2
    assert not (made.path / "history/first-try.json").exists()
    assert made.git("status", "--porcelain") == ""


def test_declined_on_the_second_try_nothing_is_left(made: GitRepo, repo: Repository) -> None:
    tries: list[None] = []

    def build(_: TipView) -> CommitRequest | None:
        tries.append(None)
        if len(tries) == 2:
            return None
        made.git("commit", "-q", "--allow-empty", "-m", "faster")
        return request({"history/x.json": b"1"})

    assert commit(repo, build) is None
    assert not (made.path / "history/x.json").exists()
    assert made.git("status", "--porcelain") == ""


def test_a_lock_that_stays_is_named_and_nothing_changed(
    made: GitRepo, repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit_module, "_MOST_TRIES", 3)
    before = made.head()
    made.write(".git/refs/heads/main.lock", b"")
    with pytest.raises(GitFailed, match=r"main\.lock"):
        commit(repo, lambda _: request())
    (made.path / ".git/refs/heads/main.lock").unlink()
    assert made.head() == before
    assert not (made.path / SNAPSHOT).exists()
    assert made.git("status", "--porcelain") == ""


def test_an_index_that_is_locked_for_a_moment(made: GitRepo, repo: Repository) -> None:
    lock = made.write(".git/index.lock", b"")

    def release() -> None:
        time.sleep(0.15)
        lock.unlink()

    thread = threading.Thread(target=release)
    thread.start()
    assert commit(repo, lambda _: request()) == made.head()
    thread.join()
    assert made.git("status", "--porcelain") == ""


def test_links_are_never_followed(made: GitRepo, repo: Repository, tmp_path: Path) -> None:
    before = made.head()
    outside = tmp_path / "outside"
    outside.mkdir()
    (made.path / "state/evil").symlink_to(outside)
    with pytest.raises(BadInput, match="no real folder"):
        commit(repo, lambda _: request({"state/evil/context.json": b"x"}))
    assert list(outside.iterdir()) == []
    (made.path / "state/a1/link.json").symlink_to(outside / "file")
    assert commit(repo, lambda _: request({"state/a1/link.json": b"x"}))
    assert not (outside / "file").exists()
    assert made.head("HEAD~1") == before


@pytest.mark.parametrize(
    "path", ["../x", "/x", "a//b", ".git/hooks/x", "a/.Git/b", "state/a1", f"{STATE}/x", "a\0b"]
)
def test_paths_that_cannot_be(made: GitRepo, repo: Repository, path: str) -> None:
    before = made.head()
    with pytest.raises(BadInput):
        commit(repo, lambda _: request({path: b"x"}))
    assert made.head() == before
    assert made.git("status", "--porcelain") == ""


def test_odd_file_names(made: GitRepo, repo: Repository) -> None:
    names = ["-rf", "a\nb", "::error::x", ":(glob)*", "\udcff\udcfe", "é", "'\"$(x)"]
    assert commit(repo, lambda _: request({f"history/{name}": b"x" for name in names}))
    listed = subprocess.run(
        ["git", "ls-tree", "-rz", "--name-only", "HEAD", "history/"],
        cwd=made.path,
        capture_output=True,
    ).stdout
    wanted = {b"history/" + name.encode("utf-8", "surrogateescape") for name in names}
    assert wanted <= set(listed.split(b"\0"))
    assert made.git("status", "--porcelain") == ""
    sound(made)


_NASTY = st.text(st.characters() | st.sampled_from("\n\r\0<>:\x1b"), max_size=60) | st.sampled_from(
    ["", "\n\n", "x\n\nAgent-Id: evil\n", "\ntree 1234\nparent 5\n", "a\r\nb"]
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    made = new_memory_repo(tmp_path_factory.mktemp("scratch") / "r", "a1")
    with Repository.open(made.path) as repo:
        yield repo
        sound(made)


@settings(max_examples=40)
@given(message=_NASTY, name=_NASTY, email=_NASTY)
def test_whatever_it_says_the_commit_is_well_formed(
    scratch: Repository, message: str, name: str, email: str
) -> None:
    who = Identity(name, email)
    asked = CommitRequest({STATE: message.encode("utf-8", "replace")}, message, who, who, 1)
    done = commit(scratch, lambda _: asked)
    assert done
    head, _, text = scratch.read_commit(done).partition(b"\n\n")
    assert [line.split(b" ")[0] for line in head.split(b"\n")] == [
        b"tree",
        b"parent",
        b"author",
        b"committer",
    ]
    assert text == message_bytes(message)
    assert b"\0" not in text


def test_identity_falls_back_and_says_so(
    made: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "config"
    empty.write_text("[user]\n\tuseConfigOnly = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(empty))
    with Repository.open(made.path) as repo:
        assert commit(repo, lambda _: request())
        assert made.git("log", "-1", "--format=%an <%ae> %cn") == (
            f"{FALLBACK.name} <{FALLBACK.email}> {FALLBACK.name}"
        )
        assert len(repo.notes) == 1
        assert "user.name" in repo.notes[0]


def test_identity_and_date_by_environment(made: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ann <x>")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-03-01T12:00:00+02:00")
    with Repository.open(made.path) as repo:
        assert commit(repo, lambda _: request())
    assert made.git("log", "-1", "--format=%an %aI %cn") == (
        "Ann x 2026-03-01T12:00:00+02:00 Test Person"
    )


def test_signed_when_git_is_told_to_sign(made: GitRepo, tmp_path: Path) -> None:
    signer = tmp_path / "signer"
    signer.write_text(
        "#!/bin/sh\ncat > /dev/null\n"
        "echo '-----BEGIN PGP SIGNATURE-----\n\nmade-up\n-----END PGP SIGNATURE-----'\n"
        "echo '\n[GNUPG:] SIG_CREATED ' >&2\n"
    )
    signer.chmod(0o755)
    made.git("config", "commit.gpgSign", "true")
    made.git("config", "gpg.program", str(signer))
    with Repository.open(made.path) as repo:
        done = commit(repo, lambda _: request(when=1_772_366_400, offset=60))
        with repo.bulk() as batch:
            batch.commit(lambda _: request({"history/bulk": b"x"}))
    assert done
    for rev in (done, "HEAD"):
        assert "gpgsig -----BEGIN PGP" in made.git("cat-file", "commit", rev)
    assert made.git("log", "-1", "--format=%an %ad", "--date=raw", done) == (
        "Test Person 1772366400 +0100"
    )
    assert made.git("status", "--porcelain") == ""


def test_no_hook_runs(made: GitRepo, repo: Repository, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction"):
        hook = made.write(f".git/hooks/{name}", f"#!/bin/sh\ntouch '{ran}'\nexit 1\n")
        hook.chmod(0o755)
    assert commit(repo, lambda _: request()) == made.head()
    assert not ran.exists()


def start(made: GitRepo, *args: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(WRITER), str(made.path), *args]
    return subprocess.Popen(command, stderr=subprocess.PIPE, env=dict(os.environ))


def test_writers_in_one_clone_lose_nothing(made: GitRepo) -> None:
    begin = made.head()
    writers = [start(made, f"w{number}", "6") for number in range(4)]
    errors = [writer.communicate()[1] for writer in writers]
    assert errors == [b""] * 4
    assert len(made.git("rev-list", f"{begin}..HEAD").splitlines()) == 24
    assert len(made.git("ls-tree", "--name-only", "HEAD", "history/").splitlines()) == 25
    assert made.git("status", "--porcelain") == ""
    sound(made)


def test_killed_between_index_and_branch_nothing_is_lost(made: GitRepo) -> None:
    writer = start(made, "w1", "5", "die")
    assert writer.wait() == -signal.SIGKILL
    assert writer.stderr
    writer.stderr.close()
    assert made.git("log", "-1", "--format=%s") == "w1: 1"
    assert made.git("status", "--porcelain").splitlines() == [
        "A  history/20260301-120002-w1.json",
        "M  state/w1/context.json",
    ]
    sound(made)
    with Repository.open(made.path) as repo:
        assert commit(repo, lambda _: request()) == made.head()
    assert made.git("status", "--porcelain").splitlines() == [
        "A  history/20260301-120002-w1.json",
        "M  state/w1/context.json",
    ]


def test_killed_anywhere_the_repository_is_sound(made: GitRepo) -> None:
    for pause in (0.15, 0.25, 0.35, 0.45):
        writer = start(made, f"k{int(pause * 100)}", "100000")
        time.sleep(pause)
        writer.kill()
        writer.communicate()
        for lock in (made.path / ".git").rglob("*.lock"):
            lock.unlink()
        sound(made)
        with Repository.open(made.path) as repo:
            changes: dict[str, bytes | None] = {STATE: b"%f" % pause}
            assert commit(repo, lambda _, changes=changes: request(changes)) == made.head()  # type: ignore[misc]
