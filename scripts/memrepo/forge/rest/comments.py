"""Comments on pull requests on GitHub."""

from __future__ import annotations

from github.IssueComment import IssueComment

from memrepo.forge.failure import Attempt
from memrepo.forge.forge import Comment, Operation, checked_body, is_ours, marked, same_text

from . import values
from .requester import GithubFailed
from .session import READ, WRITE, Session


class Comments(Session):
    """The part of :class:`memrepo.forge.forge.Forge` that is about comments."""

    def list_comments(self, number: int) -> list[Comment]:
        """Every comment, the oldest first, however many there are."""

        def look() -> list[Comment]:
            return [values.comment(found) for found in self._repo.get_issue(number).get_comments()]

        attempt = Attempt(
            f"read the comments of pull request {number}", READ, f"pull request {number}"
        )
        return sorted(self._read(look, attempt), key=lambda comment: comment.id)

    def create_comment(self, number: int, body: str) -> Comment:
        """Add a comment."""
        known = {comment.id for comment in self.list_comments(number)}
        return self._create(number, checked_body(body), known)

    def update_comment(self, comment_id: int, body: str) -> Comment:
        """Replace a comment's text."""
        checked_body(body)

        def send() -> Comment:
            found = self._comment(comment_id)
            found.edit(body)
            return values.comment(found)

        def look() -> Comment | None:
            found = values.comment(self._comment(comment_id))
            return found if same_text(found.body, body) else None

        return self._write_or_raise(
            send, look, Attempt("change a comment", WRITE, f"comment {comment_id}")
        )

    def upsert_comment(
        self, number: int, marker: str, body: str, author: str
    ) -> tuple[Comment, Operation]:
        """Make ``body`` the one comment that begins with ``marker`` and is by ``author``."""
        body = checked_body(marked(marker, body))
        everything = self.list_comments(number)
        ours = [comment for comment in everything if is_ours(comment, marker, author)]
        operation: Operation = "unchanged"
        if not ours:
            made = self._create(number, body, {comment.id for comment in everything})
            # Another run may have made one just now. And only the answer says whom an app's
            # token writes as: a comment of an earlier run may be by that login.
            self._login = made.author
            ours = [
                comment
                for comment in self.list_comments(number)
                if is_ours(comment, marker, made.author)
            ] or [made]
            operation = "created" if ours[0].id == made.id else "unchanged"
        kept, *others = ours
        if not same_text(kept.body, body):
            kept, operation = self.update_comment(kept.id, body), "updated"
        for other in others:
            self._delete(other.id)
        return kept, operation

    def _create(self, number: int, body: str, known: set[int]) -> Comment:
        def send() -> Comment:
            return values.comment(self._repo.get_issue(number).create_comment(body))

        def look() -> Comment | None:
            new = [comment for comment in self.list_comments(number) if comment.id not in known]
            return next((comment for comment in new if same_text(comment.body, body)), None)

        attempt = Attempt(f"comment on pull request {number}", WRITE, f"pull request {number}")
        return self._write_or_raise(send, look, attempt)

    def _delete(self, comment_id: int) -> None:
        def send() -> bool:
            try:
                self._comment(comment_id).delete()
            except GithubFailed as error:
                if error.failure.status != 404:
                    raise
            return True

        # Deleting what is gone already is no error, so there is nothing to look for.
        self._write_or_raise(send, lambda: None, Attempt("delete a second comment", WRITE))

    def _comment(self, comment_id: int) -> IssueComment:
        url = f"/repos/{self._slug}/issues/comments/{comment_id}"
        return IssueComment(self._requester, url=url)
