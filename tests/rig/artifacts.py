"""Workflow runs and their artifacts, which the emulator has no way to fill."""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import Any

from rig.exchange import Answer, Request, json_answer

Json = dict[str, Any]

_RUN = re.compile(r"/repos/([^/]+/[^/]+)/actions/runs/(\d+)(/artifacts)?")
_ARTIFACT = re.compile(r"/repos/([^/]+/[^/]+)/actions/artifacts/(\d+)(/zip)?")


class Artifacts:
    """The runs that were started, and ``folder/RUN_ID/NAME.zip`` for what they uploaded."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.runs: dict[int, Json] = {}
        self._url = url

    def store(self, run_id: int, name: str, data: bytes) -> None:
        """Upload the bytes of a zip file as a run's artifact, whatever they are."""
        target = self.folder / str(run_id) / f"{name}.zip"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def started(self, run: Json) -> None:
        """Remember a run (GitHub's JSON of it)."""
        self.runs[run["id"]] = run

    def answer(self, request: Request, *, may_download: bool) -> Answer | None:
        """Answer a question about runs and artifacts; None for any other request."""
        if request.method != "GET":
            return None
        if found := _RUN.fullmatch(request.path):
            run = self._run(found[1], int(found[2]))
            if run is None:
                return json_answer(404, {"message": "Not Found"})
            if not found[3]:
                return json_answer(200, run)
            name = dict(part.split("=", 1) for part in request.query.split("&") if "=" in part)
            rows = [row for row in self._list(run) if name.get("name", row["name"]) == row["name"]]
            return json_answer(200, {"total_count": len(rows), "artifacts": rows})
        if found := _ARTIFACT.fullmatch(request.path):
            for run in self.runs.values():
                for row in self._list(run):
                    if row["id"] == int(found[2]) and self._run(found[1], run["id"]):
                        if not found[3]:
                            return json_answer(200, row)
                        if not may_download:
                            return json_answer(403, {"message": _FORBIDDEN})
                        where = f"{self._url}/_artifacts/{run['id']}/{row['name']}.zip"
                        return Answer(302, b"", [("Location", where)])
            return json_answer(404, {"message": "Not Found"})
        return None

    def download(self, path: str) -> Answer | None:
        """Where the redirection of a download leads to; None for any other path."""
        if not path.startswith("/_artifacts/"):
            return None
        file = self.folder / path.removeprefix("/_artifacts/")
        if file.parent.parent != self.folder or not file.is_file():
            return Answer(404)
        return Answer(200, file.read_bytes(), [("Content-Type", "application/zip")])

    def _run(self, repo: str, run_id: int) -> Json | None:
        run = self.runs.get(run_id)
        return run if run and run["repository"]["full_name"] == repo else None

    def _list(self, run: Json) -> list[Json]:
        base = f"{self._url}/repos/{run['repository']['full_name']}/actions"
        rows = []
        for file in sorted((self.folder / str(run["id"])).glob("*.zip")):
            number = zlib.crc32(f"{run['id']}/{file.name}".encode())
            rows.append(
                {
                    "id": number,
                    "node_id": f"A_{number}",
                    "name": file.stem,
                    "size_in_bytes": file.stat().st_size,
                    "url": f"{base}/artifacts/{number}",
                    "archive_download_url": f"{base}/artifacts/{number}/zip",
                    "expired": False,
                    "created_at": run["created_at"],
                    "updated_at": run["created_at"],
                    "expires_at": None,
                    "workflow_run": {
                        "id": run["id"],
                        "repository_id": run["repository"]["id"],
                        "head_repository_id": run["head_repository"]["id"],
                        "head_branch": run["head_branch"],
                        "head_sha": run["head_sha"],
                    },
                }
            )
        return rows


_FORBIDDEN = "Resource not accessible by integration"
