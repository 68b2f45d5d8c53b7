"""What every test stands on: a home of its own, a Git without settings, real repositories."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from repositories import GitRepo, new_memory_repo, new_repo
from rig import tools as rig

TESTS = Path(__file__).parent
SAMPLE = TESTS / "data"
_REAL_HOME = Path(os.environ.get("HOME") or "/")
_FOREIGN = ("GIT_", "GITHUB_", "RUNNER_", "ACTIONS_", "MEMREPO_", "XDG_", "SSH_", "EDITOR", "LC_")
_KEPT = ("MEMREPO_REAL_DATA", "MEMREPO_CHROMIUM")
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_GIT_CONFIG = """\
[user]
    name = Test Person
    email = test@example.org
[init]
    defaultBranch = main
[commit]
    gpgSign = false
[gc]
    auto = 0
[maintenance]
    auto = false
"""

# The same examples in each run: a red test is red again for whoever looks into it.
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=50, database=None, print_blob=False
)
settings.load_profile("ci")


def find_chromium() -> str | None:
    """The Chromium to look at pages with, or None where there is none."""
    wanted = os.environ.get("MEMREPO_CHROMIUM")
    names = [wanted] if wanted else _CHROMIUM
    return next((found for name in names if (found := shutil.which(name))), None)


def pytest_configure(config: pytest.Config) -> None:
    home = Path(tempfile.mkdtemp(prefix="memrepo-home-"))
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    for name in list(os.environ):
        if name.startswith(_FOREIGN) and name not in _KEPT:
            patch.delenv(name)
    for name in ("CONFIG", "CACHE", "DATA", "STATE"):
        patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    git_config = home / "gitconfig"
    git_config.write_text(_GIT_CONFIG, encoding="utf-8")
    for name, value in {
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(git_config),
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "file",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }.items():
        patch.setenv(name, value)


def needs_rig(item: pytest.Item) -> bool:
    """Whether a test runs actions, or asks for the GitHub of ``rig``."""
    return TESTS / "actions" in item.path.parents or "world" in getattr(item, "fixturenames", ())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    no_browser, no_rig = find_chromium() is None, rig.missing() != ""
    left_out = [
        item
        for item in items
        if (no_browser and item.get_closest_marker("browser")) or (no_rig and needs_rig(item))
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    asked = [Path(argument.partition("::")[0]).resolve() for argument in config.args]

    def is_asked_for(folder: Path) -> bool:
        return any(
            path == folder or folder in path.parents or path in folder.parents for path in asked
        )

    if find_chromium() is None and is_asked_for(TESTS / "browser"):
        terminalreporter.write_line(
            "not run: tests marked 'browser', since no Chromium was found"
            " (install it, or name it in MEMREPO_CHROMIUM)"
        )
    if rig.missing() and (is_asked_for(TESTS / "actions") or is_asked_for(TESTS / "forge")):
        terminalreporter.write_line(
            f"not run: tests of the actions and of the GitHub API, since {rig.missing()}"
        )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "data_folder" in metafunc.fixturenames:
        folders = data_folders()
        metafunc.parametrize("data_folder", folders.values(), ids=folders.keys(), scope="session")


def data_folders() -> dict[str, Path]:
    """The folders of real input: the sample always, the large set where there is one."""
    large = Path(os.environ.get("MEMREPO_REAL_DATA") or TESTS.parent.parent / "shared" / "data")
    folders = {"sample": SAMPLE, "large": large}
    return {name: folder for name, folder in folders.items() if folder.is_dir()}


def _footprints() -> dict[str, int]:
    """What memrepo or Git could leave in a person's home, with the time it was last changed."""
    folders = [_REAL_HOME / part for part in ("", ".config", ".cache", ".local/share")]
    found = [
        path
        for folder in folders
        for word in ("*git*", "*memrepo*", "*hypothesis*")
        for path in folder.glob(word)
    ]
    inner = [path for folder in found if folder.is_dir() for path in folder.glob("*")]
    # The project itself may lie here, under a name like these.
    return {
        str(path): path.lstat().st_mtime_ns
        for path in [*found, *inner]
        if path not in (TESTS.parent, *TESTS.parents) and TESTS.parent not in path.parents
    }


@pytest.fixture(scope="session", autouse=True)
def _real_home_untouched() -> Iterator[None]:
    before = _footprints()
    yield
    assert _footprints() == before, "a test wrote to the real home folder"


@pytest.fixture
def memory_repo(tmp_path: Path) -> Callable[..., GitRepo]:
    """``memory_repo(*agents, name="memory")`` makes a memory repo with one commit."""

    def make(*agents: str, name: str = "memory") -> GitRepo:
        return new_memory_repo(tmp_path / name, *agents)

    return make


@pytest.fixture
def bare_remote(tmp_path: Path) -> Callable[..., GitRepo]:
    """``bare_remote(source, name="remote.git")`` makes a bare repository, filled from a repo."""

    def make(source: GitRepo | None = None, name: str = "remote.git") -> GitRepo:
        remote = new_repo(tmp_path / name, bare=True)
        if source is not None:
            source.git("remote", "add", "origin", str(remote.path))
            source.git("push", "--quiet", "--set-upstream", "origin", "HEAD")
        return remote

    return make


@pytest.fixture
def clone(tmp_path: Path) -> Callable[..., GitRepo]:
    """``clone(remote, "one")`` clones a repository into a folder of that name."""

    def make(remote: GitRepo, name: str = "clone", *options: str) -> GitRepo:
        remote.git("clone", "--quiet", *options, str(remote.path), str(tmp_path / name))
        return GitRepo(tmp_path / name)

    return make


@pytest.fixture
def chromium() -> str:
    """The Chromium that tests marked ``browser`` start (they are left out without one)."""
    found = find_chromium()
    assert found, "mark this test 'browser'"
    return found
