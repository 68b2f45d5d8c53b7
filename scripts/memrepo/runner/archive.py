"""``actions/archive``: old snapshots into a release, and out of the tree."""

from __future__ import annotations

import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from memrepo.archive.phases import PlanFile, plan_archive, plan_file, publish_shard, read_plan_file
from memrepo.archive.prepare import Request
from memrepo.archive.proof import Proven
from memrepo.archive.run import prune_archive, run_archive
from memrepo.archive.status import look
from memrepo.archive.summary import outcome_lines
from memrepo.archive.values import ArchiveOutcome
from memrepo.errors import UsageError
from memrepo.forge.forge import Forge
from memrepo.gate.policy import policy_at
from memrepo.gitrepo.branches import branch_checked_out
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.ages import parse_age
from memrepo.report.phrases import count
from memrepo.runner.access import open_workflow_forge, remote_of
from memrepo.runner.archivepage import outcome_page, overdue_words, plan_page, shard_page
from memrepo.runner.change import opened
from memrepo.runner.inputs import ArchiveInputs
from memrepo.runner.job import Job
from memrepo.runner.log import Progress, remark, say
from memrepo.runner.outputs import add_summary, set_outputs
from memrepo.shards.values import Plan

#: A matrix has no more jobs: https://docs.github.com/actions/reference/limits
MOST_JOBS = 256


def run(job: Job, inputs: ArchiveInputs) -> int:
    """One step of the archive, or all of them. Nothing due is exit 0."""
    now = datetime.now(UTC)
    if inputs.step == "publish" and not (inputs.plan_file and inputs.shard):
        raise UsageError(
            "step: publish needs the inputs plan-file and shard",
            "plan-file is the file that step: plan wrote, shard one of its output shards",
        )
    age = _age(inputs.older_than)
    with opened(job, inputs) as repo:
        git = repo.repository
        if inputs.step != "publish" and not inputs.branch and branch_checked_out(git) is None:
            raise UsageError(
                "HEAD is detached, so the branch to archive from is not known",
                "name it with the input branch, or check one out with actions/checkout's ref",
            )
        request = Request(
            now=now,
            branch=inputs.branch,
            remote=remote_of(git),
            older_than=age,
            agents=tuple(dict.fromkeys(inputs.agent_ids)),
            prefix=inputs.tag_prefix,
        )
        with closing(open_workflow_forge(job, inputs.github_token)) as forge:
            if inputs.step == "plan":
                _plan(job, git, forge, request)
            elif inputs.step == "publish":
                _publish(job, git, forge, request, inputs)
            else:
                once = run_archive if inputs.step == "all" else prune_archive
                outcome = once(git, forge, request, inputs.mode, Progress())
                _tell(job, outcome, _overdue(git, outcome.commit, now))
        for note in git.notes:
            remark(note)
    return 0


def _age(text: str) -> timedelta | None:
    if not text:
        return None
    age = parse_age(text.strip())
    if age is None:
        raise UsageError(f"older-than: {text[:40]!a} is no age", "write it like 90d, 12w or 48h")
    return age


def _overdue(git: Repository, commit: str, now: datetime) -> str:
    """In words, whether the archive was overdue at the commit that a run found; else ""."""
    if not commit:
        return ""
    return overdue_words(look(git, commit, policy_at(git, commit).archive, now=now))


def _tell(job: Job, outcome: ArchiveOutcome, overdue: str) -> None:
    add_summary(job, lambda _: outcome_page(outcome, overdue))
    set_outputs(
        job,
        {
            "state": outcome.state,
            "archived": outcome.archived,
            "shards": msgspec.json.encode([one.shard for one in outcome.shards]).decode(),
            "release-tag": outcome.release_tag,
            "release-url": outcome.release_url,
            "sha256": outcome.sha256,
            "sums-file": _kept(job, "SHA256SUMS", outcome.checksums.encode()),
            "pruned-commit": outcome.pruned_commit,
            "pull-request-number": outcome.pull_request or "",
            "pull-request-url": outcome.pull_request_url,
            "overdue": "true" if overdue else "false",
            "plan-file": "",
        },
    )
    for note in (*outcome.notes, *([overdue] if overdue else ())):
        remark(note)
    for line in outcome_lines(outcome):
        say(line)


def _plan(job: Job, git: Repository, forge: Forge, request: Request) -> None:
    found = plan_archive(git, forge, request, Progress())
    prepared, asks = found or (None, ())
    now, later = asks[:MOST_JOBS], asks[MOST_JOBS:]
    archived = sum(ask.snapshots for ask in now)
    overdue = _overdue(git, prepared.start.commit, request.now) if prepared else ""
    add_summary(job, lambda _: plan_page(now, overdue))
    set_outputs(
        job,
        {
            "state": "planned" if now else "nothing",
            "archived": archived,
            "shards": msgspec.json.encode([ask.shard for ask in now]).decode(),
            "plan-file": _kept(job, "plan.json", plan_file(prepared, now) if prepared else b""),
            "overdue": "true" if overdue else "false",
        },
    )
    for note in prepared.notes if prepared else ():
        remark(note)
    if later:
        remark(f"A matrix has {MOST_JOBS} jobs at most: {len(later):,} shards wait for the next.")
    say(f"{count(archived, 'snapshot')} in {count(len(now), 'shard')}")


def _publish(
    job: Job, git: Repository, forge: Forge, request: Request, inputs: ArchiveInputs
) -> None:
    file, plan = _read_plan(job.workspace / inputs.plan_file)
    proven: Proven = publish_shard(git, forge, file, plan, inputs.shard, request, Progress())
    page = shard_page(proven)
    add_summary(job, lambda _: page.text)
    set_outputs(
        job,
        {
            "state": "published",
            "archived": proven.manifest.snapshots,
            "shards": msgspec.json.encode([inputs.shard]).decode(),
            "release-tag": proven.release.tag,
            "release-url": proven.release.url,
            "sha256": page.sha256,
            "sums-file": _kept(job, "SHA256SUMS", proven.sums),
        },
    )
    say(f"{count(proven.manifest.snapshots, 'snapshot')} in {proven.release.tag}")


def _read_plan(path: Path) -> tuple[PlanFile, Plan]:
    try:
        return read_plan_file(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"plan-file: {path} cannot be read: {error.strerror}",
            "download what step: plan wrote before this step",
        ) from None


def _kept(job: Job, name: str, data: bytes) -> str:
    """The path of a file in a new folder of the runner's temp; "" for no data."""
    if not data:
        return ""
    job.temp.mkdir(parents=True, exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix="memory-archive-", dir=job.temp)) / name
    path.write_bytes(data)
    return str(path)
