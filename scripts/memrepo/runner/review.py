"""``actions/review``: judge a change, show it, say it on its pull request."""

from __future__ import annotations

import msgspec

from memrepo.archive.vouch import needs_word, vouch
from memrepo.errors import MemrepoError
from memrepo.memory import MemoryRepo
from memrepo.report.verdict import Review, verdict_of
from memrepo.runner.access import open_workflow_forge
from memrepo.runner.change import Change, brought, change_of, opened
from memrepo.runner.inputs import ReviewInputs, stops
from memrepo.runner.job import Job
from memrepo.runner.log import remark, say, stopped
from memrepo.runner.outputs import set_outputs
from memrepo.runner.publish import put_on_pull_request
from memrepo.runner.reports import set_review_outputs, show, write_reports


def run(job: Job, inputs: ReviewInputs) -> int:
    """Judge, report, publish. The exit code: 1 when the verdict is at ``fail-on`` or worse.

    The reports and the outputs are there before the forge is asked for anything, so that a
    forge that fails takes nothing else down with it.
    """
    asked = change_of(job, inputs.base, inputs.head, inputs.pull_request_number)
    if asked is None:
        say("The branch was deleted: there is nothing to review.")
        return 0
    with opened(job, inputs) as repo:
        change = brought(repo.repository, asked)
        review = _vouched(job, inputs, repo, _judged(repo, change))
    if not change.is_memory:
        say("No memory changed.")
    set_review_outputs(job, review, write_reports(job, review, change.number))
    show(job, review)
    code = 1 if stops(review.verdict, inputs.fail_on) else 0
    published = 0
    if change.number and inputs.comment:
        published = _published(job, inputs, change.number, review)
    return code or published


def _judged(repo: MemoryRepo, change: Change) -> Review:
    if not change.base:
        # The first push of a repository: there is nothing to compare with.
        findings = tuple(repo.validate())
        review = Review(change.head, change.head, "", "", verdict_of(list(findings)), findings)
    elif change.is_memory:
        review = repo.review(change.base, change.head)
    else:
        review = Review(change.base, change.head, "", "", "pass")
    return msgspec.structs.replace(
        review, base_name=change.base_name or "nothing", head_name=change.head_name
    )


def _vouched(job: Job, inputs: ReviewInputs, repo: MemoryRepo, review: Review) -> Review:
    """The review, with the forge asked about the snapshots that leave for its releases."""
    if not needs_word(review):
        return review
    if not inputs.github_token:
        remark("The release that takes the snapshots was not checked: github-token is empty.")
        return review
    forge = open_workflow_forge(job, inputs.github_token)
    try:
        return vouch(review, repo.repository, forge)
    finally:
        forge.close()


def _published(job: Job, inputs: ReviewInputs, number: int, review: Review) -> int:
    """The exit code of what the forge was asked for."""
    if not inputs.github_token:
        remark("No comment on the pull request: github-token is empty.")
        return 0
    try:
        forge = open_workflow_forge(job, inputs.github_token)
        try:
            done = put_on_pull_request(forge, number, review, full_report=job.run_url)
        finally:
            forge.close()
    except MemrepoError as error:
        return stopped(error)
    set_outputs(job, {"comment-url": done.comment_url})
    for note in done.notes:
        remark(note)
    if done.comment_url:
        say(f"comment {done.operation}: {done.comment_url}")
    return 0
