"""``actions/merge-knowledge``: bring the knowledge branches in, or put them up as one."""

from __future__ import annotations

from memrepo.knowledge.merge import merge
from memrepo.knowledge.outcome import MergeReport
from memrepo.knowledge.proposal import propose_merge
from memrepo.memory import MemoryRepo
from memrepo.runner.access import open_workflow_forge, remote_of
from memrepo.runner.change import opened
from memrepo.runner.inputs import MergeKnowledgeInputs
from memrepo.runner.job import Job
from memrepo.runner.knowledge import show_merge, stop_for


def run(job: Job, inputs: MergeKnowledgeInputs) -> int:
    """Merge and say what came of it; 3 when a branch is left out, since a person must decide."""
    with opened(job, inputs) as repo:
        report = _merged(job, inputs, repo)
    show_merge(job, report)
    return stop_for(report)


def _merged(job: Job, inputs: MergeKnowledgeInputs, repo: MemoryRepo) -> MergeReport:
    remote = remote_of(repo.repository)
    if inputs.mode != "pr":
        return merge(repo, inputs.branches, into=inputs.into, mode=inputs.mode, remote=remote)
    forge = open_workflow_forge(job, inputs.github_token)
    try:
        return propose_merge(repo, forge, inputs.branches, into=inputs.into, remote=remote)
    finally:
        forge.close()
