"""The part of the small GitHub that keeps releases, and the other server where their bytes lie."""

from __future__ import annotations

import hashlib
import itertools
import re
import tempfile
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forge.fake_github import FakeGithub, Fault, Token

Json = Any
PIECE = 1 << 16
WHEN = "2026-03-01T12:00:00Z"


class FakeReleases:
    """Releases of one repository.

    ``tags`` are the repository's, ``burned`` those that an immutable release once had.
    ``digests``: whether assets say their digest. ``unseen``: how many times a list is answered
    without the newest release. ``downloads``: the headers of each request to the other server.
    """

    slug: str
    api: str
    url: str

    def __init__(self) -> None:
        self.releases: dict[int, Json] = {}
        self.assets: dict[int, Json] = {}
        self.tags: dict[str, str] = {}
        self.burned: set[str] = set()
        self.digests = True
        self.unseen = 0
        self.downloads: list[dict[str, str]] = []
        self._numbers = itertools.count(501)
        self._files = tempfile.TemporaryDirectory(prefix="fake-github-")
        self.store = ThreadingHTTPServer(("127.0.0.1", 0), _store_handler(self))
        self.store.daemon_threads = True

    @property
    def store_url(self) -> str:
        return f"http://127.0.0.1:{self.store.server_address[1]}"

    def close_store(self) -> None:
        self.store.server_close()
        self._files.cleanup()

    def add_release(self, tag: str, *, draft: bool = True, **more: Json) -> Json:
        number = next(self._numbers)
        here = f"{self.api}/repos/{self.slug}/releases/{number}"
        uploads = here.replace("/api/v3/", "/api/uploads/")
        self.releases[number] = {
            "url": here,
            "upload_url": f"{uploads}/assets{{?name,label}}",
            "html_url": f"{self.url}/{self.slug}/releases/tag/{tag}",
            "id": number,
            "tag_name": tag,
            "target_commitish": "main",
            "name": None,
            "body": None,
            "draft": draft,
            "prerelease": False,
            "created_at": WHEN,
            "published_at": None if draft else WHEN,
            **more,
        }
        return self.releases[number]

    def add_asset(self, number: int, name: str, data: bytes, state: str = "uploaded") -> Json:
        path = Path(self._files.name) / f"{len(self.assets)}-{time.monotonic_ns()}"
        path.write_bytes(data)
        return self._keep(number, name, path, state)

    def _keep(self, number: int, name: str, path: Path, state: str) -> Json:
        key = next(self._numbers)
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
        sha256 = f"sha256:{digest.hexdigest()}"
        self.assets[key] = {
            "url": f"{self.api}/repos/{self.slug}/releases/assets/{key}",
            "id": key,
            "release": number,
            "path": str(path),
            "name": name,
            "state": state,
            "size": path.stat().st_size,
            **({"digest": sha256 if state == "uploaded" else None} if self.digests else {}),
        }
        return self.assets[key]

    def asset_bytes(self, asset: Json) -> bytes:
        return Path(asset["path"]).read_bytes()

    def incoming(self, length: int, read: Any) -> Path:
        """An upload's body as a file."""
        path = Path(self._files.name) / f"in-{time.monotonic_ns()}"
        with path.open("wb") as file:
            while length and (piece := read(min(length, PIECE))):
                file.write(piece)
                length -= len(piece)
        return path

    def leave_starter(self, path: str, query: dict[str, str]) -> None:
        """What an upload that GitHub fails over leaves behind."""
        number = int(re.findall(r"\d+", path)[-1])
        self.add_asset(number, query["name"], b"", "starter")

    # --- what the endpoints do

    def do_releases(self, method: str, _p: list[str], _q: Json, body: Json, token: Token) -> Json:
        if method == "POST":
            if body["tag_name"] in self.burned:
                raise _unprocessable("tag_name", "custom", _BURNED)
            fields = {key: body[key] for key in ("target_commitish", "name", "body") if key in body}
            return self._shown(self.add_release(body["tag_name"], draft=body["draft"], **fields))
        rows = [
            self._shown(row) for row in self.releases.values() if token.write or not row["draft"]
        ]
        rows.reverse()
        if self.unseen and method == "GET":
            self.unseen -= 1
            rows = rows[1:]
        return rows

    def do_release(self, method: str, part: list[str], _q: Json, body: Json, token: Token) -> Json:
        release = self._release(part[0], token)
        if method == "DELETE":
            if not release["draft"]:
                raise _refused(422, "an immutable release")
            del self.releases[release["id"]]
            return None
        if method == "PATCH":
            self._publish(release, body)
        return self._shown(release)

    def _publish(self, release: Json, body: Json) -> None:
        tag = release["tag_name"]
        others = [row for row in self.releases.values() if row is not release and not row["draft"]]
        if any(row["tag_name"] == tag for row in others):
            raise _unprocessable("tag_name", "already_exists", "")
        if tag in self.burned:
            raise _unprocessable("tag_name", "custom", _BURNED)
        self.tags.setdefault(tag, release["target_commitish"])
        release.update(body, published_at="2026-03-02T12:00:00Z")

    def do_release_assets(
        self, method: str, part: list[str], query: Json, body: Json, token: Token
    ) -> Json:
        release = self._release(part[0], token)
        assets = [row for row in self.assets.values() if row["release"] == release["id"]]
        if method == "GET":
            return assets
        if not release["draft"]:
            raise _refused(422, "Cannot upload assets to an immutable release.")
        if any(row["name"] == query["name"] for row in assets):
            raise _unprocessable("name", "already_exists", "")
        return self._keep(release["id"], query["name"], body, "uploaded")

    def do_asset(self, method: str, part: list[str], query: Json, _b: Json, token: Token) -> Json:
        asset = self.assets.get(int(part[0]))
        if asset is None:
            raise _refused(404, "Not Found")
        release = self._release(str(asset["release"]), token)
        if method == "DELETE":
            if not release["draft"]:
                raise _refused(422, "an immutable release")
            del self.assets[asset["id"]]
            return None
        if "octet-stream" in query["accept"]:
            raise _refused(302, "Found", f"{self.store_url}/store/{asset['id']}")
        return asset

    def do_tag(self, _m: str, part: list[str], _q: Json, _b: Json, _t: Token) -> Json:
        if part[0] not in self.tags:
            raise _refused(404, "Not Found")
        return {"ref": f"refs/tags/{part[0]}", "object": {"sha": self.tags[part[0]]}}

    def _release(self, number: str, token: Token) -> Json:
        release = self.releases.get(int(number))
        if release is None or (release["draft"] and not token.write):
            raise _refused(404, "Not Found")
        return release

    def _shown(self, release: Json) -> Json:
        assets = [row for row in self.assets.values() if row["release"] == release["id"]]
        return {**release, "assets": assets[:100]}


_BURNED = "tag_name was used by an immutable release"


def _refused(status: int, message: str, location: str = "") -> Exception:
    from forge.fake_github import Refused

    return Refused(status, message, location=location)


def _unprocessable(field: str, code: str, message: str) -> Exception:
    from forge.fake_github import Refused

    error = {"resource": "Release", "code": code, "field": field}
    return Refused(
        422, "Validation Failed", [{**error, **({"message": message} if message else {})}]
    )


def _store_handler(fake: FakeReleases) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def do_GET(self) -> None:
            fake.downloads.append({key.lower(): value for key, value in self.headers.items()})
            github: FakeGithub = fake  # type: ignore[assignment] # the whole of which this is a part
            found = [fault for fault in github.faults if fault.hits("GET", self.path)][:1]
            fault = found[0] if found else None
            with suppress(BrokenPipeError, ConnectionResetError):
                self.serve(fault)

        def serve(self, fault: Fault | None) -> None:
            what = fault.what if fault else ""
            if what == "cut":
                self.close_connection = True
                return
            if fault and what == "answer":
                self.send_response(fault.status)
                for name, value in fault.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if fault and what == "slow":
                time.sleep(fault.seconds)
            path = Path(fake.assets[int(self.path.rpartition("/")[2])]["path"])
            size = path.stat().st_size
            start = int((re.findall(r"bytes=(\d+)-", self.headers.get("Range", "")) or ["0"])[0])
            if what == "whole":
                start = 0
            sent = (size - start) // 2 if what in ("half", "short") else size - start
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            self.send_header("Content-Length", str(sent if what == "short" else size - start))
            self.end_headers()
            with path.open("rb") as file:
                file.seek(start)
                if what == "flip":
                    self.wfile.write(bytes([file.read(1)[0] ^ 1]))
                    sent -= 1
                while sent and (piece := file.read(min(sent, PIECE))):
                    self.wfile.write(piece)
                    sent -= len(piece)
            self.close_connection = self.close_connection or what == "half"

    return Handler
