"""Knowledge branches for tests: made by plain Git, merged by the job."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memrepo import MemoryRepo
from memrepo.forge.local import LocalForge
from memrepo.knowledge.merge import merge
from memrepo.knowledge.outcome import MergeReport
from memrepo.knowledge.proposal import propose_merge
from repositories import GitRepo

Change = Callable[[], object]


def tools(*names: str, **described: str) -> list[dict[str, Any]]:
    """Tools of these names; ``described`` gives some of them another description."""
    return [
        {"name": n, "description": described.get(n, f"Does {n}."), "parameters": {"q": "string"}}
        for n in names
    ]


def origin(repo: GitRepo) -> GitRepo:
    """The remote that a clone publishes to."""
    return GitRepo(Path(repo.git("remote", "get-url", "origin")))


def on_branch(repo: GitRepo, source: str, *changes: Change, author: str = "Wiki") -> list[str]:
    """Commits on ``knowledge/<source>``, one a change, published; main is checked out after."""
    branch = f"knowledge/{source}"
    repo.git("fetch", "--quiet", "origin")
    there = repo.git("rev-parse", "--quiet", "--verify", f"origin/{branch}", check=False)
    repo.git("switch", "--quiet", "--force-create", branch, there or "origin/main")
    made = []
    for number, change in enumerate(changes):
        change()
        repo.git("add", "--all")
        who = f"--author={author} <{author.lower()}@example.org>"
        date = f"--date=2026-02-{number % 28 + 1:02}T10:00:00+02:00"
        text = f"from {source} {number}\n\nSource: {source}\nSource-Revision: r{number}"
        repo.git("commit", "--quiet", "--allow-empty", who, date, "--message", text)
        made.append(repo.head())
    repo.git("push", "--quiet", "origin", branch)
    repo.git("switch", "--quiet", "main")
    return made


def on_main(repo: GitRepo, change: Change, message: str = "by hand") -> str:
    """A commit on main as it is published, published."""
    repo.git("switch", "--quiet", "main")
    repo.git("pull", "--quiet", "--rebase")
    change()
    made = repo.commit(message)
    repo.git("push", "--quiet", "origin", "main")
    return made


def tools_of(repo: GitRepo, rev: str = "main", agent: str = "bot") -> dict[str, Any]:
    """An agent's tools by name, as a commit has them."""
    return {tool["name"]: tool for tool in json.loads(repo.read(f"state/{agent}/tools.json", rev))}


def merge_now(repo: GitRepo, *branches: str, **options: Any) -> MergeReport:
    """The job on a clone, as ``memrepo knowledge merge`` runs it."""
    options = {"remote": "origin"} | options
    with MemoryRepo(repo.path) as memory:
        return merge(memory, branches, **options)


def forge_of(repo: GitRepo) -> LocalForge:
    """Pull requests of a clone's remote, in a folder beside the clone."""
    remote = origin(repo)

    def tip(branch: str) -> str | None:
        found = remote.git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", check=False)
        return found or None

    return LocalForge(repo.path.parent / "forge", login="memrepo", tip=tip)


def propose_now(repo: GitRepo, *branches: str, **options: Any) -> MergeReport:
    """The job on a clone in mode "pr"."""
    with MemoryRepo(repo.path) as memory:
        return propose_merge(memory, forge_of(repo), branches, remote="origin", **options)


def subjects(repo: GitRepo, revs: str) -> list[str]:
    """Subjects of commits, oldest first."""
    return repo.git("log", "--reverse", "--format=%s", revs).splitlines()
