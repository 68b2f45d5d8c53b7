"""What GitHub's refusals and failures mean, and the words for them. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Literal

import msgspec

from memrepo.errors import MemrepoError, PermissionDenied, RemoteFailed, UsageError

MOVED = 301  # a repository that was renamed or given away

Kind = Literal["refused", "limited", "failed"]

_LIMITED = ("secondary rate limit", "rate limit exceeded", "abuse detection")
_LIMITED_ENDS = ("please retry your request again later.", "before you try again.")
_MAY_NOT_OPEN = "not permitted to create or approve pull requests"
_NOT_YET = "could not resolve to a node"


class Failure(msgspec.Struct, frozen=True):
    """A request that did not end well. ``status`` 0 means that no whole answer came.

    ``headers`` are in lower case. ``details`` are the single errors of a 422.
    """

    status: int
    message: str
    headers: Mapping[str, str] = {}
    details: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Refused for good, limited (surely not done, try later), or failed (perhaps done)."""
        if self.status in (0, 408) or self.status >= 500:
            return "failed"
        text = self.message.lower()
        if self.status == 429 or (
            self.status == 403
            and (
                "retry-after" in self.headers
                or self.headers.get("x-ratelimit-remaining") == "0"
                or any(words in text for words in _LIMITED)
                or text.endswith(_LIMITED_ENDS)
            )
        ):
            return "limited"
        if self.status == 422 and _NOT_YET in self.words.lower():
            # What was made a moment ago is not known everywhere yet.
            return "limited"
        return "refused"

    @property
    def words(self) -> str:
        """GitHub's own words on one line."""
        return plain(": ".join(part for part in (self.message, "; ".join(self.details)) if part))

    def asked_wait(self, now: float) -> float | None:
        """Seconds that GitHub asks to wait; None when it names no time."""
        if self.status == 422:
            return 0.0
        after = _number(self.headers.get("retry-after", ""))
        if after is not None:
            return max(0.0, after)
        reset = _number(self.headers.get("x-ratelimit-reset", ""))
        if reset is not None and self.headers.get("x-ratelimit-remaining") == "0":
            return max(0.0, reset - now) + 1.0
        return None


class Attempt(msgspec.Struct, frozen=True):
    """What was tried, for the words of an error.

    ``doing`` continues "may not …" ("comment on pull request 5"); ``needs`` is the
    permission that a workflow declares for it; ``about`` is what has to be there for it
    ("pull request 5"), "" when that is only the repository.
    """

    doing: str
    needs: str
    about: str = ""


def error_for(failure: Failure, attempt: Attempt, host: str, slug: str) -> MemrepoError:
    """The error that a person sees."""
    where = f"{host}/{slug}"
    if failure.kind == "limited":
        return RemoteFailed(
            f"{host} asks for patience and did not {attempt.doing}: {failure.words}",
            _when(failure) + "nothing was half done",
        )
    if failure.kind == "failed":
        what = f"answered {failure.status}" if failure.status else failure.words
        return RemoteFailed(
            f"{host} failed to {attempt.doing} ({what})",
            "run it again: it looks for what is done already before it writes",
        )
    if failure.status == MOVED:
        return RemoteFailed(
            f"{where} has moved: {failure.words}",
            "give the remote its new address with git remote set-url",
        )
    if failure.status == 401:
        return PermissionDenied(
            f"{host} does not accept the token: {failure.words}",
            "pass one that has not expired, and is for this server",
        )
    if failure.status == 403:
        return _forbidden(failure, attempt, where)
    if failure.status in (404, 410):
        if attempt.about:
            return UsageError(
                f"{where} has no {attempt.about}, or the token may not see it",
                "check the number, and that the token is for this repository",
            )
        return PermissionDenied(
            f"{where} does not exist, or the token may not {attempt.doing} there",
            f"check the name, and that the token has {attempt.needs} for it",
        )
    return RemoteFailed(
        f"{host} refused to {attempt.doing} ({failure.status}): {failure.words}",
        "nothing was half done; repair what it says, then run it again",
    )


def _forbidden(failure: Failure, attempt: Attempt, where: str) -> PermissionDenied:
    if _MAY_NOT_OPEN in failure.message.lower():
        return PermissionDenied(
            f"GitHub Actions may not open pull requests in {where}",
            "turn on 'Allow GitHub Actions to create and approve pull requests' under Settings,"
            " Actions, General: in the organisation first, then in the repository;"
            " or pass the token of an app",
        )
    if "x-github-sso" in failure.headers:
        return PermissionDenied(
            f"the token is not authorised for single sign-on of {where}",
            "authorise it for the organisation in your token settings",
        )
    named = failure.headers.get("x-accepted-github-permissions", "")
    needs = plain(named.replace("_", "-").replace("=", ": ")) if named else attempt.needs
    hint = (
        f"the token lacks {needs}; in a workflow, give it under permissions: of the job"
        " (a pull request from a fork never gets more than read)"
    )
    if "locked" in failure.message.lower() or "archived" in failure.message.lower():
        hint = "unlock the conversation or the repository, then run it again"
    return PermissionDenied(f"the token may not {attempt.doing} in {where}: {failure.words}", hint)


def _when(failure: Failure) -> str:
    after = _number(failure.headers.get("retry-after", ""))
    if after is not None:
        return f"run it again in {after:,.0f} seconds; "
    reset = _number(failure.headers.get("x-ratelimit-reset", ""))
    if reset is not None and failure.headers.get("x-ratelimit-remaining") == "0":
        from datetime import UTC, datetime

        return f"run it again after {datetime.fromtimestamp(reset, UTC):%H:%M:%S} UTC; "
    return "run it again in some minutes; "


def _number(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def plain(text: str, limit: int = 300) -> str:
    """Text from elsewhere on one line, with what nobody sees shown as ``<U+202E>``."""
    shown = "".join(
        f"<U+{ord(char):04X}>"
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else char
        for char in text[:limit].replace("\n", " ")
    )
    return shown if len(text) <= limit else f"{shown}…"
