"""``actions/rollout``: start, step and end a trial of memory on a branch, or ask it something."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from memrepo.errors import UsageError
from memrepo.protocol.rollout import parse_hold, weight_text
from memrepo.rollout import change, promote, render
from memrepo.rollout.analysis import analyze_rollout
from memrepo.rollout.auto import auto
from memrepo.rollout.change import At, Done
from memrepo.rollout.message import Why
from memrepo.rollout.options import wanted
from memrepo.rollout.read import only_live, open_rollout, published, rollout_on
from memrepo.rollout.start import start
from memrepo.rollout.status import statuses
from memrepo.runner.access import open_workflow_forge, remote_of
from memrepo.runner.change import opened
from memrepo.runner.inputs import RolloutInputs
from memrepo.runner.job import Job, repository_path
from memrepo.runner.log import remark, say
from memrepo.runner.outputs import add_summary, set_outputs

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository
    from memrepo.protocol.rollout import Rollout
    from memrepo.stats.analysis import Analysis


class _Said(msgspec.Struct):
    """What a run leaves: its lines for the log, its page, and its outputs."""

    lines: list[str]
    page: str
    rollout: Rollout | None = None
    branch: str = ""
    variant: str = ""
    verdict: str = ""
    action: str = ""
    commit: str = ""
    number: int = 0
    chart: str = ""
    notes: tuple[str, ...] = ()


def run(job: Job, inputs: RolloutInputs) -> int:
    """Do what ``command`` says, and show it. Nothing to do is exit 0."""
    with opened(job, inputs) as memory:
        repo = memory.repository
        at = At(
            control=inputs.control,
            remote=remote_of(repo),
            why=Why(inputs.reason, _who(job)),
            dry_run=inputs.dry_run,
        )
        said = _run(job, inputs, repo, at)
        notes = (*said.notes, *repo.notes)
    job.temp.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="rollout-", dir=job.temp))
    for name, text in {"report.md": said.page, "chart.svg": said.chart}.items():
        if text:
            (folder / name).write_text(text, "utf-8", errors="replace", newline="\n")
    state = said.rollout.state if said.rollout else None
    set_outputs(
        job,
        {
            "branch": said.branch,
            "variant": said.variant,
            "phase": state.phase if state else "",
            "weight": weight_text(state.weight) if state else "",
            "verdict": said.verdict,
            "action": said.action,
            "commit": said.commit,
            "pull-request-number": said.number or "",
            "report-markdown": str(folder / "report.md") if said.page else "",
            "chart": str(folder / "chart.svg") if said.chart else "",
        },
    )
    if said.page:
        add_summary(job, lambda limit: _cut(said.page, limit))
    for note in notes:
        remark(note)
    for line in said.lines:
        say(line)
    return 0


def _who(job: Job) -> str:
    """Who set the run off; "" for a schedule. The commit's author is the job itself."""
    sender = job.payload.get("sender")
    return str(sender.get("login") or "") if isinstance(sender, dict) else ""


def _run(job: Job, inputs: RolloutInputs, repo: Repository, at: At) -> _Said:
    command = inputs.command
    if command == "status":
        return _status(inputs, repo, at)
    if command == "auto":
        return _auto(job, inputs, repo, at)
    if command == "resolve":
        return _resolve(job, inputs)
    if not inputs.name:
        if command == "start":
            raise UsageError("the input name is missing, and start needs one", "give it: name: …")
        view = repo.view(published(repo, at.remote, at.control))
        inputs = msgspec.structs.replace(inputs, name=only_live(view, at.control))
    if command == "analyze":
        with _metrics(job, inputs) as stream:
            age = _age(inputs)
            found = analyze_rollout(repo, inputs.name, stream, at, stale_after=age)
        lines = list(render.analysis_lines(found.analysis))
        page = render.analysis_markdown(found.analysis)
        said = _Said(lines, page, found.rollout, verdict=found.analysis.verdict)
        said.chart = _chart(found.analysis)
        return said
    done = _changed(job, inputs, repo, at)
    return _Said(
        list(render.done_lines(done)),
        render.done_markdown(done),
        done.rollout or _now(repo, inputs.name, at),
        branch=done.branch,
        commit=done.commit,
        number=done.number,
        notes=done.notes,
        action=inputs.command if done.changed else "none",
    )


def _changed(job: Job, inputs: RolloutInputs, repo: Repository, at: At) -> Done:
    name = inputs.name
    if inputs.command == "start":
        asked = wanted(
            name,
            inputs.treatment,
            agents=inputs.agents,
            steps=inputs.steps or None,
            unit=inputs.unit,
            guardrails=inputs.guardrails,
            goals=inputs.goals,
            layered=inputs.layered,
        )
        return start(repo, asked, at)
    if inputs.command == "step":
        return change.step(repo, name, at, early=inputs.early)
    if inputs.command == "pause":
        return change.pause(repo, name, at)
    if inputs.command == "resume":
        return change.resume(repo, name, at)
    if inputs.command == "abort":
        if not inputs.reason:
            raise UsageError("the input reason is missing", "say why it is aborted: reason: …")
        return change.abort(repo, name, at)
    if inputs.mode == "push":
        return promote.promote(repo, name, at, early=inputs.early)
    forge = open_workflow_forge(job, inputs.github_token)
    try:
        return promote.propose_promotion(repo, forge, name, at, early=inputs.early)
    finally:
        forge.close()


def _now(repo: Repository, name: str, at: At) -> Rollout:
    return rollout_on(repo.view(published(repo, at.remote, at.control)), name, at.control)[0]


def _status(inputs: RolloutInputs, repo: Repository, at: At) -> _Said:
    rows, notes = statuses(repo, inputs.name or None, at)
    live = [row.rollout for row in rows if row.rollout.is_live]
    shown = live[0] if live else rows[0].rollout if inputs.name else None
    lines = list(render.status_lines(rows, ended=bool(inputs.name)))
    lines = lines or ["There is no rollout."]
    return _Said(lines, render.status_markdown(rows), shown, notes=tuple(notes))


def _auto(job: Job, inputs: RolloutInputs, repo: Repository, at: At) -> _Said:
    age = _age(inputs)
    with _metrics(job, inputs) as stream:
        found = auto(repo, inputs.name or None, stream, at, stale_after=age)
    lines = list(render.analysis_lines(found.analysis)) if found.analysis else []
    done = found.done
    said = _Said(
        [*lines, *render.auto_lines(found)],
        render.auto_markdown(found),
        (done.rollout if done else None) or found.rollout,
        action=found.action,
        commit=done.commit if done else "",
        notes=done.notes if done else (),
    )
    if found.analysis is not None:
        said.verdict = found.analysis.verdict
        said.chart = _chart(found.analysis)
    return said


def _resolve(job: Job, inputs: RolloutInputs) -> _Said:
    if not inputs.unit_id:
        raise UsageError("the input unit-id is missing", "say who asks: unit-id: …")
    path = repository_path(job, inputs.repo_path)
    found = open_rollout(path, inputs.name, control=inputs.control, fetch=True)
    assigned = found.assign(inputs.unit_id, inputs.agent_id or None)
    words = [f"{assigned.branch}: {assigned.variant}, bucket {assigned.bucket}"]
    if not found.covers(inputs.unit_id, inputs.agent_id or None):
        words.append(f"{inputs.agent_id or inputs.unit_id} is not covered by {found.rollout.name}")
    return _Said(words, "", found.rollout, branch=assigned.branch, variant=assigned.variant)


def _metrics(job: Job, inputs: RolloutInputs) -> BinaryIO:
    if not inputs.metrics:
        raise UsageError("the input metrics is missing", "name the file with the outcomes")
    try:
        return (job.workspace / inputs.metrics).open("rb")
    except OSError as error:
        raise UsageError(
            f"cannot read the metrics {inputs.metrics}: {error.strerror}",
            "a step before this one writes them, inside the workspace",
        ) from None


def _age(inputs: RolloutInputs) -> timedelta:
    seconds = parse_hold(inputs.stale_after)
    if not seconds:
        raise UsageError(f"stale-after: {inputs.stale_after!a} is no time", "write 90m, 24h or 7d")
    return timedelta(seconds=seconds)


def _chart(analysis: Analysis) -> str:
    from memrepo.report.rolloutchart import render_rollout_chart

    return render_rollout_chart(analysis)


def _cut(page: str, limit: int) -> str:
    """The page's whole lines within ``limit`` characters."""
    return page if len(page) <= limit else page[:limit].rpartition("\n")[0] + "\n"
