"""Files to GitHub and bytes from it: what PyGithub would hold in memory, or wait for without end.

Uploads and downloads go to other servers than the API. A token goes to none but the API's own
and the one for uploads that belongs to it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass

from memrepo.forge.assets import CHUNK
from memrepo.forge.failure import Failure

from .requester import GithubFailed, PatientRequester, checked_answer, understood

FOUND = (301, 302, 303, 307, 308)
_MOST_HOPS = 5
# GitHub answers an upload when it has stored all of it, which takes longer than other answers.
_UPLOAD_PATIENCE = 4


def origin(url: str) -> tuple[str, str, int]:
    """The scheme, host and port of an address: what has to be equal for one server."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return parts.scheme, (parts.hostname or "").lower(), port


def takes_uploads(url: str, api_url: str) -> bool:
    """Whether the token may go to ``url`` with a file.

    That is the API's own server, and ``uploads.`` in place of its ``api.`` as github.com and
    GHE.com have it. GitHub names the address in its answers, so it is looked at.
    """
    scheme, host, port = origin(api_url)
    uploads = f"uploads.{host.removeprefix('api.')}" if host.startswith("api.") else host
    return origin(url) in ((scheme, host, port), (scheme, uploads, port))


def send_file(
    requester: PatientRequester,
    url: str,
    name: str,
    path: Path,
    progress: Callable[[int], None],
) -> dict[str, Any]:
    """Upload a file as ``name`` to ``url``, once, in pieces; the answer's value.

    Raises GithubFailed, and OSError when the file cannot be read.
    """
    if not takes_uploads(url, requester.base_url):
        raise GithubFailed(Failure(0, "an answer that points to another server"))
    parts = urlsplit(url)
    is_https = parts.scheme == "https"
    kind = HTTPSRequestsConnectionClass if is_https else HTTPRequestsConnectionClass
    seconds = requester.seconds * _UPLOAD_PATIENCE
    connection = kind(parts.hostname or "", parts.port, timeout=seconds, retry=0)
    headers = {"Content-Type": "application/octet-stream"}
    try:
        with _Counted(path, progress) as file, understood():
            _, data = requester.requestMemoryBlobAndCheck(
                "POST",
                url,
                {"name": name},
                headers,
                file,
                connection,
            )
            checked_answer(data)
    finally:
        connection.close()
    if not isinstance(data, dict):
        raise GithubFailed(Failure(0, "an answer that is no asset"))
    return data


class _Counted(io.FileIO):
    """A file that tells how far it was read."""

    def __init__(self, path: Path, progress: Callable[[int], None]) -> None:
        super().__init__(path)
        self._progress = progress
        self._count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(-1 if size is None else size)
        self._count += len(data)
        self._progress(self._count)
        return data


def receive(requester: PatientRequester, url: str, start: int) -> Iterator[bytes]:
    """The bytes at ``url`` from ``start`` on, in pieces, as they are stored.

    Redirections are followed; the token is left out from the first other server on. They may
    end early: whoever knows the length has to look. Raises GithubFailed.
    """
    with requests.Session() as session, _received():
        session.auth = _no_auth  # or a .netrc would be asked for the other server's password
        answer = _found(session, requester, url, start)
        with answer:
            skip = 0 if answer.status_code == 206 else start
            for piece in answer.raw.stream(CHUNK, decode_content=False):
                if len(piece) > skip:
                    yield piece[skip:]
                skip = max(0, skip - len(piece))


def _found(
    session: requests.Session, requester: PatientRequester, url: str, start: int
) -> requests.Response:
    headers = {
        "Accept": "application/octet-stream",
        "Accept-Encoding": "identity",
        "User-Agent": requester.user_agent,
    }
    if start:
        headers["Range"] = f"bytes={start}-"
    token = requester.auth.token if requester.auth else ""
    home = at = requester.base_url
    place = url if urlsplit(url).scheme else home + url
    for _ in range(_MOST_HOPS):
        if origin(at)[0] == "https" != origin(place)[0]:
            raise GithubFailed(Failure(0, "a redirection to a server without encryption"))
        if origin(place) != origin(home):
            token = ""
        secret = {"Authorization": f"Bearer {token}"} if token else {}
        answer = session.get(
            place,
            headers={**headers, **secret},
            timeout=requester.seconds,
            stream=True,
            allow_redirects=False,
        )
        if answer.status_code in FOUND and (further := answer.headers.get("Location")):
            answer.close()
            at, place = place, urljoin(place, further)
            continue
        if answer.status_code == 200 or _continues(answer, start):
            return answer
        with answer:
            if token:
                raise GithubFailed(failure_of(answer))
            # What another server refuses says nothing about the token; its address grows old.
            raise GithubFailed(Failure(0, f"the store of files answered {answer.status_code}"))
    raise GithubFailed(Failure(0, "redirections without end"))


def _continues(answer: requests.Response, start: int) -> bool:
    kept = answer.headers.get("Content-Range", "")
    return answer.status_code == 206 and kept.startswith(f"bytes {start}-")


def failure_of(answer: requests.Response) -> Failure:
    """What an answer of the API says that is no success."""
    try:
        message = str(answer.json().get("message", ""))
    except (ValueError, AttributeError):
        message = answer.reason or ""
    headers = {str(key).lower(): str(value) for key, value in answer.headers.items()}
    return Failure(answer.status_code, message, headers)


@contextmanager
def _received() -> Iterator[None]:
    try:
        with understood():
            yield
    except (urllib3.exceptions.HTTPError, OSError):
        raise GithubFailed(Failure(0, "the connection was cut")) from None


def _no_auth(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request
