from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import timedelta
from io import BytesIO

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.rollout import Measure
from memrepo.report.rolloutchart import render_rollout_chart
from memrepo.stats.analysis import Analysis, Comparison, Point
from memrepo.stats.arms import Arm
from memrepo.stats.verdict import analyze
from rolloutfiles import NOW, RESOLVED, at_step

SVG = "{http://www.w3.org/2000/svg}"


def an_analysis(days: int, rows: int = 900, **changes: object) -> Analysis:
    text = "unit,metric,value,at\n" + "".join(
        f"u{n},resolved,{n % 2},{(NOW + timedelta(days=n * days // rows)).isoformat()}\n"
        for n in range(rows)
    )
    found = analyze(BytesIO(text.encode()), at_step(5), now=NOW + timedelta(days=90))
    return msgspec.structs.replace(found, **changes)


def drawn(analysis: Analysis) -> ET.Element:
    return ET.fromstring(render_rollout_chart(analysis))  # noqa: S314


def words(picture: ET.Element) -> str:
    return " ".join(text for text in picture.itertext() if text.strip())


def test_each_metric_has_a_panel_with_its_band_line_and_margin() -> None:
    picture = drawn(an_analysis(9))
    classes = [path.get("class") for path in picture.iter(f"{SVG}path")]
    assert [classes.count(name) for name in ("b", "l", "z", "m")] == [1, 1, 1, 1]
    assert "2026-03-01" in words(picture)
    assert "2026-03-09" in words(picture)
    assert "resolved: rate, higher is better, margin 0.02" in words(picture)


def test_a_worse_metric_is_drawn_as_such() -> None:
    analysis = an_analysis(9)
    worse = msgspec.structs.replace(analysis.guardrails[0], standing="worse")
    picture = drawn(msgspec.structs.replace(analysis, guardrails=(worse,)))
    classes = [path.get("class") for path in picture.iter(f"{SVG}path")]
    assert "w" in classes
    assert "b" not in classes


def test_a_file_without_times_is_one_bar() -> None:
    analysis = an_analysis(9)
    timeless = msgspec.structs.replace(analysis.guardrails[0], points=())
    picture = drawn(msgspec.structs.replace(analysis, guardrails=(timeless,)))
    assert "1970" not in words(picture)
    assert len(list(picture.iter(f"{SVG}circle"))) == 1


@pytest.mark.parametrize("rows", [0, 40])
def test_too_few_units_are_said(rows: int) -> None:
    assert "Not enough units to compare" in words(drawn(an_analysis(9, rows or 1)))


def test_a_rollout_without_metrics_is_said() -> None:
    assert "no guardrail and no goal" in words(drawn(an_analysis(9, guardrails=())))


def test_names_are_text_and_nothing_else() -> None:
    name = '</text><script>alert(1)</script>&"\u202e\x00'
    measure = Measure(name, "rate", "higher", 0.1)
    compared = Comparison(measure, Arm(), Arm(), "no-data")
    picture = drawn(an_analysis(9, guardrails=(compared,), rollout=name, reason=name))
    assert not list(picture.iter(f"{SVG}script"))
    assert "<script>" in words(picture)
    assert "⟨U+202E⟩" in words(picture)


NUMBERS = st.floats(-1e12, 1e12)
POINTS = st.builds(
    lambda day, middle, reach: Point(day, middle, middle - abs(reach), middle + abs(reach)),
    st.integers(0, 20_000),
    NUMBERS,
    NUMBERS | st.just(0.0),
)


@given(st.lists(POINTS, max_size=8, unique_by=lambda point: point.day), st.none() | st.floats(0, 9))
def test_any_numbers_can_be_drawn(points: list[Point], margin: float | None) -> None:
    points.sort(key=lambda point: point.day)
    last = points[-1] if points else None
    compared = Comparison(
        Measure("m", "mean", "lower", margin),
        Arm(30, 1.0, 1.0),
        Arm(30, 1.0, 1.0),
        "undecided",
        *((last.difference, last.low, last.high) if last else (None, None, None)),
        tuple(points),
    )
    picture = drawn(an_analysis(2, 1, guardrails=(compared,)))
    assert "nan" not in words(picture)
    for path in picture.iter(f"{SVG}path"):
        numbers = path.get("d", "").translate(str.maketrans("MLHVZhv", "       ")).split()
        assert all(-1 <= float(number) <= 1_000 for number in numbers if number != "-28")


def test_the_same_analysis_is_the_same_picture() -> None:
    assert render_rollout_chart(an_analysis(5)) == render_rollout_chart(an_analysis(5))
    assert RESOLVED.metric in render_rollout_chart(an_analysis(5))
