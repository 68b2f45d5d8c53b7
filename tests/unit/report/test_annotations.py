from __future__ import annotations

import re

import pytest
from hypothesis import given

from memrepo import runner
from memrepo.protocol.findings import Finding, Severity
from memrepo.runner import annotation, escape_data, escape_property, for_log
from unit.report.hostile import hostile_text
from unit.report.sample import review_of_text, sample_findings


def _finding(severity: Severity = "error", **fields: object) -> Finding:
    values: dict[str, object] = {"code": "c", "path": "p", "message": "m", "severity": severity}
    return Finding(**values | fields)  # type: ignore[arg-type]


def test_one_finding() -> None:
    finding = _finding(path="state/a/context.json", line=3, column=7, message="50% too much")
    assert (
        annotation(finding)
        == "::error file=state/a/context.json,title=c,line=3,col=7::50%25 too much"
    )


def test_a_note_is_a_notice_and_the_hint_is_a_second_line() -> None:
    assert annotation(_finding("note", hint="do")) == "::notice file=p,title=c::m%0Ado"


def test_properties_escape_what_separates_them() -> None:
    assert escape_property("a:b,c%\n") == "a%3Ab%2Cc%25%0A"
    assert escape_data("a:b,c%\n") == "a:b,c%25%0A"


def test_a_place_without_a_line_has_no_column() -> None:
    assert annotation(_finding(column=4)) == "::error file=p,title=c::m"


def test_the_rest_is_counted() -> None:
    findings = [_finding(message=str(n)) for n in range(12)] + [_finding("warning")] * 3
    lines = runner.annotations(findings, 10).splitlines()
    assert len([line for line in lines if line.startswith("::error ")]) == 10
    assert len([line for line in lines if line.startswith("::warning ")]) == 3
    assert lines[-1] == "Not annotated here: 2 more errors; the report lists all."


def test_worst_first_and_nothing_for_nothing() -> None:
    assert runner.annotations([]) == ""
    levels = [line.split(" ")[0] for line in runner.annotations(sample_findings()).splitlines()]
    assert levels == ["::error"] * 2 + ["::warning"] * 4 + ["::notice"]


@given(hostile_text)
def test_a_finding_is_one_command_whatever_it_holds(text: str) -> None:
    line = annotation(review_of_text(text).findings[0])
    assert line.splitlines() == [line]
    properties, separator, _ = line.removeprefix("::error ").partition("::")
    assert separator
    assert [part.split("=")[0] for part in properties.split(",")] == (
        ["file"] * bool(text) + ["title", "line", "col"]
    )


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("::error::x", "\\::error::x"),
        ("a\n  ::warning::x", "a\n  \\::warning::x"),
        ("a\r::warning::x", "a\r\\::warning::x"),
        ("see ##[error]x", "see #\\#[error]x"),
        ("std::vector ## [x]", "std::vector ## [x]"),
    ],
)
def test_no_line_of_a_log_is_a_command(text: str, safe: str) -> None:
    assert for_log(text) == safe


@given(hostile_text)
def test_no_line_of_any_log_is_a_command(text: str) -> None:
    safe = for_log(text)
    assert "##[" not in safe
    assert not any(re.match(r"\s*::", line) for line in safe.splitlines())
