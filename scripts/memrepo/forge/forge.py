"""What a forge holds, and what every forge can do; the jobs know no more of it than this."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

import msgspec

from memrepo.errors import UsageError

from .releases import Releases

# GitHub's limit for the body of a pull request and of a comment; the other forge keeps it
# too, so that what was tried locally works there.
MOST_CHARACTERS = 65_536
MOST_TITLE_CHARACTERS = 256
WORKFLOW_LOGIN = "github-actions[bot]"

State = Literal["open", "closed", "merged"]
Wanted = Literal["open", "closed", "merged", "all"]
Operation = Literal["created", "updated", "unchanged"]
#: What a person may do in a repository, each with all that the later ones may.
Permission = Literal["admin", "write", "read", "none"]
MAY_WRITE: tuple[Permission, ...] = ("admin", "write")


class PullRequest(msgspec.Struct, frozen=True):
    """One pull request.

    ``head_repo`` is ``owner/repo`` of where the head branch lies: "" when that repository
    is gone, and in a local folder. ``head_sha`` is the head's commit now. Times are in UTC.
    """

    number: int
    title: str
    body: str
    url: str
    head_ref: str
    head_sha: str
    head_repo: str
    base_ref: str
    base_sha: str
    state: State
    draft: bool
    author: str
    labels: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


class Comment(msgspec.Struct, frozen=True):
    """One comment on a pull request; ``id`` grows with time. Times are in UTC."""

    id: int
    body: str
    author: str
    url: str
    created_at: datetime


class Label(msgspec.Struct, frozen=True):
    """A label to put on a pull request; colour and description are for making it.

    ``colour`` is six hexadecimal digits without ``#``. A label that exists keeps its own.
    """

    name: str
    colour: str = "ededed"
    description: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """What became of a request to open or to update; ``notes`` are for the person, one a line.

    ``operation`` is "unchanged" when all was already as asked.
    """

    pull_request: PullRequest
    operation: Operation
    notes: tuple[str, ...] = ()


class Forge(Releases, Protocol):
    """Where the pull requests and the releases of one repository live.

    Each method raises PermissionDenied (exit 5) when the forge does not let it, and
    RemoteFailed (exit 4) when the forge cannot be had. A write whose answer was lost is
    looked for before it is tried once more, so that nothing is made twice. A number that
    does not exist is a UsageError; what cannot be read as it should be, a BadInput.
    """

    @property
    def place(self) -> str:
        """Where this is, in words for a message: ``github.com/acme/memory`` or a folder."""
        ...

    def me(self) -> str:
        """The login that this forge's writes go by (``github-actions[bot]`` if unknown)."""
        ...

    def find_pull_requests(
        self, head_ref: str | None = None, base_ref: str | None = None, state: Wanted = "open"
    ) -> list[PullRequest]:
        """All pull requests from ``head_ref`` into ``base_ref``, the newest first.

        None is any branch. ``head_ref`` is a branch of the repository itself, or
        ``owner:branch`` for a fork's.
        """
        ...

    def get_pull_request(self, number: int) -> PullRequest:
        """The pull request of that number."""
        ...

    def pull_request_for_commit(
        self, sha: str, head_repo: str, head_ref: str, claimed: int | None = None
    ) -> PullRequest | None:
        """The open pull request whose head is exactly ``sha`` on that branch of ``head_repo``.

        ``head_repo`` is ``owner/repo``. Where one head goes into several bases, ``claimed``
        chooses among them; otherwise the newest is taken. None when no head is at ``sha``.
        """
        ...

    def open_pull_request(
        self,
        *,
        title: str,
        body: str,
        head_ref: str,
        base_ref: str,
        draft: bool = False,
    ) -> Outcome:
        """Open a pull request, or give the open one from that head into that base as it is."""
        ...

    def update_pull_request(
        self,
        number: int,
        *,
        title: str | None = None,
        body: str | None = None,
        draft: bool | None = None,
    ) -> Outcome:
        """Set what is given and differs; what is None stays."""
        ...

    def close_pull_request(self, number: int) -> Outcome:
        """Close a pull request without a merge; one that is not open stays as it is."""
        ...

    def permission_of(self, login: str) -> Permission:
        """What the person of that login may do in the repository, as the forge itself knows."""
        ...

    def add_labels(self, number: int, labels: Sequence[Label]) -> tuple[str, ...]:
        """Put labels on, making those the forge does not know; the names then on it, sorted."""
        ...

    def remove_labels(self, number: int, names: Sequence[str]) -> tuple[str, ...]:
        """Take labels off; the names then on it, sorted. One that is not on it is no error."""
        ...

    def set_labels_in(self, number: int, prefix: str, wanted: Sequence[Label]) -> tuple[str, ...]:
        """Make ``wanted`` the only labels that start with ``prefix``; others stay as they are."""
        ...

    def request_reviewers(self, number: int, reviewers: Sequence[str]) -> tuple[str, ...]:
        """Ask people (``login``) and teams (``org/team``); a warning for each who cannot be."""
        ...

    def list_comments(self, number: int) -> list[Comment]:
        """Every comment, the oldest first, however many there are."""
        ...

    def create_comment(self, number: int, body: str) -> Comment:
        """Add a comment."""
        ...

    def update_comment(self, comment_id: int, body: str) -> Comment:
        """Replace a comment's text. ``comment_id`` is a :class:`Comment`'s ``id``."""
        ...

    def upsert_comment(
        self, number: int, marker: str, body: str, author: str
    ) -> tuple[Comment, Operation]:
        """Make ``body`` the one comment that begins with ``marker`` and is by ``author``.

        The marker (``<!-- … -->``) is put on a first line of its own where ``body`` does
        not begin with it. Two runs at once end with one comment too.
        """
        ...

    def close(self) -> None:
        """Let go of connections; the forge is not used afterwards."""
        ...


def at_commit(
    pulls: Sequence[PullRequest], sha: str, head_repo: str, claimed: int | None
) -> PullRequest | None:
    """The claimed one among those whose head is ``sha`` in ``head_repo``, or else the first."""
    found = [
        pull for pull in pulls if pull.head_sha == sha and same_login(pull.head_repo, head_repo)
    ]
    return next((pull for pull in found if pull.number == claimed), found[0] if found else None)


_MARKER = re.compile(r"<!--[^\n<>]{1,200}-->")


def checked_body(body: str) -> str:
    """``body`` itself.  Raises UsageError when no forge could keep it."""
    if len(body) > MOST_CHARACTERS:
        raise UsageError(
            f"the text has {len(body):,} characters; a forge takes {MOST_CHARACTERS:,}",
            "cut it at a section's border and point to the full report",
        )
    return _encodable(body)


def checked_title(title: str) -> str:
    """``title`` without spaces around it.  Raises UsageError for none, two lines, or too long."""
    if not title.strip() or "\n" in title or "\r" in title:
        raise UsageError("a pull request's title is one line of text", "pass another --title")
    if len(title) > MOST_TITLE_CHARACTERS:
        raise UsageError(
            f"the title has {len(title):,} characters; {MOST_TITLE_CHARACTERS} is the most",
            "pass a shorter --title",
        )
    return _encodable(title.strip())


def _encodable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("the text holds half a character (a lone surrogate)") from None
    return text


def checked_labels(prefix: str, wanted: Sequence[Label]) -> None:
    """Raises UsageError for a label outside ``prefix``."""
    for label in wanted:
        if not label.name.startswith(prefix):
            raise UsageError(f"the label {label.name!r} does not begin with {prefix!r}")


def marked(marker: str, body: str) -> str:
    """``body`` with ``marker`` as its beginning.  Raises UsageError for another kind of marker."""
    if not _MARKER.fullmatch(marker):
        raise UsageError(f"{marker!r} is no marker", "a marker is one HTML comment on one line")
    return body if body.startswith(marker) else f"{marker}\n{body}"


def is_ours(comment: Comment, marker: str, author: str) -> bool:
    """Whether a comment is the one to keep up to date.

    Both have to hold: anyone can write the marker, and the author writes other comments
    too. The marker counts at the very beginning only, where no quoted text stands.
    """
    return comment.body.lstrip().startswith(marker) and same_login(comment.author, author)


def same_login(one: str, other: str) -> bool:
    """Whether two logins are one, or two ``owner/repo``: case is only for the eye."""
    return one.casefold() == other.casefold()


def same_text(one: str, other: str) -> bool:
    """Whether two bodies say the same: forges change line ends and white space at the ends."""
    return one.replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()
