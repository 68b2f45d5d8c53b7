"""The README and every page under docs/: what they show is what happens."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
import yaml

from contract.pages import PAGES, ROOT, Block, Player, blocks
from memrepo import MemoryRepo, memory
from memrepo.cli.app import COMMANDS
from memrepo.gate.files import judge_file
from memrepo.gate.recordfile import judge_record_file
from memrepo.protocol.layout import place_of
from memrepo.protocol.policy import Policy
from memrepo.protocol.policyfile import parse_policy
from memrepo.protocol.rolloutfile import parse_rollout
from memrepo.report import verdict
from memrepo.semdiff import change

_KINDS = {"console", "text", "json", "yaml", "python", "sh", "setup", "after"}
_LINK = re.compile(r"(?:\]\(|(?:src|srcset|href)=\")([^)\"\s]+)")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def _blocks(*kinds: str) -> list[tuple[Path, Block]]:
    return [(page, block) for page in PAGES for block in blocks(page) if block.kind in kinds]


def _name(value: object) -> str:
    return f"{value.kind}-{value.line}" if isinstance(value, Block) else getattr(value, "stem", "")


def every_block(*kinds: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("page", "block"), _blocks(*kinds), ids=_name)


@every_page
def test_what_a_page_shows_is_what_happens(page: Path, tmp_path: Path) -> None:
    trouble = Player(page, tmp_path).play()
    assert not trouble, trouble


def test_a_wrong_page_is_noticed(tmp_path: Path) -> None:
    wrong = {
        "another output": "$ echo one\ntwo",
        "a line too many": "$ echo one\none\ntwo",
        "a line too few": "$ printf 'one\\ntwo\\n'\none",
        "no output": "$ echo one",
        "a failure that is not shown": "$ false",
        "another exit code": "$ false\n$ echo $?\n2",
        "an id that changes": "$ echo 1234abcd\n00000aaa\n$ echo 1234abce\n00000aaa",
        "two ids that are one": "$ echo 1234abcd\n00000aaa\n$ echo 1234abcd\n00000bbb",
        "another time": "$ echo 2026-03-01T12:00:00Z\n2026-03-01T12:00:01Z",
    }
    for number, (what, shown) in enumerate(wrong.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        page = folder / "page.md"
        page.write_text(f"```console\n{shown}\n```\n", encoding="utf-8")
        assert Player(page, folder).play(), what


def test_ids_and_wildcards_of_a_page_are_understood(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    shown = "$ echo 0123abc\nfeed123\n$ echo feed123 > f; cat f\nfeed123\n$ seq 9\n1\n…\n8\n9"
    page.write_text(f"```console\n{shown}\n```\n", encoding="utf-8")
    assert Player(page, tmp_path).play() == ""
    assert (tmp_path / "f").read_text() == "0123abc\n"


@every_page
def test_every_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    assert {block.kind for block in blocks(page)} <= _KINDS


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in _anchors(target), link


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    words = [re.sub(r"[^\w\- ]", "", head.lower()) for head in _HEADING.findall(text)]
    return {word.replace(" ", "-") for word in words}


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in PAGES if page.parent.name == "docs"} - {"README.md"}
    assert set(re.findall(r"^\| \[([\w-]+\.md)\]\(\1\)", index, re.MULTILINE)) == pages


def test_the_readme_names_every_command_in_order() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`memrepo (\w+)(?: \w+)?`\]", readme, re.MULTILINE)
    assert tuple(dict.fromkeys(rows)) == COMMANDS


def test_pictures_are_small_enough_and_all_shown() -> None:
    shown = {
        (page.parent / link).resolve()
        for page in PAGES
        for link in _LINK.findall(page.read_text(encoding="utf-8"))
        if link.endswith(".png")
    }
    pictures = set((ROOT / "docs" / "img").iterdir())
    assert shown == pictures
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG"), picture.name
        assert picture.stat().st_size < 250_000, picture.name


@every_block("sh")
def test_commands_that_are_not_played_are_this_projects_own(page: Path, block: Block) -> None:
    if block.path:
        assert block.text.startswith("#!/bin/sh\n")
        return
    for line in block.text.splitlines():
        command = line.partition("#")[0].split()
        assert command[0] == "export" or os.access(ROOT / command[0], os.X_OK), line


@every_block("json")
def test_json_is_sound_and_memory_follows_the_protocol(page: Path, block: Block) -> None:
    json.loads(block.text)
    place = place_of(block.path)
    if block.path and place.kind:
        judged = judge_file(
            place.kind,
            block.text.encode(),
            path=block.path,
            agent_id=place.agent_id,
            policy=Policy(),
        )
        assert judged.findings == []


@every_block("yaml")
def test_yaml_is_a_sound_workflow_policy_or_hook(page: Path, block: Block, tmp_path: Path) -> None:
    value: dict[str, Any] = yaml.safe_load(block.text)
    if "jobs" in value:
        workflow = tmp_path / "workflow.yml"
        workflow.write_text(block.text, encoding="utf-8")
        check = Path(sys.executable).with_name("check-jsonschema")
        options = ["--builtin-schema", "vendor.github-workflows"]
        done = subprocess.run(
            [check, *options, workflow], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    elif "repos" in value:
        hook = value["repos"][0]["hooks"][0]
        assert {"id", "name", "entry", "language"} <= hook.keys()
    elif "treatment" in value:
        assert parse_rollout(block.text.encode(), block.path)[1] == []
    elif "schema" in value:
        record = judge_record_file(block.path, block.text.encode(), Policy())
        assert record.findings == []
    else:
        assert parse_policy(block.text.encode())[1] == []


@every_block("python")
def test_python_is_python(page: Path, block: Block) -> None:
    ast.parse(block.text)


def test_the_shape_of_the_diff_is_documented_in_full() -> None:
    page = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", page))))
    kinds = set(re.findall(r"`([a-z-]+)`", page))
    structs = [s for s in vars(change).values() if isinstance(s, type(msgspec.Struct))]
    fields = {name for s in structs if s.__module__ == change.__name__ for name in _encoded(s)}
    assert fields - words == set()
    for literal in (change.ToolKind, change.Class, change.Step):
        assert set(get_args(literal)) - kinds == set()


def _encoded(struct: Any) -> tuple[str, ...]:
    return tuple(struct.__struct_encode_fields__)


def test_the_verdicts_are_documented() -> None:
    page = (ROOT / "docs" / "review.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert tuple(rows) == get_args(verdict.Verdict)


def test_the_python_api_is_documented_in_full() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    table = page.partition("## All methods of `MemoryRepo`")[2]
    documented = set(re.findall(r"^\| `(\w+)\(", table, re.MULTILINE))
    methods = {n for n, m in vars(MemoryRepo).items() if callable(m) and not n.startswith("_")}
    assert methods - documented <= {"close", "policy_on_tip"}
    assert documented - methods == {"MemoryRepo"}
    fields = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert fields == set(memory.Committed.__struct_fields__)
