"""Git's own merge, rebase, cherry-pick and diff, with memrepo's drivers and without."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memrepo.doctor.doctor import examine
from memrepo.gitrepo.repository import Repository
from memrepo.semmerge.resolve import decide
from memrepo.setup.init import init
from memrepo.validate.validate import validate_all, validate_staged
from repositories import GitRepo

TOOLS = "state/bob/tools.json"


def tool(name: str, **fields: Any) -> dict[str, object]:
    base = {"name": name, "description": f"Does {name}", "parameters": {"query": "string"}}
    return {**base, **fields}


def as_json(value: Any, indent: int | None = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False) + "\n"


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A memory repository with drivers, in a folder whose name has a space and a quote."""
    path = tmp_path / "bob's memory"
    init(path, workflows=(), uses=None, dry_run=False)
    made = GitRepo(path)
    made.write_agent("bob", tools=[tool("ask"), tool("refund", parameters={"amount": "number"})])
    made.commit("base")
    return made


def branches(repo: GitRepo, path: str, ours: str | None, theirs: str | None) -> None:
    """``main`` and ``knowledge/wiki`` with one version of ``path`` each (None: removed)."""
    for branch, text in (("knowledge/wiki", theirs), ("main", ours)):
        if branch == "main":
            repo.git("checkout", "--quiet", "main")
        else:
            repo.git("checkout", "--quiet", "-b", branch)
        if text is None:
            (repo.path / path).unlink()
        else:
            repo.write(path, text)
        repo.commit(branch)


def run(repo: GitRepo, *args: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *args]
    return subprocess.run(
        command, cwd=repo.path, capture_output=True, encoding="utf-8", check=False
    )


def edited(**parameters: object) -> str:
    return as_json([tool("ask"), tool("refund", parameters=parameters)])


BOTH_RIGHT = (edited(amount="number", reason="string"), edited(amount="number", note="string"))
APART = (edited(amount="string"), edited(amount="integer"))


def unregistered(repo: GitRepo) -> None:
    repo.git("config", "--remove-section", "merge.memrepo")


# --- what joins


@pytest.mark.parametrize("command", [("merge", "--no-edit"), ("rebase",), ("cherry-pick",)])
def test_what_lines_cannot_join_is_joined(repo: GitRepo, command: tuple[str, ...]) -> None:
    branches(repo, TOOLS, *BOTH_RIGHT)
    if command == ("rebase",):
        repo.git("checkout", "--quiet", "knowledge/wiki")
    other = "main" if command == ("rebase",) else "knowledge/wiki"
    assert run(repo, *command, other).returncode == 0
    parameters = json.loads(repo.read(TOOLS))[1]["parameters"]
    assert list(parameters) == ["amount", "reason", "note"]
    assert validate_all(Repository.open(repo.path)) == []


def test_where_no_driver_is_registered_git_falls_back_to_lines(repo: GitRepo) -> None:
    branches(repo, TOOLS, *BOTH_RIGHT)
    unregistered(repo)
    assert "CONFLICT" in run(repo, "merge", "--no-edit", "knowledge/wiki").stdout
    run(repo, "merge", "--abort")
    assert [p.name for p in examine(repo.path, fix=True).fixed] == ["driver-unregistered"]
    assert run(repo, "merge", "--no-edit", "knowledge/wiki").returncode == 0


def test_validate_says_where_git_would_fall_back(repo: GitRepo) -> None:
    def said(**git_config: str) -> list[str]:
        for key, value in git_config.items():
            repo.git("config", key.replace("_", "."), value)
        return [f.code for f in validate_all(Repository.open(repo.path))]

    assert said() == []
    unregistered(repo)
    assert said() == ["driver-unregistered"]
    with Repository.open(repo.path) as opened:
        (finding,) = validate_staged(opened)
    assert (finding.severity, finding.path) == ("note", ".gitattributes")
    assert repo.read(".gitattributes").decode().splitlines()[finding.line - 1].endswith("memrepo")
    # Where Git knows nobody who commits, as on a runner, nothing will be merged.
    assert said(user_name="", user_email="") == []
    assert said(user_name="Ann", user_email="ann@example.org") == ["driver-unregistered"]
    repo.write(".gitattributes", "# *.json merge=memrepo\n")
    assert said() == []


def test_a_clean_line_merge_may_double_a_tool_and_the_driver_does_not(repo: GitRepo) -> None:
    some = [tool(name) for name in "abcdefgh"]
    repo.write(TOOLS, as_json(some))
    repo.commit("more")
    branches(repo, TOOLS, as_json([tool("new"), *some]), as_json([*some, tool("new")]))
    start = repo.git("rev-parse", "HEAD")
    assert run(repo, "merge", "--no-edit", "knowledge/wiki").returncode == 0
    names = [entry["name"] for entry in json.loads(repo.read(TOOLS))]
    assert sorted(names) == sorted({*"abcdefgh", "new"})
    unregistered(repo)
    repo.git("reset", "--quiet", "--hard", start)
    assert run(repo, "merge", "--no-edit", "knowledge/wiki").returncode == 0
    assert [entry["name"] for entry in json.loads(repo.read(TOOLS))].count("new") == 2


def test_records_and_the_policy_are_joined_in_the_hand_of_ours(repo: GitRepo) -> None:
    path = "records/it's $(touch hacked) \u00e9.json"
    base = as_json({"id": 1, "tags": ["a"], "updated": "2026-01-01T00:00:00Z"}, 4)
    repo.write(path, base)
    repo.write("records/log.jsonl", '{"id": 1}\n')
    repo.commit("records")
    theirs = {"id": 1, "tags": ["a", "c"], "updated": "2026-01-03T00:00:00Z"}
    repo.git("checkout", "--quiet", "-b", "knowledge/wiki")
    repo.write(path, as_json(theirs, None))
    repo.write("records/log.jsonl", '{"id": 1}\n{"id": 3}\n')
    policy = (repo.path / ".memrepo/policy.yml").read_text()
    repo.write(".memrepo/policy.yml", policy.replace("context_turns: 50", "context_turns: 60"))
    repo.commit("theirs")
    repo.git("checkout", "--quiet", "main")
    ours = base.replace('"a"', '"a",\n        "b"').replace("01-01T", "01-02T")
    repo.write(path, ours)
    repo.write("records/log.jsonl", '{"id": 1}\n{"id": 2}\n')
    repo.write(".memrepo/policy.yml", policy.replace("# The policy of", "# Our policy of"))
    repo.commit("ours")
    done = run(repo, "merge", "--no-edit", "knowledge/wiki")
    assert done.returncode == 0, done.stderr
    expected = ours.replace('"b"', '"b",\n        "c"').replace("01-02T", "01-03T")
    assert repo.read(path).decode() == expected
    assert repo.read("records/log.jsonl") == b'{"id": 1}\n{"id": 2}\n{"id": 3}\n'
    merged = repo.read(".memrepo/policy.yml").decode()
    assert "# Our policy of" in merged
    assert "context_turns: 60" in merged
    assert not (repo.path / "hacked").exists()


def test_nothing_in_the_repository_is_imported(repo: GitRepo) -> None:
    for name in ("json.py", "memrepo.py", "msgspec/__init__.py", "typing.py"):
        repo.write(name, "raise SystemExit('imported from the repository')\n")
    repo.commit("traps")
    branches(repo, TOOLS, *BOTH_RIGHT)
    assert run(repo, "merge", "--no-edit", "knowledge/wiki").returncode == 0
    assert "+" in run(repo, "diff", "HEAD^", "--", TOOLS).stdout


# --- what does not


def start_merge(repo: GitRepo, command: str) -> subprocess.CompletedProcess[str]:
    branches(repo, TOOLS, *APART)
    if command == "rebase":
        repo.git("checkout", "--quiet", "knowledge/wiki")
        return run(repo, "rebase", "main")
    return run(repo, command, "knowledge/wiki")


@pytest.mark.parametrize("command", ["merge", "rebase", "cherry-pick"])
def test_a_conflict_stands_at_its_place_with_all_three_values(repo: GitRepo, command: str) -> None:
    done = start_merge(repo, command)
    assert done.returncode != 0
    assert any(
        line.startswith(f"{TOOLS}#/refund/parameters/amount: ") and "'" not in line
        for line in done.stderr.splitlines()
    )
    text = (repo.path / TOOLS).read_text()
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("<<<<<<< "))
    assert lines[at].endswith(": /refund/parameters/amount")
    assert lines[at + 1 : at + 6] == [
        '      "amount": "string"',
        "||||||| base",
        '      "amount": "number"',
        "=======",
        '      "amount": "integer"',
    ]
    # In a rebase Git's ours is the branch below: names, and neither ours nor theirs.
    assert lines[at].startswith("<<<<<<< main: ")
    # Of a picked commit only newer Git tells the driver a name.
    other = "" if command == "cherry-pick" else "knowledge/wiki: "
    assert lines[at + 6].startswith(f">>>>>>> {other}")
    assert repo.git("ls-files", "--unmerged", "--", TOOLS).count("\n") == 2
    with pytest.raises(ValueError, match=r".*"):
        json.loads(text)


def test_a_conflict_cannot_be_committed_unnoticed(repo: GitRepo) -> None:
    start_merge(repo, "merge")
    for left in range(2):
        text = (repo.path / TOOLS).read_text()
        if left:  # only the last line, which no editor's button takes away
            text = edited(amount="string") + text.splitlines()[-1] + "\n"
        repo.write(TOOLS, text)
        found = validate_all(Repository.open(repo.path))
        assert ("conflict-marker", TOOLS) in {(f.code, f.path) for f in found}
        memrepo = str(Path(sys.executable).with_name("memrepo"))
        staged = [memrepo, "validate", "--staged"]
        repo.git("add", TOOLS)
        done = subprocess.run(staged, cwd=repo.path, capture_output=True, check=False)
        assert done.returncode == 1
        assert b"conflict-marker" in done.stdout + done.stderr


def test_both_add_a_file_and_git_gives_an_empty_base(repo: GitRepo) -> None:
    path = "records/new.json"
    branches(repo, path, as_json({"id": 1, "a": 1}), as_json({"id": 1, "b": 2}))
    assert run(repo, "merge", "--no-edit", "knowledge/wiki").returncode == 0
    assert json.loads(repo.read(path)) == {"id": 1, "a": 1, "b": 2}


def test_both_add_an_agent(repo: GitRepo) -> None:
    path = "state/eve/tools.json"
    branches(repo, path, as_json([tool("a")]), as_json([tool("b")]))
    assert run(repo, "merge", "--no-edit", "knowledge/wiki").returncode == 0
    assert [entry["name"] for entry in json.loads(repo.read(path))] == ["a", "b"]


def test_one_side_removed_the_file_and_git_does_not_ask_the_driver(repo: GitRepo) -> None:
    branches(repo, TOOLS, None, edited(amount="string"))
    repo.git("config", "merge.memrepo.driver", "touch called; false")
    done = run(repo, "merge", "knowledge/wiki")
    assert "CONFLICT (modify/delete)" in done.stdout
    assert not (repo.path / "called").exists()


def test_a_bare_repository_does_not_look_at_attributes(repo: GitRepo, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    repo.git("clone", "--quiet", "--bare", ".", str(bare))
    asked = ("check-attr", "merge", "--", TOOLS)
    assert repo.git(*asked).endswith(": memrepo")
    assert GitRepo(bare).git(*asked).endswith(": unspecified")


def test_rerere_takes_no_decision_of_one_file_for_another(repo: GitRepo) -> None:
    repo.git("config", "rerere.enabled", "true")
    repo.git("config", "rerere.autoUpdate", "true")
    assert "rerere-autoupdate" in [p.name for p in examine(repo.path).left]
    other = "state/eve/tools.json"
    repo.write(other, edited(amount="number"))
    repo.commit("eve")
    for path in (TOOLS, other):
        branches(repo, path, *APART)
        assert run(repo, "merge", "knowledge/wiki").returncode == 1
        assert "<<<<<<< " in (repo.path / path).read_text()
        assert repo.git("ls-files", "--unmerged", "--", path) != ""
        repo.write(path, edited(amount="integer"))
        repo.git("add", path)
        repo.git("commit", "--quiet", "--no-edit")
        repo.git("branch", "--quiet", "-D", "knowledge/wiki")


def test_a_recorded_decision_is_used(repo: GitRepo) -> None:
    from memrepo.knowledge.resolutions import record_bytes, record_of, record_path
    from memrepo.semmerge.file import merge_file

    base = repo.read(TOOLS)
    ours, theirs = (text.encode() for text in APART)
    (conflict,) = merge_file(TOOLS, base, ours, theirs).conflicts
    decision = decide(conflict, "theirs")
    record = record_of(
        conflict, "theirs", branch="knowledge/wiki", by="Ann", when="2026-01-01T00:00:00Z"
    )
    repo.write(record_path(decision), record_bytes(record, conflict))
    repo.commit("decided")
    branches(repo, TOOLS, *APART)
    assert run(repo, "merge", "--no-edit", "knowledge/wiki").returncode == 0
    assert json.loads(repo.read(TOOLS))[1]["parameters"] == {"amount": "integer"}


def test_where_memrepo_is_gone_a_merge_says_so_and_leaves_a_mark(repo: GitRepo) -> None:
    branches(repo, TOOLS, *BOTH_RIGHT)
    for key in ("merge.memrepo.driver", "diff.memrepo.textconv"):
        command = repo.git("config", key)
        gone = command.replace(sys.executable, "/no such/python")
        repo.git("config", key, gone.replace("/no such/python", "'/no such/python'"))
    assert run(repo, "merge", "--no-edit", "knowledge/wiki").returncode == 1
    assert "memrepo could not run" in (repo.path / TOOLS).read_text()
    found = validate_all(Repository.open(repo.path))
    assert ("conflict-marker", TOOLS) in {(f.code, f.path) for f in found}
    assert "+" in repo.git("diff", "main", "knowledge/wiki", "--", TOOLS)
    run(repo, "merge", "--abort")
    assert [p.name for p in examine(repo.path, fix=True).fixed] == ["driver-broken"]
    assert run(repo, "merge", "--no-edit", "knowledge/wiki").returncode == 0


def test_init_registers_anew_what_is_gone(repo: GitRepo) -> None:
    good = repo.git("config", "merge.memrepo.driver")
    repo.git("config", "merge.memrepo.driver", "/gone/python -I -m memrepo merge-driver %O")
    init(repo.path, workflows=(), uses=None, dry_run=False)
    assert repo.git("config", "merge.memrepo.driver") == good


def test_a_crossing_history_is_joined_without_marks_in_the_middle(repo: GitRepo) -> None:
    branches(repo, TOOLS, *APART)
    repo.git("branch", "left", "main")
    repo.git("branch", "right", "knowledge/wiki")
    for branch, other, text in (
        ("left", "knowledge/wiki", edited(amount="string", left="string")),
        ("right", "main", edited(amount="string", right="string")),
    ):
        repo.git("checkout", "--quiet", branch)
        run(repo, "merge", "--no-commit", other)
        repo.write(TOOLS, text)
        repo.commit(f"merge on {branch}")
    assert len(repo.git("merge-base", "--all", "left", "right").split()) == 2
    done = run(repo, "merge", "--no-edit", "left")
    assert done.returncode == 0, done.stdout
    parameters = json.loads(repo.read(TOOLS))[1]["parameters"]
    assert set(parameters) == {"amount", "left", "right"}


# --- what Git shows


def test_git_diff_shows_memory_as_a_person_reads_it(repo: GitRepo) -> None:
    turns = [{"role": "user", "content": "one\ntwo\u200b", "timestamp": "2026-01-01T00:00:00Z"}]
    repo.write_agent("bob", turns=turns, tools=[tool("ask")])
    repo.commit("two lines")
    turns[0]["content"] = "one\n\x1b[31mthree"
    repo.write_agent("bob", turns=turns, tools=[tool("ask")])
    shown = repo.git("diff")
    assert "-      | two\\u200b\n" in shown
    assert "+      | \\u001b[31mthree\n" in shown
    assert " | one" in shown
    # A hunk is headed by the turn, as before.
    assert repo.git("diff", "-U0").splitlines()[4].endswith('@@ "role": "user",')
    assert "timestamp" in repo.git("blame", "state/bob/context.json")
    # Another layout of the same memory is no difference; asked for, it is shown.
    repo.git("checkout", "--quiet", "--", ".")
    repo.write(
        "state/bob/context.json", as_json(json.loads(repo.read("state/bob/context.json")), 4)
    )
    assert "@@" not in repo.git("diff")
    assert "@@" in repo.git("diff", "--no-textconv")


def test_patches_stay_patches(repo: GitRepo, tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "a\nb", "timestamp": "2026-01-01T00:00:00Z"}]
    start = repo.git("rev-parse", "HEAD")
    repo.write_agent("bob", turns=turns)
    repo.commit("a turn")
    patch = repo.git("format-patch", "--stdout", start) + "\n"
    wanted = repo.git("rev-parse", "HEAD^{tree}")
    repo.git("reset", "--quiet", "--hard", start)
    repo.git("am", "--quiet", text=patch)
    assert repo.git("rev-parse", "HEAD^{tree}") == wanted
    repo.write_agent("bob", turns=turns, version="1.0.1")
    repo.git("add", "-p", text="y\n")
    assert "1.0.1" in repo.git("show", ":state/bob/metadata.json")


# --- how it starts


@pytest.mark.parametrize(
    ("command", "files"),
    [("merge-driver", ["a", "a", "b", TOOLS]), ("textconv", ["a"])],
)
def test_it_starts_without_typer(tmp_path: Path, command: str, files: list[str]) -> None:
    (tmp_path / "a").write_text(edited(amount="string"))
    (tmp_path / "b").write_text(edited(amount="string"))
    code = (
        "import sys; sys.argv[0] = 'memrepo'\n"
        "from memrepo.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "heavy = {'typer', 'rich', 'click', 'yaml', 'github'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    command_line = [sys.executable, "-I", "-c", code, command, *files]
    done = subprocess.run(command_line, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["merge-driver", "textconv"])
def test_its_help_and_its_refusals(tmp_path: Path, command: str) -> None:
    memrepo = shutil.which("memrepo", path=str(Path(sys.executable).parent))
    assert memrepo is not None

    def call(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [memrepo, command, *args],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    assert f"Example: memrepo {command}" in " ".join(call("--help").stdout.split())
    assert call().returncode in (2, 129)
    gone = call(*["gone"] * (4 if command == "merge-driver" else 1))
    assert gone.returncode in (2, 129)
    assert "Traceback" not in gone.stderr


def test_labels_of_newer_git_name_the_sides(tmp_path: Path, repo: GitRepo) -> None:
    write: Callable[[str, str], Path] = repo.write
    write("o", edited(amount="number"))
    write("a", APART[0])
    write("b", APART[1])
    memrepo = str(Path(sys.executable).with_name("memrepo"))
    labels = ["abc123 (base)", "HEAD", "def456 (evil \x1b[31m)"]
    command = [memrepo, "merge-driver", "o", "a", "b", TOOLS, *labels]
    done = subprocess.run(command, cwd=repo.path, capture_output=True, check=False)
    assert done.returncode == 1
    text = (repo.path / "a").read_bytes()
    assert b"<<<<<<< main: /refund/parameters/amount" in text
    assert b">>>>>>> def456 (evil " in text
    assert b"\x1b" not in text + done.stderr
