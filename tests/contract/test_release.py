"""What a release is packed from, and when it is refused."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from contract.pages import ROOT
from memrepo import __version__
from repositories import GitRepo, new_repo

CHANGES = (
    f"# Changelog\n\n## [Unreleased]\n\nlater\n\n## [{__version__}] - 2026-03-01\n\n- it began\n"
)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    repo = new_repo(tmp_path / "repo")
    for name in ("scripts/release-files", "scripts/memrepo/__init__.py"):
        target = repo.write(name, (ROOT / name).read_bytes())
        shutil.copymode(ROOT / name, target)
    repo.write("CHANGELOG.md", CHANGES)
    repo.commit("a release")
    return repo


def pack(repo: GitRepo, version: str, target: Path) -> subprocess.CompletedProcess[str]:
    command = [str(repo.path / "scripts" / "release-files"), version, str(target)]
    return subprocess.run(command, capture_output=True, encoding="utf-8")


def test_the_same_commit_gives_the_same_bytes(repo: GitRepo, tmp_path: Path) -> None:
    repo.write("not-committed.txt", "stays here\n")
    for name in ("one", "two"):
        done = pack(repo, __version__, tmp_path / name)
        assert done.returncode == 0, done.stderr
    archive = tmp_path / "one" / f"memrepo-{__version__}.tar.gz"
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert (tmp_path / "one" / "SHA256SUMS").read_text() == f"{digest}  {archive.name}\n"
    assert (tmp_path / "two" / archive.name).read_bytes() == archive.read_bytes()
    assert (tmp_path / "one" / "notes.md").read_text().strip() == "- it began"
    with tarfile.open(archive) as packed:
        files = {member.name for member in packed if member.isfile()}
    root = f"memrepo-{__version__}"
    assert files == {
        f"{root}/CHANGELOG.md",
        f"{root}/scripts/memrepo/__init__.py",
        f"{root}/scripts/release-files",
    }


@pytest.mark.parametrize(
    ("version", "problem"),
    [
        ("99.0.0", "has another version"),
        ("$(touch pwned)", "is no version"),
        ("1.0", "is no version"),
        ("--help", "is no version"),
    ],
)
def test_another_version_is_refused(
    repo: GitRepo, tmp_path: Path, version: str, problem: str
) -> None:
    done = pack(repo, version, tmp_path / "out")
    assert done.returncode == 2
    assert problem in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_version_without_notes_is_refused(repo: GitRepo, tmp_path: Path) -> None:
    repo.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n- it began\n")
    done = pack(repo, __version__, tmp_path / "out")
    assert done.returncode == 2
    assert f"says nothing of {__version__}" in done.stderr
