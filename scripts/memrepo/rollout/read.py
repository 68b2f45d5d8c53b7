"""The rollouts that a commit of a control branch holds, and what history says of them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import msgspec

from memrepo.buckets.assign import Assigner, weight_in_force
from memrepo.errors import UnknownRevision, UsageError
from memrepo.gitrepo.branches import default_remote, is_ancestor
from memrepo.gitrepo.land import published_tip
from memrepo.gitrepo.log import log_paths, trailer
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.refs import branch_ref
from memrepo.gitrepo.remote import find_remote, known_ref
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.protocol.names import agent_id_problem
from memrepo.protocol.rollout import ROLLOUTS_FOLDER, Rollout, rollout_name, rollout_path
from memrepo.protocol.rolloutfile import parse_rollout, read_rollout
from memrepo.protocol.suggest import closest, shown
from memrepo.rollout.message import REASON, TRAILER, VERDICT
from memrepo.stats.outcomes import Weight

CONTROL = "main"


class Event(msgspec.Struct, frozen=True):
    """One commit that changed a rollout's file, and the rollout after it (None: no rollout).

    ``time`` is the committer's, ISO 8601. ``verdict`` and ``finding`` are those of the
    analysis that the change was decided on, "" without one.
    """

    commit: str
    time: str
    author: str
    subject: str
    verdict: str
    finding: str
    rollout: Rollout | None


def checked_name(name: str) -> str:
    """``name`` itself.  Raises UsageError where no rollout can be called so."""
    problem = agent_id_problem(name)
    if problem:
        raise UsageError(f"the rollout's name {shown(name)} {problem}", "use A-Z a-z 0-9 . _ -")
    return name


def published(repo: Repository, remote: str | None, control: str) -> str:
    """What the control branch is at where it is published, fetched.

    Raises UnknownRevision without such a branch, RemoteFailed, PermissionDenied.
    """
    return _there(published_tip(repo, remote, control), control)


def known(repo: Repository, remote: str | None, control: str) -> str:
    """The newest commit of the control branch that this clone knows of; nobody is asked.

    What was fetched counts before the local branch, unless that builds on it.
    """
    refs = [branch_ref(control)]
    if remote is not None:
        at = find_remote(repo, remote)
        refs = [f"refs/remotes/{at.name}/{control}", known_ref(at, control), *refs]
    found: str | None = None
    for ref in refs:
        tip = repo.tip(ref)
        if tip and tip != found and (found is None or is_ancestor(repo, found, tip)):
            found = tip
    return _there(found, control)


def _there(tip: str | None, control: str) -> str:
    if tip is None:
        raise UnknownRevision(
            f"there is no branch {plain(control)} to read rollouts from",
            "name the branch that they control with --control",
        )
    return tip


def rollouts_on(view: TipView, control: str) -> tuple[list[Rollout], list[str]]:
    """The rollouts of a commit of ``control`` by name, and a note for each file that holds none.

    A file that names another control branch came along with a merge; it is not of this one.
    """
    found, notes = [], []
    for entry in view.list_dir(ROLLOUTS_FOLDER.rstrip("/")):
        path = f"{ROLLOUTS_FOLDER}{entry.name}"
        if rollout_name(path) is None or not entry.mode.startswith("100"):
            continue
        rollout, findings = parse_rollout(view.read(path) or b"", path)
        if rollout is None:
            first = findings[0]
            notes.append(f"{plain(path)} assigns nobody: line {first.line}: {plain(first.message)}")
        elif rollout.control == control:
            found.append(rollout)
    return found, notes


def live_on(view: TipView, control: str) -> list[str]:
    """The names of the rollouts of a commit of ``control`` that are running or paused."""
    return [rollout.name for rollout in rollouts_on(view, control)[0] if rollout.is_live]


def only_live(view: TipView, control: str) -> str:
    """The one rollout that is running or paused.

    Raises UsageError where there is none, or several.
    """
    names = live_on(view, control)
    if len(names) == 1:
        return names[0]
    if names:
        raise UsageError(f"{len(names)} rollouts run: {', '.join(names)}", "say which with --name")
    others = [f"{r.name} ({r.state.phase})" for r in rollouts_on(view, control)[0]]
    raise UsageError(
        f"no rollout runs on {plain(control)}",
        f"name one with --name: {', '.join(others)}" if others else "memrepo rollout start",
    )


def rollout_on(view: TipView, name: str, control: str) -> tuple[Rollout, bytes]:
    """The rollout called ``name`` and its file's bytes, on a commit of ``control``.

    Raises UsageError where there is none or it is of another branch, BadInput for a file
    that is no rollout.
    """
    path = rollout_path(checked_name(name))
    data = view.read(path)
    if data is None:
        names = tuple(rollout.name for rollout in rollouts_on(view, control)[0])
        hint = closest(name, names) or f"there are: {', '.join(names) or 'none'}"
        raise UsageError(f"there is no rollout {shown(name)} on {plain(control)}", hint)
    rollout = read_rollout(data, path)
    if rollout.control != control:
        raise UsageError(
            f"{name} is controlled by {plain(rollout.control)}, not by {plain(control)}",
            f"add --control {plain(rollout.control)}",
        )
    return rollout, data


def open_rollout(
    path: str | Path = ".",
    name: str = "",
    *,
    control: str = CONTROL,
    remote: str | None = None,
    fetch: bool = False,
) -> Assigner:
    """The rollout of the memory repository at ``path``, to ask which branch a unit reads.

    Without ``name`` it is the one that runs. Read once: open it again to see later steps.
    With ``fetch`` the remote is asked. Raises UsageError, BadInput, UnknownRevision, and
    with ``fetch`` RemoteFailed.

    >>> open_rollout("my-memory", "new-classifier").branch_for("user-3")
    'feature/new-classifier'
    """
    with Repository.open(Path(path)) as repo:
        at = remote or default_remote(repo)
        view = repo.view(published(repo, at, control) if fetch else known(repo, at, control))
        return Assigner(rollout_on(view, name or only_live(view, control), control)[0])


def events_of(repo: Repository, tip: str, name: str) -> list[Event]:
    """The commits up to ``tip`` that changed the rollout's file, the newest first.

    Back to where the file came to be: an older one of the same name was another rollout.
    """
    path = rollout_path(name)
    found = []
    for entry in log_paths(repo, [path], tip):
        data = repo.view(entry.commit).read(path)
        if data is None:
            break
        message = f"{entry.subject}\n\n{entry.body}"
        ours = trailer(message, TRAILER) == name
        found.append(
            Event(
                entry.commit,
                entry.committed,
                f"{entry.author} <{entry.email}>",
                entry.subject,
                trailer(message, VERDICT) if ours else "",
                trailer(message, REASON) if ours else "",
                parse_rollout(data, path)[0],
            )
        )
    return found


def last_analysis(events: list[Event]) -> Event | None:
    """The newest change of a rollout that an analysis decided, from its events."""
    return next((event for event in events if event.verdict), None)


def weights_in(events: list[Event]) -> tuple[Weight, ...]:
    """The weights that were in force and since when, in order of time, from a rollout's events."""
    weights: dict[datetime, int] = {}
    for event in reversed(events):
        if event.rollout is not None:
            weights[event.rollout.state.since] = weight_in_force(event.rollout)
    return tuple(Weight(since, weights[since]) for since in sorted(weights))
