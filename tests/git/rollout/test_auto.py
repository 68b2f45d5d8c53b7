"""Outcomes decide: analyze, then step, hold or abort; by the weights that history tells of."""

from __future__ import annotations

import io
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memrepo.buckets.assign import Assigner
from memrepo.errors import BadInput
from memrepo.report.rolloutchart import render_rollout_chart
from memrepo.rollout.analysis import analyze_rollout
from memrepo.rollout.auto import Auto, auto
from memrepo.rollout.change import pause, step
from memrepo.rollout.options import wanted
from memrepo.rollout.read import events_of, weights_in
from memrepo.rollout.render import analysis_markdown
from memrepo.rollout.start import start as run_start
from repositories import GitRepo
from rolloutwork import AT, DAY, NAME, START, TREATMENT, csv, history, opened, origin, rollout, run

HOUR = timedelta(hours=1)


def begin(work: GitRepo, steps: str, guardrail: str = "resolved:rate:higher:0.05") -> None:
    asked = wanted(NAME, TREATMENT, steps=steps, guardrails=[guardrail])
    with opened(work) as repo:
        run_start(repo, asked, AT, now=START)


def go_on(work: GitRepo, metrics: bytes, now: datetime) -> Auto:
    with opened(work) as repo:
        return auto(repo, NAME, io.BytesIO(metrics), AT, now=now)


def outcomes(work: GitRepo, at: datetime, units: int, bad: float = 0.0) -> bytes:
    """Nearly all resolved, but a share ``bad`` of the treatment's units."""
    assigner = Assigner(rollout(work))
    rows = []
    for number in range(units):
        in_treatment = assigner.branch_for(f"u{number}") == TREATMENT
        failed = number % 10 == 0 or (in_treatment and number % 100 < 100 * bad)
        rows.append((f"u{number}", "resolved", float(not failed), at))
    return csv(rows)


def test_good_outcomes_step_when_the_hold_is_over_and_bad_ones_abort(work: GitRepo) -> None:
    begin(work, "20:24h,50:24h,100")
    good = outcomes(work, START + HOUR, 4000)
    early = go_on(work, good, START + 2 * HOUR)
    assert (early.action, early.said) == ("hold", f"{NAME}: until 2026-03-02T12:00:00Z")
    stepped = go_on(work, good, START + DAY)
    assert (stepped.action, rollout(work).state.step) == ("step", 2)
    (row,) = run(work, "status", "--json").json
    assert row["last_analysis"]["verdict"] == "inconclusive"
    assert row["last_analysis"]["commit"] == stepped.done.commit  # type: ignore[union-attr]
    later = START + DAY + HOUR
    bad = good + outcomes(work, later, 4000, bad=0.5).partition(b"\n")[2]
    stopped = go_on(work, bad, later)
    assert stopped.action == "abort"
    assert (rollout(work).state.phase, rollout(work).state.weight) == ("aborted", 0)
    text = origin(work).git("log", "-1", "--format=%B", "main")
    assert "Rollout-Verdict: abort\nRollout-Finding: resolved is lower in the treatment by" in text
    assert go_on(work, bad, later).action == "none"
    assert [line for line in history(work) if line.startswith("rollout")] == [
        f"rollout {NAME}: start at 20 %",
        f"rollout {NAME}: 20 % → 50 %",
        f"rollout {NAME}: abort at 50 %",
    ]


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        (b"", "There is no outcome of resolved"),
        (b"unit,metric,value,at\n", "There is no outcome of resolved"),
        (b"unit,metric,value\n" + b"".join(b"u%d,resolved,1\n" % n for n in range(99)), "no `at`"),
        (b"unit,metric,value,at\nu1,resolved,1,2026-03-01T13:00:00Z\n", "The newest outcome is"),
    ],
)
def test_missing_or_stale_outcomes_never_go_on(work: GitRepo, metrics: bytes, words: str) -> None:
    begin(work, "20,100")
    tip = origin(work).head("main")
    held = go_on(work, metrics, START + 3 * DAY)
    assert (held.action, held.done) == ("hold", None)
    assert words in held.said
    assert origin(work).head("main") == tip


def test_stale_good_outcomes_hold_although_they_would_have_stepped(work: GitRepo) -> None:
    begin(work, "20,100")
    good = outcomes(work, START + HOUR, 4000)
    assert go_on(work, good, START + 3 * DAY).action == "hold"
    assert go_on(work, good, START + 2 * HOUR).action == "step"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (b"u1,resolved,nan,2026-03-01T13:00:00Z", "metrics line 2: `value` is not finite"),
        (b"u1,solved,1,2026-03-01T13:00:00Z", "metrics line 2: the rollout has no metric"),
        (b"u1,resolved,2,2026-03-01T13:00:00Z", "resolved is a rate"),
    ],
)
def test_a_mistake_in_the_outcomes_changes_nothing(work: GitRepo, row: bytes, words: str) -> None:
    begin(work, "20,100")
    tip = origin(work).head("main")
    with pytest.raises(BadInput, match=words.replace("`", ".")):
        go_on(work, b"unit,metric,value,at\n" + row + b"\n", START + DAY)
    assert origin(work).head("main") == tip


def test_what_is_open_at_the_last_compared_step_holds_until_it_is_decided(work: GitRepo) -> None:
    begin(work, "50,100", "resolved:rate:higher:0.02")
    few = outcomes(work, START + HOUR, 2000)
    held = go_on(work, few, START + 2 * HOUR)
    assert (held.action, held.analysis and held.analysis.verdict) == ("hold", "inconclusive")
    assert held.said.startswith(f"{NAME}: resolved may still be worse by")
    assert held.said.endswith("before the next step: above 50 % nothing more is compared.")
    many = outcomes(work, START + HOUR, 20_000)
    assert go_on(work, many, START + 2 * HOUR).action == "step"
    assert rollout(work).state.weight == 100_000


def test_promote_says_what_the_last_analysis_said(work: GitRepo) -> None:
    begin(work, "20,50")
    dry = run(work, "promote", "--early", "--dry-run")
    assert "  No analysis has decided a step of it.\n" in dry.out
    assert go_on(work, outcomes(work, START + HOUR, 4000), START + 2 * HOUR).action == "step"
    last = "  The last analysis that decided a step, "
    assert last in run(work, "promote", "--early", "--dry-run").out
    assert last in run(work, "promote", "--mode", "pr", "--forge", "local", "--dry-run").out
    said = run(work, "promote").out
    assert ": inconclusive. No guardrail is worse" in said.partition(last)[2]
    assert "last analysis" not in run(work, "promote").out


def test_a_paused_rollout_holds_and_is_still_aborted(work: GitRepo) -> None:
    begin(work, "20,100")
    good = outcomes(work, START + HOUR, 4000)
    bad = outcomes(work, START + 2 * HOUR, 4000, bad=0.5)
    with opened(work) as repo:
        pause(repo, NAME, AT, now=START + HOUR)
    assert "is paused" in go_on(work, good, START + 2 * HOUR).said
    assert go_on(work, bad, START + 2 * HOUR).action == "abort"


def test_rows_are_counted_by_the_weight_of_their_time(work: GitRepo) -> None:
    begin(work, "5:0s,50:0s")
    with opened(work) as repo:
        step(repo, NAME, AT, now=START + DAY)
        events = events_of(repo, repo.tip("refs/memrepo/remote/origin/main") or "", NAME)
        assert [(w.since, w.weight) for w in weights_in(events)] == [
            (START, 5_000), (START + DAY, 50_000),
        ]  # fmt: skip
        at = START + HOUR
        rows = [(f"u{number}", "resolved", 1.0, at) for number in range(2000)]
        found = analyze_rollout(repo, NAME, io.BytesIO(csv(rows)), AT, now=START + 2 * DAY)
    units = found.analysis.counts.treatment_units + found.analysis.counts.control_units
    assert 140 < units < 260  # a tenth of all, not all of them
    assert found.analysis.counts.uncompared == 2000 - units


def test_the_command_takes_a_file_or_standard_input(work: GitRepo, tmp_path: Path) -> None:
    begin(work, "20,100")
    metrics = tmp_path / "outcomes.csv"
    metrics.write_bytes(outcomes(work, START + HOUR, 1000))
    chart, page = tmp_path / "chart.svg", tmp_path / "report.md"
    options = ["--metrics", str(metrics), "--chart", str(chart), "--markdown", str(page)]
    ran = run(work, "analyze", *options)
    assert (ran.code, "· new-classifier: inconclusive" in ran.out) == (0, True), ran
    assert chart.read_text().startswith("<svg")
    assert "| Metric |" in page.read_text()
    found = run(work, "analyze", "--metrics", str(metrics), "--json").json
    assert found["rows"]["read"] == 1000
    held = run(work, "auto", "--metrics", str(metrics), "--json").json
    assert (held["action"], held["analysis"]["verdict"]) == ("hold", "hold")  # stale by now
    assert run(work, "analyze", "--metrics", str(tmp_path / "none.csv")).code == 2
    assert run(work, "auto", "--metrics", str(metrics), "--stale-after", "soon").code == 2


def test_auto_without_a_name_takes_the_one_that_runs(work: GitRepo) -> None:
    with opened(work) as repo:
        assert auto(repo, None, io.BytesIO(), AT).action == "none"
    begin(work, "20,100")
    with opened(work) as repo:
        assert auto(repo, None, io.BytesIO(), AT).action == "hold"


def runs_of(folder: Path) -> list[tuple[str, float]]:
    """The outcomes of the agent's runs: some hundred, the sample's eight dealt out again."""
    lines = (folder / "airline-conversations.jsonl").read_text("utf-8").splitlines()
    runs = [json.loads(line) for line in lines]
    copies = max(1, 100 // len(runs))
    return [
        (f"task-{one['task']}-trial-{one['trial']}-{copy}", one["reward"])
        for one in runs
        for copy in range(copies)
    ]


@pytest.mark.parametrize("is_harmful", [False, True])
def test_true_outcomes_at_each_step(work: GitRepo, data_folder: Path, is_harmful: bool) -> None:
    begin(work, "5,25,50", "reward:rate:higher:0.1")
    verdicts = []
    rows = []
    with opened(work) as repo:
        for number in range(3):
            now = START + number * DAY + HOUR
            assigner = Assigner(rollout(work))
            for unit, reward in runs_of(data_folder):
                harmed = is_harmful and assigner.branch_for(unit) == TREATMENT
                rows.append((unit, "reward", 0.0 if harmed else reward, now))
            found = analyze_rollout(repo, NAME, io.BytesIO(csv(rows)), AT, now=now).analysis
            verdicts.append(found.verdict)
            if number < 2:
                step(repo, NAME, AT, now=now + HOUR)
        last = auto(repo, NAME, io.BytesIO(csv(rows)), AT, now=now)
    # A hundred runs at 5 % and at 25 % are too few units to conclude anything from.
    assert verdicts == ["hold", "hold", "abort" if is_harmful else "inconclusive"]
    assert last.action == ("abort" if is_harmful else "hold")
    assert (rollout(work).state.phase == "aborted") is is_harmful
    text = analysis_markdown(found)
    assert "| reward |" in text
    assert ("worse" in text.splitlines()[-3]) is is_harmful
    assert "<svg" in render_rollout_chart(found)
