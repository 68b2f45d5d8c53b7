"""Git's smart HTTP protocol by ``git http-backend``, with GitHub's rules about who may push."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from pathlib import Path

from rig.emulator import Emulator
from rig.exchange import Answer, Request
from rig.tools import machine_environment

_GIT = re.compile(r"^/([\w.-]+/[\w.-]+?)(?:\.git)?/(info/refs|git-upload-pack|git-receive-pack)$")


def repo_of(path: str) -> str:
    """The repository that a Git request is about (``owner/name``); empty for other requests."""
    found = _GIT.match(path)
    return found[1] if found else ""


def is_push(request: Request) -> bool:
    """Whether this is the part of a push that changes the repository."""
    return request.path.endswith("/git-receive-pack")


def serve(request: Request, root: Path, emulator: Emulator, private: frozenset[str]) -> Answer:
    """Answer a request of Git's. ``root`` holds ``owner/name.git``.

    As on GitHub a public repository can be read by everyone, and a private one, or a push, asks
    for a token; the emulator says what the token may do.
    """
    repo = repo_of(request.path)
    if not (root / f"{repo}.git").is_dir():
        return Answer(404, b"Repository not found.")
    pushes = "git-receive-pack" in f"{request.path} {request.query}"
    token = _token(request)
    if (pushes or repo in private) and not token:
        return Answer(
            401, b"Authentication needed.", [("WWW-Authenticate", 'Basic realm="GitHub"')]
        )
    if pushes and not _may_write(repo, token, emulator):
        return Answer(403, f"Permission to {repo}.git denied.".encode())
    if repo in private and not _may_read(repo, token, emulator):
        return Answer(404, b"Repository not found.")
    return _backend(request, root)


def _token(request: Request) -> str:
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return value
    return base64.b64decode(value).decode().partition(":")[2]


def _may_write(repo: str, token: str, emulator: Emulator) -> bool:
    """Ask by storing an empty blob, which changes nothing that anyone sees."""
    return emulator.ask("POST", f"/repos/{repo}/git/blobs", token, {"content": ""}).status == 201


def _may_read(repo: str, token: str, emulator: Emulator) -> bool:
    return emulator.ask("GET", f"/repos/{repo}/git/matching-refs/heads", token).status == 200


def _backend(request: Request, root: Path) -> Answer:
    environ = {
        **machine_environment(),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROJECT_ROOT": str(root),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "PATH_INFO": re.sub(_GIT, r"/\1.git/\2", request.path),
        "QUERY_STRING": request.query,
        "REMOTE_ADDR": "127.0.0.1",
        "REMOTE_USER": "git",
        "REQUEST_METHOD": request.method,
        "CONTENT_LENGTH": str(len(request.body)),
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
    }
    done = subprocess.run(
        ["git", "http-backend"], env=environ, input=request.body, capture_output=True
    )
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    status, headers = 200, []
    for line in head.decode().splitlines():
        name, _, value = line.partition(": ")
        if name == "Status":
            status = int(value.split()[0])
        else:
            headers.append((name, value))
    return Answer(status, body, headers)
