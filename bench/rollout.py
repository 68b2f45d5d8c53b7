"""How often a trial is ended wrongly or in time, and how fast units and outcomes are dealt with.

Trials are simulated: units come in each day, every outcome by chance, and each day the
analysis is asked, as a schedule does. Beside it a z-test at the same level, asked as often.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import NormalDist, median

import msgspec

from memrepo.buckets.assign import Assigner
from memrepo.buckets.flagd import flagd_file
from memrepo.protocol.rollout import DEFAULT_STEPS, Measure, Rollout, State
from memrepo.stats.analysis import ALPHA, LEAST_UNITS, compare_all
from memrepo.stats.arms import Arm, standard_error
from memrepo.stats.outcomes import Cell, Counts, Outcomes
from memrepo.stats.verdict import analyze, decide

from . import measure

DAYS = 30
NOW = datetime(2026, 3, 1, tzinfo=UTC)
Z = NormalDist().inv_cdf(1 - ALPHA)
#: (ended as, on which day) by the analysis and by the z-test; ("open", 30) when not ended.
Ends = tuple[tuple[str, int], tuple[str, int]]


class Trial(msgspec.Struct, frozen=True):
    """Units a day and arm, their outcomes' rates, and how many guardrails are watched."""

    a_day: int
    control: float
    treatment: float
    margin: float = 0.0
    guardrails: int = 1


def a_rollout(trial: Trial, step: int) -> Rollout:
    weight = DEFAULT_STEPS[step - 1].weight
    return Rollout(
        name="bench",
        control="main",
        treatment="treatment",
        agents=("*",),
        salt="bench:",
        steps=DEFAULT_STEPS,
        guardrails=tuple(
            Measure(f"metric-{number}", margin=trial.margin) for number in range(trial.guardrails)
        ),
        state=State("running", step, weight, NOW),
    )


def life(trial: Trial, rollout: Rollout, chance: random.Random) -> Ends:
    """One trial, looked at every day by both, each to its own end."""
    arms = {(number, side): Arm() for number in range(trial.guardrails) for side in (0, 1)}
    ours = naive = ("open", DAYS)
    for day in range(1, DAYS + 1):
        for number, side in arms:
            share = trial.treatment if side else trial.control
            hits = sum(chance.random() < share for _ in range(trial.a_day))
            rate = hits / trial.a_day
            today = Arm(trial.a_day, rate, trial.a_day * rate * (1 - rate))
            arms[number, side] = arms[number, side].joined(today)
        if ours[0] == "open":
            cells = {Cell(number, side == 1, 0): arm for (number, side), arm in arms.items()}
            counts = Counts(treatment_units=arms[0, 1].units, control_units=arms[0, 0].units)
            verdict, _ = decide(rollout, compare_all(rollout, Outcomes(cells, counts)))
            if verdict in ("abort", "promote"):
                ours = (verdict, day)
        if naive[0] == "open":
            naive = z_test(arms, trial, day)
    return ours, naive


def z_test(arms: dict[tuple[int, int], Arm], trial: Trial, day: int) -> tuple[str, int]:
    """What a fixed-horizon test says on a day, one metric after the other."""
    tops, bottoms = [], []
    for number in range(trial.guardrails):
        treatment, control = arms[number, 1], arms[number, 0]
        if min(treatment.units, control.units) < LEAST_UNITS:
            return "open", DAYS
        reach = Z * standard_error(treatment, control, "rate")
        difference = treatment.mean - control.mean
        tops.append(difference + reach)
        bottoms.append(difference - reach)
    if min(tops) < 0:
        return "abort", day
    return ("promote", day) if min(bottoms) >= -trial.margin else ("open", DAYS)


def ends(trial: Trial, count: int) -> list[Ends]:
    rollout, chance = a_rollout(trial, len(DEFAULT_STEPS)), random.Random(5)
    return [life(trial, rollout, chance) for _ in range(count)]


def shares(case: str, trial: Trial, word: str, count: int) -> measure.Row:
    """How many trials end in ``word``, which is wrong in this case."""
    found = ends(trial, count)
    ours, naive = (100 * sum(end[side][0] == word for end in found) / count for side in (0, 1))
    return measure.amount(
        "rollout",
        case,
        f"{word}, a look a day",
        ours,
        "%",
        at_most=100 * ALPHA,
        other=f"z-test daily: {naive:.3g} %",
    )


def found_in(case: str, trial: Trial, count: int) -> measure.Row:
    """On which day harm is found."""
    found = ends(trial, count)
    days = [[end[side][1] for end in found if end[side][0] == "abort"] for side in (0, 1)]
    words = [
        f"day {median(side):g}, {100 * len(side) / count:.3g} % found" if side else "never"
        for side in days
    ]
    return measure.Row("rollout", case, "abort: the median", f"z-test daily: {words[1]}", words[0])


def per_second(ask: Callable[[str], object], units: list[str]) -> float:
    """By the processor's clock: others may use the machine."""
    began = time.process_time()
    for unit in units:
        ask(unit)
    return len(units) / (time.process_time() - began)


def speed(count: int) -> measure.Row:
    from openfeature.contrib.tools.flagd.core import FlagdCore
    from openfeature.evaluation_context import EvaluationContext

    rollout = a_rollout(Trial(1, 0.5, 0.5), 5)
    flagd = FlagdCore()
    flagd.set_flags(flagd_file([rollout]))

    def by_flagd(unit: str) -> str:
        return flagd.resolve_string_value("bench", "main", EvaluationContext(unit)).value

    units = [f"customer-{number:08}" for number in range(count)]
    ours, theirs = Assigner(rollout).branch_for, by_flagd
    if any(ours(unit) != theirs(unit) for unit in units[:1000]):
        raise SystemExit("the two give a unit different branches")
    rates = {
        name: max(per_second(ask, units) for _ in range(5))
        for name, ask in (("ours", ours), ("theirs", theirs))
    }
    return measure.Row(
        "rollout",
        "assignments a second, in process, the best of 5",
        "branch_for",
        f"flagd's evaluator: {rates['theirs']:,.0f}",
        f"{rates['ours']:,.0f}",
        "≥ 100,000",
        rates["ours"] >= 100_000,
    )


def outcomes(folder: Path, rows: int) -> list[measure.Row]:
    """A whole process that analyzes a file of ``rows`` rows, each with a time."""
    chance = random.Random(9)
    found = []
    for kind in ("csv", "jsonl"):
        path = folder / f"metrics.{kind}"
        with path.open("w", encoding="ascii") as file:
            if kind == "csv":
                file.write("unit,metric,value,at\n")
            for number in range(rows):
                unit, value = f"customer-{number:08}", int(chance.random() < 0.5)
                at = f"2026-03-{1 + number * 28 // rows:02}T{number % 24:02}:{number % 60:02}:00Z"
                file.write(
                    f"{unit},metric-0,{value},{at}\n"
                    if kind == "csv"
                    else f'{{"unit":"{unit}","metric":"metric-0","value":{value},"at":"{at}"}}\n'
                )
        out = measure.call(
            sys.executable, "-m", "bench.rollout", "--analyze", path, cwd=measure.ROOT
        )
        wall, busy, peak = map(float, out.split())
        case = f"{rows:,} rows of {kind}, a unit each, with times"
        # Reading the lines and splitting them is what no way around it saves.
        began = time.process_time()
        with path.open("rb") as file:
            for line in file:
                line.split(b",")
        alone = f"reading and splitting alone: {measure.in_words(time.process_time() - began)}"
        path.unlink()
        found += [
            measure.amount(
                "rollout",
                case,
                f"analyze, one process: {busy:.3g} s of a processor",
                wall,
                "s",
                at_most=30,
                other=alone,
            ),
            measure.amount("rollout", f"{case}: peak", "analyze", peak, "MB", at_most=500),
        ]
    return found


def analyze_file(path: str) -> None:
    """Seconds by the wall's and the processor's clock and the peak in MB, of this process."""
    began = time.perf_counter()
    with Path(path).open("rb") as file:
        now = datetime(2026, 4, 1, tzinfo=UTC)
        found = analyze(file, a_rollout(Trial(1, 0.5, 0.5), 5), now=now)
    if found.verdict not in ("inconclusive", "hold"):
        raise SystemExit(f"{found.verdict}: {found.reason}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = peak / (1e6 if sys.platform == "darwin" else 1e3)
    print(time.perf_counter() - began, time.process_time(), megabytes)


def question(bench: measure.Bench) -> list[measure.Row]:
    count = bench.size(1_000, 4)
    none = Trial(20, 0.4, 0.4)
    return [
        shares("no difference, 20 units a day and arm", none, "abort", count),
        shares("no difference, margin 0", none, "promote", count),
        shares("no difference, 200 units a day", Trial(200, 0.4, 0.4), "abort", count),
        shares("no difference, rare outcomes (2 %)", Trial(20, 0.02, 0.02), "abort", count),
        shares("no difference, 5 guardrails", Trial(20, 0.4, 0.4, 0.0, 5), "abort", count),
        shares("worse by just the margin of 0.05", Trial(20, 0.4, 0.35, 0.05), "promote", count),
        found_in("40 % → 30 %, 20 units a day and arm", Trial(20, 0.4, 0.3), count),
        found_in("40 % → 30 %, 200 units a day", Trial(200, 0.4, 0.3), count),
        found_in("40 % → 20 %, 20 units a day", Trial(20, 0.4, 0.2), count),
        found_in("40 % → 0 %, 20 units a day", Trial(20, 0.4, 0.0), count),
        speed(bench.size(100_000, 2_000)),
        *outcomes(bench.folder, bench.size(10_000_000, 20_000)),
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--analyze"]:
        analyze_file(sys.argv[2])
    else:
        measure.main(question)
