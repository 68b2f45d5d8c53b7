"""Every action: what it declares, what it passes on, what reads that, and what its page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from contract.pages import ROOT
from memrepo.runner import inputs
from memrepo.runner.run import VERBS

KINDS: dict[str, type[inputs.Common]] = {
    ".": inputs.CommandInputs,
    **{f"actions/{verb}": kind for verb, kind in VERBS.items()},
}
every_action = pytest.mark.parametrize("folder", KINDS)
WORKFLOWS = sorted([*ROOT.glob("workflows/*.yml"), *ROOT.glob(".github/workflows/*.yml")])
every_workflow = pytest.mark.parametrize(
    "path", WORKFLOWS, ids=lambda p: f"{p.parent.name}/{p.name}"
)
_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
_USES = re.compile(r"^\s*(?:- )?uses:\s*(\S.*)", re.MULTILINE)


def action(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / folder / "action.yml").read_text("utf-8"))
    return found


def step(folder: str) -> dict[str, Any]:
    (only,) = action(folder)["runs"]["steps"]
    found: dict[str, Any] = only
    return found


def page(folder: str) -> str:
    where = ROOT / "actions" if folder == "." else ROOT / folder
    return (where / "README.md").read_text("utf-8")


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    part = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_folder_with_an_action_is_known() -> None:
    found = {p.parent.relative_to(ROOT).as_posix() for p in ROOT.glob("actions/*/action.yml")}
    assert found | {"."} == set(KINDS)


@every_action
def test_every_input_reaches_the_setting_of_its_name(folder: str) -> None:
    declared = action(folder)["inputs"]
    fields = {f.name.replace("_", "-"): f for f in msgspec.structs.fields(KINDS[folder])}
    assert declared.keys() == fields.keys()
    assert step(folder)["env"] == {
        f"{inputs.PREFIX}{name.replace('-', '_').upper()}": f"${{{{ inputs.{name} }}}}"
        for name in declared
    }


@every_action
def test_every_default_is_that_of_the_setting(folder: str) -> None:
    for field in msgspec.structs.fields(KINDS[folder]):
        said = action(folder)["inputs"][field.name.replace("_", "-")]
        assert said.get("required", False) is field.required
        if field.name == "github_token":
            assert said["default"] == "${{ github.token }}"
        elif not field.required:
            environ = {f"{inputs.PREFIX}{field.name.upper()}": said["default"]}
            if said["default"]:
                kind = type(field.default)
                read = inputs.read_inputs(msgspec.defstruct("One", [(field.name, kind)]), environ)
                assert getattr(read, field.name) == field.default
            else:
                assert field.default in ("", 0, ())


@every_action
def test_the_step_has_no_logic(folder: str) -> None:
    only = step(folder)
    verb = "command" if folder == "." else Path(folder).name
    up = "" if folder == "." else "../../"
    assert only["run"] == f'bash "$GITHUB_ACTION_PATH/{up}scripts/action-setup" {verb}'
    assert only["shell"] == "bash"
    assert only.keys() <= {"name", "id", "shell", "env", "run"}
    assert f"{verb}" in (ROOT / "scripts" / "action-setup").read_text("utf-8")


@every_action
def test_the_page_has_each_input_and_output(folder: str) -> None:
    said = page(folder)
    heading = "The front door" if folder == "." else "Inputs"
    listed = {row[0].strip("`"): row[1].strip("`") for row in rows(said, heading)}
    declared = action(folder)["inputs"]
    assert listed.keys() == declared.keys()
    for name, default in listed.items():
        assert (default == "required") is declared[name].get("required", False)
        if declared[name].get("default") and "${{" not in declared[name]["default"]:
            assert default == declared[name]["default"]
    outputs = action(folder).get("outputs", {})
    described = {row[0].strip("`"): row[1] for row in rows(said, "Outputs")}
    assert described == {name: value["description"] for name, value in outputs.items()}


@every_action
def test_every_output_is_one_that_the_verb_sets(folder: str) -> None:
    outputs = action(folder).get("outputs", {})
    if not outputs:
        assert folder == "."
        return
    verb = Path(folder).name.replace("-", "_")
    room = ROOT / "scripts" / "memrepo" / "runner"
    shared = ["knowledge.py"] if verb in ("merge_knowledge", "memory_command") else ["reports.py"]
    source = "".join((room / name).read_text("utf-8") for name in (f"{verb}.py", *shared))
    for name, value in outputs.items():
        assert value["value"] == f"${{{{ steps.{step(folder)['id']}.outputs.{name} }}}}"
        assert f'"{name}":' in source


@every_workflow
def test_a_workflow_gives_no_more_than_each_job_needs_and_says_why(path: Path) -> None:
    text = path.read_text("utf-8")
    said = yaml.safe_load(text)
    assert said["permissions"] == {}
    assert "pull_request_target" not in text
    assert "allow-unsafe-pr-checkout" not in text
    for name, body in said["jobs"].items():
        assert isinstance(body["permissions"], dict), name
        assert body["timeout-minutes"] <= 30
        for each in body["steps"]:
            assert "name" in each
            assert "${{" not in each.get("run", "")
    for permission in re.findall(r"^ {6}[a-z-]+: (?:read|write)\b.*$", text, re.MULTILINE):
        assert re.search(r" # \w", permission), permission


@every_workflow
def test_foreign_actions_are_pinned_and_checkouts_keep_no_token(path: Path) -> None:
    text = path.read_text("utf-8")
    for used in _USES.findall(text):
        assert used.startswith(("$/", "./actions/")) or _PINNED.fullmatch(used), used
    for body in yaml.safe_load(text)["jobs"].values():
        for each in body["steps"]:
            if each.get("uses", "").startswith("actions/checkout@"):
                assert each["with"]["persist-credentials"] is False


def test_one_action_is_pinned_to_one_commit_everywhere() -> None:
    texts = [*WORKFLOWS, *ROOT.glob("actions/**/*.md"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    pins: dict[str, set[str]] = {}
    for path in texts:
        for used in re.findall(r"(actions/[a-z-]+)@([0-9a-f]{40} # v[\d.]+)", path.read_text()):
            pins.setdefault(used[0], set()).add(used[1])
    assert {name: found for name, found in pins.items() if len(found) > 1} == {}


CALLED = [
    "memory-review.yml",
    "memory-review-comment.yml",
    "knowledge-update.yml",
    "knowledge-merge.yml",
    "memory-commands.yml",
    "weekly-archive.yml",
]
CALLER_CHOOSES = ("fail-on", "mode", "branches", "into", "source", "agent-id")


@pytest.mark.parametrize("name", CALLED)
def test_the_called_workflows_do_what_the_starters_do(name: str) -> None:
    """Save for what a caller may choose, and how they reach the actions."""

    def steps(path: Path) -> list[dict[str, Any]]:
        said = yaml.safe_load(path.read_text("utf-8"))
        (body,) = said["jobs"].values()
        found: list[dict[str, Any]] = body["steps"]
        for each in found:
            uses = each.get("uses", "")
            each["uses"] = re.sub(r"^(OWNER/memrepo|\$)/(.*?)(@.*)?$", r"\2", uses)
            each["env"] = sorted(each.get("env", {}))
            for choice in CALLER_CHOOSES:
                each.get("with", {}).pop(choice, None)
            if not each.get("with"):
                each.pop("with", None)
            each.pop("id", None)
        return [{**each, "permissions": body["permissions"]} for each in found]

    assert steps(ROOT / "workflows" / name) == steps(ROOT / ".github" / "workflows" / name)


def test_the_second_half_checks_nothing_out() -> None:
    for folder in ("workflows", ".github/workflows"):
        text = (ROOT / folder / "memory-review-comment.yml").read_text("utf-8")
        assert "checkout@" not in text
        assert not re.search(r"^\s+(- )?run:", text, re.MULTILINE)


def test_the_commands_of_comments_are_for_new_comments_and_take_no_pull_request_in() -> None:
    for folder in ("workflows", ".github/workflows"):
        text = (ROOT / folder / "memory-commands.yml").read_text("utf-8")
        (body,) = yaml.safe_load(text)["jobs"].values()
        assert body["if"].startswith("github.event.issue.pull_request && ")
        assert not [each for each in body["steps"] if "run" in each]
        assert "ref" not in body["steps"][0]["with"]
        assert "github.event" not in str(body["steps"])
    assert "types: [created]" in (ROOT / "workflows" / "memory-commands.yml").read_text("utf-8")


def test_the_script_knows_every_verb() -> None:
    text = (ROOT / "scripts" / "action-setup").read_text("utf-8")
    named = re.search(r"^([a-z |-]+)\) module=memrepo.runner ;;$", text, re.MULTILINE)
    assert named
    assert set(shlex.split(named[1].replace("|", " "))) == set(VERBS)
