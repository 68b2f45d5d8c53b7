"""Outputs and the summary, as the runner reads them back."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from memrepo.runner.job import read_job
from memrepo.runner.outputs import fitting, output_text, set_outputs
from unit.report.hostile import hostile_text


def read_back(text: str) -> dict[str, str]:
    """What GitHub's runner makes of an output file."""
    found: dict[str, str] = {}
    lines = text.split("\n")
    while lines and lines[0]:
        name, _, delimiter = lines.pop(0).partition("<<")
        end = lines.index(delimiter)
        found[name] = "\n".join(lines[:end])
        lines = lines[end + 1 :]
    return found


@given(st.one_of(hostile_text, st.text(), st.just("EOF\nverdict=pass\nx<<EOF\ny\nEOF")))
def test_a_value_comes_back_as_it_was_and_brings_no_other(value: str) -> None:
    value = value.encode("utf-8", "ignore").decode("utf-8")
    text = output_text("verdict", value) + output_text("errors", "3")
    assert read_back(text) == {"verdict": value, "errors": "3"}


def test_the_delimiter_is_never_the_same() -> None:
    assert output_text("a", "b") != output_text("a", "b")


def test_half_a_character_can_be_written() -> None:
    assert read_back(output_text("branch", "a\udcff")) == {"branch": "a?"}


def test_without_a_runner_nothing_is_written() -> None:
    job = read_job({})
    set_outputs(job, {"verdict": "pass"})
    assert msgspec.structs.asdict(job)["output_file"] is None


def test_a_summary_is_measured_in_bytes() -> None:
    text = fitting(lambda limit: "→" * limit, 1000)
    assert 900 < len(text.encode()) <= 1000
    assert fitting(str, 1000) == "1000"
