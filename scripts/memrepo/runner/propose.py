"""``actions/propose``: put an agent's uncommitted changes up as a pull request."""

from __future__ import annotations

from memrepo.gitrepo.deepen import bring_history_of
from memrepo.propose.plan import PREFIX
from memrepo.propose.propose import propose
from memrepo.runner.access import open_workflow_forge, remote_of
from memrepo.runner.change import opened
from memrepo.runner.inputs import ProposeInputs
from memrepo.runner.job import Job
from memrepo.runner.log import remark, say
from memrepo.runner.outputs import set_outputs


def run(job: Job, inputs: ProposeInputs) -> int:
    """Propose, and say where. Nothing new is exit 0, with the operation "none"."""
    with opened(job, inputs) as repo:
        remote = remote_of(repo.repository)
        bring_history_of(repo.repository, remote, inputs.branch or f"{PREFIX}{inputs.agent_id}/*")
        forge = open_workflow_forge(job, inputs.github_token)
        try:
            done = propose(
                repo,
                forge,
                inputs.agent_id,
                inputs.message,
                remote=remote,
                base=inputs.base or None,
                branch=inputs.branch or None,
                title=inputs.title or None,
                body=inputs.body or None,
                labels=inputs.labels,
                reviewers=inputs.reviewers,
                draft=inputs.draft,
                dry_run=inputs.dry_run,
            )
        finally:
            forge.close()
        notes = (*done.notes, *repo.repository.notes)
    set_outputs(
        job,
        {
            "operation": done.operation,
            "pull-request-number": done.number or "",
            "pull-request-url": done.url,
            "branch": done.branch,
            "commit": done.commit,
        },
    )
    for note in notes:
        remark(note)
    say(f"{done.operation}: {done.url or 'no pull request'} ({done.branch})")
    return 0
