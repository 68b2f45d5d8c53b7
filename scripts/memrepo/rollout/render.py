"""Rollouts in words: for a terminal, as Markdown, as JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from memrepo.protocol.rollout import percent, weight_text
from memrepo.protocol.timestamps import iso
from memrepo.report.escape import code_markdown, for_markdown, for_terminal
from memrepo.report.phrases import count, headline
from memrepo.rollout.auto import Auto
from memrepo.rollout.change import Done
from memrepo.rollout.status import Status
from memrepo.stats.analysis import Analysis, Comparison

_MARKS = {"promote": "✔", "hold": "▲", "abort": "✖", "inconclusive": "·"}
_STATUS_HEAD = ("rollout", "phase", "weight", "step", "in step", "next", "treatment")
_STANDINGS = {
    "no-data": "no outcomes",
    "too-few": "too few units",
    "same": "the same everywhere",
    "undecided": "open",
    "worse": "worse",
    "fine": "fine",
}


def done_lines(done: Done) -> Iterator[str]:
    """A change for a terminal, one line each, safe to print."""
    yield for_terminal(f"would be: {done.said}" if done.dry_run and done.changed else done.said)
    for line in done.words:
        yield for_terminal(f"  {line}")
    if done.commit:
        yield f"commit: {done.commit}"
    if done.url:
        yield for_terminal(f"pull request: #{done.number} {done.url}")
    if done.next and not done.dry_run:
        yield for_terminal(done.next)


def done_markdown(done: Done) -> str:
    """A change as Markdown."""
    lines = [f"### Rollout {for_markdown(done.said)}", ""]
    lines += [f"- {for_markdown(line)}" for line in done.words]
    if done.commit:
        lines += ["", f"Commit {code_markdown(done.commit)}."]
    if done.number:
        lines += ["", f"Pull request {done.number}."]
    if done.next:
        lines += ["", f"{for_markdown(done.next)}"]
    return "\n".join(lines).rstrip("\n") + "\n"


def status_lines(rows: Sequence[Status], *, ended: bool = True) -> Iterator[str]:
    """Rollouts as a table for a terminal, one line each, then their details.

    Without ``ended``, those that were promoted or aborted are one line together.
    """
    shown = [status for status in rows if ended or not status.rollout.has_ended]
    if shown:
        yield from _table([_STATUS_HEAD, *map(_row, shown)])
    for status in shown:
        yield from _details(status)
    if len(shown) < len(rows):
        yield for_terminal(f"{_ended(rows)}; --all shows more")


def _ended(rows: Sequence[Status]) -> str:
    over = [row.rollout for row in rows if row.rollout.has_ended]
    names = ", ".join(f"{rollout.name} ({rollout.state.phase})" for rollout in over)
    return f"{count(len(over), 'rollout')} ended: {names}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield for_terminal("  ".join(cells).rstrip())


def _row(status: Status) -> tuple[str, ...]:
    rollout, state = status.rollout, status.rollout.state
    return (
        rollout.name,
        state.phase,
        percent(state.weight),
        f"{state.step}/{len(rollout.steps)}",
        duration(status.seconds_in_step),
        _next(status),
        rollout.treatment,
    )


def _next(status: Status) -> str:
    due = status.rollout.due
    if due is None:
        return "-"
    what = "promote" if status.rollout.is_last_step else "step"
    return f"{what} now" if due <= status.now else f"{what} {iso(due)}"


def _details(status: Status) -> Iterator[str]:
    name = for_terminal(status.rollout.name)
    yield f"{name}: {for_terminal(_changes(status))}"
    if status.rollout.is_live:
        yield f"{name}: {for_terminal(_drift(status))}"
    if status.last is not None:
        when = status.last.time[:10]
        yield for_terminal(
            f"{name}: last analysis {when}: {status.last.verdict}. {status.last.finding}"
        )


def _changes(status: Status) -> str:
    rollout = status.rollout
    if rollout.has_ended:
        what = "holds the treatment" if rollout.state.phase == "promoted" else "is read by all"
        return f"{rollout.state.phase} {iso(rollout.state.since)}: {rollout.control} {what}"
    if status.standing is None:
        return "its treatment branch is gone"
    return headline(status.standing.review.diff)


def _drift(status: Status) -> str:
    rollout = status.rollout
    words = f"{count(status.drift, 'commit')} on {rollout.control} since the start"
    if status.fits is None:
        return words
    outcome = status.standing.outcome if status.standing else None
    if status.fits or outcome is None:
        return f"{words}; the treatment still fits"
    return f"{words}; the treatment does not fit any more: {outcome.message}"


def duration(seconds: int) -> str:
    """Time gone by, in its two largest units: ``3d 4h``, ``12m``."""
    parts: list[str] = []
    for letter, size in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        number, seconds = divmod(seconds, size)
        if number or (letter == "s" and not parts):
            parts.append(f"{number}{letter}")
    return " ".join(parts[:2])


def status_markdown(rows: Sequence[Status]) -> str:
    """All rollouts as Markdown; those that ended are one line together."""
    if not rows:
        return "### Rollouts\n\nThere is none.\n"
    head = (*(cell.capitalize() for cell in _STATUS_HEAD), "Changes", "Drift")
    lines = ["### Rollouts", "", f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    shown = [status for status in rows if not status.rollout.has_ended]
    for status in shown:
        drift = _drift(status) if status.rollout.is_live else "-"
        cells = (*_row(status), _changes(status), drift)
        lines.append(f"| {' | '.join(map(for_markdown, cells))} |")
    if len(shown) < len(rows):
        lines = [*(lines if shown else lines[:1]), "", f"{for_markdown(_ended(rows))}."]
    return "\n".join(lines) + "\n"


def analysis_as_json(analysis: Analysis) -> dict[str, Any]:
    """The public JSON shape of an analysis."""
    return {
        "name": analysis.rollout,
        "phase": analysis.phase,
        "step": analysis.step,
        "steps": analysis.steps,
        "weight": weight_text(analysis.weight),
        "verdict": analysis.verdict,
        "reason": analysis.reason,
        "may_step": analysis.may_step,
        "guardrails": [_compared(one) for one in analysis.guardrails],
        "goals": [_compared(one) for one in analysis.goals],
        "sample_ratio": {
            "treatment": analysis.ratio.treatment,
            "control": analysis.ratio.control,
            "p": analysis.ratio.p,
            "mismatch": analysis.ratio.is_mismatch,
        },
        "rows": {
            "read": analysis.counts.rows,
            "early": analysis.counts.early,
            "uncompared": analysis.counts.uncompared,
            "repeated": analysis.counts.repeated,
        },
        "crossed": list(analysis.crossed),
        "newest": iso(analysis.newest) if analysis.newest else None,
        "alpha": analysis.alpha,
        "method": analysis.method,
    }


def _compared(one: Comparison) -> dict[str, Any]:
    measure = one.measure
    arms = {
        name: {"units": arm.units, "mean": arm.mean if arm.units else None}
        for name, arm in (("treatment", one.treatment), ("control", one.control))
    }
    return {
        "metric": measure.metric,
        "kind": measure.kind,
        "direction": measure.direction,
        "margin": measure.margin,
        **arms,
        "standing": one.standing,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
    }


_HEAD = ("metric", "treatment", "control", "difference", "bounds", "margin", "standing")


def _metrics(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    for one in (*analysis.guardrails, *analysis.goals):
        margin = one.measure.margin
        bounds = "-"
        if one.low is not None and one.high is not None:
            bounds = f"{one.low:+.4g} to {one.high:+.4g}"
        yield (
            one.measure.metric,
            f"{one.treatment.mean:.4g} of {one.treatment.units:,}" if one.treatment.units else "-",
            f"{one.control.mean:.4g} of {one.control.units:,}" if one.control.units else "-",
            "-" if one.difference is None else f"{one.difference:+.4g}",
            bounds,
            "goal" if margin is None else f"{margin:g}",
            _STANDINGS[one.standing],
        )


def analysis_lines(analysis: Analysis) -> Iterator[str]:
    """An analysis for a terminal, one line each, safe to print."""
    place = f"{analysis.phase}, {percent(analysis.weight)}, step {analysis.step}/{analysis.steps}"
    yield for_terminal(f"{_MARKS[analysis.verdict]} {analysis.rollout}: {analysis.verdict}")
    yield for_terminal(f"  {analysis.reason}")
    yield f"  {place}; {_rows(analysis)}"
    rows = list(_metrics(analysis))
    if rows:
        yield from (f"  {line}" for line in _table([_HEAD, *rows]))


def _rows(analysis: Analysis) -> str:
    counts = analysis.counts
    left = {
        "from before the start": counts.early,
        "not compared": counts.uncompared,
        "there twice": counts.repeated,
    }
    said = "".join(f", {number:,} {words}" for words, number in left.items() if number)
    return f"{count(counts.rows, 'row')}{said}"


def analysis_markdown(analysis: Analysis) -> str:
    """An analysis as Markdown."""
    mark = _MARKS[analysis.verdict]
    place = f"{analysis.phase}, {percent(analysis.weight)}, step {analysis.step}/{analysis.steps}"
    lines = [
        f"### {mark} Rollout {for_markdown(analysis.rollout)}: {analysis.verdict}",
        "",
        for_markdown(analysis.reason),
        "",
        f"{place}; {_rows(analysis)}.",
    ]
    rows = list(_metrics(analysis))
    if rows:
        head = [cell.capitalize() for cell in _HEAD]
        lines += ["", f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
        lines += [f"| {' | '.join(map(for_markdown, row))} |" for row in rows]
        lines += ["", f"Bounds hold at every look together; {for_markdown(analysis.method)}."]
    return "\n".join(lines) + "\n"


def auto_lines(found: Auto) -> Iterator[str]:
    """What a schedule's run came to, for a terminal, below its analysis."""
    yield for_terminal(f"{found.action}: {found.said}")
    if found.done is not None and found.done.commit:
        yield f"commit: {found.done.commit}"
    if found.done is not None and found.done.next:
        yield for_terminal(found.done.next)


def auto_markdown(found: Auto) -> str:
    """What a schedule's run came to, as Markdown."""
    lines = [f"**{found.action}**: {for_markdown(found.said)}", ""]
    if found.analysis is not None:
        lines.append(analysis_markdown(found.analysis))
    return "\n".join(lines).rstrip("\n") + "\n"
