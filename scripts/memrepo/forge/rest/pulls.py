"""Pull requests on GitHub: find, open, change, ask for reviews."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from github.GithubObject import NotSet
from github.PullRequest import PullRequest as GithubPull

from memrepo.forge.failure import Attempt, plain
from memrepo.forge.forge import (
    WORKFLOW_LOGIN,
    Outcome,
    PullRequest,
    Wanted,
    at_commit,
    checked_body,
    checked_title,
    same_login,
    same_text,
)

from . import values
from .requester import GithubFailed
from .session import READ, WRITE, Session

_NO_WORKFLOWS = (
    "a pull request opened with the workflow's own token starts no workflows: for its checks"
    " to run, pass the token of an app, or close and open it by hand"
)


class PullRequests(Session):
    """The part of :class:`memrepo.forge.forge.Forge` that is about pull requests."""

    def find_pull_requests(
        self, head_ref: str | None = None, base_ref: str | None = None, state: Wanted = "open"
    ) -> list[PullRequest]:
        """All pull requests from ``head_ref`` into ``base_ref``, the newest first."""
        owner, branch = "", head_ref
        if head_ref is not None and ":" in head_ref:  # which no branch's name holds
            owner, _, branch = head_ref.partition(":")
        filters: dict[str, str] = {}
        if head_ref is not None:
            filters["head"] = f"{owner or self._slug.partition('/')[0]}:{branch}"
        if base_ref is not None:
            filters["base"] = base_ref
        asked: Literal["open", "closed", "all"] = "closed" if state == "merged" else state

        def fits(pull: PullRequest) -> bool:
            # GitHub's own filter takes a fork of the same owner for the repository itself.
            if state not in ("all", pull.state) or base_ref not in (None, pull.base_ref):
                return False
            if head_ref is None:
                return True
            its_owner = pull.head_repo.partition("/")[0]
            within = same_login(pull.head_repo, self._slug)
            return pull.head_ref == branch and (same_login(its_owner, owner) if owner else within)

        def look() -> list[PullRequest]:
            pulls = self._repo.get_pulls(asked, **filters)
            return [value for pull in pulls if fits(value := self._value(pull))]

        found = self._read(look, Attempt("list pull requests", READ))
        return sorted(found, key=lambda pull: -pull.number)

    def get_pull_request(self, number: int) -> PullRequest:
        """The pull request of that number."""
        attempt = Attempt(f"read pull request {number}", READ, f"pull request {number}")
        return self._read(lambda: self._value(self._pull(number)), attempt)

    def pull_request_for_commit(
        self, sha: str, head_repo: str, head_ref: str, claimed: int | None = None
    ) -> PullRequest | None:
        """The open pull request whose head is exactly ``sha`` on that branch of ``head_repo``."""
        owner = head_repo.partition("/")[0]
        pulls = self.find_pull_requests(f"{owner}:{head_ref}")
        return at_commit(pulls, sha, head_repo, claimed)

    def open_pull_request(
        self, *, title: str, body: str, head_ref: str, base_ref: str, draft: bool = False
    ) -> Outcome:
        """Open a pull request, or give the open one from that head into that base as it is."""
        title, body = checked_title(title), checked_body(body)

        def look() -> PullRequest | None:
            return next(iter(self.find_pull_requests(head_ref, base_ref)), None)

        def send(as_draft: bool) -> PullRequest:
            made = self._repo.create_pull(
                base=base_ref, head=head_ref, title=title, body=body, draft=as_draft
            )
            return self._value(made)

        existing = look()
        if existing:
            return Outcome(existing, "unchanged")
        attempt = Attempt(f"open a pull request for {plain(head_ref, 100)}", WRITE)
        notes: list[str] = []
        try:
            made = self._write(lambda: send(draft), look)
        except GithubFailed as error:
            words = error.failure.words.lower()
            if error.failure.status == 422 and "already exists" in words and (there := look()):
                return Outcome(there, "unchanged")
            if not (draft and error.failure.status == 422 and "draft" in words):
                raise self._error(error, attempt) from None
            notes.append(f"{self.place} takes no drafts; the pull request is open for review")
            made = self._write_or_raise(lambda: send(False), look, attempt)
        if made.author == WORKFLOW_LOGIN:
            notes.append(_NO_WORKFLOWS)
        return Outcome(made, "created", tuple(notes))

    def update_pull_request(
        self,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        draft: bool | None = None,
    ) -> Outcome:
        """Set what is given and differs; what is None stays."""
        before = self.get_pull_request(number)
        edits = {}
        if title is not None and (wanted := checked_title(title)) != before.title:
            edits["title"] = wanted
        if body is not None and not same_text(checked_body(body), before.body):
            edits["body"] = body
        now = before

        def send() -> PullRequest:
            pull = self._pull(number)
            pull.edit(edits.get("title", NotSet), edits.get("body", NotSet))
            return self._value(pull)

        def look() -> PullRequest | None:
            found = self.get_pull_request(number)
            has_title = edits.get("title", found.title) == found.title
            has_body = same_text(edits.get("body", found.body), found.body)
            return found if has_title and has_body else None

        if edits:
            attempt = Attempt(f"change pull request {number}", WRITE, f"pull request {number}")
            now = self._write_or_raise(send, look, attempt)
        notes: tuple[str, ...] = ()
        if draft is not None and draft != before.draft:
            now, notes = self._set_draft(now, draft)
        return Outcome(now, "unchanged" if now == before else "updated", notes)

    def close_pull_request(self, number: int) -> Outcome:
        """Close a pull request without a merge; one that is not open stays as it is."""
        before = self.get_pull_request(number)
        if before.state != "open":
            return Outcome(before, "unchanged")

        def send() -> PullRequest:
            pull = self._pull(number)
            pull.edit(state="closed")
            return self._value(pull)

        def look() -> PullRequest | None:
            found = self.get_pull_request(number)
            return found if found.state != "open" else None

        attempt = Attempt(f"close pull request {number}", WRITE, f"pull request {number}")
        return Outcome(self._write_or_raise(send, look, attempt), "updated")

    def _value(self, pull: GithubPull) -> PullRequest:
        return values.pull_request(pull, self._slug)

    def _pull(self, number: int) -> GithubPull:
        return self._repo.get_pull(number)

    def _set_draft(self, pull: PullRequest, draft: bool) -> tuple[PullRequest, tuple[str, ...]]:
        """Only GraphQL can do this, and not every token and plan: it is no failure."""

        def send() -> PullRequest:
            found = self._pull(pull.number)
            if draft:
                found.convert_to_draft()
            else:
                found.mark_ready_for_review()
            return self.get_pull_request(pull.number)

        def look() -> PullRequest | None:
            found = self.get_pull_request(pull.number)
            return found if found.draft == draft else None

        state = "a draft" if draft else "ready for review"
        try:
            return self._write(send, look), ()
        except GithubFailed as error:
            note = f"pull request {pull.number} could not be made {state}: {error.failure.words}"
            return pull, (note,)

    def request_reviewers(self, number: int, reviewers: Sequence[str]) -> tuple[str, ...]:
        """Ask people (``login``) and teams (``org/team``); a warning for each who cannot be."""
        if not reviewers:
            return ()
        try:
            self._request(number, reviewers)
        except GithubFailed as error:
            if error.failure.kind != "refused":
                attempt = Attempt(
                    f"ask for reviews of pull request {number}", WRITE, f"pull request {number}"
                )
                raise self._error(error, attempt) from None
            # GitHub asks all of them or none.
            if len(reviewers) == 1:
                words = error.failure.words
                return (f"{plain(reviewers[0], 100)} could not be asked to review: {words}",)
            return tuple(
                note for one in reviewers for note in self.request_reviewers(number, [one])
            )
        return ()

    def _request(self, number: int, reviewers: Sequence[str]) -> None:
        people = [name for name in reviewers if "/" not in name]
        teams = [name.rpartition("/")[2] for name in reviewers if "/" in name]

        def send() -> bool:
            # Asking somebody twice is asking once.
            self._pull(number).create_review_request(people, teams)
            return True

        self._write(send, lambda: None)
