"""What the runner says about the job that runs us."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from memrepo.errors import BadInput, UsageError


class Job(msgspec.Struct, frozen=True):
    """One step of a workflow: the event that set it off, and where its files are.

    ``output_file`` and ``summary_file`` are None outside a runner; ``repository`` is
    ``owner/repo``, ``workspace`` where checkouts lie, ``temp`` is emptied after the job.
    """

    event: str
    payload: Mapping[str, Any]
    repository: str
    server_url: str
    api_url: str
    sha: str
    run_id: str
    workspace: Path
    temp: Path
    output_file: Path | None
    summary_file: Path | None

    @property
    def run_url(self) -> str:
        """The page of this run, "" outside a workflow."""
        if not (self.server_url and self.repository and self.run_id.isdigit()):
            return ""
        return f"{self.server_url}/{self.repository}/actions/runs/{self.run_id}"


def read_job(environ: Mapping[str, str]) -> Job:
    """The job that ``environ`` describes. Raises BadInput for an event that cannot be read."""
    import tempfile

    def path(name: str) -> Path | None:
        return Path(environ[name]) if environ.get(name) else None

    return Job(
        event=environ.get("GITHUB_EVENT_NAME", ""),
        payload=_payload(path("GITHUB_EVENT_PATH")),
        repository=environ.get("GITHUB_REPOSITORY", ""),
        server_url=environ.get("GITHUB_SERVER_URL", "").rstrip("/"),
        api_url=environ.get("GITHUB_API_URL", ""),
        sha=environ.get("GITHUB_SHA", ""),
        run_id=environ.get("GITHUB_RUN_ID", ""),
        workspace=path("GITHUB_WORKSPACE") or Path.cwd(),
        temp=path("RUNNER_TEMP") or Path(tempfile.gettempdir()),
        output_file=path("GITHUB_OUTPUT"),
        summary_file=path("GITHUB_STEP_SUMMARY"),
    )


def _payload(path: Path | None) -> Mapping[str, Any]:
    if path is None:
        return {}
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        raise BadInput(f"the event's payload at {path} cannot be read as JSON") from None
    return value if isinstance(value, dict) else {}


def repository_path(job: Job, given: str) -> Path:
    """The folder of the memory repository. Raises UsageError for one outside the workspace.

    A path that leads out could name what belongs to another job of a runner that stays.
    """
    root = job.workspace.resolve()
    found = (root / (given or ".")).resolve()
    if not found.is_relative_to(root):
        raise UsageError(
            f"repo-path {given!r} leads out of the workspace",
            "name a folder inside it, as checkout's `path` does",
        )
    if not found.is_dir():
        raise UsageError(
            f"repo-path {given!r} is no folder of the workspace",
            "check the repository out before this step",
        )
    return found
