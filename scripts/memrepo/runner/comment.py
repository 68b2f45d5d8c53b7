"""``actions/comment``: say on a pull request what the half of the review found that may not.

Runs after the review, on the default branch, with a token that may write. It checks nothing
out. The commit, its branch and its repository come from the event; from the artifact comes
nothing but the review of that commit, checked and rendered anew.
"""

from __future__ import annotations

import msgspec

from memrepo.errors import BadInput
from memrepo.forge.forge import PullRequest
from memrepo.report.phrases import headline
from memrepo.report.verdict import Review, verdict_of
from memrepo.runner.access import open_artifacts, open_workflow_forge
from memrepo.runner.events import Finished, finished_run
from memrepo.runner.handover import MOST_PACKED_BYTES, Handover, read_handover
from memrepo.runner.inputs import CommentInputs
from memrepo.runner.job import Job
from memrepo.runner.log import remark, say
from memrepo.runner.outputs import set_outputs
from memrepo.runner.publish import put_on_pull_request

_ELSEWHERE = "the artifact is not what memory-review.yml uploads; look at who changed it"


def run(job: Job, inputs: CommentInputs) -> int:
    """Publish the review of the run that ended. Nothing to do is exit 0, with a word why.

    Raises BadInput for an artifact that is not what the first half makes.
    """
    finished = finished_run(job.event, job.payload)
    if not finished.of_pull_request:
        say("The run was not for a pull request: nothing to do.")
        return 0
    artifacts = open_artifacts(job, inputs.github_token)
    try:
        packed = artifacts.download_artifact(
            finished.run_id, inputs.artifact, most_bytes=MOST_PACKED_BYTES
        )
    finally:
        artifacts.close()
    if packed is None:
        remark(f"The run uploaded no artifact {inputs.artifact}: nothing to do.")
        return 0
    return _publish(job, inputs, finished, read_handover(packed, head_sha=finished.head_sha))


def _publish(job: Job, inputs: CommentInputs, finished: Finished, handover: Handover) -> int:
    forge = open_workflow_forge(job, inputs.github_token)
    try:
        pull = forge.pull_request_for_commit(
            finished.head_sha, finished.head_repo, finished.head_ref, handover.number
        )
        if pull is None:
            remark("The pull request is closed, or has newer commits: nothing to do.")
            return 0
        if pull.number != handover.number:
            raise BadInput(
                f"the artifact names pull request {handover.number}; the run was for {pull.number}",
                _ELSEWHERE,
            )
        review = _trusted(handover, pull)
        url = job.run_url.replace(f"/{job.run_id}", f"/{finished.run_id}")
        done = put_on_pull_request(forge, pull.number, review, full_report=url)
    finally:
        forge.close()
    set_outputs(
        job,
        {
            "verdict": review.verdict,
            "comment-url": done.comment_url,
            "pull-request-number": pull.number,
        },
    )
    for note in done.notes:
        remark(note)
    say(f"{review.verdict}: {headline(review.diff)}; comment {done.operation}")
    return 0


def _trusted(handover: Handover, pull: PullRequest) -> Review:
    """The review with the names that the forge knows, and a verdict that its findings give."""
    return msgspec.structs.replace(
        handover.review,
        base_name=pull.base_ref,
        head_name=pull.head_ref,
        verdict=verdict_of(list(handover.review.findings)),
    )
