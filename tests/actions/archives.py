"""A repository whose history is due, and workflows that archive it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actions.workflows import checkout, job
from archiving import blobs
from longhistory import Snapshot, import_history, long_history
from memrepo.runner.job import Job, read_job
from repositories import GitRepo, new_repo
from rig.act import Run
from rig.world import World

REPO = "acme/demo"
PATH = ".github/workflows/archive.yml"
MAIN = {"ref": "refs/heads/main", "repository": {"default_branch": "main", "private": False}}
WRITE = "{contents: write}"


def demo(world: World, snapshots: list[Snapshot], *, apart: bool = False) -> dict[str, str]:
    """A repository with this history; path to blob id of what lies below history/."""
    world.repo(REPO, "support_v1")
    if apart:
        world.box.mirror.apart.add(REPO)
    import_history(world.bare(REPO), snapshots)
    world.box.sync(REPO)
    return tree(world)


def half_a_year() -> list[Snapshot]:
    """Some months of four agents."""
    return long_history(120, 4, days=180)


def tree(world: World, rev: str = "main") -> dict[str, str]:
    """The snapshots of a revision, as the server has it."""
    found = blobs(world.bare(REPO), rev)
    return {path: blob for path, blob in found.items() if path.endswith(".json")}


def go(world: World, workflow: str, event: str = "workflow_dispatch", **more: Any) -> Run:
    """Run a workflow on the default branch."""
    yaml = world.folder / "work" / "yaml"
    if not yaml.exists():
        new_repo(yaml)
    GitRepo(yaml).write(PATH, workflow)
    sha = world.bare(REPO).head("main")
    payload = {**MAIN, "inputs": more.pop("given", {})}
    return world.act(yaml, event, PATH, payload, ref="refs/heads/main", sha=sha, **more)


def archive(permissions: str = WRITE, **options: str) -> str:
    """A workflow that archives."""
    given = "".join(f"          {key.replace('_', '-')}: {v}\n" for key, v in options.items())
    steps = checkout(persist_credentials="false") + (
        "      - id: archive\n        uses: acme/memrepo/actions/archive@v1\n"
        + (f"        with:\n{given}" if given else "")
    )
    return job("workflow_dispatch", permissions, steps)


class Place:
    """The workspace of a job on main, and what its steps left.

    ``before`` is what was below history/; path to blob id.
    """

    def __init__(self, world: World, folder: Path, before: dict[str, str]) -> None:
        self.before = before
        self.workspace = world.clone(REPO, "alice").path
        self.output = folder / "output"
        self.summary = folder / "summary"
        self.job: Job = read_job(
            {
                "GITHUB_EVENT_NAME": "workflow_dispatch",
                "GITHUB_REPOSITORY": REPO,
                "GITHUB_SERVER_URL": world.url,
                "GITHUB_API_URL": f"{world.url}/api/v3",
                "GITHUB_WORKSPACE": str(self.workspace),
                "GITHUB_OUTPUT": str(self.output),
                "GITHUB_STEP_SUMMARY": str(self.summary),
                "RUNNER_TEMP": str(folder / "temp"),
            }
        )

    def outputs(self) -> dict[str, str]:
        """Each output of the last step; none here has several lines."""
        lines = self.output.read_text().splitlines()
        self.output.unlink()
        return {lines[at].partition("<<")[0]: lines[at + 1] for at in range(0, len(lines), 3)}
