"""Comments on a local forge's pull requests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from memrepo.errors import BadInput, UsageError
from memrepo.forge.forge import Comment, Operation, checked_body, is_ours, marked, same_text

from .formats import read_comment, write_comment
from .store import Store

_NAME = re.compile(r"0*([1-9][0-9]{0,5})-(.+)\.md")
# A comment's id holds its pull request's number, so that the id alone finds it.
_PER_PULL = 1_000_000


class Comments(Store):
    """The part of :class:`memrepo.forge.forge.Forge` that is about comments."""

    def list_comments(self, number: int) -> list[Comment]:
        """Every comment, the oldest first, however many there are."""
        folder = f"{self._path(number)}/comments"
        found: dict[int, Comment] = {}
        for name in self._folder.names(folder):
            match = _NAME.fullmatch(name)
            if match is None:
                continue
            comment = self._read_comment(f"{folder}/{name}", number, int(match[1]), match[2])
            if comment is None:
                continue  # removed since the folder was read
            if comment.id in found:
                raise BadInput(
                    f"{self._folder.where(folder)} holds two comments of the number {match[1]}",
                    "give one of them a number of its own",
                )
            found[comment.id] = comment
        return [found[key] for key in sorted(found)]

    def create_comment(self, number: int, body: str) -> Comment:
        """Add a comment."""
        checked_body(body)
        with self._folder.lock():
            return self._add_comment(number, self.list_comments(number), body, self._login)

    def update_comment(self, comment_id: int, body: str) -> Comment:
        """Replace a comment's text."""
        checked_body(body)
        with self._folder.lock():
            number = comment_id // _PER_PULL
            for comment in self.list_comments(number):
                if comment.id == comment_id:
                    return self._rewrite(comment, body)
        raise UsageError(f"{self.place} has no comment {comment_id}", "list them first")

    def upsert_comment(
        self, number: int, marker: str, body: str, author: str
    ) -> tuple[Comment, Operation]:
        """Make ``body`` the one comment that begins with ``marker`` and is by ``author``."""
        body = checked_body(marked(marker, body))
        with self._folder.lock():
            everything = self.list_comments(number)
            ours = [comment for comment in everything if is_ours(comment, marker, author)]
            if not ours:
                return self._add_comment(number, everything, body, author), "created"
            kept, *others = ours
            operation: Operation = "unchanged"
            if not same_text(kept.body, body):
                kept, operation = self._rewrite(kept, body), "updated"
            for other in others:
                self._folder.remove(self._inside(other.url))
            return kept, operation

    def _add_comment(
        self, number: int, others: Sequence[Comment], body: str, author: str
    ) -> Comment:
        last = max((comment.id % _PER_PULL for comment in others), default=0) + 1
        name = f"{last:04d}-{re.sub('[^A-Za-z0-9_-]+', '-', author).strip('-')[:60] or 'unknown'}"
        path = f"{self._path(number)}/comments/{name}.md"
        now = self._now()
        self._folder.write(path, write_comment(author, now, now, body))
        return self._comment(number * _PER_PULL + last, path, author, now, body)

    def _rewrite(self, comment: Comment, body: str) -> Comment:
        path = self._inside(comment.url)
        data = write_comment(comment.author, comment.created_at, self._now(), body)
        self._folder.write(path, data)
        return self._comment(comment.id, path, comment.author, comment.created_at, body)

    def _read_comment(self, path: str, number: int, count: int, author: str) -> Comment | None:
        data = self._folder.read(path)
        if data is None:
            return None
        fields, body = read_comment(data, self._folder.where(path))
        created_at = fields.time("created_at", self._folder.changed_at(path))
        author = fields.text("author", author)
        return self._comment(number * _PER_PULL + count, path, author, created_at, body)

    def _comment(
        self, comment_id: int, path: str, author: str, created_at: datetime, body: str
    ) -> Comment:
        url = str(self._folder.root / path)
        return Comment(
            comment_id, body.removesuffix("\n"), author, url, created_at.replace(microsecond=0)
        )

    def _inside(self, url: str) -> str:
        return Path(url).relative_to(self._folder.root).as_posix()
