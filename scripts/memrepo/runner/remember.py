"""``actions/remember``: a job writes what it verified, as a shared record."""

from __future__ import annotations

from datetime import timedelta

from memrepo.errors import MemrepoError, UsageError
from memrepo.protocol.ages import parse_age
from memrepo.protocol.record import Trust
from memrepo.protocol.recordplace import address_words, record_path
from memrepo.records.values import New, Written
from memrepo.report.escape import code_markdown, for_markdown
from memrepo.runner.inputs import RememberInputs
from memrepo.runner.job import Job
from memrepo.runner.log import annotate, remark, say, stopped
from memrepo.runner.outputs import add_summary, set_outputs
from memrepo.runner.recordstore import key_file, records_of


def run(job: Job, inputs: RememberInputs) -> int:
    """Write the record and push it. What an active record says already is exit 0."""
    ttl = _span(inputs.ttl)
    new = New(
        inputs.key,
        inputs.summary.strip(),
        kind=inputs.kind or None,
        ttl_seconds=int(ttl.total_seconds()) if ttl else None,
        code_refs=inputs.code_refs,
        details=inputs.details or None,
        reason=inputs.evidence or job.run_url,
    )
    with key_file(job, inputs.signing_key) as key:
        trust: Trust = "verified-ci" if key else "session"
        with records_of(job, inputs, agent=inputs.agent, trust=trust, key=key) as store:
            done = store.write(new, push=True)
    _tell(job, done)
    if done.push_failed:
        failed = MemrepoError(done.push_failed, "the record was not published; run the job again")
        failed.exit_code = done.push_exit
        return stopped(failed)
    return 0


def _tell(job: Job, done: Written) -> None:
    record = done.answer.record
    operation = "written" if done.changed else "none"
    set_outputs(
        job,
        {
            "id": record.id,
            "operation": operation,
            "superseded": done.superseded or "",
            "record-path": record_path(record.address, record.id),
            "trust": done.answer.trust,
        },
    )
    annotate(done.findings)
    for note in (*done.answer.notes, *done.notes):
        remark(note)
    place = address_words(record.address)
    add_summary(
        job,
        lambda _: (
            f"{code_markdown(record.key)} for {for_markdown(place)}, as {done.answer.trust}:"
            f" {for_markdown(record.summary)}\n"
        ),
    )
    say(f"{operation}: {record.id} ({record.key}, {done.answer.trust})")


def _span(text: str) -> timedelta | None:
    """How long it holds: an age, or seconds."""
    if not text:
        return None
    if text.isascii() and text.isdecimal() and 0 < int(text[:12]) < 10**11:
        return timedelta(seconds=int(text[:12]))
    age = parse_age(text)
    if not age:
        raise UsageError(f"ttl: {text[:40]!r} is no span of time", "write it like 12h, 7d or 3600")
    return age
