"""Promote a rollout: its treatment into the control branch, in one move with its new state."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from memrepo.cycle.commit import judge_message
from memrepo.errors import NeedsPerson, RemoteFailed
from memrepo.forge.forge import MOST_CHARACTERS, Forge, PullRequest
from memrepo.gate.policy import policy_at
from memrepo.gitrepo.branches import is_ancestor
from memrepo.gitrepo.log import messages_between, trailer
from memrepo.gitrepo.process import plain
from memrepo.gitrepo.published import Published, tries
from memrepo.gitrepo.repository import Repository, TipView
from memrepo.knowledge.branches import ground, look
from memrepo.knowledge.names import replayed_in
from memrepo.protocol import rolloutmoves as moves
from memrepo.protocol.rolloutmoves import NothingToDo
from memrepo.report.escape import code_markdown, for_markdown
from memrepo.report.markdown import review_markdown
from memrepo.review.review import review_change
from memrepo.rollout.change import At, Decide, Done, Turned, change, commit_of, turn, words_of
from memrepo.rollout.message import TRAILER, TREATMENT
from memrepo.rollout.read import events_of, known, last_analysis, published, rollout_on
from memrepo.rollout.treatment import refuse, treatment_tip

#: Below it lie the branches of promotions that wait in a pull request.
PROPOSED = "memory/rollout/"
_MOST_TRIES = 10
_MOST_SECONDS = 300.0
_ROOM_FOR_WORDS = 4_000


def promote(
    repo: Repository, name: str, at: At, *, early: bool = False, now: datetime | None = None
) -> Done:
    """The treatment's commits made again on the control branch, and the state after them.

    All of it is one push: a line of commits that only moves the branch forward. Raises
    UsageError before the last step or the end of its hold (unless ``early``), NeedsPerson
    where both branches changed one place, GateRefused for what a review would fail.
    """
    done = change(repo, name, _decide(repo, name, at, early, now or datetime.now(UTC)), at)
    return _with_verdict(repo, done, at) if done.changed else done


def _with_verdict(repo: Repository, done: Done, at: At) -> Done:
    """With what the last analysis said, for the person who promotes."""
    tip = known(repo, at.remote, at.control)
    last = last_analysis(events_of(repo, tip, done.name))
    said = "No analysis has decided a step of it."
    if last is not None:
        said = f"The last analysis that decided a step, {last.time[:10]}: {last.verdict}."
        said = f"{said} {last.finding}"
    return msgspec.structs.replace(done, words=(*done.words, said))


def _decide(repo: Repository, name: str, at: At, early: bool, when: datetime) -> Decide:
    Published(repo, at.remote).whole(at.control)

    def decide(view: TipView) -> Turned | NothingToDo:
        rollout, data = rollout_on(view, name, at.control)
        turned = turn(moves.promote(rollout, when, early=early), rollout, data)
        if isinstance(turned, NothingToDo):
            return turned
        tip = treatment_tip(repo, at.remote, rollout.treatment)
        outcome = look(ground(repo, at.control, view.commit or ""), rollout.treatment, tip)
        refuse(outcome, at.control)
        return msgspec.structs.replace(turned, parent=outcome.head, treatment=tip)

    return decide


def propose_promotion(
    repo: Repository,
    forge: Forge,
    name: str,
    at: At,
    *,
    early: bool = False,
    now: datetime | None = None,
) -> Done:
    """As :func:`promote`, as a pull request; with its merge the rollout is promoted.

    Until then units are assigned as before. Run again, the branch is made anew where the
    control branch or the treatment moved. Raises NeedsPerson where people have commits on it.
    """
    branch = f"{PROPOSED}{name}"
    shelf = Published(repo, at.remote)
    decide = _decide(repo, name, at, early, now or datetime.now(UTC))
    for _ in tries(_MOST_TRIES, _MOST_SECONDS):
        main = published(repo, at.remote, at.control)
        judge_message(at.why.reason, policy_at(repo, main))
        turned = decide(repo.view(main))
        if isinstance(turned, NothingToDo):
            return Done(name, turned.said, False, dry_run=at.dry_run)
        tip = shelf.tip(branch)
        commit = tip if tip and _is_current(repo, main, tip, turned.treatment) else None
        if commit is None:
            if tip is not None:
                _refuse_to_drop(repo, branch, main, tip)
            commit = commit_of(repo, repo.view(main), turned, at.why)
        if at.dry_run:
            would = Done(name, turned.said, True, turned.rollout, dry_run=True, branch=branch)
            return _with_verdict(repo, would, at)
        if commit == tip or shelf.move(branch, tip, commit, pinned=tip is not None) == "moved":
            made = (branch, main, commit, commit != tip)
            return _with_verdict(repo, _pull_request(repo, forge, turned, at, made), at)
    raise RemoteFailed(
        f"{plain(branch)} was moved by others at every one of {_MOST_TRIES} tries",
        "run it again in a while",
    )


def _is_current(repo: Repository, main: str, tip: str, treatment: str) -> bool:
    """Whether a branch builds on the control branch as it is and holds this treatment."""
    return is_ancestor(repo, main, tip) and any(
        trailer(message, TREATMENT) == treatment for _, message in messages_between(repo, main, tip)
    )


def _refuse_to_drop(repo: Repository, branch: str, main: str, tip: str) -> None:
    for commit, message in messages_between(repo, main, tip):
        if not trailer(message, TRAILER) and not replayed_in(message):
            raise NeedsPerson(
                f"{plain(branch)} holds a commit that a person made: {commit[:12]}"
                f" {plain(message.partition(chr(10))[0], 80)}",
                "merge its pull request, or close it and delete the branch",
            )


def _pull_request(
    repo: Repository, forge: Forge, turned: Turned, at: At, made: tuple[str, str, str, bool]
) -> Done:
    branch, main, commit, pushed = made
    rollout = turned.rollout
    review = review_change(repo, main, commit, (at.control, branch))
    words = (
        f"Promotes the rollout {code_markdown(rollout.name)}: merged, {code_markdown(at.control)}"
        f" holds what {code_markdown(rollout.treatment)} tried, and every unit reads it there."
    )
    if at.why.reason:
        words += f"\n\n{for_markdown(at.why.reason, breaks=True)}"
    report = review_markdown(review, limit=MOST_CHARACTERS - _ROOM_FOR_WORDS)
    body = words[: _ROOM_FOR_WORDS - 100] + f"\n\n{report}"
    opened = forge.find_pull_requests(branch, at.control)
    pull: PullRequest
    if opened:
        updated = forge.update_pull_request(opened[0].number, body=body)
        pull, new, notes = updated.pull_request, updated.operation != "unchanged", updated.notes
    else:
        title = f"Rollout {rollout.name}: promote {plain(rollout.treatment, 150)}"
        done = forge.open_pull_request(title=title, body=body, head_ref=branch, base_ref=at.control)
        pull, new, notes = done.pull_request, done.operation != "unchanged", done.notes
    said = f"{turned.said}, in pull request #{pull.number}"
    return Done(
        rollout.name, said, pushed or new, None, commit if pushed else "",
        words=words_of(turned), branch=branch, number=pull.number, url=pull.url, notes=notes,
        next="the rollout goes on as it is until the pull request is merged",
    )  # fmt: skip
