"""Artifacts of workflow runs on GitHub: what one job hands to another, by way of strangers."""

from __future__ import annotations

import requests

from memrepo.errors import BadInput
from memrepo.forge.failure import Attempt, Failure

from .requester import GithubFailed, Turns, understood
from .session import Session
from .transfer import FOUND, failure_of

_READ = "actions: read"
_CHUNK = 1 << 16
_TIMEOUT = 60


class Artifacts(Session):
    """A token's access to what the runs of a repository uploaded."""

    def download_artifact(self, run_id: int, name: str, *, most_bytes: int) -> bytes | None:
        """The zip file that the run ``run_id`` uploaded as ``name``; None where it has none.

        Raises BadInput for one of more than ``most_bytes``, before or while it is read.
        """
        attempt = Attempt(f"read the artifacts of run {run_id}", _READ)

        def look() -> list[dict[str, object]]:
            _, data = self._requester.requestJsonAndCheck(
                "GET",
                f"/repos/{self._slug}/actions/runs/{run_id}/artifacts",
                parameters={"name": name, "per_page": 100},
            )
            return [row for row in data["artifacts"] if row["name"] == name and not row["expired"]]

        # A run that was started again uploads again; the last one is of its last attempt.
        found = sorted(self._read(look, attempt), key=lambda row: int(str(row["id"])))
        if not found:
            return None
        number, size = int(str(found[-1]["id"])), int(str(found[-1]["size_in_bytes"]))
        if size > most_bytes:
            raise _too_big(name, size, most_bytes)
        attempt = Attempt(f"download the artifact {name}", _READ)
        turns = Turns(self._patience, self._tell)
        while True:
            try:
                with understood():
                    return self._download(number, name, most_bytes)
            except GithubFailed as error:
                if not turns.wait_after(error.failure):
                    raise self._error(error, attempt) from None

    def _download(self, number: int, name: str, most_bytes: int) -> bytes:
        """By hand: the bytes lie on another server, which must not see the token."""
        requester = self._requester
        token = requester.auth.token if requester.auth else ""
        url = f"{requester.base_url}/repos/{self._slug}/actions/artifacts/{number}/zip"
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        first = requests.get(url, headers=headers, timeout=_TIMEOUT, allow_redirects=False)
        if first.status_code not in FOUND:
            raise GithubFailed(failure_of(first))
        place = first.headers.get("Location", "")
        with requests.get(place, timeout=_TIMEOUT, stream=True) as answer:
            if answer.status_code != 200:
                raise GithubFailed(Failure(answer.status_code, "the artifact is not there"))
            parts, size = [], 0
            for part in answer.iter_content(_CHUNK):
                size += len(part)
                if size > most_bytes:
                    raise _too_big(name, size, most_bytes)
                parts.append(part)
        return b"".join(parts)


def _too_big(name: str, size: int, most: int) -> BadInput:
    return BadInput(
        f"the artifact {name} has {size:,} bytes; a review is read up to {most:,}",
        "look at it on the run's page",
    )
