"""The README that a memory repository begins with: what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commandline import memrepo
from memrepo.protocol.defaults import README_TEXT

COMMANDS = re.findall(r"^    memrepo ([a-z]+(?: list| restore)?)", README_TEXT, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_one(command: str, tmp_path: Path) -> None:
    assert memrepo(tmp_path, command, "--help").code == 0


def test_it_says_how_snapshots_leave_and_which_branches_there_are() -> None:
    assert {"archive list", "archive restore"} <= set(COMMANDS)
    text = README_TEXT.replace("\n", " ")
    for part in (
        "Snapshots leave `history/` only through the archive",
        "`records/`",
        "`.memrepo/archive/`",
        "`knowledge/<source>`",
        "`.memrepo/rollouts/`",
    ):
        assert part in text
