"""The local forge's files: readable, safe to edit, whole whatever happens."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import BadInput, MemrepoError, PermissionDenied, UsageError
from memrepo.forge.disk.formats import read_comment, read_fields, write_comment, write_fields
from memrepo.forge.forge import Label
from memrepo.forge.local import LocalForge

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MARK = "<!-- memrepo:review -->"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "memory.forge"


@pytest.fixture
def forge(root: Path) -> LocalForge:
    return at(root)


def at(root: Path, **tips: str) -> LocalForge:
    return LocalForge(root, login="anna", tip=tips.get, now=lambda: NOON)


def opened(forge: LocalForge, head: str = "one") -> int:
    return forge.open_pull_request(
        title="A title", body="# Hello\n", head_ref=head, base_ref="main"
    ).pull_request.number


def test_files_are_for_people(root: Path) -> None:
    forge = at(root, one="1a" * 20, main="2b" * 20)
    number = opened(forge)
    forge.add_labels(number, [Label("memory:error", "b60205", "Findings: they stop the gate")])
    forge.request_reviewers(number, ["bert"])
    forge.upsert_comment(number, MARK, "Two agents.", "github-actions[bot]")
    files = {p.relative_to(root).as_posix(): p for p in root.rglob("*") if p.is_file()}
    assert sorted(files) == [
        ".lock",
        "labels.yml",
        "pulls/0001/body.md",
        "pulls/0001/comments/0001-github-actions-bot.md",
        "pulls/0001/pull.yml",
    ]
    assert files["pulls/0001/body.md"].read_text() == "# Hello\n"
    assert files["pulls/0001/pull.yml"].read_text() == (
        "title: A title\n"
        "state: open\n"
        "draft: false\n"
        "author: anna\n"
        "head_ref: one\n"
        "base_ref: main\n"
        f'head_sha: "{"1a" * 20}"\n'
        f'base_sha: "{"2b" * 20}"\n'
        'labels:\n  - "memory:error"\n'
        "reviewers:\n  - bert\n"
        'created_at: "2026-03-01T12:00:00Z"\n'
        'updated_at: "2026-03-01T12:00:00Z"\n'
    )
    assert files["labels.yml"].read_text() == (
        '"memory:error":\n  colour: "b60205"\n  description: "Findings: they stop the gate"\n'
    )
    assert files["pulls/0001/comments/0001-github-actions-bot.md"].read_text() == (
        '---\nauthor: "github-actions[bot]"\ncreated_at: "2026-03-01T12:00:00Z"\n'
        f'updated_at: "2026-03-01T12:00:00Z"\n---\n\n{MARK}\nTwo agents.\n'
    )


def test_reading_makes_nothing(root: Path, forge: LocalForge) -> None:
    assert forge.find_pull_requests(state="all") == []
    assert not root.exists()


def test_a_persons_edits_count_and_stay(root: Path, forge: LocalForge) -> None:
    number = opened(forge)
    file = root / "pulls/0001/pull.yml"
    file.write_bytes(
        b"# mine\r\ntitle: 'Better: title'\r\nstate: Closed\r\nhead_ref: one\r\nbase_ref: main\r\n"
        b"labels: mine\r\ncreated_at: 2026-03-01\r\nnote_to_self: call bert\r\ndraft: yes\r\n"
    )
    (root / "pulls/0001/body.md").write_bytes(b"\xef\xbb\xbfOne\r\nTwo\r\n")
    pull = forge.get_pull_request(number)
    assert (pull.title, pull.state, pull.draft) == ("Better: title", "closed", True)
    assert (pull.body, pull.labels, pull.author) == ("One\nTwo", ("mine",), "unknown")
    assert pull.created_at == pull.updated_at == datetime(2026, 3, 1, tzinfo=UTC)
    forge.add_labels(number, [Label("bug")])
    assert "note_to_self: call bert\n" in file.read_text()
    assert forge.get_pull_request(number).labels == ("bug", "mine")
    assert forge.get_pull_request(number).title == "Better: title"
    # Closed is closed: the branch gets a pull request of its own again.
    assert opened(forge) == 2


def test_a_person_adds_and_removes_files(root: Path, forge: LocalForge) -> None:
    number = opened(forge)
    comments = root / "pulls/0001/comments"
    comments.mkdir()
    (comments / "7-carla.md").write_text("Looks good to me.\n")
    (comments / "0008-bert.md").write_text("---\n---\n\nOr does it?\n")
    (comments / "0009-bert.md").write_text("---\nauthor: dora\n---")
    (comments / "notes.txt").write_text("not a comment")
    (comments / ".0007-carla.md.swp").write_text("not a comment")
    (root / "pulls/README.md").write_text("about this folder")
    (root / "pulls/0001/body.md").unlink()
    found = forge.list_comments(number)
    assert [(c.author, c.body) for c in found] == [
        ("carla", "Looks good to me."),
        ("bert", "Or does it?"),
        ("dora", ""),
    ]
    assert forge.create_comment(number, "New").url.endswith("/0010-anna.md")
    assert forge.get_pull_request(number).body == ""
    (root / "pulls/0001").rename(root / "pulls/12")
    assert forge.get_pull_request(12).title == "A title"
    assert opened(forge, "two") == 13


def test_the_head_moves_with_its_branch_until_it_is_closed(root: Path) -> None:
    opened(at(root, one="1" * 40))
    assert at(root, one="2" * 40).get_pull_request(1).head_sha == "2" * 40
    assert at(root).get_pull_request(1).head_sha == "1" * 40
    at(root, one="3" * 40).update_pull_request(1, title="New")
    file = root / "pulls/0001/pull.yml"
    file.write_text(file.read_text().replace("state: open", "state: merged"))
    assert at(root, one="4" * 40).get_pull_request(1).head_sha == "3" * 40


DAMAGED: list[tuple[str, str | bytes, str]] = [
    ("pulls/0001/pull.yml", "title: a\nstate: [\n", r"pull\.yml, line 3: "),
    ("pulls/0001/pull.yml", "title: a\nstate: gone\nhead_ref: b\n", r"line 2: state is none of"),
    ("pulls/0001/pull.yml", "title: a\nstate: open\n", r"pull\.yml: head_ref is missing"),
    ("pulls/0001/pull.yml", "title:\n  - a\nstate: open\nhead_ref: b", r"line 1: title is no text"),
    ("pulls/0001/pull.yml", "title: {a: b}\n", r"line 1: a text or a list"),
    ("pulls/0001/pull.yml", "- a\n", r"line 1: lines of `key: text`"),
    ("pulls/0001/pull.yml", "title: a\ntitle: b\n", r"line 2: the key of line 1 is given again"),
    ("pulls/0001/pull.yml", "title: &a b\n", r"line 1: an anchor"),
    ("pulls/0001/pull.yml", b"title: \xff\n", r"line 1: not UTF-8"),
    (
        "pulls/0001/pull.yml",
        "state: open\nhead_ref: a\ntitle: b\nbase_ref: c\ndraft: perhaps\ncreated_at: 2026-01-01",
        r"line 5: draft is neither true nor false",
    ),
    (
        "pulls/0001/pull.yml",
        "state: open\nhead_ref: a\ntitle: b\nbase_ref: c\ncreated_at: yesterday",
        r"line 5: created_at is no time",
    ),
    ("pulls/0001/body.md", b"one\ntwo \xff\n", r"body\.md, line 2: these bytes are not UTF-8"),
    ("pulls/0001/body.md", b"x" * 1_048_577, r"more than 1,048,576 bytes"),
]


@pytest.mark.parametrize(("path", "data", "words"), DAMAGED)
def test_a_damaged_file_is_named_with_its_line(
    root: Path, forge: LocalForge, path: str, data: str | bytes, words: str
) -> None:
    number = opened(forge)
    (root / path).write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(BadInput, match=words) as caught:
        forge.get_pull_request(number)
    assert str(root) in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("---\nauthor: [\n---\n\nHi\n", r"0001-anna\.md, line \d"),
        ("---\nauthor: anna\n", r"line 1: the lines between --- and --- have no end"),
        ("---\ncreated_at: never\n---\nHi", r"line 2: created_at is no time"),
    ],
)
def test_a_damaged_comment_is_named_with_its_line(
    root: Path, forge: LocalForge, text: str, words: str
) -> None:
    comment = forge.create_comment(opened(forge), "Hello")
    Path(comment.url).write_text(text)
    with pytest.raises(BadInput, match=words):
        forge.list_comments(1)


def test_two_of_one_number_are_a_question_for_a_person(root: Path, forge: LocalForge) -> None:
    opened(forge)
    (root / "pulls/1").mkdir()
    with pytest.raises(BadInput, match="0001 and 1 are one number"):
        forge.get_pull_request(1)
    (root / "pulls/1").rmdir()
    comments = root / "pulls/0001/comments"
    comments.mkdir()
    for name in ("0001-anna.md", "1-bert.md"):
        (comments / name).write_text("Hi")
    with pytest.raises(BadInput, match="two comments of the number 1"):
        forge.list_comments(1)


def test_a_folder_without_its_file(root: Path, forge: LocalForge) -> None:
    (root / "pulls/0004").mkdir(parents=True)
    with pytest.raises(BadInput, match=r"0004 has no pull\.yml"):
        forge.get_pull_request(4)


def test_one_that_is_broken_holds_up_no_other(root: Path) -> None:
    told: list[str] = []
    forge = LocalForge(root, login="memrepo", tell=told.append)
    number = opened(forge)
    (root / "pulls/0007").mkdir()
    (root / "pulls/0007/pull.yml").write_text("foo: [\n")
    assert [pull.number for pull in forge.find_pull_requests()] == [number]
    assert "0007" in told[0]


LINKS = ["", "pulls", "pulls/0001", "pulls/0001/comments", "pulls/0001/comments/0001-anna.md"]


@pytest.mark.parametrize("path", LINKS)
def test_no_link_is_followed(root: Path, forge: LocalForge, path: str, tmp_path: Path) -> None:
    number = opened(forge)
    forge.upsert_comment(number, MARK, "Old", "anna")
    real = tmp_path / "elsewhere"
    (root / path).rename(real)
    (root / path).symlink_to(real)
    before = {p: p.read_bytes() for p in real.rglob("*") if p.is_file()} or real.read_bytes()
    with pytest.raises(BadInput, match="link"):
        forge.upsert_comment(number, MARK, "New", "anna")
    assert before == (
        {p: p.read_bytes() for p in real.rglob("*") if p.is_file()} or real.read_bytes()
    )


@pytest.mark.parametrize("path", ["pulls/0001/pull.yml", "labels.yml"])
def test_no_link_is_followed_for_labels(
    root: Path, forge: LocalForge, path: str, tmp_path: Path
) -> None:
    number = opened(forge)
    forge.add_labels(number, [Label("bug")])
    real = tmp_path / "elsewhere"
    (root / path).rename(real)
    (root / path).symlink_to(real)
    before = real.read_bytes()
    with pytest.raises(BadInput, match="link"):
        forge.add_labels(number, [Label("new")])
    assert real.read_bytes() == before


def test_a_pipe_in_a_files_place_holds_nobody_up(root: Path, forge: LocalForge) -> None:
    number = opened(forge)
    (root / "pulls/0001/body.md").unlink()
    os.mkfifo(root / "pulls/0001/body.md")
    with pytest.raises(BadInput, match="no plain file"):
        forge.get_pull_request(number)


def test_an_author_cannot_choose_the_files_path(root: Path, forge: LocalForge) -> None:
    number = opened(forge)
    for author in ("../../../evil", "/etc/passwd", "..", "a\nb", "日本", "x" * 300):
        comment, _ = forge.upsert_comment(number, MARK, "Hi", author)
        assert Path(comment.url).parent == root / "pulls/0001/comments"
        assert forge.list_comments(number)[-1].author == author
    assert len(forge.list_comments(number)) == 6


def test_a_killed_writer_leaves_nothing_in_the_way(root: Path, forge: LocalForge) -> None:
    number = opened(forge)
    (root / "pulls/.0002.4711~").mkdir()
    (root / "pulls/.0002.4711~/pull.yml").write_text("half")
    beside = root / f"pulls/0001/.pull.yml.{os.getpid()}~"
    beside.write_text("half")
    assert forge.update_pull_request(number, title="New").operation == "updated"
    assert not beside.exists()
    assert opened(forge, "two") == 2


def test_what_fails_while_writing_leaves_the_old_file(
    root: Path, forge: LocalForge, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = opened(forge)
    before = sorted(p.name for p in (root / "pulls/0001").iterdir())

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MemrepoError, match="No space left") as caught:
        forge.update_pull_request(number, title="New")
    assert caught.value.exit_code == 4
    assert sorted(p.name for p in (root / "pulls/0001").iterdir()) == before
    assert forge.get_pull_request(number).title == "A title"


def test_a_folder_that_may_not_be_written(
    root: Path, forge: LocalForge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_names: object, **_where: object) -> None:
        raise PermissionError(13, "Permission denied")

    number = opened(forge)
    monkeypatch.setattr(os, "rename", denied)
    with pytest.raises(PermissionDenied, match="may not be read or written"):
        forge.update_pull_request(number, title="New")


def test_an_unknown_comment(forge: LocalForge) -> None:
    number = opened(forge)
    with pytest.raises(UsageError, match="no comment"):
        forge.update_comment(number * 1_000_000 + 5, "Hi")


def test_second_comments_of_ours_go(root: Path, forge: LocalForge) -> None:
    number = opened(forge)
    for _ in range(3):
        forge.create_comment(number, f"{MARK}\nOld")
    assert forge.upsert_comment(number, MARK, "New", "anna")[1] == "updated"
    assert [c.body for c in forge.list_comments(number)] == [f"{MARK}\nNew"]


def _work(root: Path, name: str, start: object, results: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    forge = LocalForge(root, login=name)
    number = forge.open_pull_request(
        title=name, body=name, head_ref=name, base_ref="main"
    ).pull_request.number
    same = forge.open_pull_request(title=name, body=name, head_ref="shared", base_ref="main")
    for count in range(5):
        forge.create_comment(same.pull_request.number, f"{name} {count}")
    forge.add_labels(same.pull_request.number, [Label(name)])
    forge.upsert_comment(same.pull_request.number, MARK, name, "bot")
    results.put((number, same.pull_request.number))  # type: ignore[attr-defined]


def test_processes_at_once_lose_nothing(root: Path) -> None:
    context = multiprocessing.get_context("fork")
    start, results = context.Event(), context.Queue()
    names = ["p1", "p2", "p3", "p4"]
    processes = [context.Process(target=_work, args=(root, name, start, results)) for name in names]
    for process in processes:
        process.start()
    start.set()
    got = [results.get(timeout=60) for _ in names]
    for process in processes:
        process.join()
    forge = LocalForge(root, login="anna")
    numbers, shared = {number for number, _ in got}, {same for _, same in got}
    assert (len(numbers), len(shared)) == (4, 1)
    assert (
        {pull.number for pull in forge.find_pull_requests()} == numbers | shared == {1, 2, 3, 4, 5}
    )
    comments = forge.list_comments(*shared)
    assert sorted(c.body for c in comments if c.author != "bot") == sorted(
        f"{name} {count}" for name in names for count in range(5)
    )
    assert len([c for c in comments if c.author == "bot"]) == 1
    assert forge.get_pull_request(*shared).labels == ("p1", "p2", "p3", "p4")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(TEXTS, TEXTS | st.booleans() | st.lists(TEXTS).map(tuple)))
def test_any_fields_survive_and_any_yaml_reader_agrees(
    values: dict[str, str | bool | tuple[str, ...]],
) -> None:
    data = write_fields(values)
    fields = read_fields(data, "pull.yml")
    for key, value in values.items():
        if isinstance(value, bool):
            assert fields.flag(key) is value
        elif isinstance(value, str):
            assert fields.text(key) == value
        else:
            assert fields.several(key) == value
    other = yaml.safe_load(data) or {}
    assert other == {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


@given(TEXTS, TEXTS)
def test_any_comment_survives(author: str, body: str) -> None:
    fields, found = read_comment(write_comment(author, NOON, NOON, body), "0001.md")
    assert fields.text("author") == author
    assert found.strip() == body.replace("\r\n", "\n").strip()
    assert fields.time("created_at") == NOON


def test_a_forge_is_chosen_lazily(root: Path) -> None:
    from memrepo.forge.choose import Choice
    from memrepo.forge.open import open_forge

    forge = open_forge(Choice("local", "asked for"), beside=root, login="anna")
    assert (forge.place, forge.me()) == (str(root), "anna")
    other = open_forge(Choice("local", "asked for", path=str(root / "x")), beside=root)
    assert other.place == str(root / "x")
    with pytest.raises(UsageError, match="no folder"):
        open_forge(Choice("local", "asked for"))
    check: Callable[[], None] = forge.close
    check()
