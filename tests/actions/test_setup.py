"""``scripts/action-setup``: an environment of its own, made once, and nothing else touched."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from repositories import GitRepo, new_memory_repo
from rig.act import copy_of_checkout
from rig.tools import UV, machine_environment

ERROR = "::error title=memrepo::"


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The action's folder, as a runner has it."""
    return copy_of_checkout(tmp_path_factory.mktemp("action"))


@pytest.fixture(scope="session")
def tool_cache(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tool cache in which the action ran before, set up by uv."""
    folder = tmp_path_factory.mktemp("cache")
    work = new_memory_repo(folder / "work", "support_v1")
    done = start(project, work, folder / "tools", path=UV)
    assert done.returncode == 0, done.stderr
    return folder / "tools"


def start(
    project: Path, work: GitRepo, tool_cache: Path, *, path: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Validate all of a repository as the action does."""
    environ = {
        **machine_environment(*[path] if path else []),
        "HOME": str(work.path.parent),
        "GITHUB_WORKSPACE": str(work.path),
        "RUNNER_TEMP": str(work.path.parent / "temp"),
        "RUNNER_TOOL_CACHE": str(tool_cache),
        "MEMREPO_INPUT_SCOPE": "all",
        **more,
    }
    command = ["bash", str(project / "scripts" / "action-setup"), "validate"]
    return subprocess.run(
        command, cwd=work.path, env=environ, capture_output=True, encoding="utf-8", timeout=120
    )


def listing(folder: Path) -> dict[str, int]:
    """Every file and when it was written."""
    return {str(p): p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def work(tmp_path: Path) -> GitRepo:
    return new_memory_repo(tmp_path / "work", "support_v1")


def test_the_first_run_makes_it_and_the_next_finds_it(
    project: Path, tool_cache: Path, work: GitRepo
) -> None:
    action, kept = listing(project), sorted((tool_cache / "memrepo").iterdir())
    done = start(project, work, tool_cache)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "pass: no findings\n"
    assert listing(project) == action
    assert sorted((tool_cache / "memrepo").iterdir()) == kept
    assert sorted(path.name.partition("-")[0] for path in kept) == ["code", "env", "lock"]
    assert work.git("status", "--porcelain", "--ignored") == ""


def test_without_uv_pip_does_it(project: Path, work: GitRepo, tmp_path: Path) -> None:
    action = listing(project)
    done = start(project, work, tmp_path / "tools")
    assert (done.returncode, done.stdout) == (0, "pass: no findings\n"), done.stderr
    assert listing(project) == action


def test_two_jobs_at_once_share_one(project: Path, work: GitRepo, tmp_path: Path) -> None:
    def job(number: int) -> tuple[int, str]:
        mine = new_memory_repo(tmp_path / f"job{number}" / "work", "support_v1")
        done = start(project, mine, tmp_path / "tools", path=UV)
        return done.returncode, done.stdout

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(job, range(2))) == [(0, "pass: no findings\n")] * 2
    kept = sorted((tmp_path / "tools" / "memrepo").iterdir())
    assert [path.name.partition("-")[0] for path in kept] == ["code", "env", "lock"]


def test_new_code_takes_the_same_environment(
    project: Path, tool_cache: Path, work: GitRepo, tmp_path: Path
) -> None:
    newer = shutil.copytree(project, tmp_path / "newer")
    log = newer / "scripts" / "memrepo" / "runner" / "log.py"
    log.write_text(log.read_text("utf-8").replace('"""A line of', '"""One line of'), "utf-8")
    cache = shutil.copytree(tool_cache, tmp_path / "tools", symlinks=True)
    assert start(newer, work, cache).returncode == 0
    kept = sorted(path.name.partition("-")[0] for path in (cache / "memrepo").iterdir())
    assert kept == ["code", "code", "env", "lock"]


def test_nothing_of_the_workspace_or_of_the_caller_stands_in_for_our_modules(
    project: Path, tool_cache: Path, work: GitRepo
) -> None:
    for name in ("json.py", "memrepo.py", "msgspec.py", "sitecustomize.py", "usercustomize.py"):
        work.write(name, "open('pwned', 'w').close()\n")
    work.write("startup.py", "open('pwned', 'w').close()\n")
    work.commit("traps")
    here = str(work.path)
    more = {"PYTHONPATH": here, "PYTHONSTARTUP": f"{here}/startup.py", "PYTHONHOME": ""}
    done = start(project, work, tool_cache, **more)
    assert done.returncode == 0, done.stderr
    assert not list(work.path.rglob("pwned"))


@pytest.mark.parametrize(
    ("home", "environment", "in_temp"),
    [
        ("forker/demo", "self-hosted", True),
        ("forker/demo", "", True),
        (None, "self-hosted", True),
        ("Acme/demo", "self-hosted", False),
        ("forker/demo", "github-hosted", False),
    ],
)
def test_a_strangers_job_leaves_nothing_in_the_tool_cache_of_a_machine_that_stays(
    project: Path,
    work: GitRepo,
    tmp_path: Path,
    home: str | None,
    environment: str,
    in_temp: bool,
) -> None:
    repo = {"full_name": home} if home else None
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"head": {"repo": repo}}}))
    more = {
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": "acme/demo",
        "RUNNER_ENVIRONMENT": environment,
    }
    done = start(project, work, tmp_path / "tools", path=UV, **more)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "temp" / "memrepo").is_dir() is in_temp
    assert (tmp_path / "tools").is_dir() is not in_temp


def test_an_old_or_missing_python_is_named(project: Path, work: GitRepo, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    for python in (str(old), "no-such-python", "-c"):
        done = start(project, work, tmp_path / "tools", MEMREPO_INPUT_PYTHON=python)
        assert done.returncode == 2
        assert done.stdout == f"{ERROR}Python 3.11 or newer was not found on this runner\n"
        assert "next: " in done.stderr


def test_a_package_index_that_cannot_be_reached_leaves_nothing_half_made(
    project: Path, work: GitRepo, tmp_path: Path
) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1"}
    nowhere |= {"PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": "", "PIP_CONFIG_FILE": "/dev/null"}
    done = start(project, work, tmp_path / "tools", **nowhere)
    assert done.returncode == 2
    assert done.stdout.startswith(f"{ERROR}the packages that memrepo needs could not be installed")
    kept = sorted((tmp_path / "tools" / "memrepo").iterdir())
    assert [path.name.partition("-")[0] for path in kept] == ["code", "lock"]


def test_a_folder_outside_the_workspace_is_refused(
    project: Path, tool_cache: Path, work: GitRepo
) -> None:
    for path in ("..", "../elsewhere/..", "/etc"):
        done = start(project, work, tool_cache, MEMREPO_INPUT_REPO_PATH=path)
        assert done.returncode == 2
        assert "leads out of the workspace" in done.stdout
