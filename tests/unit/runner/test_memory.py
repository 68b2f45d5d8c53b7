"""Which changed paths are memory."""

from __future__ import annotations

import pytest

from memrepo.runner.memory import touches_memory


@pytest.mark.parametrize(
    "path",
    [
        "state/a/context.json",
        "state/a/anything",
        "state",
        "State/a/context.json",
        "history/20260301-120000-a.json",
        "records/x.bin",
        ".memrepo/policy.yml",
        ".gitattributes",
        "MEMORY.md",
        "notes/rules.txt",
        "CLAUDE",
        ".cursorrules",
        "prompts/system.yaml",
        ".github/copilot-instructions.md",
    ],
)
def test_memory(path: str) -> None:
    assert touches_memory(["src/app.py", path])


@pytest.mark.parametrize("path", ["src/app.py", "logo.svg", ".github/ci.yml", "a/state/b.c"])
def test_not_memory(path: str) -> None:
    assert not touches_memory([path])
