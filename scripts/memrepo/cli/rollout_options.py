"""Options that the commands of rollouts share, and what they ask for together."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from memrepo.cli.forge_option import remote_of
from memrepo.cli.options import log, print_json, say
from memrepo.errors import UsageError

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository
    from memrepo.rollout.change import At, Done

Name = Annotated[str | None, typer.Option("--name", help="The rollout (the only one that runs).")]
Control = Annotated[
    str, typer.Option("--control", metavar="NAME", help="The branch that holds its file.")
]
Reason = Annotated[str, typer.Option("--reason", help="Why, for whoever reads the log.")]
Early = Annotated[bool, typer.Option("--early", help="Before the step's hold is over.")]
Unit = Annotated[str, typer.Option("--unit", metavar="ID", help="Who asks: a user's id, …")]
Agent = Annotated[
    str | None, typer.Option("--agent-id", help="The agent that asks, where that matters.")
]
Fetch = Annotated[bool, typer.Option("--fetch", help="Ask the remote first.")]
Metrics = Annotated[
    str, typer.Option("--metrics", metavar="FILE", help="CSV or JSON Lines; - is stdin.")
]


def at_of(
    repo: Repository,
    control: str,
    remote: str | None,
    reason: str = "",
    *,
    dry_run: bool = False,
) -> At:
    """Where a change is made, from the options."""
    from memrepo.rollout.change import At
    from memrepo.rollout.message import Why

    where = remote_of(repo, remote)
    return At(control=control, remote=where, why=Why(reason), dry_run=dry_run)


def named(repo: Repository, name: str | None, at: At) -> str:
    """The rollout that is meant: ``name``, or else the only one that runs."""
    from memrepo.rollout.read import only_live, published

    return name or only_live(repo.view(published(repo, at.remote, at.control)), at.control)


def show_done(done: Done, *, json: bool) -> None:
    """Print a change, and its notes on standard error."""
    from memrepo.rollout.render import done_lines

    for note in done.notes:
        log(note)
    if json:
        print_json(done.as_json())
        return
    for line in done_lines(done):
        say(line)


@contextmanager
def metrics_of(name: str) -> Iterator[BinaryIO]:
    """The bytes of a metrics file, or of standard input for "-"."""
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(name).open("rb")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise UsageError(
            f"cannot read the metrics {name}: {error.strerror}", "name a file, or -"
        ) from None
    with stream:
        yield stream


def age_of(text: str | None, option: str) -> timedelta | None:
    """A length of time such as ``24h`` or ``7d``."""
    from memrepo.protocol.rollout import parse_hold

    if text is None:
        return None
    seconds = parse_hold(text)
    if not seconds:
        raise UsageError(f"{option} {text!a} is no length of time", "write 90m, 24h or 7d")
    return timedelta(seconds=seconds)
