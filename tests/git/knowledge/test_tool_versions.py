"""Real versions of a server's tools: two sources fit, the third disagrees about one parameter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commandline import memrepo_process
from knowledgework import on_branch, origin, tools_of
from memrepo.protocol.canonical import dump
from memrepo.protocol.documents import Tool
from repositories import GitRepo

Make = Callable[..., GitRepo]


def version(folder: Path, name: str) -> list[dict[str, Any]]:
    """The published list; ``read_file`` gets the parameters that its server documents."""
    found: list[dict[str, Any]] = json.loads(
        (folder / f"tool-versions/filesystem@{name}.json").read_text()
    )
    properties: dict[str, Any] = {"path": {"type": "string"}}
    if name == "2025.8.21":
        properties["tail"] = {"type": "number", "description": "Only the last N lines."}
    for tool in found:
        if tool["name"] == "read_file":
            tool["parameters"] = {"type": "object", "properties": properties, "required": ["path"]}
    return found


def write(repo: GitRepo, tools: list[dict[str, Any]]) -> None:
    repo.write("state/files/tools.json", dump([Tool(**tool) for tool in tools]))


@pytest.fixture
def work(memory_repo: Make, bare_remote: Make, clone: Make, data_folder: Path) -> GitRepo:
    source = memory_repo("files")
    write(source, version(data_folder, "2025.3.28"))
    source.commit("filesystem 2025.3.28")
    made = clone(bare_remote(source), "work")
    reworded, other = version(data_folder, "2025.3.28"), version(data_folder, "2025.3.28")
    reworded[2]["description"] = "Writes a file, whatever was there before."
    tail = {"type": "integer", "description": "How many lines from the end."}
    other[0]["parameters"]["properties"]["tail"] = tail
    on_branch(
        made, "a-upstream", lambda: write(made, version(data_folder, "2025.8.21")), author="Up"
    )
    on_branch(made, "b-wiki", lambda: write(made, reworded), author="Wiki")
    on_branch(made, "c-crm", lambda: write(made, other), author="Crm")
    return made


def test_two_merge_the_third_is_named_and_after_a_decision_the_next_run_completes(
    work: GitRepo, data_folder: Path
) -> None:
    remote = origin(work)
    place = "/read_file/parameters/properties/tail"
    first = memrepo_process(work.path, "knowledge", "merge", "--json")
    assert first.code == 3, first
    assert first.json["merged"] == ["knowledge/a-upstream", "knowledge/b-wiki"]
    left = first.json["branches"][2]
    assert (left["branch"], left["result"]) == ("knowledge/c-crm", "conflict")
    found = {(one["path"], one["pointer"]) for one in left["conflicts"]}
    assert {path for path, _ in found} == {"state/files/tools.json"}
    assert all(pointer.startswith(place) for _, pointer in found)
    assert {one["commits"]["theirs"]["author"] for one in left["conflicts"]} == {
        "Crm <crm@example.org>"
    }
    assert {one["commits"]["ours"]["author"] for one in left["conflicts"]} == {
        "Up <up@example.org>"
    }
    there = tools_of(remote, agent="files")
    assert list(there) == [tool["name"] for tool in version(data_folder, "2025.8.21")]
    assert there["write_file"]["description"] == "Writes a file, whatever was there before."
    for _, pointer in sorted(found):
        ran = memrepo_process(
            work.path, "knowledge", "resolve", "--branch", "c-crm",
            "--path", "state/files/tools.json", "--pointer", pointer,
            "--take", "theirs", "--reason", "The CRM counts whole lines.",
        )  # fmt: skip
        assert ran.code == 0, ran
    second = memrepo_process(work.path, "knowledge", "merge")
    assert second.code == 0, second
    assert "a recorded decision takes knowledge/c-crm's value" in second.out
    tail = tools_of(remote, agent="files")["read_file"]["parameters"]["properties"]["tail"]
    assert tail == {"type": "integer", "description": "How many lines from the end."}
    assert remote.git("rev-list", "--merges", "main") == ""
    authors = remote.git("log", "--format=%an", "main").split("\n")
    assert {"Up", "Wiki", "Crm"} <= set(authors)
    third = memrepo_process(work.path, "knowledge", "merge")
    assert (third.code, third.out.splitlines()[-1]) == (
        0, "nothing to do: main has all that the knowledge branches hold",
    )  # fmt: skip
