"""Options that the commands of the archive share, and what they ask for together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memrepo.cli.options import instant
from memrepo.errors import UsageError
from memrepo.protocol.ages import parse_age

if TYPE_CHECKING:
    from memrepo.archive.prepare import Request
    from memrepo.archive.values import Mode

Branch = Annotated[
    str | None, typer.Option("--branch", metavar="NAME", help="The branch (the one checked out).")
]
OlderThan = Annotated[
    str | None, typer.Option("--older-than", metavar="AGE", help="Such as 90d (the policy's age).")
]
Before = Annotated[
    str | None, typer.Option("--before", metavar="TIME", help="Older than this time or date.")
]
Agents = Annotated[
    list[str] | None, typer.Option("--agent-id", help="Of this agent alone. Repeatable.")
]
TagPrefix = Annotated[
    str | None, typer.Option("--tag-prefix", help="What tags begin with (the policy's).")
]
Push = Annotated[bool, typer.Option("--push", help="Commit to the branch itself (the default).")]
PullRequest = Annotated[bool, typer.Option("--pr", help="Put the commit up as a pull request.")]


Summary = Annotated[
    Path | None, typer.Option("--summary", metavar="FILE", help="Write a Markdown summary.")
]


def mode_of(*, push: bool, pr: bool, no_prune: bool, dry_run: bool) -> Mode:
    """How far a run goes.  Raises UsageError for two ways at once."""
    if push + pr + no_prune > 1:
        raise UsageError(
            "--push, --pr and --no-prune are three ways to end", "name one of them, or none"
        )
    if dry_run:
        return "dry-run"
    return "pr" if pr else "no-prune" if no_prune else "push"


def request_of(
    branch: str | None,
    remote: str | None,
    older_than: str | None = None,
    before: str | None = None,
    agents: Sequence[str] | None = None,
    tag_prefix: str | None = None,
) -> Request:
    """What is asked for, at this moment.  Raises UsageError for an age or a time that is none."""
    from memrepo.archive.prepare import Request

    if older_than is not None and before is not None:
        raise UsageError("--older-than and --before say one thing in two ways", "name one of them")
    return Request(
        now=datetime.now(UTC),
        branch=branch or "",
        remote=remote,
        older_than=_age(older_than),
        before=instant(before, "--before"),
        agents=tuple(dict.fromkeys(agents or ())),
        prefix=tag_prefix or "",
    )


def _age(text: str | None) -> timedelta | None:
    if text is None:
        return None
    age = parse_age(text)
    if age is None:
        raise UsageError(f"--older-than {text!a} is no age", "write it like 90d, 12w or 48h")
    return age
