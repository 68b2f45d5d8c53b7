"""``actions/update-knowledge``: what a source gave, onto its knowledge branch."""

from __future__ import annotations

from memrepo.errors import UsageError
from memrepo.knowledge.source import read_source
from memrepo.knowledge.update import Updated, update
from memrepo.knowledge.updateplan import kept_words, removed_words, words_for
from memrepo.report.escape import code_markdown, for_markdown
from memrepo.runner.access import remote_of
from memrepo.runner.change import opened
from memrepo.runner.inputs import UpdateKnowledgeInputs
from memrepo.runner.job import Job
from memrepo.runner.log import annotate, remark, say
from memrepo.runner.outputs import add_summary, set_outputs


def run(job: Job, inputs: UpdateKnowledgeInputs) -> int:
    """Update the branch. Nothing new in meaning is exit 0, with ``changed`` "false"."""
    format_ = None if inputs.format == "auto" else inputs.format
    given = read_source(_read(job, inputs.file), format_, inputs.file)
    with opened(job, inputs) as repo:
        done = update(
            repo,
            inputs.source,
            inputs.agent_id,
            given,
            message=inputs.message or None,
            revision=inputs.revision or None,
            remote=remote_of(repo.repository),
            into=inputs.into,
            replace=inputs.replace,
            dry_run=inputs.dry_run,
        )
    set_outputs(
        job,
        {
            "changed": "true" if done.changed else "false",
            "branch": done.branch,
            "commit": done.commit,
            "revision": done.revision,
        },
    )
    annotate(done.findings)
    for note in done.notes:
        remark(note)
    if done.kept:
        say(kept_words(done.kept, inputs.source))
    words = _words(done)
    add_summary(job, lambda _: f"{code_markdown(done.branch)}: {for_markdown(words)}\n")
    say(f"{'would be on' if inputs.dry_run else 'on'} {done.branch}: {words}")
    return 0


def _words(done: Updated) -> str:
    if not done.changed:
        return "nothing changed in meaning"
    gone = removed_words(done.diff)
    return f"{words_for(done.diff, new=False)}{'; removes: ' if gone else ''}{gone}"


def _read(job: Job, name: str) -> bytes:
    """A file that an earlier step of the job wrote: in the workspace, or in the runner's temp.

    Elsewhere could lie what belongs to another job of a runner that stays.
    """
    path = (job.workspace / name).resolve()
    if not any(path.is_relative_to(root.resolve()) for root in (job.workspace, job.temp)):
        raise UsageError(
            f"file {name!r} leads out of the workspace",
            "have the step before write it there, or into ${RUNNER_TEMP}",
        )
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"file {name!r} cannot be read: {error.strerror}",
            "have the step before write what the source gave there",
        ) from None
