"""What GitHub tells a workflow about the event that set it off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

Json = dict[str, Any]


class Pull(msgspec.Struct, frozen=True):
    """An open pull request: ``head_repo:branch`` into ``repo``."""

    repo: str
    number: int
    head_repo: str
    branch: str
    author: str

    @property
    def is_from_fork(self) -> bool:
        """Whether its head lies in another repository than its base."""
        return self.repo != self.head_repo


def pull_request(pull: Pull, shown: Json, *, action: str, base_sha: str) -> Json:
    """The payload of ``pull_request``; ``shown`` is the API's view, whose base may lag behind."""
    shown = {**shown, "base": {**shown["base"], "sha": base_sha}}
    return {
        "action": action,
        "number": pull.number,
        "pull_request": shown,
        "repository": shown["base"]["repo"],
        "sender": {"login": pull.author, "type": "User"},
    }


def workflow_run(
    pull: Pull, shown: Json, run_id: int, workflow: str, conclusion: str, url: str
) -> Json:
    """A finished run for a pull request, as the API shows it."""
    ends = {side: {key: shown[side][key] for key in ("ref", "sha")} for side in ("head", "base")}
    # GitHub leaves this list empty for forks: https://github.com/actions/runner/issues/3444
    listed = [] if pull.is_from_fork else [{"number": pull.number, **ends}]
    return {
        "id": run_id,
        "name": Path(workflow).stem,
        "path": workflow,
        "event": "pull_request",
        "status": "completed",
        "conclusion": conclusion,
        "run_attempt": 1,
        "head_branch": pull.branch,
        "head_sha": shown["head"]["sha"],
        "pull_requests": listed,
        "repository": shown["base"]["repo"],
        "head_repository": shown["head"]["repo"],
        "created_at": shown["created_at"],
        "updated_at": shown["updated_at"],
        "html_url": f"{url}/{pull.repo}/actions/runs/{run_id}",
        "actor": {"login": pull.author, "type": "User"},
    }


def workflow_run_completed(run: Json) -> Json:
    """The payload of ``workflow_run`` for a finished run."""
    return {
        "action": "completed",
        "workflow_run": run,
        "workflow": {"name": run["name"], "path": run["path"]},
        "repository": run["repository"],
        "sender": run["actor"],
    }
