"""What the emulator gets wrong or lacks, put right on the way through the box.

Each ``mend`` answers a request as GitHub would, or None to let it pass to the emulator. GitHub's
reference is named where it is not plain what is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import msgspec

from rig.exchange import Answer, Request, json_answer
from rig.releases import releases

if TYPE_CHECKING:
    from rig.box import Box

Json = dict[str, Any]
Mend = Callable[["Box", Request], "Answer | None"]

LONGEST_BODY = 65_536
_NOT_FOR_APPS = "Resource not accessible by integration"
_PULLS = re.compile(r"/repos/([^/]+/[^/]+)/pulls(?:/(\d+)(/files)?)?")
_PULLS_OF = re.compile(r"/repos/([^/]+/[^/]+)/commits/([0-9a-f]{40})/pulls")
_PERMISSION = re.compile(r"/repos/([^/]+/[^/]+)/collaborators/([^/]+)/permission")
_ROLES = {"push": "write", "maintain": "write", "pull": "read", "triage": "read"}
_TEXTS = re.compile(r"/repos/[^/]+/[^/]+/(issues(/comments/\d+|/\d+(/comments)?)?|pulls(/\d+)?)")


def unknown_token(box: Box, request: Request) -> Answer | None:
    """The emulator takes a token that it does not know for its first user's."""
    if request.token and not box.knows(request.token):
        return json_answer(401, {"message": "Bad credentials", "status": "401"})
    return None


def person_behind_app(box: Box, request: Request) -> Answer | None:
    """A GITHUB_TOKEN is no person's: https://docs.github.com/rest/users/users"""
    if request.path == "/user" and request.token in box.grants:
        return json_answer(403, {"message": _NOT_FOR_APPS})
    return None


def too_long(box: Box, request: Request) -> Answer | None:
    """GitHub refuses longer texts of issues, pull requests and comments."""
    if request.method in ("POST", "PATCH") and _TEXTS.fullmatch(request.path):
        body = request.json().get("body")
        if isinstance(body, str) and len(body) > LONGEST_BODY:
            say = f"Body is too long (maximum is {LONGEST_BODY} characters)"
            error = {"resource": "IssueComment", "code": "unprocessable", "field": "data"}
            return _unprocessable({**error, "message": say})
    return None


def runs(box: Box, request: Request) -> Answer | None:
    """Workflow runs and artifacts; a download asks for ``actions: read``."""
    grants = box.grants.get(request.token)
    may_download = bool(request.token) and (grants is None or "actions" in grants)
    return box.artifacts.answer(request, may_download=may_download)


def pulls(box: Box, request: Request) -> Answer | None:
    """Pull requests, with heads, merges and files as Git has them."""
    found = _PULLS.fullmatch(request.path)
    if not found:
        return None
    repo, number, files = found[1], found[2], found[3]
    if files:
        return _files(box, request, repo) if request.method == "GET" else None
    is_new = request.method == "POST" and not number
    if is_new and (error := box.pulls.refusal(repo, request.json())):
        return _unprocessable(error)
    answer = box.emulator.call(request)
    if answer.status >= 300:
        return answer
    value = answer.json()
    if is_new:
        box.pulls.opened(repo, value)
        box.sync(repo)
    mended = [box.pulls.mend(repo, row) for row in (value if isinstance(value, list) else [value])]
    headers = [h for h in answer.headers if h[0].lower() in ("link", "location")]
    return json_answer(answer.status, mended if isinstance(value, list) else mended[0], headers)


def pulls_of_commit(box: Box, request: Request) -> Answer | None:
    """https://docs.github.com/rest/commits/commits#list-pull-requests-associated-with-a-commit"""
    found = _PULLS_OF.fullmatch(request.path)
    if not found or request.method != "GET":
        return None
    listing = msgspec.structs.replace(
        request, path=f"/repos/{found[1]}/pulls", query="state=all&per_page=100"
    )
    answer = box.emulator.call(listing)
    if answer.status != 200:
        return answer
    rows = [box.pulls.mend(found[1], row) for row in answer.json()]
    return json_answer(200, [row for row in rows if row["head"]["sha"] == found[2]])


def permission(box: Box, request: Request) -> Answer | None:
    """Roles go by the name of what they may, and anyone may read what is public.

    https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user
    """
    found = _PERMISSION.fullmatch(request.path)
    if not found or request.method != "GET":
        return None
    answer = box.emulator.call(request)
    if answer.status == 200:
        value = answer.json()
        role = value["permission"]
        return json_answer(200, {**value, "permission": _ROLES.get(role, role)})
    if answer.status == 404 and found[2] in box.emulator.users:
        kind = "none" if found[1] in box.private else "read"
        return json_answer(200, {"permission": kind, "role_name": kind})
    return answer


MENDS: tuple[Mend, ...] = (
    unknown_token,
    person_behind_app,
    too_long,
    runs,
    pulls,
    pulls_of_commit,
    permission,
    releases,
)


def _files(box: Box, request: Request, repo: str) -> Answer:
    path = request.path.removesuffix("/files")
    answer = box.emulator.call(msgspec.structs.replace(request, path=path, query=""))
    if answer.status != 200:
        return answer
    rows = box.pulls.files(repo, box.pulls.mend(repo, answer.json()))
    query = dict(parse_qsl(request.query))
    size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
    links = []
    if page * size < len(rows):
        following = f"{box.url}{request.path}?per_page={size}&page={page + 1}"
        links.append(("Link", f'<{following}>; rel="next"'))
    return json_answer(200, rows[(page - 1) * size : page * size], links)


def _unprocessable(error: Json) -> Answer:
    say = {"message": "Validation Failed", "errors": [error], "status": "422"}
    return json_answer(422, say)
