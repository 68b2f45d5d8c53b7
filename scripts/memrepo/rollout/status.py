"""Where rollouts stand: phase and weight, what the treatment changes, what control gained."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from memrepo.errors import UnknownRevision
from memrepo.gitrepo.log import messages_between, trailer
from memrepo.gitrepo.published import Published
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.rollout import Rollout, weight_text
from memrepo.protocol.timestamps import iso
from memrepo.rollout.change import At
from memrepo.rollout.message import TRAILER
from memrepo.rollout.read import (
    Event,
    events_of,
    last_analysis,
    published,
    rollout_on,
    rollouts_on,
)
from memrepo.rollout.treatment import Standing, stand, treatment_tip
from memrepo.semdiff.asjson import diff_as_json


class Status(msgspec.Struct, frozen=True):
    """One rollout as it is published.

    ``standing`` is None where the treatment branch is gone, or is in the control branch.
    ``drift`` counts the control branch's commits since the start that are not the
    rollout's own. ``last`` is the newest change that an analysis decided.
    """

    rollout: Rollout
    now: datetime
    events: tuple[Event, ...]
    standing: Standing | None
    drift: int
    last: Event | None

    @property
    def seconds_in_step(self) -> int:
        """How long it has been in its present state."""
        return max(0, int((self.now - self.rollout.state.since).total_seconds()))

    @property
    def fits(self) -> bool | None:
        """Whether the treatment could go in now; None where it is gone or in."""
        return None if self.standing is None else not self.standing.outcome.left_out

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape; ``diff`` is null where there is no treatment to compare."""
        rollout, state = self.rollout, self.rollout.state
        due = rollout.due if not rollout.is_last_step else None
        last = self.last
        return {
            "name": rollout.name,
            "control": rollout.control,
            "treatment": rollout.treatment,
            "agents": list(rollout.agents),
            "unit": rollout.unit,
            "phase": state.phase,
            "step": state.step,
            "steps": [{"weight": weight_text(s.weight), "hold": s.hold} for s in rollout.steps],
            "weight": weight_text(state.weight),
            "since": iso(state.since),
            "seconds_in_step": self.seconds_in_step,
            "due": iso(due) if due else None,
            "drift": {"commits": self.drift, "fits": self.fits},
            "verdict": self.standing.review.verdict if self.standing else None,
            "diff": diff_as_json(self.standing.review.diff) if self.standing else None,
            "last_analysis": last
            and {
                "verdict": last.verdict,
                "finding": last.finding,
                "commit": last.commit,
                "time": last.time,
            },
            "changes": [
                {
                    "commit": event.commit,
                    "time": event.time,
                    "author": event.author,
                    "subject": event.subject,
                }
                for event in self.events
            ],
        }


def statuses(
    repo: Repository, name: str | None, at: At, *, now: datetime | None = None
) -> tuple[list[Status], list[str]]:
    """The rollout called ``name``, or all of the control branch; and notes on unreadable files.

    Raises as :func:`memrepo.rollout.read.rollout_on`, and RemoteFailed.
    """
    when = now or datetime.now(UTC)
    shelf = Published(repo, at.remote)
    tip = published(repo, at.remote, at.control)
    shelf.whole(at.control)
    view = repo.view(tip)
    if name is not None:
        wanted, notes = [rollout_on(view, name, at.control)[0]], list[str]()
    else:
        wanted, notes = rollouts_on(view, at.control)
    return [_status(repo, rollout, at, tip, when) for rollout in wanted], notes


def _status(repo: Repository, rollout: Rollout, at: At, tip: str, now: datetime) -> Status:
    events = events_of(repo, tip, rollout.name)
    standing = None
    if rollout.state.phase != "promoted":
        try:
            head = treatment_tip(repo, at.remote, rollout.treatment)
            standing = stand(repo, at.control, tip, rollout.treatment, head)
        except UnknownRevision:
            standing = None
    started = next(
        (e for e in reversed(events) if e.rollout and e.rollout.state.phase != "draft"), None
    )
    drift = 0
    if started is not None:
        since = messages_between(repo, started.commit, tip)
        drift = sum(trailer(message, TRAILER) != rollout.name for _, message in since)
    return Status(rollout, now, tuple(events), standing, drift, last_analysis(events))
