"""``actions/restore``: archived snapshots back, into a folder, a commit or a new branch."""

from __future__ import annotations

import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from memrepo.archive.fetch import Shelves
from memrepo.archive.restore import Restored, Target, restore
from memrepo.archive.select import Wanted, select
from memrepo.errors import UsageError
from memrepo.gitrepo.branches import Shelf, branch_checked_out
from memrepo.gitrepo.repository import Repository
from memrepo.gitrepo.sync import push_head
from memrepo.history.archived import ArchiveIndex
from memrepo.protocol.ages import parse_moment
from memrepo.report.phrases import count
from memrepo.runner.access import open_workflow_forge, remote_of
from memrepo.runner.archivepage import restored_page
from memrepo.runner.change import opened
from memrepo.runner.inputs import RestoreInputs
from memrepo.runner.job import Job
from memrepo.runner.log import Progress, remark, say
from memrepo.runner.outputs import add_summary, set_outputs


def run(job: Job, inputs: RestoreInputs) -> int:
    """Bring snapshots back. Nothing that is meant is exit 0, with ``snapshots`` 0."""
    now = datetime.now(UTC)
    if sum((bool(inputs.folder), inputs.commit, bool(inputs.branch))) > 1:
        raise UsageError(
            "folder, branch and commit are three places", "give one of them, or none for a folder"
        )
    wanted = Wanted(
        inputs.all,
        inputs.what,
        inputs.agent_id,
        _moment("since", inputs.since, now),
        _moment("until", inputs.until, now),
    )
    with opened(job, inputs) as repo:
        git = repo.repository
        index = ArchiveIndex(git.view(git.tip()))
        picked = select(index, wanted)
        done = Restored(0, 0, ())
        if picked:
            target = _target(job, inputs, git)
            with closing(open_workflow_forge(job, inputs.github_token)) as forge:
                done = restore(git, Shelves(forge), index, picked, target, tell=Progress())
            done = _published(git, done, inputs.branch)
        notes = git.notes
    set_outputs(
        job,
        {
            "snapshots": done.snapshots,
            "written": done.written,
            "releases": "\n".join(done.releases),
            "folder": done.folder,
            "branch": done.branch,
            "commit": done.commit,
        },
    )
    for note in notes:
        remark(note)
    if not picked:
        say("The archive holds nothing of that.")
        return 0
    add_summary(job, lambda _: restored_page(done))
    say(f"{count(done.snapshots, 'snapshot')} in {done.folder or done.branch}")
    return 0


def _moment(name: str, text: str, now: datetime) -> datetime | None:
    if not text:
        return None
    moment = parse_moment(text.strip(), now)
    if moment is None:
        raise UsageError(
            f"{name}: {text[:40]!a} is no time, date or age",
            "write it like 2026-03-01T12:00:00Z, 2026-03-01 or 90d",
        )
    return moment


def _target(job: Job, inputs: RestoreInputs, git: Repository) -> Target:
    """Where the snapshots go.  Raises UsageError for a place that will not do."""
    if inputs.commit:
        if branch_checked_out(git) is None:
            raise UsageError(
                "HEAD is detached, so there is no branch to commit on",
                "check a branch out with actions/checkout's ref, or name a new one as branch",
            )
        return Target()
    if inputs.branch:
        if Shelf(git, remote_of(git)).tip(inputs.branch) is not None:
            raise UsageError(f"branch: {inputs.branch[:80]!a} exists", "name a new one")
        return Target(branch=inputs.branch)
    if not inputs.folder:
        job.temp.mkdir(parents=True, exist_ok=True)
        return Target(Path(tempfile.mkdtemp(prefix="memory-restored-", dir=job.temp)))
    root = job.workspace.resolve()
    folder = (root / inputs.folder).resolve()
    if not any(folder.is_relative_to(place) for place in (root, job.temp.resolve())):
        raise UsageError(
            f"folder: {inputs.folder[:80]!a} leads out of the workspace",
            "name a folder inside it, or in the runner's temp",
        )
    return Target(folder)


def _published(git: Repository, done: Restored, branch: str) -> Restored:
    """The same with its commit where the repository is published."""
    remote = remote_of(git)
    if not done.commit or remote is None:
        return done
    if not branch:
        if not done.written:
            return done
        tip = push_head(git, remote=remote).tip
        return msgspec.structs.replace(done, commit=tip)
    if not Shelf(git, remote).put(branch, None, done.commit):
        raise UsageError(f"branch: {branch[:80]!a} exists meanwhile", "name a new one")
    return done
