"""The merge as one pull request: its branch built on, its text kept up to date."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from memrepo.errors import RemoteFailed
from memrepo.forge.forge import MOST_CHARACTERS, Forge
from memrepo.gitrepo.log import messages_between
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.published import Published, tries
from memrepo.knowledge.body import body_text
from memrepo.knowledge.branches import ground
from memrepo.knowledge.merge import chosen, notes_of, run_through, tip_of
from memrepo.knowledge.names import replayed_in
from memrepo.knowledge.outcome import MergeReport
from memrepo.knowledge.place import Place, brought_on, find_place, put, stuck
from memrepo.memory import MemoryRepo
from memrepo.report.markdown import review_markdown

_MOST_TRIES = 10
_MOST_SECONDS = 300.0
_ROOM_FOR_WORDS = 24_000


def propose_merge(
    repo: MemoryRepo,
    forge: Forge,
    branches: Sequence[str] = (),
    *,
    into: str = "main",
    remote: str | None = None,
    now: datetime | None = None,
) -> MergeReport:
    """As :func:`memrepo.knowledge.merge.merge`, into one pull request for ``into``.

    The open one is built on, commits of people included. Where ``into`` moved, its commits
    are brought onto the new tip first, by a push from exactly the commit that was read.
    """
    git = repo.repository
    shelf = Published(git, remote)
    for number in tries(_MOST_TRIES, _MOST_SECONDS):
        main = tip_of(shelf, into)
        place = find_place(shelf, forge, into, main, now or datetime.now(UTC))
        moved = brought_on(shelf, place, into, main)
        at = ground(git, into, moved.head, trusted=main)
        tips = chosen(shelf, branches, at.policy.knowledge.order)
        outcomes = [stuck(place, moved)] if moved.conflicts else run_through(at, tips)
        before = place.tip or main
        head = before if moved.conflicts else at.commit
        if head != before and not put(shelf, place, head):
            continue
        place = msgspec.structs.replace(place, tip=head if head != main else place.tip)
        report = MergeReport(
            into, "pr", main, head, tuple(outcomes),
            moved=head != before, tries=number, branch=place.branch, notes=notes_of(at),
        )  # fmt: skip
        if head == main and place.pull is None:
            return msgspec.structs.replace(report, branch="")
        return _pull_request(repo, forge, place, report, tips)
    raise RemoteFailed(
        f"{plain(into)} or the pull request's branch moved at every one of {_MOST_TRIES} tries",
        "run it again in a while",
    )


def _pull_request(
    repo: MemoryRepo, forge: Forge, place: Place, report: MergeReport, tips: dict[str, str]
) -> MergeReport:
    """Open the pull request, or bring its text up to date; the report with its number."""
    brought = _brought(repo, report, tips)
    review = repo.review(report.before, report.after, names=(report.into, place.branch))
    text = body_text(
        place.pull.body if place.pull else "",
        report.into,
        brought,
        report.branches,
        review_markdown(review, limit=MOST_CHARACTERS - _ROOM_FOR_WORDS),
    )[:MOST_CHARACTERS]
    if place.pull is None:
        sources = ", ".join(sorted(name.partition("/")[2] for name in brought if name))
        title = f"Knowledge: {plain(sources, 150) or 'decisions'}"
        done = forge.open_pull_request(
            title=title, body=text, head_ref=place.branch, base_ref=report.into
        )
    else:
        done = forge.update_pull_request(place.pull.number, body=text)
    return msgspec.structs.replace(
        report,
        moved=report.moved or done.operation != "unchanged",
        number=done.pull_request.number,
        url=done.pull_request.url,
        notes=(*report.notes, *done.notes),
    )


def _brought(repo: MemoryRepo, report: MergeReport, tips: dict[str, str]) -> dict[str, list[str]]:
    """The subjects of the pull request's commits, oldest first, by the branch they are from."""
    git = repo.repository
    owner = {
        commit: branch
        for branch, tip in tips.items()
        for commit, _ in messages_between(git, report.before, tip)
    }
    found: dict[str, list[str]] = {}
    for _, message in reversed(messages_between(git, report.before, report.after)):
        marks = replayed_in(message)
        branch = next((owner[mark] for mark in marks if mark in owner), "")
        found.setdefault(branch, []).append(message.partition("\n")[0])
    return found
