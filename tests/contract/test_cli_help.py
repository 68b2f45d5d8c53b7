"""The help of every command: complete, the same however it is built, and documented."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from contract.pages import PAGES, ROOT
from memrepo import errors
from memrepo.cli.app import COMMANDS, build

MEMREPO = Path(sys.executable).with_name("memrepo")


def _command(name: str) -> Any:
    command: Any = typer.main.get_command(build(name.split()))
    for word in name.split():
        command = command.commands[word]
    return command


def _runnable() -> tuple[str, ...]:
    """Every command that does something: for a group, such as ``pr``, those inside it."""
    inside = {name: getattr(_command(name), "commands", {}) for name in COMMANDS}
    return tuple(
        one for name in COMMANDS for one in ([f"{name} {part}" for part in inside[name]] or [name])
    )


RUNNABLE = _runnable()
GROUPS = tuple(name for name in COMMANDS if name not in RUNNABLE)

every_command = pytest.mark.parametrize("name", RUNNABLE)


def _options(name: str) -> set[str]:
    """The options of a command, each by its long name, as its help lists them."""
    return {
        next(opt for opt in parameter.opts if opt.startswith("--"))
        for parameter in _command(name).params
        if parameter.opts[0].startswith("-") and parameter.name != "help"
    }


def _documented() -> dict[str, set[str]]:
    """The options in the tables of each command's section, over all pages."""
    found: dict[str, set[str]] = {name: set() for name in RUNNABLE}
    for page in PAGES:
        command = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                named = re.search(r"memrepo ([a-z -]+)(?:`|$)", line)
                command = named[1] if named and named[1] in RUNNABLE else command
            elif command and re.match(r"\| `-", line):
                cell = re.split(r"(?<!\\)\|", line)[1]
                found[command].update(re.findall(r"--[a-z][a-z-]*", cell))
    return found


@every_command
def test_every_option_is_documented_and_no_other(name: str) -> None:
    assert _documented()[name] == _options(name)


@every_command
def test_the_help_has_an_example_that_parses(name: str) -> None:
    text = " ".join(_command(name).help.split())
    example = shlex.split(text.partition("Example: ")[2])
    words = ["memrepo", *name.split()]
    assert example[: len(words)] == words
    with _command(name).make_context(name, example[len(words) :]) as context:
        assert context.params


@every_command
def test_every_option_says_what_it_does(name: str) -> None:
    for parameter in _command(name).params:
        assert parameter.help, parameter.name


@every_command
def test_help_is_the_same_when_only_this_command_is_built(name: str) -> None:
    arguments = [*name.split(), "--help"]
    alone, among_all = (
        CliRunner().invoke(build(first), arguments, prog_name="memrepo")
        for first in (arguments, [])
    )
    assert alone.exit_code == among_all.exit_code == 0
    assert alone.output == among_all.output


@pytest.mark.parametrize("name", ["", *GROUPS, *RUNNABLE])
def test_help_fits_a_terminal_of_80_columns_without_colour(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    arguments = [str(MEMREPO), *name.split(), "--help"]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    listed = [one.removeprefix(f"{name} ") for one in RUNNABLE if one.startswith(f"{name} ")]
    wanted = COMMANDS if not name else listed if name in GROUPS else _options(name)
    assert [word for word in wanted if not re.search(rf"(?<!\S){word}(?!\S)", done.stdout)] == []


def test_the_commands_of_the_help_are_in_order() -> None:
    listed: Any = typer.main.get_command(build([]))
    assert tuple(listed.list_commands(None)) == COMMANDS


def test_the_exit_codes_of_the_page_are_those_of_the_errors() -> None:
    page = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    documented = {
        (int(code), name) for code, names in rows for name in re.findall(r"`(\w+)`", names)
    }
    classes = [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.MemrepoError)
    ]
    assert documented == {(value.exit_code, value.__name__) for value in classes}


def test_the_exit_codes_of_the_help_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| (\d+) \|", page, re.MULTILINE))
    app: Any = typer.main.get_command(build([]))
    assert set(re.findall(r"\b(\d) ", app.epilog)) | {"130"} == rows
