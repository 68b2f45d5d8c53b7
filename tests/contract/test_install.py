"""``scripts/install``: its options, the locked extras, and a foreign memrepo in its environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from contract.pages import ROOT

EXTRAS = ("mcp", "stats", "openfeature")


def locked(*extras: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "extras-lock"), *extras],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.count("--hash=sha256:") >= done.stdout.count("==")
    names = [line.partition("==")[0] for line in done.stdout.splitlines() if line[:1].isalnum()]
    return set(names)


def needed(name: str, found: set[str]) -> set[str]:
    """What a package that is installed here needs to run, itself too."""
    found.add(name)
    for text in requires(name) or ():
        wanted = Requirement(text)
        other = canonicalize_name(wanted.name)
        if other not in found and (not wanted.marker or wanted.marker.evaluate({"extra": ""})):
            needed(other, found)
    return found


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_part_of_an_extra_is_all_that_it_needs_and_no_other_extra(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    roots = {one: Requirement(project["optional-dependencies"][one][0]).name for one in EXTRAS}
    core = (ROOT / "scripts" / "requirements.txt").read_text("utf-8")
    part = locked(extra)
    missing = {n for n in needed(roots[extra], set()) - part if f"\n{n}==" not in core}
    assert not missing
    assert {one for one in EXTRAS if roots[one] in part} == {extra}


def test_the_core_install_stays_small() -> None:
    core = (ROOT / "scripts" / "requirements.txt").read_text("utf-8")
    for name in ("mcp", "numpy", "openfeature-sdk", "pydantic"):
        assert f"\n{name}==" not in core


def test_another_extra_is_told_of() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "extras-lock"), "mpc"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, "mcp, stats, openfeature" in done.stderr) == (2, True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout whose locks are empty, so that nothing has to be downloaded."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    for name in ("install", "extras-lock"):
        shutil.copy2(ROOT / "scripts" / name, scripts / name)
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-extras.txt"):
        (scripts / name).write_text("# nothing\n")
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def install(checkout: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}
    return subprocess.run(
        [checkout / "scripts" / "install", *options],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("options", [("--with",), ("--with", "mcp,numpy"), ("--with=",), ("x",)])
def test_wrong_use_is_told(checkout: Path, options: tuple[str, ...]) -> None:
    done = install(checkout, *options)
    assert done.returncode == 2
    assert "usage: scripts/install [--with mcp,stats,openfeature] [--dev]" in done.stderr
    assert not (checkout / ".venv").exists()


def test_an_extra_is_set_up_once_and_the_core_with_it(checkout: Path) -> None:
    first = install(checkout, "--with", "mcp,stats")
    assert (first.returncode, "(runtime mcp stats)" in first.stderr) == (0, True), first.stderr
    for options in ((), ("--with", "mcp"), ("--with=stats",)):
        again = install(checkout, *options)
        assert (again.returncode, again.stderr) == (0, ""), options
    assert "(runtime openfeature)" in install(checkout, "--with", "openfeature").stderr


@pytest.mark.parametrize("name", ["memrepo", "memrepo-9.9.9.dist-info"])
def test_a_foreign_memrepo_is_noticed(checkout: Path, name: str) -> None:
    assert install(checkout).returncode == 0
    (site,) = (checkout / ".venv" / "lib").glob("python*/site-packages")
    (site / name).mkdir()
    done = install(checkout)
    assert done.returncode == 0, done.stderr
    assert f"{site / name} is not this checkout: .venv is made anew" in done.stderr
    (site,) = (checkout / ".venv" / "lib").glob("python*/site-packages")
    assert not (site / name).exists()
    assert (site / "memrepo.pth").read_text() == f"{checkout / 'scripts'}\n"
