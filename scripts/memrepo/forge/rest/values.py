"""PyGithub's objects as memrepo's values; nothing of PyGithub goes further than this."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from memrepo.forge.failure import MOVED, Failure
from memrepo.forge.forge import Comment, PullRequest, State, same_login
from memrepo.forge.releases import Asset, Release

from .requester import GithubFailed, understood

if TYPE_CHECKING:
    from github.IssueComment import IssueComment
    from github.NamedUser import NamedUser
    from github.Organization import Organization
    from github.PullRequest import PullRequest as GithubPull
    from github.Repository import Repository

_GHOST = "ghost"  # what GitHub calls the author once the account is gone


def pull_request(pull: GithubPull, slug: str) -> PullRequest:
    """A pull request's value.  Raises GithubFailed when the answer is not one of ``slug``."""
    with understood():
        found = pull.base.repo.full_name
        if not same_login(found, slug):
            # Reading is redirected to a repository's new name, without the filters; writing
            # is not.
            raise GithubFailed(Failure(MOVED, f"it is now {found}"))
        head_repo: Repository | None = pull.head.repo
        state: State = "merged" if pull.merged_at else "open" if pull.state == "open" else "closed"
        value = PullRequest(
            number=pull.number,
            title=pull.title,
            body=pull.body or "",
            url=pull.html_url,
            head_ref=pull.head.ref,
            head_sha=pull.head.sha,
            head_repo=head_repo.full_name if head_repo is not None else "",
            base_ref=pull.base.ref,
            base_sha=pull.base.sha,
            state=state,
            draft=bool(pull.draft),
            author=_login(pull.user),
            labels=tuple(sorted(label.name for label in pull.labels)),
            created_at=_utc(pull.created_at),
            updated_at=_utc(pull.updated_at),
        )
    if not (value.number and value.head_sha and value.base_ref):
        raise GithubFailed(Failure(0, "an answer that is no pull request"))
    return value


def comment(found: IssueComment) -> Comment:
    """A comment's value.  Raises GithubFailed when the answer is not one."""
    with understood():
        value = Comment(
            id=found.id,
            body=found.body or "",
            author=_login(found.user),
            url=found.html_url,
            created_at=_utc(found.created_at),
        )
    if not value.id:
        raise GithubFailed(Failure(0, "an answer that is no comment"))
    return value


def asset(data: dict[str, Any]) -> Asset:
    """A release asset's value.  Raises GithubFailed when the answer is not one."""
    with understood():
        kind, _, digest = str(data.get("digest") or "").partition(":")
        return Asset(
            id=int(data["id"]),
            name=str(data["name"]),
            size=int(data["size"]),
            sha256=digest.lower() if kind == "sha256" else "",
            state="uploaded" if data["state"] == "uploaded" else "starter",
        )


def release(data: dict[str, Any], slug: str, assets: tuple[Asset, ...]) -> Release:
    """A release's value.  Raises GithubFailed when the answer is not one of ``slug``."""
    with understood():
        found = "/".join(urlsplit(data["url"]).path.split("/")[-4:-2])
        if not same_login(found, slug):
            raise GithubFailed(Failure(MOVED, f"it is now {found}"))
        published = data.get("published_at")
        return Release(
            id=int(data["id"]),
            tag=str(data["tag_name"]),
            name=str(data["name"] or ""),
            body=str(data["body"] or ""),
            url=str(data["html_url"]),
            draft=data["draft"] is not False,
            created_at=_utc(datetime.fromisoformat(data["created_at"])),
            published_at=_utc(datetime.fromisoformat(published)) if published else None,
            assets=assets,
        )


def _login(user: NamedUser | Organization | None) -> str:
    return user.login if user else _GHOST


def _utc(when: datetime | None) -> datetime:
    if when is None:
        raise GithubFailed(Failure(0, "an answer without a time"))
    return when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
