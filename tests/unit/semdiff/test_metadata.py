from __future__ import annotations

import pytest

from memrepo.protocol.documents import Metadata
from memrepo.semdiff.change import Class, MetadataDiff, ToolChange, ToolsDiff, ToolSummary
from memrepo.semdiff.metadata import diff_metadata

NO_TOOLS = ToolsDiff()


def metadata(version: str) -> Metadata:
    return Metadata("user_1", version, "2026-03-01T10:00:00Z")


def tools(cls: Class | None) -> ToolsDiff:
    return ToolsDiff(changed=(ToolChange("search", cls),)) if cls else NO_TOOLS


def diff(before: str, after: str, cls: Class | None = None) -> MetadataDiff:
    return diff_metadata(metadata(before), metadata(after), tools(cls))


@pytest.mark.parametrize(
    ("before", "after", "step"),
    [
        ("1.2.3", "1.2.3", "none"),
        ("1.2.3", "1.2.3+build", "none"),
        ("1.2.3", "1.2.4", "patch"),
        ("1.2.3", "1.3.0", "minor"),
        ("1.2.3", "2.0.0", "major"),
        ("1.2.3", "2.0.0-rc.1", "major"),
        ("0.2.3", "1.0.0", "major"),
        ("2.0.0-rc.1", "2.0.0-rc.2", "pre-release"),
        ("2.0.0-rc.1", "2.0.0", "pre-release"),
        ("1.2.3", "1.2.2", "backward"),
        ("2.0.0", "2.0.0-rc.1", "backward"),
        ("2.0.0", "1.9.9", "backward"),
        ("1.2.3", "next", "unknown"),
        ("latest", "1.2.3", "unknown"),
        ("latest", "latest", "none"),
    ],
)
def test_the_step_taken(before: str, after: str, step: str) -> None:
    assert diff(before, after).step == step


@pytest.mark.parametrize(
    ("version", "cls", "needs"),
    [
        ("1.0.0", None, "none"),
        ("1.0.0", "wording", "patch"),
        ("1.0.0", "compatible", "minor"),
        ("1.0.0", "breaking", "major"),
        ("0.1.0", "wording", "patch"),
        ("0.1.0", "compatible", "patch"),
        ("0.1.0", "breaking", "minor"),
    ],
)
def test_the_step_needed(version: str, cls: Class | None, needs: str) -> None:
    assert diff(version, version, cls).needs == needs


@pytest.mark.parametrize(
    ("before", "after", "cls", "fits"),
    [
        ("1.2.3", "1.2.4", "breaking", False),
        ("1.2.3", "1.3.0", "breaking", False),
        ("1.2.3", "1.2.3", "breaking", False),
        ("1.2.3", "2.0.0", "breaking", True),
        ("0.2.3", "0.2.4", "breaking", False),
        ("0.2.3", "0.3.0", "breaking", True),
        ("0.2.3", "1.0.0", "breaking", True),
        ("2.0.0-rc.1", "2.0.0-rc.2", "breaking", True),
        ("2.0.0-rc.1", "2.0.0", "breaking", True),
        ("2.1.0-rc.1", "2.1.0", "breaking", False),
        ("0.2.0-rc.1", "0.2.0", "breaking", True),
        ("0.2.1-rc.1", "0.2.1", "breaking", False),
        ("1.2.3", "1.2.3", "compatible", True),
        ("1.2.3", "1.2.3", "wording", True),
        ("1.2.3", "1.2.3", None, True),
        ("1.2.3", "1.2.2", None, False),
        ("1.2.3", "1.2.2", "breaking", False),
        ("1.2.3", "next", "breaking", True),
    ],
)
def test_whether_it_fits(before: str, after: str, cls: Class | None, fits: bool) -> None:
    assert diff(before, after, cls).fits is fits


def test_a_removed_tool_needs_a_major_step() -> None:
    gone = ToolsDiff(removed=(ToolSummary("search", "", {}),))
    assert not diff_metadata(metadata("1.2.3"), metadata("1.3.0"), gone).fits


def test_an_absent_side_is_not_judged() -> None:
    new = diff_metadata(None, metadata("1.2.3"), tools("breaking"))
    assert (new.version, new.step, new.needs, new.fits) == ((None, "1.2.3"), "none", "none", True)
    gone = diff_metadata(metadata("1.2.3"), None, tools("breaking"))
    assert gone.version == ("1.2.3", None)
    assert gone.last_updated == ("2026-03-01T10:00:00Z", None)
    assert diff_metadata(None, None, NO_TOOLS) == MetadataDiff()
