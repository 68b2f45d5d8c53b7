"""What knowledge branches, their commits and their pull requests are called. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memrepo.errors import UsageError

PREFIX = "knowledge/"
#: Below it lie the branches of the job's pull requests, one a day.
PROPOSED = "memory/knowledge/"
#: On each replayed commit: the commit of the knowledge branch that it is made from.
TRAILER = "Knowledge-Commit"
#: On each update: the source, and what the source calls what it gave.
SOURCE_TRAILER, REVISION_TRAILER = "Source", "Source-Revision"
_SOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
_OURS = re.compile(
    r"^(?=[ \t]*(?:source|source-revision|knowledge-commit)[ \t]*:)", re.IGNORECASE | re.MULTILINE
)
_MARK_LINE = re.compile(rb"^(?=[ \t]*knowledge-commit[ \t]*:)", re.IGNORECASE | re.MULTILINE)
_MARK = re.compile(rf"^{TRAILER}: ([0-9a-f]{{40}}(?:[0-9a-f]{{24}})?)$", re.MULTILINE)
_REVISION = re.compile(r"[!-~](?:[ -~]{0,198}[!-~])?")


def branch_of(source: str) -> str:
    """``knowledge/<source>``; a name that has the prefix is one already."""
    return source if source.startswith(PREFIX) else f"{PREFIX}{source}"


def checked_source(source: str) -> str:
    """``source`` itself.  Raises UsageError where no branch should be called so."""
    name = source.removeprefix(PREFIX)
    if not _SOURCE.fullmatch(name) or name.endswith(("/", ".", ".lock")) or ".." in name:
        raise UsageError(
            f"the source {source[:120]!a} cannot be the name of a branch",
            "use 1 to 100 of A-Z a-z 0-9 . _ - and /, starting with a letter or digit",
        )
    return name


def checked_revision(revision: str) -> str:
    """``revision`` itself.  Raises UsageError for what does not fit on one line of a commit."""
    if not _REVISION.fullmatch(revision):
        raise UsageError(
            f"the revision {revision[:80]!a} must be one line of up to 200 printable characters",
            "leave it out, and the SHA-256 of the input stands for it",
        )
    return revision


def quoted(message: str) -> str:
    """``message`` with every line that reads like one of this job's trailers quoted."""
    return _OURS.sub("> ", message)


def replayed_in(message: str) -> list[str]:
    """The commits of knowledge branches that a commit's message says it brings.

    Any line counts, since a forge that squashes a pull request keeps the messages as text.
    """
    return _MARK.findall(message.replace("\r", ""))


def replayed_message(message: bytes, commits: Sequence[str]) -> bytes:
    """A replayed commit's message: as it was, and a trailer for each commit that it brings."""
    from memrepo.gitrepo.log import trailers

    text = _MARK_LINE.sub(b"> ", message).rstrip(b"\n") + b"\n"
    gap = b"" if trailers(text.decode("utf-8", "replace")) else b"\n"
    return text + gap + b"".join(f"{TRAILER}: {commit}\n".encode() for commit in commits)


def in_order(branches: Iterable[str], first: Sequence[str]) -> list[str]:
    """Branches in the order to merge them: the policy's sources, then by name."""
    places = {branch_of(source): place for place, source in enumerate(first)}
    return sorted(branches, key=lambda branch: (places.get(branch, len(places)), branch))
