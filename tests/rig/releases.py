"""Releases: the bytes of their assets, and what GitHub does with drafts, names and tags.

The emulator forgets the bytes, says no digest, takes two assets of one name, shows drafts to
everyone, and makes no tag. All of that is done here. It keeps one release to a tag, drafts too,
where GitHub lets several drafts share one.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

import msgspec

from rig.exchange import Answer, Request, json_answer
from rig.tools import git, git_line

if TYPE_CHECKING:
    from rig.box import Box

Json = dict[str, Any]

_RELEASES = re.compile(
    r"/repos/(?P<repo>[^/]+/[^/]+)/releases"
    r"(?:/assets/(?P<asset>\d+)|/tags/(?P<tag>.+)|/(?P<id>\d+)(?P<assets>/assets)?)?"
)
_STORE = re.compile(r"/_assets/(\d+)")


class Kept(msgspec.Struct):
    """What was uploaded for one asset; ``data`` is None for one whose upload did not end."""

    release: int
    name: str
    data: bytes | None


class ReleaseFiles:
    """The assets of all releases by their number.

    ``immutable`` are the repositories where releases are fixed once they are published.
    """

    def __init__(self) -> None:
        self.assets: dict[int, Kept] = {}
        self.immutable: set[str] = set()

    def reset(self) -> None:
        """Forget everything."""
        self.assets.clear()
        self.immutable.clear()

    def download(self, path: str) -> Answer | None:
        """Where the redirection of a download leads to; None for any other path."""
        found = _STORE.fullmatch(path)
        if not found:
            return None
        kept = self.assets.get(int(found[1]))
        if kept is None or kept.data is None:
            return Answer(404)
        return Answer(200, kept.data, [("Content-Type", "application/octet-stream")])

    def break_off(self, box: Box, request: Request) -> None:
        """Take an upload as GitHub does when it then fails: an asset is there, and not whole."""
        answer = box.emulator.call(msgspec.structs.replace(request, body=b""))
        if answer.status == 201:
            made = answer.json()
            release = int(request.path.split("/")[-2])
            self.assets[made["id"]] = Kept(release, made["name"], None)


def releases(box: Box, request: Request) -> Answer | None:
    """https://docs.github.com/rest/releases"""
    found = _RELEASES.fullmatch(request.path)
    if not found:
        return None
    if error := _refusal(box, request, found):
        return error
    answer = box.emulator.call(request)
    if answer.status >= 300:
        return answer
    if found["asset"] and request.method == "GET" and _wants_bytes(request):
        return Answer(302, b"", [("Location", f"{box.url}/_assets/{found['asset']}")])
    if request.method == "DELETE":
        box.releases.assets.pop(int(found["asset"] or 0), None)
        return answer
    value = answer.json()
    if found["assets"] and request.method == "POST":
        kept = Kept(int(found["id"]), value["name"], request.body)
        box.releases.assets[value["id"]] = kept
    rows = value if isinstance(value, list) else [value]
    shown = [_mended(box, row) for row in rows if _sees(box, request, row)]
    if not isinstance(value, list) and (not shown or (found["tag"] and value["draft"])):
        return json_answer(404, {"message": "Not Found"})
    if request.method in ("POST", "PATCH") and value.get("draft") is False:
        _tag(box, found["repo"], value)
    headers = [h for h in answer.headers if h[0].lower() == "link"]
    return json_answer(answer.status, shown if isinstance(value, list) else shown[0], headers)


def _refusal(box: Box, request: Request, found: re.Match[str]) -> Answer | None:
    if found["asset"]:
        kept = box.releases.assets.get(int(found["asset"]))
        release = kept.release if kept else 0
    else:
        release = int(found["id"] or 0)
    if request.method == "GET" or not release:
        return None
    look = msgspec.structs.replace(
        request, method="GET", path=f"/repos/{found['repo']}/releases/{release}", body=b"", query=""
    )
    there = box.emulator.call(look)
    is_fixed = found["repo"] in box.releases.immutable
    is_draft = there.status != 200 or there.json()["draft"]
    if is_fixed and not is_draft and "/assets" in request.path:
        return json_answer(422, {"message": "Cannot upload assets to an immutable release."})
    if found["assets"] and request.method == "POST":
        name = dict(parse_qsl(request.query)).get("name", "")
        kept_here = [kept for kept in box.releases.assets.values() if kept.release == release]
        if any(kept.name == name for kept in kept_here):
            error = {"resource": "ReleaseAsset", "code": "already_exists", "field": "name"}
            return json_answer(422, {"message": "Validation Failed", "errors": [error]})
    return None


def _wants_bytes(request: Request) -> bool:
    return "octet-stream" in request.headers.get("accept", "")


def _sees(box: Box, request: Request, row: Json) -> bool:
    """Drafts are for tokens that may write."""
    grants = box.grants.get(request.token)
    return not row.get("draft") or grants is None or grants.get("contents") == "write"


def _mended(box: Box, row: Json) -> Json:
    if "browser_download_url" in row:
        kept = box.releases.assets.get(row["id"])
        if kept is None:
            return row
        whole = kept.data is not None
        digest = f"sha256:{hashlib.sha256(kept.data or b'').hexdigest()}" if whole else None
        return {**row, "digest": digest, "state": "uploaded" if whole else "starter"}
    assets = [_mended(box, asset) for asset in row.get("assets", [])]
    base = row.get("html_url", "").replace("/releases/tag/", "/releases/download/")
    for asset in assets:
        asset["browser_download_url"] = f"{base}/{quote(asset['name'])}"
    return {**row, "assets": assets}


def _tag(box: Box, repo: str, release: Json) -> None:
    bare, ref = Path(box.root / f"{repo}.git"), f"refs/tags/{release['tag_name']}"
    if not git_line(bare, "rev-parse", "--quiet", "--verify", ref, check=False):
        git(bare, "update-ref", ref, release["target_commitish"])
        box.sync(repo)
