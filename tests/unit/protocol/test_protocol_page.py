"""The files that the protocol page shows are files that memrepo takes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memrepo.protocol.check import check_file
from memrepo.protocol.layout import place_of

PAGE = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^`(\S+)`:\n\n```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_page_shows_one_file_of_each_kind() -> None:
    kinds = sorted(str(place_of(path).kind) for path, _ in SHOWN)
    assert kinds == ["context", "metadata", "snapshot", "tools"]
    assert PAGE.count("```json\n") == len(SHOWN)


@pytest.mark.parametrize(("path", "text"), SHOWN)
def test_shown_file_is_without_any_finding(path: str, text: str) -> None:
    place = place_of(path)
    assert place.kind is not None
    json.loads(text)
    checked = check_file(place.kind, text.encode(), agent_id=place.agent_id)
    assert (checked.faults, checked.problems, checked.canonical) == ([], [], True)
