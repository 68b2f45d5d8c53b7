"""``actions/records-sweep``: records that are past their end out of the active set."""

from __future__ import annotations

from memrepo.errors import MemrepoError
from memrepo.protocol.record import Address, Writer
from memrepo.records.store import Store
from memrepo.report.phrases import count
from memrepo.runner.access import remote_of
from memrepo.runner.change import opened
from memrepo.runner.inputs import RecordsSweepInputs
from memrepo.runner.job import Job
from memrepo.runner.log import remark, say, stopped
from memrepo.runner.outputs import add_summary, set_outputs

# A sweep is about all addresses; a store wants one.
_ANY = Address("all", scope="org")


def run(job: Job, inputs: RecordsSweepInputs) -> int:
    """Archive them in one commit and push it. Nothing past its end is exit 0."""
    with opened(job, inputs) as repo:
        git = repo.repository
        remote = remote_of(git)
        with Store(git, writer=Writer("records-sweep"), address=_ANY, remote=remote) as store:
            done = store.sweep(push=not inputs.dry_run, dry_run=inputs.dry_run)
    set_outputs(job, {"archived": len(done.archived), "commit": done.commit})
    for note in done.notes:
        remark(note)
    verb = "would be archived" if inputs.dry_run else "archived"
    words = f"{count(len(done.archived), 'record')} past their end {verb}"
    add_summary(job, lambda _: f"{words}.\n")
    say(words)
    if done.push_failed:
        failed = MemrepoError(done.push_failed, "run the job again; nothing is lost")
        failed.exit_code = done.push_exit
        return stopped(failed)
    return 0
