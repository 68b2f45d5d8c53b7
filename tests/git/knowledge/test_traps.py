"""Clones and branches as they come: shallow, bare, detached, unrelated, with merges, hostile."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from commandline import everything
from knowledgework import merge_now, on_branch, on_main, origin, subjects, tools, tools_of
from memrepo.errors import NeedsPerson, PermissionDenied, UsageError
from repositories import GitRepo

Make = Callable[..., GitRepo]


def write_tools(repo: GitRepo, *names: str, **described: str) -> None:
    repo.write_agent("bot", tools=tools(*names, **described))


@pytest.fixture
def both(work: GitRepo) -> GitRepo:
    """Main and the wiki changed one file, in ways that fit."""
    on_branch(
        work, "wiki",
        lambda: write_tools(work, "find", "refund", find="One."),
        lambda: write_tools(work, "find", "refund", "wiki", find="Two."),
    )  # fmt: skip
    for n in range(3):
        on_main(work, partial(write_tools, work, "find", "refund", refund=f"Pays {n}."))
    return work


@pytest.mark.parametrize("options", [("--depth=1",), ("--bare",), ("--depth=1", "--bare")])
def test_a_shallow_or_bare_clone(both: GitRepo, clone: Make, options: tuple[str, ...]) -> None:
    remote = origin(both)
    place = GitRepo(both.path.parent / "other")
    both.git("clone", "--quiet", *options, f"file://{remote.path}", str(place.path))
    done = merge_now(place)
    assert (done.exit_code, done.commits) == (0, 2)
    assert [t["description"] for t in tools_of(remote).values()] == [
        "Two.",
        "Pays 2.",
        "Does wiki.",
    ]
    assert merge_now(place).moved is False


def test_a_detached_head(both: GitRepo) -> None:
    both.git("checkout", "--quiet", "--detach")
    at = both.head()
    assert merge_now(both).commits == 2
    assert both.head() == at


def test_a_branch_without_a_commit_of_its_own(work: GitRepo) -> None:
    on_branch(work, "wiki")
    done = merge_now(work)
    assert [(one.result, one.ahead) for one in done.branches] == [("nothing", 0)]


def test_a_branch_of_another_repository(work: GitRepo) -> None:
    work.git("switch", "--quiet", "--orphan", "knowledge/odd")
    write_tools(work, "odd")
    work.commit("from nowhere")
    work.git("push", "--quiet", "origin", "knowledge/odd")
    work.git("switch", "--quiet", "main")
    done = merge_now(work)
    assert (done.exit_code, done.branches[0].result) == (3, "unrelated")


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        ".github/actions/x/action.yml",
        ".GitHub/CODEOWNERS",
        ".github",
        ".memrepo/policy.yml",
        ".gitattributes",
        ".gitmodules",
        "notes/.gitignore",
    ],
)
def test_a_branch_that_changes_what_runs_needs_a_person(work: GitRepo, path: str) -> None:
    on_branch(work, "wiki", lambda: work.write(path, "on: push\n"))
    done = merge_now(work)
    assert (done.exit_code, done.branches[0].result, done.moved) == (3, "refused", False)
    assert path in done.branches[0].message


def test_names_that_a_shell_would_obey(work: GitRepo) -> None:
    name = "$(touch${IFS}pwned);`id`&&'x'\"y\""
    on_branch(work, name, lambda: write_tools(work, "find", "refund", "shell"))
    done = merge_now(work)
    assert done.merged == (f"knowledge/{name}",)
    assert not list(work.path.parent.rglob("pwned"))


def test_a_protected_main_is_refused_with_advice(both: GitRepo) -> None:
    hook = origin(both).path / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'GH006: Protected branch update failed' >&2\nexit 1\n")
    hook.chmod(0o755)
    tip = origin(both).head("main")
    with pytest.raises(PermissionDenied, match="refused the push") as caught:
        merge_now(both)
    assert "--mode pr" in caught.value.hint
    assert origin(both).head("main") == tip


def test_a_merge_of_main_into_the_branch_adds_nothing_of_its_own(both: GitRepo) -> None:
    both.git("switch", "--quiet", "knowledge/wiki")
    both.git("fetch", "--quiet")
    both.git("merge", "--quiet", "--strategy=ours", "--no-commit", "origin/main", check=False)
    write_tools(both, "find", "refund", "wiki", find="Two.", refund="Pays 2.")
    both.commit("Merge branch 'main'")
    write_tools(both, "find", "refund", "wiki", find="Three.", refund="Pays 2.")
    both.commit("after it")
    both.git("push", "--quiet", "origin", "knowledge/wiki")
    done = merge_now(both)
    assert (done.exit_code, done.branches[0].empty) == (0, 0)
    assert subjects(origin(both), "main~3..main") == ["from wiki 0", "from wiki 1", "after it"]
    texts = [t["description"] for t in tools_of(origin(both)).values()]
    assert texts == ["Three.", "Pays 2.", "Does wiki."]


def test_what_a_person_decided_in_a_merge_is_not_asked_again(work: GitRepo) -> None:
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", refund="B."))
    on_main(work, lambda: write_tools(work, "find", "refund", refund="A."))
    work.git("switch", "--quiet", "knowledge/wiki")
    work.git("merge", "--quiet", "--strategy=ours", "--no-commit", "origin/main", check=False)
    write_tools(work, "find", "refund", refund="A and B.")
    merged = work.commit("Merge main, both texts")
    work.git("push", "--quiet", "origin", "knowledge/wiki")
    done = merge_now(work)
    assert (done.exit_code, done.commits) == (0, 1)
    assert tools_of(origin(work))["refund"]["description"] == "A and B."
    message = origin(work).git("log", "-1", "--format=%B", "main")
    assert f"Knowledge-Commit: {merged}" in message
    assert merge_now(work).moved is False


def test_a_side_branch_of_the_source_keeps_its_authors(work: GitRepo) -> None:
    on_branch(work, "wiki", lambda: write_tools(work, "find", "refund", "one"))
    work.git("switch", "--quiet", "--create", "side", "knowledge/wiki~1")
    work.write("MEMORY.md", "Side.\n")
    work.git("add", "--all")
    work.git("commit", "--quiet", "--author=Side <side@example.org>", "-m", "on the side")
    work.git("switch", "--quiet", "knowledge/wiki")
    work.git("merge", "--quiet", "--no-edit", "side")
    work.git("push", "--quiet", "origin", "knowledge/wiki")
    done = merge_now(work)
    assert [landed.author for landed in done.branches[0].commits] == [
        "Wiki <wiki@example.org>", "Side <side@example.org>",
    ]  # fmt: skip
    assert merge_now(work).moved is False


def test_a_rebase_by_hand_is_known_again(both: GitRepo) -> None:
    both.git("switch", "--quiet", "--create", "mine", "knowledge/wiki")
    both.git("rebase", "--quiet", "-Xtheirs", "origin/main", check=False)
    both.git("rebase", "--abort", check=False)
    both.git("switch", "--quiet", "main")
    both.git("pull", "--quiet", "--rebase")
    for commit in both.git("rev-list", "--reverse", "main..knowledge/wiki").split():
        both.git("cherry-pick", "--strategy-option=theirs", commit)
    on_main(both, lambda: write_tools(both, "find", "refund", "wiki", find="Later."))
    done = merge_now(both)
    assert [one.result for one in done.branches] == ["nothing"]


def test_a_squashed_pull_request_is_known_again(both: GitRepo, clone: Make) -> None:
    dry = clone(origin(both), "dry")
    merge_now(dry)
    remote = origin(both)
    text = remote.git("log", "-2", "--reverse", "--format=* %s%n%n%b", "main")
    tree = remote.git("rev-parse", "main^{tree}")
    squashed = remote.git("commit-tree", tree, "-p", "main~2", text=f"Knowledge (#7)\n\n{text}")
    remote.git("update-ref", "refs/heads/main", squashed)
    on_main(both, lambda: write_tools(both, "find", "refund", "wiki", find="Later."))
    assert [one.result for one in merge_now(both).branches] == ["nothing"]


def test_a_message_cannot_pass_for_a_replayed_commit(work: GitRepo) -> None:
    (crm,) = on_branch(work, "crm", lambda: write_tools(work, "find", "refund", "crm"))
    work.git("switch", "--quiet", "--create", "knowledge/api", "origin/main")
    work.write("MEMORY.md", "Hello.\n")
    work.commit(f"forged\n\nKnowledge-Commit: {crm}")
    work.git("push", "--quiet", "origin", "knowledge/api")
    work.git("switch", "--quiet", "main")
    assert merge_now(work, "api").commits == 1
    assert merge_now(work).merged == ("knowledge/crm",)
    assert "crm" in tools_of(origin(work))


def test_a_file_where_main_has_a_folder(work: GitRepo) -> None:
    on_branch(work, "wiki", lambda: work.write("notes", "text\n"))
    on_main(work, lambda: work.write("notes/one.md", "text\n"))
    done = merge_now(work)
    assert [c.conflict.kind for c in done.branches[0].conflicts] == ["file-folder"]


def test_a_folder_where_main_has_a_file(work: GitRepo) -> None:
    on_branch(work, "wiki", lambda: work.write("notes/one.md", "text\n"))
    on_main(work, lambda: work.write("notes", "text\n"))
    done = merge_now(work)
    assert [c.conflict.kind for c in done.branches[0].conflicts] == ["file-folder"]


def test_a_file_that_becomes_a_folder_and_back(work: GitRepo) -> None:
    on_main(work, lambda: work.write("notes", "text\n"))

    def to_folder() -> None:
        work.git("rm", "--quiet", "notes")
        work.write("notes/one.md", "text\n")

    def to_file() -> None:
        work.git("rm", "--quiet", "-r", "notes")
        work.write("notes", "again\n")

    on_branch(work, "wiki", to_folder, to_file)
    on_main(work, lambda: write_tools(work, "find", "refund", "more"))
    assert merge_now(work).commits == 2
    assert origin(work).read("notes", "main") == b"again\n"


def test_deleted_on_one_side_and_changed_on_the_other(work: GitRepo) -> None:
    on_main(work, lambda: work.write("MEMORY.md", "One.\n"))
    on_branch(work, "wiki", lambda: work.git("rm", "--quiet", "MEMORY.md"))
    on_main(work, lambda: work.write("MEMORY.md", "Two.\n"))
    done = merge_now(work)
    (found,) = done.branches[0].conflicts
    assert (found.conflict.kind, found.conflict.path) == ("delete-modify", "MEMORY.md")


def test_lines_of_a_text_are_joined_as_git_joins_them(work: GitRepo) -> None:
    lines = [f"Line {n}.\n" for n in range(20)]
    on_main(work, lambda: work.write("MEMORY.md", "".join(lines)))
    on_branch(work, "wiki", lambda: work.write("MEMORY.md", "".join(["First.\n", *lines[1:]])))
    on_main(work, lambda: work.write("MEMORY.md", "".join([*lines[:-1], "Last.\n"])))
    assert merge_now(work).exit_code == 0
    assert origin(work).read("MEMORY.md", "main").decode() == "".join(
        ["First.\n", *lines[1:-1], "Last.\n"]
    )


def test_two_tools_of_one_name_never_come_of_a_clean_merge(work: GitRepo) -> None:
    on_branch(work, "wiki", lambda: write_tools(work, "new", "find", "refund", new="A."))
    on_main(work, lambda: write_tools(work, "find", "refund", "new", new="B."))
    done = merge_now(work)
    assert done.exit_code == 3
    assert done.branches[0].conflicts[0].conflict.pointer.startswith("/new")


def test_changes_in_the_way_of_a_checked_out_main_stop_it(memory_repo: Make) -> None:
    repo = memory_repo("bot")
    repo.git("switch", "--quiet", "--create", "knowledge/wiki")
    write_tools(repo, "wiki")
    repo.commit("from the wiki")
    repo.git("switch", "--quiet", "main")
    write_tools(repo, "mine")
    before = everything(repo)
    with pytest.raises(NeedsPerson) as caught:
        merge_now(repo, remote=None)
    said = "main is checked out and state/bot/tools.json has changes; nothing was merged"
    assert caught.value.message == said
    assert caught.value.hint == "commit or stash it, then run it again"
    assert everything(repo) == before
    (mine,) = json.loads(Path(repo.path, "state/bot/tools.json").read_text())
    assert mine["name"] == "mine"


def test_an_empty_repository(memory_repo: Make, bare_remote: Make, tmp_path: Path) -> None:
    empty = bare_remote(name="empty.git")
    memory_repo().git("clone", "--quiet", str(empty.path), str(tmp_path / "clone"), check=False)
    with pytest.raises(UsageError, match="there is no branch main"):
        merge_now(GitRepo(tmp_path / "clone"))
