"""Start a rollout: the treatment must pass the gate and fit its control branch."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from memrepo.errors import GateRefused, UsageError
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.published import Published
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.protocol import rolloutmoves as moves
from memrepo.protocol.rollout import Rollout, overlap, rollout_path
from memrepo.protocol.rolloutdump import dump_rollout
from memrepo.protocol.rolloutmoves import Moved, NothingToDo
from memrepo.rollout.change import At, Done, Turned, change, turn
from memrepo.rollout.options import Wanted, draft
from memrepo.rollout.read import checked_name, rollout_on, rollouts_on
from memrepo.rollout.treatment import Standing, refuse, stand, treatment_tip

#: What a draft on the control branch says already; options do not say it again.
_SETTINGS = ("agents", "steps", "unit", "guardrails", "goals", "layered")


def start(repo: Repository, asked: Wanted, at: At, *, now: datetime | None = None) -> Done:
    """Write the rollout and start it at its first step, or start the draft that is there.

    Without ``asked.agents`` it covers those that the treatment changes. Raises GateRefused
    for a treatment that a review would fail, NeedsPerson where it cannot go onto the control
    branch, UsageError where it brings nothing, where another running rollout covers an agent
    of it, or where a draft of that name says something else.
    """
    name = checked_name(asked.name)
    when = now or datetime.now(UTC)
    Published(repo, at.remote).whole(at.control)

    def decide(view: TipView) -> Turned | NothingToDo:
        if view.exists(rollout_path(name)):
            rollout, data = rollout_on(view, name, at.control)
            _same(rollout, asked)
            turned = turn(moves.start(rollout, when), rollout, data)
            if isinstance(turned, Turned):
                _stands(repo, view, at, rollout.treatment)
                _alone(view, turned.rollout)
            return turned
        if not asked.treatment:
            raise UsageError(
                f"there is no rollout {name} on {plain(at.control)} yet", "name its --treatment"
            )
        standing = _stands(repo, view, at, asked.treatment)
        agents = asked.agents or _changed(standing)
        move = moves.start(draft(asked, at.control, agents, when), when)
        if not isinstance(move, Moved):
            return move
        _alone(view, move.rollout)
        return Turned(move.rollout, move.said, dump_rollout(move.rollout), None)

    return _warned(change(repo, name, decide, at))


def _warned(done: Done) -> Done:
    if done.rollout is None or done.rollout.guardrails:
        return done
    note = (
        "warning: it has no guardrail, so outcomes can only ever hold it; declare one with"
        f" --guardrail METRIC:rate:higher:0.02, or by a pull request in {rollout_path(done.name)}"
    )
    return msgspec.structs.replace(done, notes=(*done.notes, note))


def _changed(standing: Standing) -> Sequence[str]:
    """The agents that the treatment changes; every agent where it changes shared memory alone."""
    return tuple(agent.agent_id for agent in standing.review.diff.agents) or ("*",)


def _same(rollout: Rollout, asked: Wanted) -> None:
    if asked.treatment and asked.treatment != rollout.treatment:
        raise UsageError(
            f"{rollout.name} is a rollout of {plain(rollout.treatment)}",
            "give the new rollout another name",
        )
    default = Wanted(name="", treatment="")
    for key in _SETTINGS:
        given = getattr(asked, key)
        if given not in (getattr(default, key), getattr(rollout, key)):
            raise UsageError(
                f"{rollout.name} is written already, with other {key} than the options say",
                f"edit {rollout_path(rollout.name)} in a pull request, or use another name",
            )


def _stands(repo: Repository, view: TipView, at: At, treatment: str) -> Standing:
    """How the treatment stands; raises where it must not be tried."""
    control, tip = at.control, treatment_tip(repo, at.remote, treatment)
    standing = stand(repo, control, view.commit or "", treatment, tip)
    refuse(standing.outcome, control)
    if standing.outcome.result == "nothing":
        raise UsageError(
            f"{plain(treatment)} holds nothing that {plain(control)} does not",
            "commit the new memory there first",
        )
    review = standing.review
    if review.verdict == "fail":
        raise GateRefused(
            f"a review would not let {plain(treatment)} into {plain(control)}",
            "put it right on the branch, push it, and start again",
            review.findings,
        )
    return standing


def _alone(view: TipView, rollout: Rollout) -> None:
    others = [one for one in rollouts_on(view, rollout.control)[0] if one.name != rollout.name]
    for one, other, agents in overlap([*others, rollout]):
        if rollout in (one, other):
            theirs = other if one == rollout else one
            raise UsageError(
                f"{theirs.name} is {theirs.state.phase} and covers {agents} too",
                "end it, name other --agents, or declare both layered",
            )
