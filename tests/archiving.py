"""A memory repo with a long history, and what the archive did with it, read by plain Git."""

from __future__ import annotations

import hashlib
import io
import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from memrepo.archive.prepare import Request
from memrepo.archive.run import prune_archive, run_archive
from memrepo.archive.values import ArchiveOutcome, Mode
from memrepo.forge.forge import Forge
from memrepo.forge.local import LocalForge
from memrepo.gitrepo.repository import Repository
from repositories import GitRepo, new_memory_repo, new_repo

#: When the tests' runs happen, and what they take: all from before this time.
NOW = datetime(2026, 7, 22, 2, 0, tzinfo=UTC)
BEFORE = datetime(2026, 4, 23, 2, 0, tzinfo=UTC)
FIRST = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def snapshot_name(when: datetime, agent_id: str, *, daily: bool = False) -> str:
    """The path of a snapshot."""
    folder = f"history/{when:%Y/%m/%d}" if daily else "history"
    return f"{folder}/{when:%Y%m%d-%H%M%S}-{agent_id}.json"


def snapshot(agent_id: str, when: datetime, text: str = "Hello") -> bytes:
    """A snapshot's bytes."""
    stamp = f"{when:%Y-%m-%dT%H:%M:%SZ}"
    value = {
        "context": [{"role": "user", "content": text, "timestamp": stamp}],
        "tools": [],
        "metadata": {"agent_id": agent_id, "version": "1.0.0", "last_updated": stamp},
    }
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def fill(repo: GitRepo, agents: tuple[str, ...] = ("ada", "bob"), weeks: int = 10) -> None:
    """Snapshots of ``agents``, one a week each from :data:`FIRST` on; one agent's are daily."""
    for week in range(weeks):
        for number, agent in enumerate(agents):
            when = FIRST + timedelta(weeks=week, minutes=number)
            path = snapshot_name(when, agent, daily=number % 2 == 1)
            repo.write(path, snapshot(agent, when, f"week {week}"))
    repo.commit("history")


def new_remote(path: Path, source: GitRepo) -> GitRepo:
    """A bare remote with what ``source`` has, as its origin."""
    remote = new_repo(path, bare=True)
    source.git("remote", "add", "origin", str(remote.path))
    source.git("push", "--quiet", "--set-upstream", "origin", "HEAD")
    return remote


def blobs(repo: GitRepo, rev: str = "main") -> dict[str, str]:
    """Every file below history/ of a revision: path to blob id."""
    found = {}
    for line in repo.git("ls-tree", "-r", rev, "history/").splitlines():
        head, _, path = line.partition("\t")
        found[path] = head.split()[2]
    return found


def due(paths: dict[str, str], before: datetime = BEFORE) -> dict[str, str]:
    """Those of ``paths`` that are snapshots from before a time, by their names."""
    stamp = f"{before:%Y%m%d-%H%M%S}"
    named = {path: path.rpartition("/")[2] for path in paths}
    return {
        path: paths[path]
        for path, name in named.items()
        if name[:8].isdecimal() and name[:15] < stamp and name.endswith(".json")
        and int(name[4:6]) <= 12
    }  # fmt: skip


def forge_at(path: Path, remote: GitRepo | None = None) -> LocalForge:
    """The local forge in a folder; branches are those of ``remote``."""

    def tip(branch: str) -> str | None:
        if remote is None:
            return None
        return (
            remote.git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False) or None
        )

    return LocalForge(path, login="memrepo", tip=tip, now=lambda: NOW)


def request(**options: object) -> Request:
    """A run at :data:`NOW` of what is from before :data:`BEFORE`, published on origin."""
    values: dict[str, object] = {"now": NOW, "before": BEFORE, "remote": "origin"}
    return Request(**(values | options))  # type: ignore[arg-type]


class Place:
    """A clone, its remote, and the forge beside it."""

    def __init__(self, folder: Path) -> None:
        self.work = new_memory_repo(folder / "work", "ada", "bob")
        fill(self.work)
        self.remote = new_remote(folder / "remote.git", self.work)
        self.forge = forge_at(folder / "forge", self.remote)


def archive(repo: GitRepo, forge: Forge, mode: Mode = "push", **options: object) -> ArchiveOutcome:
    """One whole run."""
    with Repository.open(repo.path) as git:
        return run_archive(git, forge, request(**options), mode)


def prune(repo: GitRepo, forge: Forge, mode: Mode = "push", **options: object) -> ArchiveOutcome:
    """Only the prune, of all that is published."""
    with Repository.open(repo.path) as git:
        return prune_archive(git, forge, request(**({"before": None} | options)), mode)


def in_releases(forge: Forge) -> dict[str, str]:
    """What published releases hold by plain ``tarfile``: path to Git blob id.

    Every file of a release must have the hash that SHA256SUMS and the forge say.
    """
    found: dict[str, str] = {}
    for release in forge.list_releases():
        if release.draft:
            continue
        files = {
            asset.name: b"".join(forge.download_asset(release, asset)) for asset in release.assets
        }
        lines = files.pop("SHA256SUMS").decode().splitlines()
        sums = {line[66:]: line[:64] for line in lines}
        assert sums == {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        files.pop("manifest.json")
        for data in files.values():
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as tar:
                for member in tar:
                    file = tar.extractfile(member)
                    assert file is not None
                    found[member.name] = blob_id(file.read())
    return found


def blob_id(data: bytes) -> str:
    """The Git id of a file."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
