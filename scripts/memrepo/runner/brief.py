"""``actions/brief``: what an agent in a later step should be told at its start."""

from __future__ import annotations

from memrepo.report.escape import clipped, fenced
from memrepo.runner.inputs import BriefInputs
from memrepo.runner.job import Job
from memrepo.runner.log import say
from memrepo.runner.outputs import add_summary, set_outputs
from memrepo.runner.recordstore import records_of


def run(job: Job, inputs: BriefInputs) -> int:
    """Set the brief as an output, and show it in the summary."""
    with records_of(job, inputs, agent=inputs.agent) as store:
        brief = store.brief(inputs.max_tokens)
    set_outputs(job, {"brief": brief.text, "shown": brief.shown, "left-out": brief.left_out})
    add_summary(job, lambda limit: f"{fenced(clipped(brief.text, limit // 2), 'text')}\n")
    say(f"{brief.shown:,} records in the brief, {brief.left_out:,} left out")
    return 0
