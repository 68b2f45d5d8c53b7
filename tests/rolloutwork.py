"""Rollouts for tests: a treatment branch in a clone of a published memory repo."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from commandline import Ran, memrepo
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.rollout import Rollout, rollout_path
from memrepo.protocol.rolloutfile import read_rollout
from memrepo.rollout.change import At
from repositories import GitRepo

TREATMENT = "feature/new-classifier"
NAME = "new-classifier"
AT = At(remote="origin")
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def origin(repo: GitRepo) -> GitRepo:
    """The remote that a clone publishes to."""
    return GitRepo(Path(repo.git("remote", "get-url", "origin")))


def tools(*names: str, **described: str) -> list[dict[str, Any]]:
    """Tools of these names; ``described`` gives some of them another description."""
    return [
        {"name": n, "description": described.get(n, f"Does {n}."), "parameters": {"q": "string"}}
        for n in names
    ]


def on_branch(repo: GitRepo, branch: str, files: dict[str, bytes | str], message: str) -> str:
    """A commit with these files on a branch as it is published (or off main), published."""
    repo.git("fetch", "--quiet", "origin")
    there = repo.git("rev-parse", "--quiet", "--verify", f"origin/{branch}", check=False)
    repo.git("switch", "--quiet", "--force-create", branch, there or "origin/main")
    for path, content in files.items():
        repo.write(path, content)
    made = repo.commit(message)
    repo.git("push", "--quiet", "origin", branch)
    if branch != "main":
        repo.git("switch", "--quiet", "main")
    return made


def treat(repo: GitRepo, *names: str, message: str = "a new classifier", **more: Any) -> str:
    """The treatment branch gives the agent other tools, and is published."""
    branch = more.pop("branch", TREATMENT)
    repo.git("fetch", "--quiet", "origin")
    there = repo.git("rev-parse", "--quiet", "--verify", f"origin/{branch}", check=False)
    repo.git("switch", "--quiet", "--force-create", branch, there or "origin/main")
    repo.write_agent("support_agent_v1", tools=tools(*names, **more), version="1.1.0")
    made = repo.commit(message)
    repo.git("push", "--quiet", "origin", branch)
    repo.git("switch", "--quiet", "main")
    return made


def rollout(repo: GitRepo, name: str = NAME, rev: str = "main") -> Rollout:
    """The rollout as the remote has it."""
    path = rollout_path(name)
    return read_rollout(origin(repo).read(path, rev), path)


def run(repo: GitRepo, command: str, *arguments: str) -> Ran:
    """``memrepo rollout COMMAND``, of the one rollout where none is named."""
    if "--name" not in arguments and command != "export":
        arguments = ("--name", NAME, *arguments)
    return memrepo(repo, f"rollout {command}", *arguments)


def start(repo: GitRepo, *more: str) -> Ran:
    """``memrepo rollout start``, of the usual treatment."""
    return run(repo, "start", "--treatment", TREATMENT, *more)


def history(repo: GitRepo, revs: str = "main") -> list[str]:
    """Subjects on the remote, oldest first; every commit has at most one parent."""
    lines = origin(repo).git("log", "--reverse", "--format=%P|%s", revs).splitlines()
    assert all(len(line.partition("|")[0].split()) <= 1 for line in lines)
    return [line.partition("|")[2] for line in lines]


def opened(repo: GitRepo) -> Repository:
    """The clone, for calling the job itself."""
    return Repository.open(repo.path)


def csv(rows: Iterable[tuple[str, str, float, datetime]]) -> bytes:
    """Outcomes as a metrics file."""
    lines = [f"{unit},{metric},{value:g},{at.isoformat()}" for unit, metric, value, at in rows]
    return "\n".join(["unit,metric,value,at", *lines, ""]).encode()
