"""``init`` on real repositories."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from commandline import memrepo
from memrepo.errors import BadInput, GitFailed, MemrepoError, PermissionDenied, UsageError
from memrepo.protocol.defaults import (
    ATTRIBUTES_BLOCK,
    BLOCK_BEGIN,
    BLOCK_END,
    IGNORE_BLOCK,
    default_policy_bytes,
)
from memrepo.setup.apply import SUBJECT, apply_init
from memrepo.setup.facts import gather
from memrepo.setup.init import InitResult, init
from memrepo.setup.plan import plan_init, targets
from memrepo.setup.workflow import (
    WORKFLOW_PATHS,
    WORKFLOWS,
    parse_uses,
    workflow_purpose,
    workflow_text,
)
from repositories import GitRepo, new_repo

WRITTEN = {
    ".gitattributes",
    ".gitignore",
    ".memrepo/policy.yml",
    "README.md",
    "history/.gitkeep",
    "state/.gitkeep",
}
ROOT = Path(__file__).parents[2]
PINNED = "example-org/memrepo@" + "1" * 40


def run(path: Path, uses: str | None = None, *, dry_run: bool = False) -> InitResult:
    return init(
        path, workflows=() if uses is None else tuple(WORKFLOWS), uses=uses, dry_run=dry_run
    )


def actions(result: InitResult) -> dict[str, str]:
    return dict(result.changes)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every path below ``folder`` with its mode and bytes (for a link, where it points)."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = b""
        if path.is_symlink():
            data = str(path.readlink()).encode()
        elif path.is_file():
            data = path.read_bytes()
        found[path.relative_to(folder).as_posix()] = (status.st_mode, data)
    return found


# --- from nothing


def test_new_folder_becomes_a_memory_repository(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "deep" / "memory")
    result = run(repo.path)
    assert result.repository_created
    assert result.changed
    assert result.notes == ()
    assert set(actions(result)) == WRITTEN | {"state/", "history/", ".git/config"}
    assert set(actions(result).values()) == {"created"}
    assert mode(repo.path / "state") == 0o750
    assert repo.git("branch", "--show-current") == "main"
    assert repo.git("log", "--format=%H %s") == f"{result.commit} {SUBJECT}"
    assert set(repo.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()) == WRITTEN
    assert repo.git("status", "--porcelain", "--ignored") == ""
    assert (repo.path / ".memrepo/policy.yml").read_bytes() == default_policy_bytes()


def test_second_run_changes_nothing_and_says_so(tmp_path: Path) -> None:
    run(tmp_path / "memory", PINNED)
    before = everything(tmp_path)
    result = run(tmp_path / "memory", PINNED)
    assert not result.changed
    assert not result.repository_created
    assert set(actions(result).values()) == {"kept"}
    assert result.commit == ""
    assert everything(tmp_path) == before


def test_dry_run_tells_the_same_and_changes_nothing(tmp_path: Path) -> None:
    planned = run(tmp_path / "memory", PINNED, dry_run=True)
    assert list(tmp_path.iterdir()) == []
    done = run(tmp_path / "memory", PINNED)
    assert planned.changes == done.changes
    assert planned.commit == ""


def test_empty_folder_and_repository_without_commits(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty").commit
    repo = new_repo(tmp_path / "unborn")
    repo.write("mine.txt", "mine")
    repo.git("add", "mine.txt")
    result = run(repo.path)
    assert not result.repository_created
    assert set(repo.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()) == WRITTEN
    assert repo.git("status", "--porcelain") == "A  mine.txt"


def test_other_umask_and_line_end_settings_leave_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
    for number, (key, value) in enumerate([("core.autocrlf", "true"), ("core.safecrlf", "true")]):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    old = os.umask(0o077)
    try:
        run(tmp_path / "memory")
    finally:
        os.umask(old)
    repo = GitRepo(tmp_path / "memory")
    assert mode(repo.path / "state") == 0o750
    assert repo.git("status", "--porcelain") == ""
    assert b"\r" not in repo.read(".memrepo/policy.yml")


def test_without_an_identity_memrepo_makes_the_first_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    result = run(tmp_path / "memory")
    who = GitRepo(tmp_path / "memory").git("log", "--format=%an <%ae>, %cn <%ce>")
    assert who == ", ".join(["memrepo <memrepo@users.noreply.localhost>"] * 2)
    assert any("identity" in note for note in result.notes)


def test_with_an_identity_the_person_makes_the_first_commit(tmp_path: Path) -> None:
    run(tmp_path / "memory")
    who = GitRepo(tmp_path / "memory").git("log", "--format=%an <%ae>")
    assert who == "Test Person <test@example.org>"


def test_refused_first_commit_is_told_and_made_by_the_next_run(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    hook = repo.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'fatal: not today' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GitFailed, match=r"files are in place.*not today"):
        run(repo.path)
    hook.unlink()
    result = run(repo.path)
    assert result.commit == repo.head()
    assert set(repo.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()) == WRITTEN


@pytest.mark.parametrize("fails_at", range(6))
def test_killed_at_any_write_the_next_run_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    real, calls = os.rename, iter(range(100))

    def rename(*args: object, **options: object) -> None:
        if next(calls) == fails_at:
            raise KeyboardInterrupt
        real(*args, **options)  # type: ignore[arg-type]

    repo = GitRepo(tmp_path / "memory")
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", rename)
        with pytest.raises(KeyboardInterrupt):
            run(repo.path)
    assert run(repo.path).commit
    run(tmp_path / "whole")
    ours, whole = everything(repo.path), everything(tmp_path / "whole")
    outside_git = [{k: v for k, v in x.items() if not k.startswith(".git/")} for x in (ours, whole)]
    assert outside_git[0] == outside_git[1]
    assert repo.git("status", "--porcelain", "--ignored") == ""


# --- what it writes does its work


def test_attributes_win_over_an_earlier_binary(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.write(".gitattributes", "*.json binary\n*.yml -text")
    repo.commit()
    assert actions(run(repo.path))[".gitattributes"] == "updated"
    text = (repo.path / ".gitattributes").read_text()
    assert text == "*.json binary\n*.yml -text\n\n" + ATTRIBUTES_BLOCK
    for path in (
        "state/a/context.json",
        "history/20260301-120000-a.json",
        "history/2026/03/01/20260301-120000-a.json",
        "records/a.json",
    ):
        shown = repo.git("check-attr", "text", "eol", "binary", "diff", "merge", "--", path)
        values = [line.rsplit(": ", 1)[1] for line in shown.splitlines()]
        assert values == ["set", "lf", "unset", "memrepo", "memrepo"], path
    assert "eol: lf" in repo.git("check-attr", "eol", "--", ".memrepo/policy.yml")
    assert "binary: set" in repo.git("check-attr", "binary", "--", "other/x.json")


def test_merges_work_with_the_driver_named(tmp_path: Path) -> None:
    run(tmp_path / "memory")
    repo = GitRepo(tmp_path / "memory")
    words = ["first", "second", "third"]
    turns = [
        {"role": "user", "content": f"{w}\u2019s turn", "timestamp": f"2026-03-01T12:00:0{n}Z"}
        for n, w in enumerate(words)
    ]
    repo.write_agent("a", turns=turns)
    repo.commit("a")
    path = repo.path / "state/a/context.json"
    repo.git("switch", "--quiet", "--create", "side")
    path.write_text(path.read_text().replace("first", "FIRST"))
    repo.commit("side")
    repo.git("switch", "--quiet", "main")
    path.write_text(path.read_text().replace("third", "THIRD"))
    repo.commit("main")
    repo.git("merge", "--quiet", "--no-edit", "side")
    merged = path.read_text()
    assert "FIRST" in merged
    assert "THIRD" in merged


def test_hunks_are_headed_by_the_tool_or_turn(tmp_path: Path) -> None:
    run(tmp_path / "memory")
    repo = GitRepo(tmp_path / "memory")
    schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}
    tools: list[dict[str, object]] = [
        {"name": name, "description": "", "parameters": schema} for name in ("one", "two")
    ]
    repo.write_agent("a", tools=tools)
    repo.commit("a")
    path = repo.path / "state/a/tools.json"
    head, _, tail = path.read_text().rpartition('"maxLength": 5')
    path.write_text(f'{head}"maxLength": 6{tail}')
    assert re.search(r'^@@ .* @@ "name": "two",$', repo.git("diff", "-U0"), re.MULTILINE)
    path = repo.path / "state/a/context.json"
    path.write_text(path.read_text().replace("Hi!", "Ho!"))
    shown = repo.git("diff", "-U0", "--", "state/a/context.json")
    assert re.search(r'^@@ .* @@ "role": "assistant",$', shown, re.MULTILINE)


def test_ignore_block_hides_editor_files_and_never_memory(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.write(".gitignore", "*.json\nstate/\nhistory\n.memrepo/\n*.swp\n")
    repo.commit()
    run(repo.path)

    def ignored(path: str) -> bool:
        done = subprocess.run(["git", "check-ignore", "--quiet", path], cwd=repo.path, check=False)
        return done.returncode == 0

    # Ids that look like an editor's file are ids all the same.
    agents = ("a", "x.swp", "Thumbs.db", "a.tmp", "b.orig", "c.bak", "desktop.ini")
    kept = [f"state/{a}/context.json" for a in agents]
    kept += [f"history/20260301-120000-{a}.json" for a in agents]
    kept += ["history/2026/03/01/20260301-120000-a.json", ".memrepo/policy.yml", "records/r.json"]
    assert [path for path in kept if ignored(path)] == []
    hidden = ["state/a/.context.json.swp", "state/a/context.json~", ".DS_Store", ".idea/x", "#a#"]
    assert [path for path in hidden if not ignored(path)] == []
    assert ignored("elsewhere.json")


# --- an existing repository


def test_existing_repository_gets_only_what_is_missing_and_no_commit(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.write_agent("a")
    repo.write("README.md", "# Ours\n")
    repo.write(".memrepo/policy.yml", "limits: {context_turns: 9}\n")
    head = repo.commit()
    result = run(repo.path)
    assert repo.head() == head
    assert result.commit == ""
    assert (repo.path / "README.md").read_text() == "# Ours\n"
    assert (repo.path / ".memrepo/policy.yml").read_text() == "limits: {context_turns: 9}\n"
    assert actions(result) == {
        "state/": "updated",
        "history/": "created",
        "history/.gitkeep": "created",
        ".gitattributes": "created",
        ".gitignore": "created",
        "README.md": "kept",
        ".memrepo/policy.yml": "kept",
        ".git/config": "created",
    }
    (note,) = result.notes
    assert note.startswith("not committed")
    assert "git add history/.gitkeep .gitattributes .gitignore" in note


@pytest.mark.parametrize("name", ["readme.md", "README", "README.rst", "Readme.txt"])
def test_a_readme_of_another_name_is_enough(tmp_path: Path, name: str) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.write(name, "ours")
    result = run(repo.path)
    assert "README.md" not in actions(result)
    assert not (repo.path / "README.md").exists()


def test_only_memrepos_own_block_is_rewritten(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    old = f"before\r\n{BLOCK_BEGIN}\nan older block\n{BLOCK_END}\n# after, no newline"
    repo.write(".gitignore", old)
    target = repo.path / ".gitignore"
    target.chmod(0o640)
    assert actions(run(repo.path))[".gitignore"] == "updated"
    assert target.read_bytes().decode() == f"before\r\n{IGNORE_BLOCK}# after, no newline"
    assert mode(target) == 0o640


def test_lines_below_the_block_are_kept_and_told(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.write(".gitattributes", ATTRIBUTES_BLOCK + "# fine\n\n")
    assert not any("win over" in note for note in run(repo.path).notes)
    repo.write(".gitattributes", ATTRIBUTES_BLOCK + "*.json binary\n")
    assert any(".gitattributes win over it" in note for note in run(repo.path).notes)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"a\n{BLOCK_BEGIN}\n", 2),
        (f"{BLOCK_END}\n", 1),
        (f"{BLOCK_END}\n{BLOCK_BEGIN}\n", 2),
        (f"{BLOCK_BEGIN}\n{BLOCK_BEGIN}\n{BLOCK_END}\n", 1),
    ],
)
def test_broken_marks_are_refused_before_anything_is_written(
    tmp_path: Path, text: str, line: int
) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.write(".gitattributes", text)
    before = everything(repo.path)
    with pytest.raises(BadInput, match=rf"\.gitattributes, line {line}"):
        run(repo.path)
    assert everything(repo.path) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [(0o755, 0o750), (0o777, 0o750), (0o750, 0o750), (0o700, 0o700), (0o2755, 0o2750)],
)
def test_mode_of_state_is_narrowed_never_widened(tmp_path: Path, before: int, after: int) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.write_agent("a")
    (repo.path / "state").chmod(before)
    result = run(repo.path)
    assert mode(repo.path / "state") == after
    assert actions(result)["state/"] == ("kept" if before == after else "updated")


def test_a_driver_that_a_person_set_stays(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.git("config", "diff.memrepo.xfuncname", "^mine$")
    assert actions(run(repo.path))[".git/config"] == "updated"
    assert repo.git("config", "diff.memrepo.xfuncname") == "^mine$"


def test_a_fresh_clone_gets_its_drivers_and_nothing_else(tmp_path: Path) -> None:
    run(tmp_path / "memory")
    subprocess.run(
        ["git", "clone", "--quiet", "memory", "clone"], cwd=tmp_path, check=True, umask=0o027
    )
    result = run(tmp_path / "clone")
    changed = {path for path, action in actions(result).items() if action != "kept"}
    assert changed == {".git/config"}
    assert GitRepo(tmp_path / "clone").git("status", "--porcelain") == ""


def test_a_linked_worktree_is_a_root_of_its_own(tmp_path: Path) -> None:
    run(tmp_path / "memory")
    repo = GitRepo(tmp_path / "memory")
    repo.git("worktree", "add", "--quiet", "../linked", "-b", "trial")
    result = run(tmp_path / "linked")
    assert {p for p, a in actions(result).items() if a != "kept"} <= {"state/"}


# --- where no memory repository can be


def refused(path: Path, kind: type[MemrepoError] = UsageError) -> str:
    """What the person is told; nothing may have changed."""
    top = path.parent
    before = everything(top) if top.is_dir() else {}
    with pytest.raises(kind) as caught:
        run(path)
    assert caught.value.hint
    assert "\n" not in caught.value.message
    assert (everything(top) if top.is_dir() else {}) == before
    return caught.value.message


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "is a file" in refused(tmp_path / "file")
    assert "is a file" in refused(tmp_path / "file" / "below")


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    bare = new_repo(tmp_path / "bare.git", bare=True)
    assert "bare repository" in refused(bare.path)
    assert "inside the Git directory" in refused(bare.path / "objects")
    inner = new_repo(tmp_path / "inner")
    assert "inside the Git directory" in refused(inner.path / ".git" / "refs")
    inner.git("config", "core.bare", "true")
    assert "bare repository" in refused(inner.path)


def test_the_inside_of_another_repository_is_refused_with_its_root(tmp_path: Path) -> None:
    outer = new_repo(tmp_path / "outer")
    outer.write("sub/x", "x")
    assert f"root is {outer.path}" in refused(outer.path / "sub")
    assert f"root is {outer.path}" in refused(outer.path / "new" / "folder")


def test_what_the_outer_repository_ignores_is_a_place_of_its_own(tmp_path: Path) -> None:
    outer = new_repo(tmp_path / "outer")
    outer.write(".gitignore", "build/\n")
    outer.commit()
    for path in ("build/:(top)[x]*", "build"):
        assert run(outer.path / path).repository_created
    assert outer.git("status", "--porcelain") == ""


def test_a_repository_of_its_own_inside_another_is_fine(tmp_path: Path) -> None:
    new_repo(tmp_path / "outer")
    inner = new_repo(tmp_path / "outer" / "inner")
    assert run(inner.path).commit == inner.head()


@pytest.mark.parametrize(
    "path",
    [
        *("state", "history", ".gitattributes", ".gitignore", ".memrepo", ".memrepo/policy.yml"),
        *("state/.gitkeep", ".github", ".github/workflows", *WORKFLOW_PATHS),
    ],
)
@pytest.mark.parametrize("target", ["missing", "file", "folder"])
def test_symlinks_are_refused_and_never_followed(tmp_path: Path, path: str, target: str) -> None:
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_text("secret\n")
    repo = new_repo(tmp_path / "memory")
    link = repo.path / path
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside / target)
    before = everything(tmp_path)
    with pytest.raises(UsageError, match=f"^{re.escape(path)} is a symlink"):
        run(repo.path, PINNED)
    assert everything(tmp_path) == before


def test_a_linked_readme_is_a_readme(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.write("docs/README.md", "ours")
    (repo.path / "README.md").symlink_to("docs/README.md")
    run(repo.path)
    assert (repo.path / "README.md").is_symlink()
    assert (repo.path / "docs/README.md").read_text() == "ours"


def test_what_stands_in_the_way_is_named(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    repo.write("state", "a file")
    assert refused(repo.path).startswith("state is a file")
    (repo.path / "state").unlink()
    (repo.path / ".gitignore").mkdir()
    assert refused(repo.path).startswith(".gitignore is a folder")
    (repo.path / ".gitignore").rmdir()
    os.mkfifo(repo.path / ".gitattributes")
    with pytest.raises(UsageError, match=r"^\.gitattributes is neither"):
        run(repo.path)


def test_a_link_that_appears_after_the_plan_is_not_followed(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    plan = plan_init(gather(repo.path, targets(())), None)
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.path / ".memrepo").symlink_to(outside)
    with pytest.raises(UsageError, match="cannot be written"):
        apply_init(plan)
    assert list(outside.iterdir()) == []


def test_a_file_that_changes_after_the_plan_is_not_overwritten(tmp_path: Path) -> None:
    repo = new_repo(tmp_path / "memory")
    plan = plan_init(gather(repo.path, targets(())), None)
    repo.write(".gitignore", "just written\n")
    with pytest.raises(UsageError, match=r"\.gitignore changed while"):
        apply_init(plan)
    assert (repo.path / ".gitignore").read_text() == "just written\n"
    run(repo.path)
    assert (repo.path / ".gitignore").read_text() == f"just written\n\n{IGNORE_BLOCK}"


def test_an_unwritable_folder_is_permission_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The one who runs the tests may be root, whom no mode stops.
    (tmp_path / "memory").mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "not writable" in refused(tmp_path / "memory", PermissionDenied)


def test_a_write_that_is_denied_is_permission_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", ".gitattributes")

    repo = new_repo(tmp_path / "memory")
    monkeypatch.setattr(os, "rename", deny)
    with pytest.raises(PermissionDenied, match="cannot be written"):
        run(repo.path)
    assert [p.name for p in repo.path.rglob("*~")] == []


@pytest.mark.parametrize(
    "name", ["$(touch x)", "-rf", "a\nb", "q\"uo'te", "::error::x", "ü\u202e", "a" * 250]
)
def test_hostile_folder_names_are_only_names(tmp_path: Path, name: str) -> None:
    result = run(tmp_path / name)
    assert result.commit == GitRepo(tmp_path / name).head()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a\0b", "a" * 300])
def test_impossible_folder_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(tmp_path / name)
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


# --- the starter workflows


def test_workflows_are_written_and_follow_their_source(tmp_path: Path) -> None:
    repo = GitRepo(tmp_path / "memory")
    run(repo.path)
    result = run(repo.path, "example-org/memrepo@v1.0.0")
    assert [actions(result)[path] for path in WORKFLOW_PATHS] == ["created"] * len(WORKFLOW_PATHS)
    assert sum("can be moved" in note for note in result.notes) == 1
    result = run(repo.path, PINNED)
    assert [actions(result)[path] for path in WORKFLOW_PATHS] == ["updated"] * len(WORKFLOW_PATHS)
    assert not any("can be moved" in note for note in result.notes)
    for path in WORKFLOW_PATHS:
        assert (repo.path / path).read_text() == workflow_text(path, parse_uses(PINNED))


@pytest.mark.parametrize("path", WORKFLOW_PATHS)
@pytest.mark.parametrize("what", ["edited", "a person's own", "copied by hand"])
def test_a_workflow_that_is_a_persons_own_stays(tmp_path: Path, path: str, what: str) -> None:
    repo = GitRepo(tmp_path / "memory")
    run(repo.path, PINNED)
    target = repo.path / path
    ours = {
        "edited": target.read_text().replace("timeout-minutes: ", "timeout-minutes: 1"),
        "a person's own": "name: mine\n",
        "copied by hand": (ROOT / "workflows" / target.name).read_text(),
    }[what]
    target.write_text(ours)
    result = run(repo.path, "example-org/memrepo@v2.0.0")
    other = next(one for one in WORKFLOW_PATHS if one != path)
    assert (actions(result)[path], actions(result)[other]) == ("kept", "updated")
    assert [note for note in result.notes if "not as init writes it" in note] == [
        f"{path} is not as init writes it, so it stays as it is"
    ]
    assert target.read_text() == ours


def test_the_workflows_of_one_thing(tmp_path: Path) -> None:
    where = tmp_path / "memory"
    options = ("--uses", PINNED)
    done = memrepo(where, "init", *options, "--workflow", "archive", "--workflow", "review")
    assert done.code == 0
    written = sorted(path.name for path in (where / ".github/workflows").iterdir())
    assert written == ["memory-review-comment.yml", "memory-review.yml", "weekly-archive.yml"]
    told = {line.partition(": ")[0]: line for line in done.err.splitlines()}
    archive = told[".github/workflows/weekly-archive.yml"]
    assert archive.endswith("may contents: write, id-token: write, attestations: write")
    assert "into a release, every week;" in archive
    again = memrepo(where, "init", *options, "--workflow", "archive")
    assert "; may " not in again.err
    for wrong, words in (
        (("--workflow", "reviw"), "Did you mean `review`?"),
        (("--workflow", "review", "--workflows"), "--workflows is all of them"),
    ):
        refused = memrepo(where, "init", *options, *wrong)
        assert (refused.code, words in refused.err) == (2, True)


def test_every_starter_says_its_purpose_and_what_its_jobs_may_do() -> None:
    for path in WORKFLOW_PATHS:
        purpose, _, may = workflow_purpose(path).rpartition("; may ")
        granted = yaml.safe_load(workflow_text(path, parse_uses(PINNED)))["jobs"].values()
        wanted = [f"{k}: {v}" for job in granted for k, v in job["permissions"].items()]
        assert may.split(", ") == list(dict.fromkeys(wanted))
        assert purpose[0].isupper()
        assert "# " not in purpose


def test_workflows_and_uses_go_together(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="workflows need --uses"):
        init(tmp_path / "memory", workflows=["review"], uses=None, dry_run=False)
    with pytest.raises(UsageError, match="--uses is for"):
        init(tmp_path / "memory", workflows=(), uses=PINNED, dry_run=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    ["o/r@v1", "example-org/mem.repo_2@" + "a" * 40, "A/b@feature/x-1", "o/r@2026.1", PINNED],
)
def test_sources_that_are_taken(text: str) -> None:
    assert str(parse_uses(text)) == text
    repository, _, ref = text.rpartition("@")
    used = []
    for path in WORKFLOW_PATHS:
        (job,) = yaml.safe_load(workflow_text(path, parse_uses(text)))["jobs"].values()
        used += [step["uses"] for step in job["steps"] if "/actions/" in step.get("uses", "")]
    verbs = """review comment archive update-knowledge merge-knowledge memory-command
        records-sweep rollout rollout rollout""".split()
    assert used == [f"{repository}/actions/{verb}@{ref}" for verb in verbs]


@pytest.mark.parametrize(
    "text",
    [
        *("", "o/r", "o@v1", "o/r@", "/r@v1", "o/r/s@v1", "o/r@v1@v2", "-o/r@v1", "o-/r@v1"),
        *("o/r@-v1", "o/r@a..b", "o/r@a//b", "o/r@a/", "o/r@a.", "o/r@a.lock", "o/r@a/.b"),
        *("o/..@v1", "o/r.git@v1", "o/r@v1\n", "o/r@v1 x", "o/r@$(id)", "o/r@v1;id", "o/r@`id`"),
        *("o/r@${{github.token}}", "o/r@v1#egg=x", "o/r@v1'", 'o/r@v1"', "ö/r@v1", "o/r@v１"),
        *("o/r@" + "a" * 201, "a" * 40 + "/r@v1", "o/r@v1\0"),
    ],
)
def test_sources_that_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="OWNER/REPO@REF") as caught:
        run(tmp_path / "memory", text)
    assert "\n" not in caught.value.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", WORKFLOW_PATHS)
def test_workflows_are_the_starters_with_their_source_put_in(path: str) -> None:
    starter = (ROOT / "workflows" / path.rpartition("/")[2]).read_text().splitlines()
    written = workflow_text(path, parse_uses(PINNED)).splitlines()
    gone = [line for line in starter if line not in written]
    come = [line for line in written if line not in starter]
    assert "# Written by `memrepo init`; yours to edit." in come
    uses = sum("OWNER/" in line for line in starter)
    assert [line.startswith("#") for line in gone] == [True, True, *[False] * uses]
    assert [line.startswith("#") for line in come] == [True, *[False] * uses]
    assert not any("OWNER" in line or "Copy" in line for line in written)


def test_an_installed_package_writes_the_same(tmp_path: Path) -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    wheel, sdist = build["targets"]["wheel"], build["targets"]["sdist"]
    assert {*wheel["packages"], *wheel["force-include"]} <= {*sdist["include"]}
    for package in wheel["packages"]:
        installed = tmp_path / Path(package).name
        shutil.copytree(ROOT / package, installed, ignore=shutil.ignore_patterns("__pycache__"))
    print_all = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from memrepo.setup.workflow import *\n"
        f"print(*(workflow_text(p, parse_uses({PINNED!r})) for p in WORKFLOW_PATHS), sep='')"
    )
    command = [sys.executable, "-I", "-c", print_all]
    without = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "came without the starter workflow" in without.stderr
    for source, target in wheel["force-include"].items():
        shutil.copytree(ROOT / source, tmp_path / target)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    here = "".join(workflow_text(path, parse_uses(PINNED)) for path in WORKFLOW_PATHS)
    assert done.stdout == here + "\n"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("zizmor", ["--offline", "--persona=pedantic", "--no-progress"]),
        ("check-jsonschema", ["--builtin-schema", "vendor.github-workflows"]),
        ("check-jsonschema", ["--builtin-schema", "custom.github-workflows-require-timeout"]),
    ],
)
def test_workflows_pass_the_checkers(tmp_path: Path, tool: str, arguments: list[str]) -> None:
    run(tmp_path / "memory", PINNED)
    files = [tmp_path / "memory" / path for path in WORKFLOW_PATHS]
    program = Path(sys.executable).parent / tool
    done = subprocess.run(
        [program, *arguments, *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
