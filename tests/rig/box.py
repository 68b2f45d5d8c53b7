"""The server that programs under test take for GitHub: REST, Git over HTTP, and its bad days.

/api/v3/… and /…     REST as GHES and as github.com have it: mends.py, else the emulator
/OWNER/NAME(.git)/…  Git's smart protocol: githttp.py
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rig import githttp
from rig.artifacts import Artifacts
from rig.emulator import Emulator, token_of
from rig.exchange import FROM_TEST, Answer, Exchange, Fault, Request, without_prefix
from rig.mends import MENDS
from rig.mirror import Mirror
from rig.pulls import Pulls
from rig.releases import ReleaseFiles


class Box(ThreadingHTTPServer):
    """The server. ``root`` holds the bare repositories, ``artifacts`` what jobs upload.

    ``log`` has every request of the programs under test, ``faults`` what is to go wrong with
    them; requests of a test itself (by the header ``FROM_TEST``) are in neither. ``grants`` are
    the minted tokens with their permissions. ``problems`` are failures of the rig itself.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, folder: Path, users: tuple[str, ...]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.root = folder / "git"
        self.root.mkdir()
        self.emulator = Emulator(folder, self.url, users)
        self.mirror = Mirror(self.emulator, self.root)
        self.pulls = Pulls(self.emulator, self.root)
        self.artifacts = Artifacts(folder / "artifacts", self.url)
        self.releases = ReleaseFiles()
        self.private: set[str] = set()
        self.grants: dict[str, dict[str, str]] = {}
        self.log: list[Exchange] = []
        self.faults: list[Fault] = []
        self.problems: list[str] = []
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def requests(self) -> list[str]:
        """The REST calls so far, as ``METHOD /path``."""
        return [f"{row.method} {row.path}" for row in self.log if row.is_rest]

    @property
    def writes(self) -> list[str]:
        """The REST calls that asked for a change, as ``METHOD /path STATUS``."""
        return [f"{row.method} {row.path} {row.status}" for row in self.log if row.is_write]

    def knows(self, token: str) -> bool:
        """Whether somebody has this token. An app's own (a JWT) is for the emulator to judge."""
        people = {token_of(user) for user in self.emulator.users}
        return token in people or token in self.grants or token.startswith("eyJ")

    def sync(self, repo: str) -> None:
        """Let pull requests and the emulator follow what changed in a repository's Git."""
        try:
            for touched in {repo, *self.pulls.pushed(repo)}:
                self.mirror.to_emulator(touched)
        except AssertionError as error:
            self.problems.append(f"{repo} was not carried over: {error}")

    def calm(self) -> None:
        """Forget the log and all faults."""
        self.log.clear()
        self.faults.clear()

    def reset(self) -> None:
        """Forget everything. The repositories are left to their owner."""
        self.calm()
        self.problems.clear()
        self.grants.clear()
        self.private.clear()
        self.artifacts.runs.clear()
        self.releases.reset()
        self.pulls.reset()
        self.mirror.reset()
        self.emulator.reset()

    def close(self) -> None:
        """End the server and the emulator."""
        self.shutdown()
        self.server_close()
        self._thread.join()
        self.emulator.close()

    def handle_error(self, *_: object) -> None:
        """A client that has gone away is nobody's fault; anything else is the rig's."""
        error = sys.exception()
        if not isinstance(error, OSError):
            self.problems.append(f"the box broke: {error!r}")

    def fault_for(self, request: Request) -> Fault | None:
        """What goes wrong with this request."""
        with self._lock:
            return next((fault for fault in self.faults if fault.hits(request)), None)

    def answer(self, request: Request) -> Answer:
        """Do what is asked."""
        if repo := githttp.repo_of(request.path):
            served = githttp.serve(request, self.root, self.emulator, frozenset(self.private))
            if githttp.is_push(request) and served.status == 200:
                self.sync(repo)
            return served
        found = self.artifacts.download(request.path) or self.releases.download(request.path)
        if found:
            return found
        for mend in MENDS:
            if mended := mend(self, request):
                return mended
        answer = self.emulator.call(request)
        parts = request.path.split("/")
        if (
            request.method != "GET"
            and answer.status < 300
            and parts[1] == "repos"
            and parts[4:5] in (["git"], ["contents"], ["pulls"], ["branches"])
        ):
            self._took_back("/".join(parts[2:4]))
        return answer

    def _took_back(self, repo: str) -> None:
        try:
            self.mirror.to_git(repo)
        except AssertionError as error:
            self.problems.append(f"{repo} was not taken back: {error}")
        self.sync(repo)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Box

    def handle_any(self) -> None:
        """Log the request, and answer it or let it fail."""
        parts = urlsplit(self.path)
        path, ghes = without_prefix(parts.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, path, parts.query, headers, self._body(), ghes)
        entry = Exchange(self.command, path, parts.query, request.body, request.token)
        fault = None
        if FROM_TEST.lower() not in headers:
            self.server.log.append(entry)
            fault = self.server.fault_for(request)
        if fault is None:
            self._send(self.server.answer(request), entry, ghes=ghes)
            return
        entry.fault = fault.kind
        if fault.kind == "cut":
            self._cut()
        elif fault.kind in ("status", "starter"):
            if fault.kind == "starter":
                self.server.releases.break_off(self.server, request)
            self._send(_failure(fault), entry)
        else:
            if fault.kind == "delay":
                time.sleep(fault.seconds)
            answer = self.server.answer(request)
            if fault.kind == "cut_after":
                self._cut()
            elif fault.kind == "status_after":
                self._send(_failure(fault), entry)
            else:
                self._send(answer, entry, ghes=ghes, half=fault.kind == "half")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_any  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(
        self, answer: Answer, entry: Exchange, *, ghes: bool = False, half: bool = False
    ) -> None:
        body, headers = answer.body, answer.headers
        if any(k.lower() == "content-type" and "json" in v for k, v in headers) and body:
            body = json.dumps(_relinked(json.loads(body), self.server.url, ghes)).encode()
        if ghes:
            headers = [(k, _ghes_links(k, v, self.server.url)) for k, v in headers]
        entry.status = answer.status
        self.send_response(answer.status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if half:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self._cut()
        elif self.command != "HEAD":
            self.wfile.write(body)

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def _failure(fault: Fault) -> Answer:
    headers = [("Content-Type", "application/json"), *fault.headers.items()]
    return Answer(fault.status, json.dumps(fault.body).encode(), headers)


def _relinked(value: Any, url: str, ghes: bool) -> Any:
    """The same with links as GitHub has them: API links of GHES begin with ``/api/v3``."""
    if isinstance(value, list):
        return [_relinked(item, url, ghes) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _link(item, url, ghes)
        if isinstance(item, str) and key.endswith(("url", "href"))
        else _relinked(item, url, ghes)
        for key, item in value.items()
    }


def _link(link: str, url: str, ghes: bool) -> str:
    link = link.replace("/git/ref/", "/git/refs/")
    rest = link.removeprefix(url)
    is_api = rest.startswith(("/repos/", "/users/", "/orgs/", "/user", "/search/"))
    return f"{url}/api/v3{rest}" if ghes and rest != link and is_api else link


def _ghes_links(name: str, value: str, url: str) -> str:
    return value.replace(f"{url}/", f"{url}/api/v3/") if name.lower() == "link" else value
