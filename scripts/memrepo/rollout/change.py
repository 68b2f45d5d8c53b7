"""One change of a rollout's state: decided on the published control branch, one commit there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec

from memrepo.cycle.commit import judge_message
from memrepo.errors import PermissionDenied
from memrepo.gate.policy import policy_at
from memrepo.gitrepo.branches import commit_onto
from memrepo.gitrepo.commit import CommitRequest
from memrepo.gitrepo.land import land
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.protocol import rolloutmoves as moves
from memrepo.protocol.rollout import Rollout, rollout_path, weight_text
from memrepo.protocol.rolloutdump import with_state
from memrepo.protocol.rolloutmoves import Move, Moved, NothingToDo
from memrepo.protocol.rolloutwords import describe_change
from memrepo.rollout.message import Why, message_of
from memrepo.rollout.read import CONTROL, published, rollout_on


class Turned(msgspec.Struct, frozen=True):
    """A decided change: the rollout after it, what is said of it, and the file's new bytes.

    ``before`` is the rollout as it was, None for a new one; ``parent`` the commit to put the
    change on, "" for the tip itself; ``treatment`` what is brought in with it, "" for nothing.
    """

    rollout: Rollout
    said: str
    data: bytes
    before: Rollout | None
    parent: str = ""
    treatment: str = ""


#: Decides on a tip of the control branch; it is asked again on each new one.
Decide = Callable[[TipView], Turned | NothingToDo]


class At(msgspec.Struct, frozen=True, kw_only=True):
    """Where a change is made and by whose word: the control branch, the remote it is
    published on (None: this repository), why, and whether only to say what would be."""

    control: str = CONTROL
    remote: str | None = None
    why: Why = Why()
    dry_run: bool = False


class Done(msgspec.Struct, frozen=True):
    """What became of a change.

    ``commit`` is the one that was made, "" where there was nothing to do or only to say.
    ``words`` say what it does for the units; ``number`` and ``url`` are of a pull request (0
    and "" without one), ``branch`` its own. ``next`` is what a person may want to do now, or "".
    """

    name: str
    said: str
    changed: bool
    rollout: Rollout | None = None
    commit: str = ""
    dry_run: bool = False
    words: tuple[str, ...] = ()
    branch: str = ""
    number: int = 0
    url: str = ""
    next: str = ""
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape."""
        state = self.rollout.state if self.rollout else None
        return {
            "name": self.name,
            "changed": self.changed,
            "said": self.said,
            "words": list(self.words),
            "phase": state.phase if state else None,
            "step": state.step if state else None,
            "weight": weight_text(state.weight) if state else None,
            "commit": self.commit,
            "dry_run": self.dry_run,
            "branch": self.branch,
            "pull_request": self.number,
            "url": self.url,
            "next": self.next,
        }


def change(repo: Repository, name: str, decide: Decide, at: At) -> Done:
    """Make the change that ``decide`` finds right: one commit, published by the race rule.

    When another writer was faster, all is decided again on the new tip. Killed anywhere,
    the file is as before or as after. Raises what ``decide`` raises, UnknownRevision
    without the control branch, RemoteFailed, PermissionDenied, GateRefused for a reason
    that holds a secret.
    """
    last: list[Turned | NothingToDo] = []

    def build(view: TipView) -> str | None:
        judge_message(at.why.reason, policy_at(repo, view.commit))
        last[:] = [decide(view)]
        return commit_of(repo, view, last[0], at.why) if isinstance(last[0], Turned) else None

    if at.dry_run:
        tip = published(repo, at.remote, at.control)
        last.append(decide(repo.view(tip)))
        commit = ""
    else:
        try:
            commit = land(repo, at.remote, at.control, build).commit
        except PermissionDenied as error:
            raise PermissionDenied(
                error.message,
                f"let whoever runs this push to {plain(at.control)}, or edit the file in a pull"
                " request: its review says what it does",
            ) from None
    notes = tuple(repo.notes)
    repo.notes.clear()
    turned = last[0]
    if isinstance(turned, NothingToDo):
        return Done(name, turned.said, False, notes=notes, dry_run=at.dry_run)
    words = words_of(turned)
    return Done(name, turned.said, True, turned.rollout, commit, at.dry_run, words, notes=notes)


def words_of(turned: Turned) -> tuple[str, ...]:
    """What a change does for the units, a sentence each."""
    return tuple(describe_change(turned.before, turned.rollout).splitlines())


def commit_of(repo: Repository, view: TipView, turned: Turned, why: Why) -> str:
    """The commit of a change on ``view`` (or on the change's own parent); no ref is moved."""
    message = message_of(turned.rollout, turned.said, why, turned.treatment)
    request = CommitRequest({rollout_path(turned.rollout.name): turned.data}, message)
    commit = commit_onto(repo, turned.parent or view.commit or "", lambda _: request)
    if commit is None:
        raise AssertionError("a change is always a commit")
    return commit


def moved(repo: Repository, name: str, at: At, move: Callable[[Rollout], Move]) -> Done:
    """The change that a move of ``protocol/rolloutmoves.py`` makes to a rollout."""

    def decide(view: TipView) -> Turned | NothingToDo:
        rollout, data = rollout_on(view, name, at.control)
        return turn(move(rollout), rollout, data)

    return change(repo, name, decide, at)


def turn(move: Move, before: Rollout, data: bytes) -> Turned | NothingToDo:
    """A move as a change of the file's bytes ``data``: its state alone is replaced."""
    if not isinstance(move, Moved):
        return move
    path = rollout_path(move.rollout.name)
    return Turned(move.rollout, move.said, with_state(data, move.rollout.state, path), before)


def step(
    repo: Repository,
    name: str,
    at: At,
    *,
    to: int | None = None,
    early: bool = False,
    now: datetime | None = None,
) -> Done:
    """To the next step, or to step ``to`` and nothing where that is reached.

    Without ``to`` it is the one after what is published now, so that of two schedules at
    once one makes the step. Raises as :func:`memrepo.protocol.rolloutmoves.step`.
    """
    when = now or datetime.now(UTC)
    if to is None:
        tip = published(repo, at.remote, at.control)
        rollout, _ = rollout_on(repo.view(tip), name, at.control)
        to = rollout.state.step + 1

    def move(rollout: Rollout) -> Move:
        asked = None if rollout.is_last_step else to
        return moves.step(rollout, when, to=asked, early=early)

    return moved(repo, name, at, move)


def pause(repo: Repository, name: str, at: At, *, now: datetime | None = None) -> Done:
    """Stay at the present weight."""
    when = now or datetime.now(UTC)
    return moved(repo, name, at, lambda rollout: moves.pause(rollout, when))


def resume(repo: Repository, name: str, at: At, *, now: datetime | None = None) -> Done:
    """Run again; the step's hold begins anew."""
    when = now or datetime.now(UTC)
    return moved(repo, name, at, lambda rollout: moves.resume(rollout, when))


def abort(repo: Repository, name: str, at: At, *, now: datetime | None = None) -> Done:
    """Every unit back to the control branch; the treatment branch stays."""
    when = now or datetime.now(UTC)
    done = moved(repo, name, at, lambda rollout: moves.abort(rollout, when))
    if done.rollout is None:
        return done
    branch = plain(done.rollout.treatment)
    remove = f"git push {at.remote} --delete {branch}" if at.remote else f"git branch -D {branch}"
    return msgspec.structs.replace(done, next=f"{branch} stays; to remove it: {remove}")
