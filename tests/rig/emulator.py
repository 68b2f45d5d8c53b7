"""The GitHub emulator (npm ``emulate``) as a child process."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from rig.exchange import Answer, Request
from rig.tools import EMULATE, machine_environment

APP_ID = 15368
PERMISSIONS = (
    "actions attestations checks contents deployments discussions issues metadata packages pages"
    " pull_requests security_events statuses"
).split()
_LAUNCHER = Path(__file__).with_name("emulate.mjs")
_HOP_BY_HOP = frozenset(
    "accept-encoding connection content-length host keep-alive te transfer-encoding".split()
)


class Emulator:
    """One emulator with these users, each with the token that ``token_of`` names."""

    def __init__(self, folder: Path, base_url: str, users: Sequence[str]) -> None:
        self.users = tuple(users)
        self.port = free_port()
        seed = folder / "seed.json"
        seed.write_text(json.dumps(_seed(self.users)), encoding="utf-8")
        command = ["node", _LAUNCHER, EMULATE, seed, str(self.port), base_url]
        self._log = (folder / "emulate.log").open("w", encoding="utf-8")
        self._process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=machine_environment(),
        )
        # Speaks for the app that GITHUB_TOKENs belong to.
        self._jwt: str = self._said()["jwt"]

    def call(self, request: Request) -> Answer:
        """Pass a request on and answer what the emulator answers."""
        target = request.path + (f"?{request.query}" if request.query else "")
        headers = {k: v for k, v in request.headers.items() if k not in _HOP_BY_HOP}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(request.method, target, request.body, headers)
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        kept = [(k, v) for k, v in response.getheaders() if k.lower() not in _HOP_BY_HOP]
        return Answer(response.status, body, kept)

    def ask(self, method: str, path: str, token: str, body: object = None) -> Answer:
        """A request of the rig's own, with JSON."""
        path, _, query = path.partition("?")
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        data = b"" if body is None else json.dumps(body).encode()
        return self.call(Request(method, path, query, headers, data))

    def mint(self, repo: str, permissions: dict[str, str]) -> str:
        """A token of the app for one repository, with exactly these permissions."""
        owner, name = repo.split("/")
        answer = self.ask(
            "POST",
            f"/app/installations/{installation_of(self.users, owner)}/access_tokens",
            self._jwt,
            {"repositories": [name], "permissions": permissions},
        )
        assert answer.status == 201, answer.body
        token = answer.json()["token"]
        assert isinstance(token, str)
        return token

    def reset(self) -> None:
        """Forget everything but the users."""
        self._stdin.write("reset\n")
        self._stdin.flush()
        self._said()

    def close(self) -> None:
        """End it."""
        self._stdin.close()
        self._process.wait(10)
        if self._process.stdout:
            self._process.stdout.close()
        self._log.close()

    @property
    def _stdin(self) -> IO[str]:
        assert self._process.stdin
        return self._process.stdin

    def _said(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, f"the emulator ended; see {self._log.name}"
        said = json.loads(line)
        assert isinstance(said, dict)
        return said


def token_of(user: str) -> str:
    """The token of a person."""
    return f"tok_{user}"


def installation_of(users: Sequence[str], owner: str) -> int:
    """The number by which the app is installed at an owner's."""
    return 100 + list(users).index(owner)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    assert isinstance(port, int)
    return port


def _seed(users: Sequence[str]) -> dict[str, object]:
    scopes = ["repo", "user", "admin:repo_hook"]
    app = {
        "app_id": APP_ID,
        "slug": "github-actions",
        "name": "GitHub Actions",
        "permissions": dict.fromkeys(PERMISSIONS, "write"),
        "events": [],
        "installations": [
            {
                "installation_id": installation_of(users, user),
                "account": user,
                "repository_selection": "all",
            }
            for user in users
        ],
    }
    people = [{"login": u, "name": u, "email": f"{u}@example.org"} for u in users]
    return {
        "tokens": {token_of(u): {"login": u, "scopes": scopes} for u in users},
        "github": {"users": people, "apps": [app]},
    }
