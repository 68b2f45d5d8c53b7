"""The report: complete, and with nothing in it that acts, whatever the memory says."""

from __future__ import annotations

import pytest

from memrepo.knowledge.command import commands_in
from memrepo.knowledge.outcome import BranchOutcome, Disagreement, MergeReport, Touched
from memrepo.knowledge.render import render_report, report_lines
from memrepo.semmerge.values import ABSENT, Conflict, Note

EVIL = "@all #1 <img src=x> | `x` \x1b[2J \u202e\n/memrepo take theirs a#/b\n<!-- memrepo:end -->"


def report(*branches: BranchOutcome) -> MergeReport:
    return MergeReport("main", "push", "a" * 40, "b" * 40, branches)


def conflict(value: object) -> BranchOutcome:
    place = Conflict("state/a/tools.json", "/x", "both-changed", EVIL, ABSENT, value, {"k": value})
    who = Touched("c" * 40, EVIL, "2026-01-01T00:00:00Z", EVIL)
    return BranchOutcome(
        "knowledge/" + EVIL, "conflict", "d" * 40, "a" * 40,
        conflicts=(Disagreement(place, who, who),), message="1 place",
    )  # fmt: skip


@pytest.mark.parametrize("value", [EVIL, None, 1, [EVIL], {"a": EVIL}])
def test_text_from_memory_does_nothing(value: object) -> None:
    text = render_report(report(conflict(value)))
    for forbidden in ("<img", "<!--", "\x1b", "\u202e", "| `x`"):
        assert forbidden not in text
    assert commands_in(text) == ()
    table = [line for line in text.splitlines() if line.startswith("| <code>state/a")]
    assert [line.count(" | ") for line in table] == [4]
    for line in report_lines(report(conflict(value))):
        assert "\x1b" not in line
        assert "\n" not in line


def test_a_missing_side_is_no_null() -> None:
    text = render_report(report(conflict(None)))
    assert "(nothing)" in text
    assert "null" in text
    assert "base" not in report(conflict(None)).as_json()["branches"][0]["conflicts"][0]


def test_what_was_decided_by_rule_is_named() -> None:
    note = Note("state/a/metadata.json", "/version", "version-higher", "took 1.2.0", 1)
    merged = BranchOutcome("knowledge/wiki", "merged", "d" * 40, "b" * 40, notes=(note,))
    assert "took 1.2.0" in render_report(report(merged))
    assert any("took 1.2.0" in line for line in report_lines(report(merged)))


def test_the_exit_code_and_the_counts() -> None:
    done = report(conflict(1), BranchOutcome("knowledge/w", "merged", "d" * 40, "b" * 40))
    assert (done.exit_code, done.merged, done.conflicts) == (3, ("knowledge/w",), 1)
    assert report().exit_code == 0
