"""A plain HTTP client, for what a test asks by itself."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import msgspec


class Response(msgspec.Struct, frozen=True):
    """What was answered."""

    status: int
    body: bytes
    headers: dict[str, str]

    def json(self) -> Any:
        """The body's value; None where there is no body."""
        return json.loads(self.body) if self.body else None


def send(
    method: str,
    url: str,
    token: str = "",
    body: object = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Send a request, with ``body`` as JSON, and answer whatever comes back.

    Raises OSError or http.client.HTTPException when nothing whole comes back.
    """
    sent = {"Content-Type": "application/json", **(headers or {})}
    if token:
        sent["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, sent, method=method)  # noqa: S310 - the box
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return Response(answer.status, answer.read(), dict(answer.headers))
    except urllib.error.HTTPError as error:
        with error:
            return Response(error.code, error.read(), dict(error.headers))
