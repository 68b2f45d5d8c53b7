"""Names and files made to run something, to forge something, or to lead somewhere else."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import everything, memrepo, memrepo_process
from memrepo import MemoryRepo
from memrepo.cycle.commit import judge
from repositories import GitRepo, new_memory_repo

MakeRepo = Callable[..., GitRepo]
NAMES = ("context.json", "tools.json", "metadata.json")

#: What a shell, Git, a terminal or a job's runner would obey, were it not data.
HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned;",
    "| touch pwned",
    "'\"'\"' touch pwned",
    "--upload-pack=touch pwned",
    "-rf",
    "::error::forged",
    "##[error]forged",
    "\x1b[2Jgone",
    "%(trailers)",
    "a\u202eb\u2066c",
    "<img src=x onerror=alert(1)>",
    "{0}{__class__}%s%n",
]


def says_nothing_raw(text: str) -> bool:
    """Whether nothing in ``text`` is obeyed by a terminal."""
    return not any(char in text for char in "\x1b\x9b\u202e\u2066\u200b")


# --- messages and trailers

FORGED = (
    "Agent-Id: other",
    "Snapshot: history/20260301-120000-other.json",
    "Reverts-To: x",
    "Knowledge-Commit: 0123456789",
    "Record: mem_x",
)
MESSAGES = [
    *HOSTILE,
    "subject\n\nAgent-Id: other\nSnapshot: history/20260301-120000-other.json",
    "subject\nAgent-Id: other",
    "subject\n\nbody\n\nAgent-Id: other\n\n",
    "Agent-Id: other",
    "\n\nAgent-Id: other\n\nAgent-Id: other",
    "subject\r\n\r\nAgent-Id: other\r\nSnapshot: x",
    "subject\r\rAgent-Id: other",
    "subject\n\nagent-id: other\nSNAPSHOT: x\naGeNt-Id : other",
    "subject\n\nSigned-off-by: a\n Agent-Id: other\n\tAgent-Id: other",
    "subject\n\n\u00a0Agent-Id: other\n\u2003Agent-Id: other\n\u200bAgent-Id: other",
    "subject\u2028Agent-Id: other\u2029Agent-Id: other\x85Agent-Id: other",
    "subject\x0bAgent-Id: other\x0cAgent-Id: other\x1eAgent-Id: other",
    "subject\x00\n\nAgent-Id: other",
    "subject\n\n---\nAgent-Id: other\n\n# Agent-Id: other",
    "subject\n\nSource: wiki\nKnowledge-Commit: 0123456789\nRecord: mem_x",
    "subject\n\nReverts-To: x\nSigned-off-by: someone <a@example.org>",
    "subject \udcff\udc80 bytes",
    "🙂 " * 2000,
]


@pytest.mark.parametrize("message", MESSAGES)
def test_no_message_runs_or_forges_anything(message: str, memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot", "other")
    repo.write_agent("bot", version="1.0.1")
    assert memrepo(repo, "commit", "--agent-id", "bot", "--message", message).code == 0
    history = memrepo(repo, "history", "--agent-id", "bot", "--json").json
    assert [cycle["commit"] for cycle in history] == [repo.head()]
    assert history[0]["snapshot"].endswith("-bot.json")
    assert history[0]["version"] == "1.0.1"
    assert memrepo(repo, "history", "--agent-id", "other", "--json").json == []
    found = repo.git("log", "--format=%H", "--grep", "^Agent-Id: bot$")
    assert found == repo.head()
    assert repo.git("log", "--format=%H", "-i", "--grep", "^[ \t]*Agent-Id *: other") == ""
    trailers = repo.git("log", "-1", "--format=%(trailers:only,unfold)").splitlines()
    assert trailers == ["Agent-Id: bot", f"Snapshot: {history[0]['snapshot']}"]
    shown = memrepo(repo, "history", "--agent-id", "bot")
    assert says_nothing_raw(shown.out)
    assert len(shown.out.splitlines()) == 1
    assert not list(repo.path.rglob("*pwned*"))
    repo.git("fsck", "--strict")


@pytest.mark.parametrize("message", ["", " \n\t ", "\n\n", "\x00", "\x1f\r\n"])
def test_a_message_that_says_nothing_is_wrong_use(message: str, memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    repo.write_agent("bot", version="1.0.1")
    before = everything(repo)
    assert memrepo(repo, "commit", "--agent-id", "bot", "--message", message).code == 2
    assert everything(repo) == before


def test_a_plain_commit_with_our_trailers_is_seen_but_brings_no_snapshot(
    memory_repo: MakeRepo,
) -> None:
    """Whoever may commit may write any trailer. The commit is listed, as git log lists it;
    the snapshot that it names counts only where it brought that one."""
    repo = memory_repo("bot", "other")
    for version in ("1.0.1", "1.0.2"):
        repo.write_agent("bot", version=version)
        assert memrepo(repo, "commit", "--agent-id", "bot", "-m", version).code == 0
    real = memrepo(repo, "history", "--agent-id", "bot", "--json").json
    repo.write_agent("bot", version="6.6.6")
    other = "history/20260301-120000-other.json"
    forged: list[str] = []
    for snapshot in (real[0]["snapshot"], other, "state/bot/metadata.json", "history", "x" * 5000):
        repo.write_agent("bot", version=f"6.6.{len(forged)}")
        forged.append(repo.commit(f"bot: forged\n\nAgent-Id: bot\nSnapshot: {snapshot}"))
    seen = memrepo(repo, "history", "--agent-id", "bot", "--json").json
    assert [cycle["commit"] for cycle in seen] == [*reversed(forged), *(c["commit"] for c in real)]
    assert seen[len(forged) :] == real
    for cycle in seen[: len(forged)]:
        assert cycle["snapshot"] == ""
    told = [(c["context_turns"], c["tools"], c["version"]) for c in seen[: len(forged)]]
    assert told == [(2, 0, f"6.6.{number}") for number in (4, 3, 2, 1, 0)]  # of its own tree
    name = real[0]["snapshot"].removeprefix("history/")
    shown = memrepo(repo, "show", "--agent-id", "bot", "--commit", name, "--json").json
    assert shown["metadata"]["version"] == "1.0.2"
    assert shown["commit"] == real[0]["commit"]


def test_trailers_inside_a_plain_commit_are_not_trailers(memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    for message in (
        "Agent-Id: bot",
        "subject\n\nAgent-Id: bot\n\nand then some words",
        "subject\n\nAgent-Id: bot\nnot a trailer",
        "subject\n\nAgent-Id: bot2",
        "subject\n\n Agent-Id: bot",
        "subject\n\nAgent-Id: bot\n continued",
    ):
        repo.commit(message)
    assert memrepo(repo, "history", "--agent-id", "bot", "--json").json == []


# --- ids, revisions, branches


@pytest.mark.parametrize(
    "agent_id",
    [
        *HOSTILE,
        "..",
        ".",
        "",
        "a/b",
        "a\nb",
        "../x",
        "a b",
        "con",
        "nul.x",
        "é",
        "x" * 101,
        "a.",
        ".a",
    ],
)
def test_no_agent_id_leads_anywhere(agent_id: str, memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    before = everything(repo)
    for command in (
        ["commit", "-m", "x"],
        ["history"],
        ["show"],
        ["blame"],
        ["revert", "--commit", "HEAD"],
        ["diff", "HEAD"],
    ):
        ran = memrepo(repo, *command, f"--agent-id={agent_id}")
        assert ran.code == 2
        assert says_nothing_raw(ran.err)
    assert everything(repo) == before


@pytest.mark.parametrize(
    "rev", ["--upload-pack=touch pwned", "-n1", "--all", "--output=pwned", "$(touch pwned)"]
)
def test_no_revision_is_an_option(rev: str, memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    before = everything(repo)
    for command in (
        ["show", "--agent-id", "bot", "--commit", rev],
        ["blame", "--agent-id", "bot", "--commit", rev],
        ["revert", "--agent-id", "bot", "--commit", rev],
        ["review", "--base", rev],
        ["review", "--base", "HEAD", "--head", rev],
        ["validate", "--base", rev],
        ["diff", "--", rev],
    ):
        assert memrepo(repo, *command).code == 2
    assert everything(repo) == before


@pytest.mark.parametrize(
    "branch", ["$(touch${IFS}pwned)", "`id`", "-n", "--force", "a'b\"c", "é☀", "x;y|z&", "::error"]
)
def test_a_branch_is_a_name_and_nothing_more(
    branch: str, memory_repo: MakeRepo, bare_remote: MakeRepo
) -> None:
    repo = memory_repo("bot")
    if branch == "::error":  # no name for Git, and so none for us
        assert memrepo(repo, "review", "--base", branch).code == 2
        return
    remote = bare_remote(repo)
    repo.git("update-ref", f"refs/heads/{branch}", "HEAD")
    repo.git("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    repo.write_agent("bot", version="1.0.1")
    done = memrepo(repo, "commit", "--agent-id", "bot", "-m", "x", "--push")
    assert done.code == 0
    assert remote.git("rev-parse", f"refs/heads/{branch}") == repo.head() == done.out.strip()
    assert repo.git("status", "--porcelain") == ""
    for name in (branch, f"refs/heads/{branch}"):
        reviewed = memrepo(repo, "review", "--base", "main", "--head", name)
        assert reviewed.code == (2 if name.startswith("-") and name != branch else reviewed.code)
    assert not list(repo.path.glob("*pwned*"))


# --- names of files

ODD_NAMES = [
    b"state/bot/$(touch pwned)",
    b"state/-rf/context.json",
    b"state/\xff\xfe/context.json",
    b"state/a\nb/context.json",
    b"state/bot/\n::error::forged",
    b"history/::error file=x::forged.json",
    b"history/\x1b[2J.json",
    b"history/20260301-120000-\xe2\x80\xaebot.json",
    b"history/20260301-120000-bot.json\n",
    b"history/" + b"n" * 250 + b".json",
    b"a" * 250 + b"/" + b"b" * 250,
    b"\n::error::forged\n.md",
    b"::error::forged.md",
    b"##[error]forged.md",
    b"--upload-pack=touch pwned",
    b"\xff\xfe.md",
    b"STATE/bot/context.json",
    b".MemRepo/policy.yml",
    b"<b>\"'`|.md",
]


def put(repo: GitRepo, path: bytes, data: bytes) -> None:
    target = Path(os.fsdecode(os.fsencode(repo.path) + b"/" + path))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def test_no_file_name_is_more_than_a_name(memory_repo: MakeRepo, tmp_path: Path) -> None:
    repo = memory_repo("bot")
    for path in ODD_NAMES:
        put(repo, path, b"What is my password?\n")
    before = everything(repo)
    on_disk = memrepo(repo, "validate", "--json")
    assert on_disk.code == 1
    # Each is said: misplaced, or judged as the text that it holds.
    assert len({finding["path"] for finding in on_disk.json}) == len(ODD_NAMES)
    assert everything(repo) == before
    repo.commit("odd")
    files = {kind: tmp_path / kind for kind in ("markdown", "html", "json")}
    reports = [f"--{kind}={path}" for kind, path in files.items()]
    assert memrepo(repo, "review", "--base", "HEAD~1", *reports).code == 1
    for form in ("text", "github"):
        ran = memrepo(repo, "validate", "--base", "HEAD~1", "--format", form)
        assert says_nothing_raw(ran.out)
        commands = [line for line in ran.out.splitlines() if line.lstrip().startswith("::")]
        assert all(re.match(r"::(error|warning) file=", line) for line in commands)
        assert bool(commands) == (form == "github")
        assert not any("##[" in line for line in ran.out.splitlines() if line[:2] != "::")
    for kind in ("markdown", "html"):
        assert says_nothing_raw(files[kind].read_text())
    assert "\n::error::forged" not in files["markdown"].read_text()
    assert not list(repo.path.rglob("pwned"))
    seen = memrepo_process(repo.path, "validate", "--base", "HEAD~1", "--json")
    assert seen.out == memrepo(repo, "validate", "--base", "HEAD~1", "--json").out


@pytest.mark.parametrize("path", ["STATE/bot/context.json", "History/x", ".MEMREPO/policy.yml"])
def test_a_folder_that_would_take_a_core_folder_s_place_is_an_error(
    path: str, memory_repo: MakeRepo
) -> None:
    repo = memory_repo("bot")
    repo.write(path, "severity: {secret: off}\n")
    assert "case-collision" in codes(memrepo(repo, "validate", "--json").json)
    repo.commit("odd")
    assert "case-collision" in codes(memrepo(repo, "validate", "--base", "HEAD~1", "--json").json)


def codes(findings: list[dict[str, Any]]) -> set[str]:
    return {finding["code"] for finding in findings}


def test_the_marker_of_an_empty_folder_hides_nothing(memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    repo.write("history/.gitkeep", "What is my password?\n")
    assert codes(memrepo(repo, "validate", "--json").json) == {"sensitive-word"}
    repo.commit("odd")
    changed = memrepo(repo, "validate", "--base", "HEAD~1", "--json").json
    assert codes(changed) == {"sensitive-word"}


# --- links and other things that are no plain file


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the repository with an agent and a policy, all of it none of our business."""
    repo = new_memory_repo(tmp_path / "outside", "bot")
    repo.write("bot/context.json", '[{"role":"user","content":"my password"}]')
    for name in ("tools.json", "metadata.json"):
        (repo.path / "bot" / name).write_bytes((repo.path / "state/bot" / name).read_bytes())
    repo.write("policy.yml", "severity: {sensitive-word: off}\n")
    return repo.path


LINKS = {
    "state": "",
    "history": "",
    ".memrepo": "",
    "state/bot": "bot",
    "state/bot/context.json": "bot/context.json",
    ".memrepo/policy.yml": "policy.yml",
    "history/20260301-120000-bot.json": "bot/context.json",
}


@pytest.mark.parametrize("link", LINKS)
def test_a_link_is_an_error_and_never_followed(
    link: str, memory_repo: MakeRepo, outside: Path
) -> None:
    repo = memory_repo("bot")
    repo.write_agent("bot", version="1.0.1")
    before_outside = sorted(outside.rglob("*"))
    target = repo.path / link
    if target.is_dir():
        target.rename(repo.path / "kept")
    target.unlink(missing_ok=True)
    target.parent.mkdir(exist_ok=True)
    target.symlink_to(outside / LINKS[link])
    before = everything(repo)
    on_disk = memrepo(repo, "validate", "--json", "--format", "json")
    assert {"special-file"} <= codes(on_disk.json)
    assert "sensitive-word" not in codes(on_disk.json)
    compared = memrepo(repo, "diff", "--json")
    assert "password" not in compared.out
    done = memrepo(repo, "commit", "--agent-id", "bot", "-m", "x")
    if link.startswith("state") or link == "history":
        assert done.code in (1, 2)
        assert "password" not in done.err
        assert everything(repo) == before
    else:  # no part of the commit; the policy is that of HEAD
        assert done.code == 0
    assert memrepo(repo, "revert", "--agent-id", "bot", "--commit", "HEAD").code in (0, 2, 3)
    repo.commit("linked")
    change = memrepo(repo, "validate", "--base", "HEAD~1", "--json")
    assert "special-file" in codes(change.json)
    assert sorted(outside.rglob("*")) == before_outside


def test_an_agent_behind_a_link_does_not_exist(memory_repo: MakeRepo, outside: Path) -> None:
    repo = memory_repo("other")
    (repo.path / "state/bot").symlink_to(outside / "bot")
    before = everything(repo)
    done = memrepo(repo, "commit", "--agent-id", "bot", "-m", "x")
    assert done.code == 1
    assert "special-file" in done.err
    assert "password" not in done.err
    assert everything(repo) == before


def test_a_path_is_named_through_links_only_inside(memory_repo: MakeRepo, outside: Path) -> None:
    repo = memory_repo("bot")
    repo.write_agent("bot", version="x")
    (repo.path.parent / "way").symlink_to(repo.path)
    (repo.path / "loop").symlink_to("loop")
    (repo.path / "out").symlink_to(outside)
    version = memrepo(repo, "validate", repo.path.parent / "way/state/bot", "--json")
    assert codes(version.json) == {"version"}
    for path in (
        "loop/x",
        "out/policy.yml",
        "../outside/policy.yml",
        "/etc/passwd",
        "/",
        "x" * 300,
    ):
        ran = memrepo(repo, "validate", repo.path / path)
        assert ran.code == 2
        assert len(ran.err.splitlines()) == 2
    assert memrepo(repo, "validate", repo.path / "state/../state/bot/..", "--json").code == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "executable"])
def test_only_plain_files_are_memory(
    kind: str, name: str, memory_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = memory_repo("bot")
    path = repo.path / "state/bot" / name
    if kind == "executable":
        path.chmod(0o755)
    else:
        path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        monkeypatch.chdir(path.parent)  # a socket's path is short
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(name)
    before = everything(repo)
    findings = memrepo(repo, "validate", "--json").json
    assert [f["code"] for f in findings] == ["special-file"]
    assert "submodule" not in findings[0]["message"]
    done = memrepo(repo, "commit", "--agent-id", "bot", "-m", "x")
    assert done.code == 1
    assert "special-file" in done.err
    assert memrepo(repo, "diff").code == 0
    if kind != "executable":
        assert memrepo(repo, "revert", "--agent-id", "bot", "--commit", "HEAD").code == 3
    assert everything(repo) == before


def test_modes_mean_nothing_where_the_file_system_keeps_none(memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    repo.git("config", "core.fileMode", "false")
    repo.write_agent("bot", version="1.0.1")
    for name in NAMES:
        (repo.path / "state/bot" / name).chmod(0o755)
    assert memrepo(repo, "validate", "--json").json == []
    assert memrepo(repo, "commit", "--agent-id", "bot", "-m", "x").code == 0
    assert repo.git("status", "--porcelain") == ""
    modes = {line.split()[0] for line in repo.git("ls-tree", "-r", "HEAD").splitlines()}
    assert modes == {"100644"}


def test_a_file_that_may_not_be_read_is_told_apart_from_one_that_is_missing(
    memory_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = memory_repo("bot")
    before = everything(repo)
    really = os.open

    def denied(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if str(path).endswith("tools.json"):  # the tests may run as root, who reads everything
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return really(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", denied)
    for command in (["validate"], ["commit", "--agent-id", "bot", "-m", "x"]):
        ran = memrepo(repo, *command)
        assert ran.code == 5
        assert "state/bot/tools.json" in ran.err
    monkeypatch.undo()
    assert everything(repo) == before


def test_a_file_that_is_replaced_meanwhile_stays_as_the_person_left_it(
    memory_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = memory_repo("bot")
    repo.write_agent("bot", version="1.0.1")
    judged = (repo.path / "state/bot/metadata.json").read_bytes()

    def slow(*args: Any) -> Any:
        answer = judge(*args)
        repo.write_agent("bot", version="6.6.6")
        return answer

    monkeypatch.setattr("memrepo.cycle.commit.judge", slow)
    done = memrepo(repo, "commit", "--agent-id", "bot", "-m", "x")
    assert done.code == 0
    assert repo.read("state/bot/metadata.json") == judged
    assert b"6.6.6" in (repo.path / "state/bot/metadata.json").read_bytes()
    assert repo.git("status", "--porcelain") == " M state/bot/metadata.json"
    assert "left as it is" in done.err


# --- agents that get in each other's way


def test_an_id_that_differs_only_in_case_is_refused(memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    repo.write_agent("Bot")
    before = everything(repo)
    done = memrepo(repo, "commit", "--agent-id", "Bot", "-m", "x")
    assert done.code == 1
    assert "case-collision" in done.err
    assert everything(repo) == before
    with MemoryRepo(repo.path) as memory:
        state = {name: (repo.path / "state/Bot" / name).read_bytes() for name in NAMES}
        with pytest.raises(Exception, match="nothing was committed"), memory.bulk() as batch:
            batch.commit("Bot", "x", state=state)
    assert everything(repo) == before
    assert memrepo(repo, "commit", "--agent-id", "bot", "-m", "x").code == 0


def test_a_state_holds_the_three_files_and_no_other(memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    before = everything(repo)
    good = {name: (repo.path / "state/bot" / name).read_bytes() for name in NAMES}
    with MemoryRepo(repo.path) as memory:
        for name in ("notes.txt", "../other/context.json", "../../.gitattributes"):
            with pytest.raises(Exception, match="is no file of an agent"):
                memory.commit("bot", "x", state=good | {name: b"x"})
    assert everything(repo) == before


def test_a_secret_is_never_repeated(memory_repo: MakeRepo, tmp_path: Path) -> None:
    repo = memory_repo("bot")
    secret = "hunter2hunter2Q9"
    turn = {"role": "user", "content": f"password = {secret}", "timestamp": "2026-03-01T12:00:00Z"}
    repo.write_agent("bot", turns=[turn])
    written = [memrepo(repo, "commit", "--agent-id", "bot", "-m", "x")]
    written += [memrepo(repo, "validate", "--format", form) for form in ("text", "github", "sarif")]
    repo.commit("leak")
    reports = [f"--{kind}={tmp_path / kind}" for kind in ("markdown", "html", "json")]
    written += [memrepo(repo, "review", "--base", "HEAD~1", *reports)]
    written += [memrepo(repo, "diff", "HEAD~1", "HEAD")]
    assert all(secret not in ran.out + ran.err for ran in written)
    assert all(secret not in (tmp_path / k).read_text() for k in ("markdown", "html", "json"))


@pytest.mark.parametrize(
    "text", ["::error::forged", "\t::add-mask::x", "a\n::stop-commands::y", "##[error]z"]
)
def test_no_report_for_people_commands_the_runner(text: str, memory_repo: MakeRepo) -> None:
    repo = memory_repo("bot")
    turn = {"role": "user", "content": text, "timestamp": "2026-03-01T12:00:00Z"}
    tool: dict[str, object] = {"name": text, "description": text, "parameters": {text: text}}
    repo.write_agent("bot", turns=[turn], tools=[tool])
    repo.write(f"{text.strip()}.md", f"{text}\nWhat is my password?\n")
    repo.commit(f"{text}\n\nAgent-Id: bot")
    for command in (
        ["review", "--base", "HEAD~1"],
        ["diff", "HEAD~1", "HEAD"],
        ["validate"],
        ["show", "--agent-id", "bot"],
        ["blame", "--agent-id", "bot"],
        ["history", "--agent-id", "bot"],
        ["show", "--agent-id", "bot", "--json"],
        ["blame", "--agent-id", "bot", "--json"],
        ["diff", "HEAD~1", "HEAD", "--json"],
        ["show", "--agent-id", "bot", "--commit", text],
        ["validate", "--", text],
    ):
        ran = memrepo(repo, *command)
        for line in (ran.out + ran.err).splitlines():
            assert not line.lstrip().startswith("::"), (command, line)
            assert "##[" not in line, (command, line)
