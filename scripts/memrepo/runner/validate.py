"""``actions/validate``: the findings of a change, or of everything, at their places."""

from __future__ import annotations

from memrepo.protocol.findings import Finding
from memrepo.report.verdict import verdict_of
from memrepo.runner.change import brought, change_of, opened
from memrepo.runner.inputs import ValidateInputs, stops
from memrepo.runner.job import Job
from memrepo.runner.reports import set_validation_outputs, show_findings


def run(job: Job, inputs: ValidateInputs) -> int:
    """Validate and show. The exit code: 1 when the verdict is at ``fail-on`` or worse."""
    findings = _found(job, inputs)
    verdict = verdict_of(findings)
    set_validation_outputs(job, verdict, findings)
    show_findings(verdict, findings)
    return 1 if stops(verdict, inputs.fail_on) else 0


def _found(job: Job, inputs: ValidateInputs) -> list[Finding]:
    if inputs.scope == "all":
        with opened(job, inputs) as repo:
            return repo.validate()
    asked = change_of(job, inputs.base, inputs.head)
    if asked is None:
        return []
    with opened(job, inputs) as repo:
        change = brought(repo.repository, asked)
        if not change.base:
            return repo.validate()
        return repo.validate(base=change.base, head=change.head) if change.is_memory else []
