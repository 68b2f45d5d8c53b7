"""What a schedule runs: analyze, then step, hold or abort. Nothing but good data goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, Literal

import msgspec

from memrepo.gitrepo.process import plain
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.rollout import Rollout
from memrepo.protocol.timestamps import iso
from memrepo.rollout.analysis import Analyzed, analyze_rollout
from memrepo.rollout.change import At, Done, abort, step
from memrepo.rollout.message import Why
from memrepo.rollout.read import live_on, only_live, published, rollout_on
from memrepo.stats.analysis import Analysis

#: Outcomes of which the newest is older than this never let a rollout go on.
STALE_AFTER = timedelta(days=1)

Action = Literal["step", "hold", "abort", "none"]


class Auto(msgspec.Struct, frozen=True):
    """What a run came to: "none" where no rollout is running. ``said`` is one sentence.

    ``done`` is the change, None where there was none.
    """

    action: Action
    said: str
    rollout: Rollout | None = None
    analysis: Analysis | None = None
    done: Done | None = None

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape, without the analysis."""
        return {
            "action": self.action,
            "said": self.said,
            "name": self.rollout.name if self.rollout else None,
            "change": self.done.as_json() if self.done else None,
        }


def auto(
    repo: Repository,
    name: str | None,
    metrics: BinaryIO,
    at: At,
    *,
    stale_after: timedelta = STALE_AFTER,
    now: datetime | None = None,
) -> Auto:
    """Abort on harm, step when nothing speaks against it and the hold is over, else hold.

    Without ``name`` it is the rollout that runs. A promotion is left to a person: the run
    says that it can be made. Decided on a state that another writer changed meanwhile, a
    step is not made. Raises BadInput for metrics with a mistake; the rollout stays then.
    """
    when = now or datetime.now(UTC)
    view = repo.view(published(repo, at.remote, at.control))
    if not name and not live_on(view, at.control):
        return Auto("none", f"no rollout runs on {plain(at.control)}")
    name = name or only_live(view, at.control)
    rollout, _ = rollout_on(view, name, at.control)
    if not rollout.is_live:
        return Auto("none", f"{name} is {rollout.state.phase}", rollout)
    found = analyze_rollout(repo, name, metrics, at, stale_after=stale_after, now=when)
    return _act(repo, found, at, when)


def _act(repo: Repository, found: Analyzed, at: At, when: datetime) -> Auto:
    rollout, analysis = found.rollout, found.analysis
    name = rollout.name
    why = Why(at.why.reason, at.why.by, analysis.verdict, analysis.reason)
    decided = msgspec.structs.replace(at, why=why)
    if analysis.verdict == "abort":
        done = abort(repo, name, decided, now=when)
        return Auto("abort", f"{done.said}: {analysis.reason}", rollout, analysis, done)
    if not analysis.may_step:
        return Auto("hold", _held(rollout, analysis), rollout, analysis)
    if rollout.due is not None and when < rollout.due:
        said = f"{name}: until {iso(rollout.due)}"
        return Auto("hold", said, rollout, analysis)
    done = step(repo, name, decided, to=rollout.state.step + 1, now=when)
    return Auto("step" if done.changed else "hold", done.said, rollout, analysis, done)


def _held(rollout: Rollout, analysis: Analysis) -> str:
    if analysis.verdict == "promote":
        return f"{rollout.name} can be promoted: {analysis.reason}"
    if rollout.state.phase == "paused":
        return f"{rollout.name} is paused: {analysis.reason}"
    return f"{rollout.name}: {analysis.reason}"
