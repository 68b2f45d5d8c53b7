"""Pull requests of a local forge: find, open, change, ask for reviews."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memrepo.errors import BadInput
from memrepo.forge.failure import plain
from memrepo.forge.forge import (
    Outcome,
    Permission,
    PullRequest,
    Wanted,
    at_commit,
    checked_body,
    checked_title,
    same_login,
    same_text,
)
from memrepo.protocol.timestamps import iso

from .formats import Value, write_fields, write_text
from .store import Store

_REVIEWER = re.compile(r"[\w.@+ -]{1,100}(?:/[\w.@+ -]{1,100})?")


class PullRequests(Store):
    """The part of :class:`memrepo.forge.forge.Forge` that is about pull requests."""

    def find_pull_requests(
        self, head_ref: str | None = None, base_ref: str | None = None, state: Wanted = "open"
    ) -> list[PullRequest]:
        """All pull requests from ``head_ref`` into ``base_ref``, the newest first."""
        found = []
        for number, path in sorted(self._paths().items(), reverse=True):
            try:
                pull = self._load(number, path)
            except BadInput as error:
                # One that a person broke holds up no other.
                self._tell(f"{error.message}; left out")
                continue
            if state not in ("all", pull.state):
                continue
            if head_ref in (None, pull.head_ref) and base_ref in (None, pull.base_ref):
                found.append(pull)
        return found

    def pull_request_for_commit(
        self, sha: str, head_repo: str, head_ref: str, claimed: int | None = None
    ) -> PullRequest | None:
        """The open pull request whose head is exactly ``sha``; there are no forks here."""
        return at_commit(self.find_pull_requests(head_ref), sha, head_repo, claimed)

    def open_pull_request(
        self, *, title: str, body: str, head_ref: str, base_ref: str, draft: bool = False
    ) -> Outcome:
        """Open a pull request, or give the open one from that head into that base as it is."""
        title, body = checked_title(title), checked_body(body)
        with self._folder.lock():
            existing = self.find_pull_requests(head_ref, base_ref)
            if existing:
                return Outcome(existing[0], "unchanged")
            number = max(self._paths(), default=0) + 1
            values: dict[str, Value] = {
                "title": title,
                "state": "open",
                "draft": draft,
                "author": self._login,
                "head_ref": head_ref,
                "base_ref": base_ref,
                "head_sha": self._tip(head_ref) or "",
                "base_sha": self._tip(base_ref) or "",
                "labels": (),
                "reviewers": (),
                "created_at": iso(self._now()),
                "updated_at": iso(self._now()),
            }
            files = {"pull.yml": write_fields(values), "body.md": write_text(body)}
            self._folder.add_folder(f"pulls/{number:04d}", files)
        return Outcome(self.get_pull_request(number), "created")

    def update_pull_request(
        self,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        draft: bool | None = None,
    ) -> Outcome:
        """Set what is given and differs; what is None stays."""
        with self._folder.lock():
            before = self.get_pull_request(number)
            edits: dict[str, Value] = {}
            if title is not None and (wanted := checked_title(title)) != before.title:
                edits["title"] = wanted
            if draft is not None and draft != before.draft:
                edits["draft"] = draft
            new_body = body is not None and not same_text(checked_body(body), before.body)
            if not edits and not new_body:
                return Outcome(before, "unchanged")
            if body is not None and new_body:
                self._folder.write(f"{self._path(number)}/body.md", write_text(body))
            self._edit(number, edits)
        return Outcome(self.get_pull_request(number), "updated")

    def close_pull_request(self, number: int) -> Outcome:
        """Close a pull request without a merge; one that is not open stays as it is."""
        with self._folder.lock():
            before = self.get_pull_request(number)
            if before.state != "open":
                return Outcome(before, "unchanged")
            self._edit(number, {"state": "closed"})
        return Outcome(self.get_pull_request(number), "updated")

    def permission_of(self, _login: str) -> Permission:
        """Who can put words into the folder can write to it: there is no other reader."""
        return "write"

    def request_reviewers(self, number: int, reviewers: Sequence[str]) -> tuple[str, ...]:
        """Note who is asked to review; a warning for each who cannot be."""
        notes = []
        with self._folder.lock():
            fields = self._fields(self._path(number))
            asked = list(fields.several("reviewers"))
            for name in reviewers:
                if not _REVIEWER.fullmatch(name):
                    notes.append(f"{plain(name, 100)} could not be asked to review: not a name")
                elif same_login(name, fields.text("author", "")):
                    notes.append(f"{name} could not be asked to review: the author cannot be")
                elif name not in asked:
                    asked.append(name)
            if tuple(asked) != fields.several("reviewers"):
                self._edit(number, {"reviewers": tuple(asked)})
        return tuple(notes)
