"""Analyze a rollout as Git has it: outcomes by the weights that were in force, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import BinaryIO

import msgspec

from memrepo.gitrepo.published import Published
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.rollout import Rollout
from memrepo.rollout.change import At
from memrepo.rollout.read import events_of, published, rollout_on, weights_in
from memrepo.stats.analysis import Analysis
from memrepo.stats.verdict import analyze


class Analyzed(msgspec.Struct, frozen=True):
    """An analysis, and the rollout as it was published at ``commit``."""

    rollout: Rollout
    commit: str
    analysis: Analysis


def analyze_rollout(
    repo: Repository,
    name: str,
    metrics: BinaryIO,
    at: At,
    *,
    stale_after: timedelta | None = None,
    now: datetime | None = None,
) -> Analyzed:
    """What the outcomes in ``metrics`` say of the rollout on the published control branch.

    The weight of each time is what the file's history says. Raises BadInput with the line
    of the first mistake in ``metrics``; as for :func:`memrepo.rollout.read.rollout_on`.
    """
    shelf = Published(repo, at.remote)
    tip = published(repo, at.remote, at.control)
    rollout, _ = rollout_on(repo.view(tip), name, at.control)
    shelf.whole(at.control)
    weights = weights_in(events_of(repo, tip, name))
    found = analyze(
        metrics, rollout, weights, now=now or datetime.now(UTC), stale_after=stale_after
    )
    return Analyzed(rollout, tip, found)
