"""``memrepo doctor`` on real clones: each problem beside the nearest clone without it."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memrepo.cli import app
from memrepo.doctor import filesystem
from memrepo.doctor.catalogue import KINDS, table
from memrepo.doctor.doctor import Examination, examine
from memrepo.doctor.render import as_text
from memrepo.errors import NotAMemoryRepo
from memrepo.gitrepo.drivercommand import own_command
from memrepo.protocol.defaults import driver_config
from memrepo.setup.init import init
from repositories import GitRepo, new_memory_repo, new_repo

SNAPSHOTS = ("20260101-000000-bob.json", "20260301-000000-bob.json", "20260401-000000-bob.json")
MANY_FLAT = "version: 1\nhistory:\n  recommend_daily_at: 2  # few\n"
OLD = "2020-01-01T00:00:00Z"
DOCS = Path(__file__).parents[2] / "docs" / "doctor.md"


@pytest.fixture(scope="session")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A healthy memory repository with two agents, made once."""
    path = tmp_path_factory.mktemp("pattern") / "memory"
    init(path, workflows=(), uses=None, dry_run=False)
    repo = GitRepo(path)
    repo.write_agent("bob")
    repo.write_agent("carol")
    repo.write("history/20260301-120000-bob.json", "{}\n")
    repo.commit("begin")
    return path


@pytest.fixture
def healthy(pattern: Path, tmp_path: Path) -> GitRepo:
    shutil.copytree(pattern, tmp_path / "memory", symlinks=True)
    return GitRepo(tmp_path / "memory")


def names(result: Examination) -> list[str]:
    return [problem.name for problem in result.left]


def look(repo: GitRepo) -> list[str]:
    return names(examine(repo.path))


def append(repo: GitRepo, path: str, line: str) -> None:
    before = (repo.path / path).read_text() if (repo.path / path).exists() else ""
    repo.write(path, f"{before}{line}\n")


def prepend(repo: GitRepo, path: str, line: str) -> None:
    repo.write(path, f"{line}\n{(repo.path / path).read_text()}")


def without_attributes(repo: GitRepo) -> None:
    repo.git("rm", "--quiet", ".gitattributes")
    repo.git("commit", "--quiet", "--message", "no attributes")


def crlf(repo: GitRepo, path: str) -> None:
    repo.write(path, (repo.path / path).read_bytes().replace(b"\n", b"\r\n"))


def merge(repo: GitRepo, *, decided: bool) -> None:
    for branch, word in (("one", "uno"), ("two", "dos")):
        repo.git("checkout", "--quiet", "-b", branch, "main")
        repo.write("README.md", f"{word}\n")
        repo.commit(word)
    repo.git("merge", "one", check=False)
    if decided:
        repo.commit("decided")


def move_away(repo: GitRepo, name: str) -> Path:
    """Move a folder out of the repository and put a link to it in its place."""
    outside = repo.path.parent / f"outside-{name}"
    (repo.path / name).rename(outside)
    (repo.path / name).symlink_to(outside)
    return outside


def snapshots(repo: GitRepo, *times: str) -> None:
    repo.git("rm", "--quiet", "history/20260301-120000-bob.json")
    for name in times:
        repo.write(f"history/{name}", f'{{"{name}": 1}}\n')
    repo.write(".memrepo/policy.yml", MANY_FLAT)
    repo.commit("snapshots")


def fold_case(repo: GitRepo) -> None:
    """What a file system that folds case shows: the same file under both names."""
    os.link(repo.path / ".git" / "HEAD", repo.path / ".git" / "hEAD")


def two_of_a_name(repo: GitRepo) -> None:
    repo.write_agent("Bob")
    repo.commit("another bob")


def mount(kind: str) -> Callable[[GitRepo, pytest.MonkeyPatch], None]:
    def spoil(repo: GitRepo, patch: pytest.MonkeyPatch) -> None:
        top = str(repo.path.parent.resolve()).replace(" ", "\\040")
        table = repo.path.parent / "mountinfo"
        table.write_text(
            "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
            f"99 27 0:50 / {top} rw,noatime - {kind} rw,dirsync\n"
        )
        patch.setattr(filesystem, "MOUNTS", table)

    return spoil


def no_identity(repo: GitRepo, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


def local_identity(repo: GitRepo, patch: pytest.MonkeyPatch) -> None:
    no_identity(repo, patch)
    repo.git("config", "user.name", "A")
    repo.git("config", "user.email", "a@example.org")


def shallow(repo: GitRepo) -> None:
    repo.git("commit", "--quiet", "--allow-empty", "--message", "second")
    full = repo.path.rename(repo.path.with_name("full"))
    repo_of = GitRepo(full)
    repo_of.git("clone", "--quiet", "--depth=1", f"file://{full}", str(repo.path))
    set_up(repo)


def full_clone(repo: GitRepo) -> None:
    full = repo.path.rename(repo.path.with_name("full"))
    GitRepo(full).git("clone", "--quiet", f"file://{full}", str(repo.path))
    set_up(repo)


def set_up(repo: GitRepo) -> None:
    (repo.path / "state").chmod(0o750)
    for key, value in driver_config(own_command()).items():
        repo.git("config", key, value)


def config(key: str, value: str) -> Callable[[GitRepo], None]:
    return lambda repo: void(repo.git("config", key, value))


def attribute(line: str) -> Callable[[GitRepo], None]:
    return lambda repo: append(repo, ".gitattributes", line)


def void(_: object) -> None:
    pass


def both(*steps: Callable[[GitRepo], None]) -> Callable[[GitRepo], None]:
    def run(repo: GitRepo) -> None:
        for step in steps:
            step(repo)

    return run


def mode(bits: int) -> Callable[[GitRepo], None]:
    return lambda repo: (repo.path / "state").chmod(bits)


Spoil = Callable[..., None]
AUTO, HAND = True, False
#: Problem, does --fix repair it, a clone that has it, the nearest that has not.
CASES: list[tuple[str, bool, Spoil, Spoil]] = [
    (
        "attributes-binary",
        AUTO,
        attribute("*.json binary"),
        lambda r: prepend(r, ".gitattributes", "*.json binary"),
    ),
    ("attributes-binary", AUTO, attribute("/state/bob/** -diff"), attribute("/docs/** -diff")),
    ("attributes-binary", AUTO, attribute("*.json merge=binary"), attribute("*.png merge=binary")),
    (
        "attributes-binary",
        HAND,
        lambda r: append(r, ".git/info/attributes", "history/** binary"),
        lambda r: append(r, ".git/info/attributes", "# history/** binary"),
    ),
    (
        "attributes-binary",
        HAND,
        lambda r: append(r, "state/.gitattributes", "*.json -text"),
        lambda r: append(r, "state/.gitattributes", "*.txt -text"),
    ),
    (
        "attributes-binary",
        HAND,
        config("diff.memrepo.binary", "true"),
        config("diff.other.binary", "true"),
    ),
    (
        "attributes-crlf",
        AUTO,
        attribute("state/** text eol=crlf"),
        attribute("*.bat text eol=crlf"),
    ),
    (
        "attributes-union",
        AUTO,
        attribute("*.json merge=union"),
        attribute("*.log merge=union"),
    ),
    ("attributes-filter", HAND, attribute("*.json filter=lfs"), attribute("*.png filter=lfs")),
    ("attributes-filter", HAND, attribute("state/** ident"), attribute("state/** -ident")),
    (
        "attributes-unpinned",
        AUTO,
        without_attributes,
        both(without_attributes, lambda r: void(r.write(".gitattributes", "*.json eol=lf\n"))),
    ),
    (
        "config-crlf",
        AUTO,
        both(without_attributes, config("core.autocrlf", "true")),
        config("core.autocrlf", "true"),
    ),
    (
        "config-crlf",
        AUTO,
        both(
            without_attributes,
            lambda r: void(r.write(".gitattributes", "*.json text=auto\n")),
            config("core.eol", "crlf"),
        ),
        both(without_attributes, config("core.eol", "crlf")),
    ),
    (
        "config-crlf",
        AUTO,
        both(without_attributes, config("core.autocrlf", "true")),
        both(without_attributes, config("core.autocrlf", "input")),
    ),
    (
        "worktree-crlf",
        AUTO,
        lambda r: crlf(r, "state/bob/context.json"),
        lambda r: void(r.write("state/bob/context.json", '["\\r\\n"]\n')),
    ),
    (
        "worktree-crlf",
        HAND,
        lambda r: void(r.write("state/bob/tools.json", "[\r\n]\r\n")),
        lambda r: void(r.write("state/bob/tools.json", "[\n]\n")),
    ),
    (
        "worktree-crlf",
        HAND,
        lambda r: void(r.write("state/new/tools.json", "[\r\n]\r\n")),
        lambda r: void(r.write("notes.json", "[\r\n]\r\n")),
    ),
    (
        "driver-unregistered",
        AUTO,
        lambda r: void(r.git("config", "--unset", "diff.memrepo.xfuncname")),
        config("diff.memrepo.xfuncname", "^mine"),
    ),
    (
        "driver-unregistered",
        HAND,
        attribute("*.json diff=special"),
        both(attribute("*.json diff=special"), config("diff.special.textconv", "cat")),
    ),
    ("driver-unregistered", HAND, attribute("*.json diff=jsn"), attribute("*.json diff=html")),
    (
        "driver-unregistered",
        HAND,
        attribute("*.json merge=special"),
        both(attribute("*.json merge=special"), config("merge.special.driver", "true")),
    ),
    (
        "driver-broken",
        HAND,
        both(attribute("*.json merge=special"), config("merge.special.name", "special")),
        both(attribute("*.json merge=special"), config("merge.special.driver", "true")),
    ),
    (
        "driver-broken",
        AUTO,
        lambda r: void(r.git("config", "--unset", "merge.memrepo.driver")),
        config("merge.memrepo.driver", "git merge-file %A %O %B"),
    ),
    (
        "driver-broken",
        AUTO,
        config("merge.memrepo.driver", "'/no such/python' -I -m memrepo merge-driver %O %A %B %P"),
        config("merge.memrepo.driver", "'/bin/sh' -c true"),
    ),
    (
        "rerere-autoupdate",
        HAND,
        both(config("rerere.enabled", "true"), config("rerere.autoUpdate", "true")),
        config("rerere.autoUpdate", "true"),
    ),
    ("shallow-clone", HAND, shallow, full_clone),
    (
        "memory-ignored",
        HAND,
        lambda r: append(r, ".gitignore", "*.json"),
        lambda r: prepend(r, ".gitignore", "*.json"),
    ),
    (
        "memory-ignored",
        HAND,
        lambda r: append(r, "history/.gitignore", "2*.json"),
        lambda r: append(r, ".git/info/exclude", "/history/"),
    ),
    (
        "memory-ignored",
        HAND,
        both(
            lambda r: append(r, "state/.gitignore", "dave"),
            lambda r: r.write_agent("dave"),
        ),
        both(
            lambda r: append(r, "state/.gitignore", "dave"),
            lambda r: void(r.write("state/dave", "no agent")),
        ),
    ),
    (
        "index-dirty",
        HAND,
        both(
            lambda r: void(r.write("state/bob/tools.json", "[ ]\n")),
            lambda r: void(r.git("add", "state")),
        ),
        both(
            lambda r: void(r.write("state/bob/tools.json", "[ ]\n")),
            lambda r: void(r.write("README.md", "other\n")),
            lambda r: void(r.git("add", "README.md")),
        ),
    ),
    (
        "index-dirty",
        HAND,
        lambda r: void(r.git("rm", "--quiet", "--cached", "history/20260301-120000-bob.json")),
        lambda r: (r.path / "history/20260301-120000-bob.json").unlink(),
    ),
    (
        "index-unmerged",
        HAND,
        lambda r: merge(r, decided=False),
        lambda r: merge(r, decided=True),
    ),
    (
        "snapshots-untracked",
        HAND,
        lambda r: void(r.write("history/20260302-120000-bob.json", "{}\n")),
        lambda r: void(r.write("history/notes.txt", "no snapshot\n")),
    ),
    (
        "snapshots-untracked",
        HAND,
        lambda r: void(r.write("history/2026/03/02/20260302-120000-bob.json", "{}\n")),
        lambda r: void(r.write("history/2026/03/03/20260302-120000-bob.json", "{}\n")),
    ),
    (
        "folder-replaced",
        HAND,
        lambda r: void(move_away(r, "state")),
        lambda r: shutil.rmtree(r.path / "state"),
    ),
    ("folder-replaced", HAND, lambda r: void(move_away(r, "history")), void),
    ("state-mode", AUTO, mode(0o755), mode(0o700)),
    ("state-mode", AUTO, mode(0o770), mode(0o2750)),
    (
        "history-outgrown",
        HAND,
        lambda r: snapshots(r, *SNAPSHOTS),
        lambda r: snapshots(r, "20251231-235959-bob.json", *SNAPSHOTS[1:], "2026040x.json"),
    ),
    (
        "history-outgrown",
        HAND,
        lambda r: snapshots(r, *SNAPSHOTS, "2026/03/31/20260331-000000-bob.json"),
        lambda r: snapshots(r, *SNAPSHOTS, "2026/05/31/20260531-000000-bob.json"),
    ),
    ("case-insensitive", HAND, fold_case, void),
    ("case-collision", HAND, both(two_of_a_name, fold_case), two_of_a_name),
    ("windows-filesystem", HAND, mount("exfat /dev/sdb1"), mount("ext4 /dev/sdb1")),
    ("windows-filesystem", HAND, mount("9p C:\\134"), mount("9p hostshare")),
    (
        "file-mode-off",
        HAND,
        config("core.fileMode", "false"),
        config("core.fileMode", "true"),
    ),
    ("gc-prunes-soon", HAND, config("gc.pruneExpire", "now"), config("gc.pruneExpire", "never")),
    (
        "gc-prunes-soon",
        HAND,
        config("gc.pruneExpire", "1.day.ago"),
        config("gc.pruneExpire", "4.days.ago"),
    ),
    (
        "gc-reflog-short",
        HAND,
        config("gc.reflogExpireUnreachable", "now"),
        config("gc.reflogExpireUnreachable", "30.days"),
    ),
    (
        "gc-stash-expires",
        AUTO,
        config("gc.refs/stash.reflogExpire", "90.days"),
        config("gc.refs/stash.reflogExpire", "never"),
    ),
    (
        "gc-stash-expires",
        HAND,
        config("gc.refs/*.reflogExpireUnreachable", "90.days"),
        config("gc.refs/*/*.reflogExpireUnreachable", "90.days"),
    ),
    (
        "gc-stash-expires",
        HAND,
        both(
            config("gc.refs/[^h]*.reflogExpire", "now"),
            config("gc.refs/stash.reflogExpire", "never"),
        ),
        both(
            config("gc.refs/stash.reflogExpire", "never"),
            config("gc.refs/[^h]*.reflogExpire", "now"),
        ),
    ),
    ("identity-missing", HAND, no_identity, local_identity),
]
ids = [f"{name}-{number}" for number, (name, *_) in enumerate(CASES)]


def do(spoil: Spoil, repo: GitRepo, patch: pytest.MonkeyPatch) -> None:
    if spoil in (no_identity, local_identity) or spoil.__qualname__.startswith("mount."):
        spoil(repo, patch)
    else:
        spoil(repo)


def fingerprint(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every path with its mode and content (a link's is its target), Git's folder included."""
    found = {}
    for folder, _, files in os.walk(root):
        for path in (Path(folder), *(Path(folder, file) for file in files)):
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                data = str(path.readlink()).encode()
            else:
                data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            found[str(path)] = (status.st_mode, data)
    return found


def test_a_fresh_repository_is_healthy_in_one_line(healthy: GitRepo) -> None:
    result = examine(healthy.path)
    assert as_text(result) == f"{healthy.path} is healthy"
    assert result.healthy


def test_every_problem_has_a_case() -> None:
    assert {name for name, *_ in CASES} == set(KINDS)


@pytest.mark.parametrize(("name", "auto", "spoil", "nearest"), CASES, ids=ids)
def test_a_problem_is_found_and_told_with_reason_and_repair(
    name: str,
    auto: bool,
    spoil: Spoil,
    nearest: Spoil,
    healthy: GitRepo,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    do(spoil, healthy, monkeypatch)
    result = examine(healthy.path)
    found = [problem for problem in result.left if problem.name == name]
    assert found
    for problem in found:
        assert problem.safe == auto
        assert problem.what in as_text(result)
        assert problem.reason in as_text(result)
        assert problem.repair in as_text(result)
        assert "\n" not in problem.what


@pytest.mark.parametrize(("name", "auto", "spoil", "nearest"), CASES, ids=ids)
def test_the_nearest_clone_does_not_have_it(
    name: str,
    auto: bool,
    spoil: Spoil,
    nearest: Spoil,
    healthy: GitRepo,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    do(nearest, healthy, monkeypatch)
    assert name not in look(healthy)


@pytest.mark.parametrize(("name", "auto", "spoil", "nearest"), CASES, ids=ids)
def test_fix_repairs_what_is_safe_and_touches_nothing_else(
    name: str,
    auto: bool,
    spoil: Spoil,
    nearest: Spoil,
    healthy: GitRepo,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    do(spoil, healthy, monkeypatch)
    top = healthy.path.parent  # what a link points to lies here
    before = fingerprint(top)
    planned = examine(healthy.path, plan=True)
    assert fingerprint(top) == before
    first = examine(healthy.path, fix=True)
    after = fingerprint(top)
    if not auto:
        assert name in names(first)
        assert all(problem.name != name for problem in first.fixed)
        assert after == before
        return
    assert name in [problem.name for problem in first.fixed]
    assert name not in names(first)
    assert "--fix would " in as_text(planned)
    assert healthy.git("ls-files", "--stage") == healthy.git("ls-tree", "-r", "HEAD").replace(
        " blob ", " "
    ).replace("\t", " 0\t")
    second = examine(healthy.path, fix=True)
    assert second.fixed == ()
    assert second.left == first.left
    assert fingerprint(top) == after


def test_the_documentation_holds_every_problem_as_the_code_has_it() -> None:
    assert table() in DOCS.read_text(encoding="utf-8")


# --- what the repairs are worth


def test_after_the_fix_git_shows_and_merges_memory_as_text(healthy: GitRepo) -> None:
    append(healthy, ".gitattributes", "*.json binary")
    healthy.write("state/bob/tools.json", "[\n  1\n]\n")
    assert "Binary files" in healthy.git("diff", "--", "state")
    examine(healthy.path, fix=True)
    assert "+  1\n" in healthy.git("diff", "--", "state")
    assert (healthy.path / ".gitattributes").read_text().startswith("*.json binary\n")


def test_after_the_fix_a_clone_with_autocrlf_checks_out_lf(healthy: GitRepo) -> None:
    without_attributes(healthy)
    healthy.git("config", "core.autocrlf", "true")
    shutil.rmtree(healthy.path / "state")
    healthy.git("checkout", "--quiet", "--", "state")
    assert b"\r\n" in (healthy.path / "state/bob/context.json").read_bytes()
    assert {"config-crlf", "worktree-crlf"} <= set(look(healthy))
    result = examine(healthy.path, fix=True)
    assert {problem.name for problem in result.fixed} >= {"config-crlf", "worktree-crlf"}
    assert result.healthy
    assert healthy.git("config", "core.autocrlf") == "true"
    assert b"\r\n" not in (healthy.path / "state/bob/context.json").read_bytes()
    shutil.rmtree(healthy.path / "state")
    healthy.git("checkout", "--quiet", "--", "state")
    assert b"\r\n" not in (healthy.path / "state/bob/context.json").read_bytes()


def test_files_with_crlf_that_were_edited_stay_and_the_others_are_written(
    healthy: GitRepo,
) -> None:
    crlf(healthy, "state/bob/context.json")
    (healthy.path / "state/bob/context.json").chmod(0o600)
    healthy.write("state/carol/tools.json", "[\r\n]\r\n")
    result = examine(healthy.path, fix=True)
    assert (healthy.path / "state/bob/context.json").read_bytes() == healthy.read(
        "state/bob/context.json"
    )
    assert stat.S_IMODE((healthy.path / "state/bob/context.json").stat().st_mode) == 0o600
    assert (healthy.path / "state/carol/tools.json").read_bytes() == b"[\r\n]\r\n"
    [left] = result.left
    assert left.name == "worktree-crlf"
    assert "carol" in left.what
    assert "bob" not in left.what


def test_the_block_is_moved_to_the_end_and_every_other_line_stays(healthy: GitRepo) -> None:
    path = healthy.path / ".gitattributes"
    block = path.read_text()
    path.write_text(f"*.png -text\n{block}*.json -text\n# mine")
    path.chmod(0o640)
    examine(healthy.path, fix=True)
    assert path.read_text() == f"*.png -text\n*.json -text\n# mine\n\n{block}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_attributes_with_half_a_block_or_behind_a_link_are_left_to_a_person(
    healthy: GitRepo,
) -> None:
    path = healthy.path / ".gitattributes"
    path.write_text("# memrepo: begin\n*.json binary\n")
    result = examine(healthy.path, fix=True)
    assert "line 1" in next(p.repair for p in result.left if p.name == "attributes-binary")
    assert path.read_text() == "# memrepo: begin\n*.json binary\n"
    healthy.git("checkout", "--", ".gitattributes")
    without_attributes(healthy)
    target = healthy.path.parent / "elsewhere"
    target.write_text("*.json binary\n")
    path.symlink_to(target)
    result = examine(healthy.path, fix=True)
    assert "attributes-unpinned" in names(result)
    assert target.read_text() == "*.json binary\n"
    assert path.is_symlink()


def stashes(repo: GitRepo, patch: pytest.MonkeyPatch) -> None:
    """Two old stashes."""
    patch.setenv("GIT_COMMITTER_DATE", OLD)
    for text in ("one\n", "two\n"):
        repo.write("README.md", text)
        repo.git("stash", "push", "--quiet")
    patch.delenv("GIT_COMMITTER_DATE")


def collect(repo: GitRepo) -> int:
    """How many stashes are left after Git has collected its garbage."""
    repo.git("gc", "--quiet", "--prune=now")
    return len(repo.git("stash", "list").splitlines())


@pytest.mark.parametrize("pattern_", ["refs/stash", "refs/*", "*", "refs/s?ash", "refs/[^h]tash"])
def test_git_drops_stashes_for_the_settings_that_are_reported(
    pattern_: str, healthy: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    stashes(healthy, monkeypatch)
    healthy.git("config", f"gc.{pattern_}.reflogExpire", "90.days")
    assert "gc-stash-expires" in look(healthy)
    assert collect(healthy) == 0


@pytest.mark.parametrize("pattern_", ["refs/heads/*", "refs", "stash", "REFS/stash", "refs/[!s]*"])
def test_git_keeps_stashes_for_the_settings_that_are_not(
    pattern_: str, healthy: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    stashes(healthy, monkeypatch)
    healthy.git("config", f"gc.{pattern_}.reflogExpire", "now")
    healthy.git("config", "gc.reflogExpire", "4.days")
    assert look(healthy) == []
    assert collect(healthy) == 2


def test_after_the_fix_git_keeps_stashes(healthy: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    stashes(healthy, monkeypatch)
    healthy.git("config", "gc.refs/stash.reflogExpireUnreachable", "now")
    assert examine(healthy.path, fix=True).left == ()
    assert collect(healthy) == 2


def test_no_local_setting_helps_behind_a_wider_pattern_so_none_is_made(
    healthy: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    stashes(healthy, monkeypatch)
    healthy.git("config", "gc.refs/*.reflogExpire", "90.days")
    for key in ("reflogExpire", "reflogExpireUnreachable"):
        healthy.git("config", f"gc.refs/stash.{key}", "never")
    [found] = examine(healthy.path, fix=True).left
    assert '[gc "refs/*"] in file:.git/config' in found.repair
    assert collect(healthy) == 0


def test_a_driver_without_a_command_does_stop_a_merge(healthy: GitRepo) -> None:
    for branch, turns in (("one", "[1]\n"), ("two", "[2]\n")):
        healthy.git("checkout", "--quiet", "-b", branch, "main")
        healthy.write("state/bob/tools.json", turns)
        healthy.commit(branch)
    healthy.git("config", "--unset", "merge.memrepo.driver")
    assert look(healthy) == ["driver-broken"]
    with pytest.raises(AssertionError, match="lacks command line"):
        healthy.git("merge", "one")


# --- where it works


def test_bare_repositories_are_looked_at_without_a_worktree(healthy: GitRepo) -> None:
    healthy.git("clone", "--quiet", "--bare", ".", str(healthy.path.parent / "bare.git"))
    bare = GitRepo(healthy.path.parent / "bare.git")
    assert as_text(examine(bare.path)) == f"{bare.path} is healthy (it has no worktree)"
    bare.git("config", "gc.refs/stash.reflogExpire", "now")
    bare.git("config", "gc.pruneExpire", "now")
    result = examine(bare.path, fix=True)
    assert names(result) == ["gc-prunes-soon"]
    assert [problem.name for problem in result.fixed] == ["gc-stash-expires"]


def test_linked_worktrees_subfolders_and_clones_without_files(healthy: GitRepo) -> None:
    linked = GitRepo(healthy.path.parent / "linked")
    healthy.git("worktree", "add", "--quiet", str(linked.path))
    (linked.path / "state").chmod(0o755)
    append(healthy, ".git/info/attributes", "*.json -diff")
    assert names(examine(linked.path / "state" / "bob")) == ["attributes-binary", "state-mode"]
    result = examine(linked.path / "history", fix=True)
    assert names(result) == ["attributes-binary"]
    assert "info/attributes wins" in result.left[0].repair
    empty = healthy.path.parent / "empty"
    healthy.git("clone", "--quiet", "--no-checkout", ".", str(empty))
    assert examine(empty).left == ()


def test_before_the_first_commit_what_is_staged_is_told(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    with pytest.raises(NotAMemoryRepo, match="no state/"):
        examine(repo.path)
    repo.write("state/.gitkeep", "")
    repo.write("history/.gitkeep", "")
    (repo.path / "state").chmod(0o750)
    assert look(repo) == ["attributes-unpinned"]
    repo.git("add", "state")
    assert look(repo) == ["index-dirty", "attributes-unpinned"]
    assert examine(repo.path, fix=True).healthy is False


def test_a_repository_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "code")
    repo.write("state/main.py", "pass\n")
    repo.commit()
    before = fingerprint(repo.path)
    with pytest.raises(NotAMemoryRepo, match="no history/") as caught:
        examine(repo.path, fix=True)
    assert "memrepo init" in caught.value.hint
    assert fingerprint(repo.path) == before
    (tmp_path / "none").mkdir()
    with pytest.raises(NotAMemoryRepo):
        examine(tmp_path / "none")


def test_a_repository_made_by_hand_is_brought_in_order(tmp_path: Path) -> None:
    repo = new_memory_repo(tmp_path / "memory", "bob")
    (repo.path / "state").chmod(0o755)
    result = examine(repo.path, fix=True)
    assert result.left == ()
    # The driver is only named once the block is there.
    assert [problem.name for problem in result.fixed] == [
        "state-mode",
        "attributes-unpinned",
        "driver-unregistered",
    ]
    assert repo.git("status", "--short") == "?? .gitattributes"


def test_where_no_mode_can_be_set_the_rest_is_still_repaired(
    healthy: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    (healthy.path / "state").chmod(0o755)
    healthy.git("config", "--unset", "diff.memrepo.xfuncname")
    monkeypatch.setattr(os, "fchmod", refuse)
    result = examine(healthy.path, fix=True)
    # A file system on which no mode can be set is one that keeps none.
    assert names(result) == ["state-mode"]
    assert "keeps no modes" in result.left[0].repair
    assert [problem.name for problem in result.fixed] == ["driver-unregistered"]


def test_a_repair_that_fails_is_told_and_leaves_nothing_behind(
    healthy: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    append(healthy, ".gitattributes", "*.json binary")
    (healthy.path / "state").chmod(0o755)
    before = (healthy.path / ".gitattributes").read_bytes()
    monkeypatch.setattr(os, "rename", refuse)
    result = examine(healthy.path, fix=True)
    assert names(result) == ["attributes-binary"]
    assert [problem.name for problem in result.fixed] == ["state-mode"]
    [note] = result.notes
    assert note.startswith("could not write memrepo's block")
    assert "Permission denied" in note
    assert (healthy.path / ".gitattributes").read_bytes() == before
    assert healthy.git("status", "--short", "--ignored") == " M .gitattributes"


def test_the_mode_of_another_users_folder_is_not_touched(
    healthy: GitRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    (healthy.path / "state").chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    [left] = examine(healthy.path, fix=True).left
    assert not left.safe
    assert "another user" in left.what
    assert stat.S_IMODE((healthy.path / "state").stat().st_mode) == 0o755


HOSTILE = "\x1b[31m\u202e`$(touch pwned)`\n::error::x"


def test_names_from_the_repository_never_act_on_a_terminal(healthy: GitRepo) -> None:
    healthy.write(f"state/{HOSTILE}/context.json", "[\r\n]\r\n")
    append(healthy, ".gitignore", "state/\x1b[2Jx/*")
    healthy.write("state/\x1b[2Jx/context.json", "[]\n")
    append(healthy, ".gitattributes", "*.json diff=\x1b[2J")
    result = examine(healthy.path, fix=True)
    text = as_text(result)
    assert {"worktree-crlf", "driver-unregistered"} <= set(names(result))
    assert not set(text) & {"\x1b", "\u202e", "\r"}
    assert all(line[:2] != "::" for line in text.splitlines())
    assert not (healthy.path / "pwned").exists()


# --- the command


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], healthy: GitRepo
) -> Iterator[Callable[..., tuple[int, str, str]]]:
    def call(*args: str) -> tuple[int, str, str]:
        code = app._run(["doctor", "--repo-path", str(healthy.path), *args])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_the_exit_code_is_one_while_more_than_a_note_is_left(
    run: Callable[..., tuple[int, str, str]], healthy: GitRepo
) -> None:
    assert run() == (0, f"{healthy.path} is healthy\n", "")
    healthy.git("config", "core.fileMode", "false")
    code, out, _ = run()
    assert code == 0
    assert out.startswith("note file-mode-off: ")
    (healthy.path / "state").chmod(0o755)
    code, out, _ = run("--fix", "--dry-run")
    assert code == 1
    assert "--fix would set the mode of state to 750" in out
    assert run()[0] == 1
    code, out, _ = run("--fix")
    assert code == 0
    assert "fixed state-mode: " in out


def test_the_answer_in_json(run: Callable[..., tuple[int, str, str]], healthy: GitRepo) -> None:
    (healthy.path / "state").chmod(0o755)
    code, out, _ = run("--json")
    assert code == 1
    kind = KINDS["state-mode"]
    assert json.loads(out) == {
        "path": str(healthy.path),
        "healthy": False,
        "problems": [
            {
                "name": "state-mode",
                "severity": "warning",
                "what": "the mode of state/ is 755",
                "reason": kind.reason,
                "repair": "chmod 750 state, or memrepo init --repo-path .",
                "safe": True,
                "fix": "set the mode of state to 750",
            }
        ],
        "fixed": [],
        "notes": [],
    }


def test_fix_and_convert_are_two_things(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = run("--fix", "--convert-history")
    assert (code, out) == (2, "")
    assert "two things" in err
