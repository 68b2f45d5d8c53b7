"""A small GitHub on 127.0.0.1: real HTTP, a few endpoints, and faults at will."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

import msgspec

from forge.fake_releases import FakeReleases

Json = Any
What = Literal["answer", "cut", "cut_within", "cut_after", "half", "slow", "short", "flip", "whole"]
API = "/api/v3"
NO_ACCESS = "Resource not accessible by integration"
SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)


class Token(msgspec.Struct):
    """Who a token writes as, and what it may."""

    login: str
    write: bool = True
    app: bool = False


class Fault(msgspec.Struct):
    """Goes wrong the next ``times`` times a request fits, after ``skip`` that went well.

    "answer" gives ``status`` instead of doing it, with ``done`` after doing it; "cut" cuts
    the connection before, "cut_after" after; "half" does it and sends half the answer;
    "slow" does it late. Of an upload, "cut_within" takes half of it, and "answer" with
    ``starter`` leaves an asset of that state. Of a download, "short" says that it is as short
    as it is, "flip" changes a bit, and "whole" begins at the beginning, whatever was asked for.
    """

    method: str
    path: str
    what: What = "answer"
    status: int = 502
    message: str = "Server Error"
    headers: dict[str, str] = {}
    errors: list[Json] = []
    done: bool = False
    starter: bool = False
    seconds: float = 0.0
    times: int = 1
    skip: int = 0

    def hits(self, method: str, path: str) -> bool:
        """Whether this request goes wrong; counts."""
        if self.times == 0 or method != self.method or not re.search(self.path, path):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True


class Refused(Exception):
    """An answer that is an error."""

    def __init__(
        self, status: int, message: str, errors: list[Json] | None = None, location: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = {"Location": location} if location else {}
        self.body = {"message": message, **({"errors": errors} if errors else {})}


class FakeGithub(FakeReleases):
    """The state of one repository, and the server that shows it."""

    def __init__(self, slug: str = "acme/memory") -> None:
        super().__init__()
        self.slug = slug
        self.tokens = {"t-anna": Token("anna")}
        self.pulls: dict[int, Json] = {}
        self.comments: dict[int, Json] = {}
        self.labels: dict[str, Json] = {}
        self.faults: list[Fault] = []
        self.log: list[tuple[str, str]] = []
        self.collaborators = {"bert", "carla"}
        self.roles = {"anna": "admin", "bert": "write", "carla": "read"}
        self.drafts = True
        self.old_slug = ""
        self.before: Callable[[str, str], None] = lambda _method, _path: None
        self.after: Callable[[str, str], None] = lambda _method, _path: None
        self.lock = threading.RLock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.server.daemon_threads = True

        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.api = f"{self.url}{API}"

    def sent(self, method: str, path: str = "") -> int:
        """How many requests of that kind came in."""
        return sum(1 for m, p in self.log if m == method and re.search(path, p))

    def add_pull(self, branch: str, base: str = "main", **more: Json) -> Json:
        number = len(self.pulls) + 1
        pull = {
            "url": f"{self.api}/repos/{self.slug}/pulls/{number}",
            "node_id": f"PR_{number}",
            "number": number,
            "title": "t",
            "body": "b",
            "html_url": f"{self.url}/{self.slug}/pull/{number}",
            "head": self.side(branch, self.slug),
            "base": self.side(base, self.slug),
            "state": "open",
            "merged_at": None,
            "draft": False,
            "user": {"login": "anna", "url": f"{self.api}/users/anna"},
            "labels": [],
            "created_at": "2026-03-01T12:00:00Z",
            "updated_at": "2026-03-01T12:00:00Z",
            **more,
        }
        self.pulls[number] = pull
        return pull

    def side(self, ref: str, slug: str | None) -> Json:
        sha = f"{abs(hash((ref, slug))):040x}"[-40:]
        repo = slug and {"full_name": slug, "url": f"{self.api}/repos/{slug}"}
        return {
            "ref": ref,
            "sha": sha,
            "repo": repo,
            "label": f"{(slug or '').split('/')[0]}:{ref}",
        }

    def add_comment(self, number: int, body: str, login: str = "bert") -> Json:
        key = len(self.comments) + 11
        while key in self.comments:
            key += 1
        comment = {
            "url": f"{self.api}/repos/{self.slug}/issues/comments/{key}",
            "id": key,
            "body": body,
            "html_url": f"{self.url}/{self.slug}/pull/{number}#issuecomment-{key}",
            "user": {"login": login, "url": f"{self.api}/users/{login}"},
            "created_at": "2026-03-01T12:00:00Z",
            "updated_at": "2026-03-01T12:00:00Z",
            "number": number,
        }
        self.comments[key] = comment
        return comment

    # --- what the endpoints do

    def answer(
        self, method: str, path: str, query: dict[str, str], body: Json, token: Token
    ) -> Json:
        """The answer's body; raises Refused."""
        if path == "/api/graphql":
            return self.graphql(body)
        path = path.removeprefix(API).removeprefix("/api/uploads")
        if path == "/user":
            if token.app:
                raise Refused(403, NO_ACCESS)
            return {"login": token.login, "url": f"{self.api}/user"}
        if self.old_slug and path.startswith(f"/repos/{self.old_slug}/"):
            new = path.replace(f"/repos/{self.old_slug}", "/repositories/1")
            asked = "&".join(f"{key}={value}" for key, value in query.items())
            status = 301 if method == "GET" else 307
            raise Refused(status, "Moved Permanently", location=f"{self.api}{new}?{asked}")
        owner_repo = f"/repos/{self.slug}" if path.startswith("/repos/") else "/repositories/1"
        if not path.startswith(owner_repo + "/"):
            raise Refused(404, "Not Found")
        if method != "GET" and not token.write:
            raise Refused(403, NO_ACCESS)
        rest = path.removeprefix(owner_repo)
        for shape, act in (
            (r"/pulls", self.do_pulls),
            (r"/pulls/(\d+)", self.do_pull),
            (r"/pulls/(\d+)/requested_reviewers", self.do_reviewers),
            (r"/issues/(\d+)/comments", self.do_comments),
            (r"/issues/comments/(\d+)", self.do_comment),
            (r"/collaborators/([^/]+)/permission", self.do_permission),
            (r"/labels", self.do_labels),
            (r"/labels/([^/]+)", self.do_label),
            (r"/issues/(\d+)/labels", self.do_issue_labels),
            (r"/issues/(\d+)/labels/([^/]+)", self.do_issue_label),
            (r"/releases", self.do_releases),
            (r"/releases/(\d+)", self.do_release),
            (r"/releases/(\d+)/assets", self.do_release_assets),
            (r"/releases/assets/(\d+)", self.do_asset),
            (r"/git/ref/tags/(.+)", self.do_tag),
        ):
            found = re.fullmatch(shape, rest)
            if found:
                return act(method, [unquote(part) for part in found.groups()], query, body, token)
        raise Refused(404, "Not Found")

    def do_pulls(self, method: str, _p: list[str], query: Json, body: Json, token: Token) -> Json:
        if method == "POST":
            mine = [p for p in self.pulls.values() if p["state"] == "open"]
            if any(
                (p["head"]["ref"], p["base"]["ref"]) == (body["head"], body["base"]) for p in mine
            ):
                message = f"A pull request already exists for acme:{body['head']}."
                raise Refused(422, "Validation Failed", [{"message": message}])
            if body.get("draft") and not self.drafts:
                raise Refused(422, "Draft pull requests are not supported in this repository.")
            return self.add_pull(
                body["head"],
                body["base"],
                title=body["title"],
                body=body["body"],
                draft=bool(body.get("draft")),
                user={"login": token.login, "url": f"{self.api}/users/{token.login}"},
            )
        return [
            pull
            for pull in sorted(self.pulls.values(), key=lambda p: -p["number"])
            if query.get("state", "open") in ("all", pull["state"])
            and query.get("head", pull["head"]["label"]) == pull["head"]["label"]
            and query.get("base", pull["base"]["ref"]) == pull["base"]["ref"]
        ]

    def do_pull(self, method: str, part: list[str], _q: Json, body: Json, _t: Token) -> Json:
        pull = self.pull(part[0])
        if method == "PATCH":
            pull.update(body, updated_at="2026-03-02T12:00:00Z")
        return pull

    def pull(self, number: str) -> Json:
        if int(number) not in self.pulls:
            raise Refused(404, "Not Found")
        return self.pulls[int(number)]

    def do_reviewers(self, _m: str, part: list[str], _q: Json, body: Json, _t: Token) -> Json:
        pull = self.pull(part[0])
        asked = [*body.get("reviewers", []), *body.get("team_reviewers", [])]
        if pull["user"]["login"] in asked:
            raise Refused(422, "Review cannot be requested from pull request author.")
        if not set(asked) <= self.collaborators:
            raise Refused(422, "Reviews may only be requested from collaborators.")
        pull.setdefault("asked", []).extend(asked)
        return pull

    def do_comments(self, method: str, part: list[str], _q: Json, body: Json, token: Token) -> Json:
        number = self.pull(part[0])["number"]
        if method == "POST":
            return self.add_comment(number, body["body"], token.login)
        return [comment for comment in self.comments.values() if comment["number"] == number]

    def do_comment(self, method: str, part: list[str], _q: Json, body: Json, _t: Token) -> Json:
        comment = self.comments.get(int(part[0]))
        if comment is None:
            raise Refused(404, "Not Found")
        if method == "PATCH":
            comment.update(body)
        if method == "DELETE":
            del self.comments[int(part[0])]
            return None
        return comment

    def do_permission(self, _m: str, part: list[str], _q: Json, _b: Json, _t: Token) -> Json:
        if part[0] not in self.roles:
            raise Refused(404, "Not Found")
        return {"permission": self.roles[part[0]], "role_name": "of our own", "user": None}

    def do_labels(self, method: str, _p: list[str], _q: Json, body: Json, _t: Token) -> Json:
        if method == "POST":
            if body["name"] in self.labels:
                errors = [{"resource": "Label", "code": "already_exists", "field": "name"}]
                raise Refused(422, "Validation Failed", errors)
            self.labels[body["name"]] = {**body, "url": f"{self.api}/labels/{body['name']}"}
            return self.labels[body["name"]]
        return list(self.labels.values())

    def do_label(self, _m: str, part: list[str], _q: Json, _b: Json, _t: Token) -> Json:
        if part[0] not in self.labels:
            raise Refused(404, "Not Found")
        return self.labels[part[0]]

    def do_issue_labels(
        self, method: str, part: list[str], _q: Json, body: Json, _t: Token
    ) -> Json:
        pull = self.pull(part[0])
        if method == "POST":
            have = {label["name"] for label in pull["labels"]}
            for name in body["labels"]:
                label = self.labels.setdefault(name, {"name": name, "color": "ededed"})
                if name not in have:
                    pull["labels"].append({**label, "url": f"{self.api}/labels/{name}"})
        return pull["labels"]

    def do_issue_label(self, _m: str, part: list[str], _q: Json, _b: Json, _t: Token) -> Json:
        pull = self.pull(part[0])
        kept = [label for label in pull["labels"] if label["name"] != part[1]]
        if len(kept) == len(pull["labels"]):
            raise Refused(404, "Label does not exist")
        pull["labels"] = kept
        return kept

    def graphql(self, body: Json) -> Json:
        if not self.drafts:
            return {"errors": [{"message": "Drafts are not supported"}], "data": None}
        number = int(body["variables"]["input"]["pullRequestId"].removeprefix("PR_"))
        name = re.search(
            r"(convertPullRequestToDraft|markPullRequestReadyForReview)\(", body["query"]
        )
        assert name
        pull = self.pulls[number]
        pull["draft"] = name[1] == "convertPullRequestToDraft"
        return {"data": {name[1]: {"pullRequest": {"isDraft": pull["draft"]}}}}


@contextmanager
def fake_github() -> Iterator[FakeGithub]:
    """A running server; stopped at the end."""
    github = FakeGithub()
    servers = (github.server, github.store)
    threads = [threading.Thread(target=server.serve_forever, args=(0.02,)) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield github
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
        github.server.server_close()
        github.close_store()


def _handler(github: FakeGithub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            if self.headers.get("Content-Type") == "application/octet-stream":
                if self.broke_off(length):
                    return None
                body: Json = github.incoming(length, self.rfile.read)
            else:
                body = json.loads(self.rfile.read(length)) if length else None
            github.before(self.command, parts.path)
            with github.lock:
                github.log.append((self.command, self.path))
                struck = [f for f in github.faults if f.what != "cut_within"]
                found = [f for f in struck if f.hits(self.command, self.path)][:1]
                fault = found[0] if found else None
                if fault and fault.what == "cut":
                    return self.cut()
                if fault and fault.what == "answer" and not fault.done:
                    if fault.starter:
                        github.leave_starter(parts.path, dict(parse_qsl(parts.query)))
                    return self.send_fault(fault)
                self.extra: dict[str, str] = {}
                status, answer = self.done(parts.path, parts.query, body)
            github.after(self.command, parts.path)
            if fault and fault.what == "cut_after":
                return self.cut()
            if fault and fault.what == "answer":
                return self.send_fault(fault)
            if fault and fault.what == "slow":
                time.sleep(fault.seconds)
            half = bool(fault and fault.what == "half")
            with suppress(BrokenPipeError, ConnectionResetError):
                self.send(status, answer, parts, half=half, headers=self.extra)
            return None

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = serve  # noqa: N815

        def done(self, path: str, query: str, body: Json) -> tuple[int, Json]:
            token = github.tokens.get(self.headers.get("Authorization", "").partition(" ")[2])
            if token is None:
                return 401, {"message": "Bad credentials"}
            asked = {key: value[0] for key, value in parse_qs(query).items()}
            asked["accept"] = self.headers.get("Accept", "")
            try:
                answer = github.answer(self.command, path, asked, body, token)
            except Refused as refused:
                self.extra = refused.headers
                return refused.status, refused.body
            made = self.command == "POST" and "graphql" not in path
            return (204 if answer is None else 201 if made else 200), answer

        def broke_off(self, length: int) -> bool:
            fits = [f for f in github.faults if f.what == "cut_within"]
            if not any(fault.hits(self.command, self.path) for fault in fits):
                return False
            github.log.append((self.command, self.path))
            self.rfile.read(length // 2)
            self.cut()
            return True

        def cut(self) -> None:
            self.close_connection = True

        def send_fault(self, fault: Fault) -> None:
            body = {"message": fault.message, "errors": fault.errors}
            self.send(fault.status, body, urlsplit(self.path), headers=fault.headers)

        def send(
            self,
            status: int,
            answer: Json,
            parts: Any,
            *,
            half: bool = False,
            headers: dict[str, str] | None = None,
        ) -> None:
            extra = dict(headers or {})
            if isinstance(answer, list) and self.command == "GET":
                query = {key: value[0] for key, value in parse_qs(parts.query).items()}
                size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
                if page * size < len(answer):
                    rest = "&".join(f"{k}={v}" for k, v in query.items() if k != "page")
                    link = f"{github.url}{parts.path}?{rest}&page={page + 1}"
                    extra["Link"] = f'<{link}>; rel="next"'
                answer = answer[(page - 1) * size : page * size]
            data = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            for name, value in extra.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if half else data)
            self.close_connection = self.close_connection or half

    return Handler
