"""From a published release to a tree without what it holds: by a push, or by a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memrepo.archive.collect import newest_of_each
from memrepo.archive.outcome import with_prune, with_releases
from memrepo.archive.prepare import Prepared, Request
from memrepo.archive.proof import Proven
from memrepo.archive.propose import keep_open, put_on_branch
from memrepo.archive.prune import Built, build_prune, commit_built
from memrepo.archive.summary import headline, render_summary
from memrepo.archive.values import ArchiveOutcome, Tell
from memrepo.forge.forge import Forge
from memrepo.gitrepo.land import land
from memrepo.gitrepo.repository import Repository, TipView


class Removal(msgspec.Struct, frozen=True):
    """What may leave the tree: path to blob id, and the releases that hold it.

    ``known`` are those that the index does not know yet, ``indexed`` those it does.
    """

    wanted: Mapping[str, str]
    known: Sequence[Proven]
    indexed: Sequence[Proven]


def finish(
    repo: Repository,
    forge: Forge,
    request: Request,
    prepared: Prepared,
    outcome: ArchiveOutcome,
    removal: Removal,
    tell: Tell,
) -> ArchiveOutcome:
    """Take out of the tree what is proven, the way ``outcome.mode`` says; what came of it."""
    releases = [*removal.indexed, *removal.known]
    outcome = with_releases(outcome, releases)
    if outcome.mode == "no-prune":
        state = "published" if removal.known else "nothing"
        return msgspec.structs.replace(outcome, state=state, sizes_after=outcome.sizes_before)
    if not releases:
        return msgspec.structs.replace(outcome, state="nothing")

    last: list[Built | None] = []

    newest = newest_of_each(prepared.snapshots)

    def build(view: TipView) -> Built | None:
        tell("taking out", 0, len(removal.wanted))
        last.append(build_prune(repo, view, removal.wanted, newest, removal.known, removal.indexed))
        return last[-1]

    base = prepared.start.branch
    if outcome.mode == "pr":
        up = put_on_branch(repo, forge, request.remote, base, outcome.release_tag, build)
        if up is None:
            return with_prune(outcome, prepared, None, "", "nothing")
        outcome = with_prune(outcome, prepared, up.built, up.commit, "proposed")
        title, body = headline(outcome), render_summary(outcome)
        pull = keep_open(forge, up.branch, base, title=title, body=body)
        return msgspec.structs.replace(outcome, pull_request=pull.number, pull_request_url=pull.url)

    def commit(view: TipView) -> str | None:
        built = build(view)
        return commit_built(repo, built, [view.commit] if view.commit else []) if built else None

    landed = land(repo, request.remote, base, commit)
    return with_prune(outcome, prepared, last[-1], landed.commit, "pruned")
