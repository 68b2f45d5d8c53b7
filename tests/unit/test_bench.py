"""Every bench runs from end to end in a tiny size; what it measures there says nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"
#: What a question needs, not a question of its own.
SHARED = {"__init__", "corpus", "measure", "merge_cases", "run_all", "stage"}
QUESTIONS = sorted(path.stem for path in BENCH.glob("*.py") if path.stem not in SHARED)
FIELDS = {"question", "case", "ours", "other", "result", "goal", "met"}


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_answered_in_rows_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    answer = run(f"bench.{name}", "--small", "--json", "--folder", str(tmp_path))
    rows = [json.loads(line) for line in answer.splitlines()]
    assert rows
    for row in rows:
        assert set(row) == FIELDS
        assert row["question"].replace(" ", "_") == name
        assert (row["met"] is None) == (row["goal"] == "")
    assert any(row["other"] for row in rows), "nothing is compared"
    assert list(tmp_path.iterdir()) == []


def test_all_questions_are_in_the_table_and_explained() -> None:
    asked = run("bench.run_all", "--help")
    readme = (BENCH / "README.md").read_text(encoding="utf-8")
    for name in QUESTIONS:
        assert name in asked
        assert f"| `{name}` |" in readme
