"""The values that pass through the box: requests, answers, faults, and what is remembered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Kind = Literal["status", "status_after", "cut", "cut_after", "half", "delay", "starter"]

# A request of a test itself carries this header: it is neither remembered nor disturbed.
FROM_TEST = "X-Rig-Test"
_API = re.compile(r"^/api/(v3|uploads)(?=/)")
_GIT = re.compile(r"/(info/refs|git-upload-pack|git-receive-pack)$")
_REST = re.compile(r"^/(repos|user|users|orgs|search|rate_limit|meta|graphql)(/|$)")


class Request(msgspec.Struct, frozen=True):
    """One HTTP request. ``path`` is without the prefix that GHES has (``/api/v3``)."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes = b""
    ghes: bool = False

    @property
    def token(self) -> str:
        """The token of an API request, or empty."""
        kind, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if kind.lower() in ("bearer", "token") else ""

    def json(self) -> dict[str, Any]:
        """The body's object; empty for any other body."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


class Answer(msgspec.Struct, frozen=True):
    """One HTTP answer."""

    status: int
    body: bytes = b""
    headers: list[tuple[str, str]] = []

    def json(self) -> Any:
        """The body's value."""
        return json.loads(self.body)


class Fault(msgspec.Struct, kw_only=True):
    """What goes wrong with requests whose method and path (a regular expression) fit.

    ``kind``: ``status`` answers ``status`` and does nothing, ``status_after`` does what was asked
    and answers ``status`` all the same; ``cut`` closes the connection at once, ``cut_after`` when
    all was done; ``half`` sends half of the answer's body; ``delay`` waits ``seconds`` first;
    ``starter`` leaves an upload's asset in that state and answers ``status``.
    ``first``: the fitting request, counted from 1, that it begins with; ``times``: how many it
    hits, None for all.
    """

    path: str
    kind: Kind = "status"
    method: str = ""
    status: int = 502
    headers: dict[str, str] = {}
    body: dict[str, object] = msgspec.field(default_factory=lambda: {"message": "Server Error"})
    seconds: float = 1.0
    first: int = 1
    times: int | None = None
    seen: int = 0

    def hits(self, request: Request) -> bool:
        """Whether this request is struck; counts those that fit."""
        if self.method not in ("", request.method) or not re.search(self.path, request.path):
            return False
        self.seen += 1
        return self.first <= self.seen < self.first + (self.times or self.seen)


class Exchange(msgspec.Struct):
    """A request as it came in, and how it ended. ``status`` is 0 when no answer was sent."""

    method: str
    path: str
    query: str
    body: bytes
    token: str
    status: int = 0
    fault: str = ""

    @property
    def is_rest(self) -> bool:
        """Whether this was a call of the REST API."""
        return _REST.match(self.path) is not None and not _GIT.search(self.path)

    @property
    def is_write(self) -> bool:
        """Whether a call of the REST API asked for a change."""
        return self.is_rest and self.method in ("POST", "PUT", "PATCH", "DELETE")


def without_prefix(path: str) -> tuple[str, bool]:
    """The path as github.com has it, and whether it came with GHES's prefix."""
    bare = _API.sub("", path)
    return bare, bare != path


def json_answer(status: int, value: object, headers: list[tuple[str, str]] | None = None) -> Answer:
    """An answer that holds JSON."""
    kind = ("Content-Type", "application/json; charset=utf-8")
    return Answer(status, json.dumps(value).encode(), [kind, *(headers or [])])


def secondary_limit(path: str, *, method: str = "", seconds: int = 1, times: int = 1) -> Fault:
    """GitHub's secondary rate limit, which names the seconds to wait."""
    message = "You have exceeded a secondary rate limit. Please wait a few minutes."
    return Fault(
        path=path,
        method=method,
        status=403,
        headers={"Retry-After": str(seconds)},
        body={
            "message": message,
            "documentation_url": "https://docs.github.com/free-pro-team@latest/rest/overview/"
            "rate-limits-for-the-rest-api#about-secondary-rate-limits",
        },
        times=times,
    )
