"""The published generator of merges: what it makes, and that the merge gets all of them right."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memrepo.semmerge.file import merge_file

FILE = Path(__file__).parents[3] / "bench" / "merge_cases.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("merge_cases", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["merge_cases"] = module
    spec.loader.exec_module(module)
    return module


generator = load()


def merge(base: Any, ours: Any, theirs: Any) -> tuple[Any, set[str]]:
    texts = (json.dumps(side, indent=2).encode() + b"\n" for side in (base, ours, theirs))
    merged = merge_file("state/helper/tools.json", *texts)
    value = None if merged.data is None else json.loads(merged.data)
    return value, {conflict.pointer for conflict in merged.conflicts}


@pytest.mark.parametrize("seed", range(1, 6))
def test_every_merge_is_right_and_every_conflict_is_at_its_place(seed: int) -> None:
    verdicts: Counter[str] = Counter()
    for case in generator.cases(600, seed):
        outcome, places = merge(case.base, case.ours, case.theirs)
        verdicts[generator.judge(case, outcome, places)] += 1
        if outcome is not None:
            assert generator.neighbour_problems(case, outcome) == []
    assert set(verdicts) == {"right clean", "right conflict"}
    assert verdicts["right conflict"] > 60


def test_the_same_seed_gives_the_same_cases() -> None:
    one, two, other = (list(generator.cases(20, seed)) for seed in (1, 1, 2))
    assert one == two != other
    assert list(generator.cases(5, 1)) == one[:5]


def test_the_judge_sees_what_is_wrong() -> None:
    found = list(generator.cases(300, 1))
    case = next(c for c in found if not c.conflicts and len(c.order) > 1)
    right, _ = merge(case.base, case.ours, case.theirs)
    assert generator.judge(case, right) == "right clean"
    wrong: list[Any] = [
        right[1:],
        [*right, right[0]],
        [*right, {**right[0], "name": "invented"}],
        [{**right[0], "description": "other"}, *right[1:]],
        list(reversed(right)),
        [*right, None],
    ]
    for outcome in wrong:
        assert generator.judge(case, outcome) == "silently wrong"
    assert generator.judge(case, None) == "false conflict"
    case = next(c for c in found if c.conflicts)
    assert generator.judge(case, case.ours) == "silently wrong"
    assert generator.judge(case, None, case.conflicts) == "right conflict"
    assert generator.judge(case, None, {"/elsewhere"}) == "false conflict"


def test_all_kinds_of_edits_and_conflicts_occur() -> None:
    places = Counter[str]()
    for case in generator.cases(600, 1):
        for place in case.conflicts:
            places[place.rpartition("/")[2] if place.count("/") > 1 else place[:1]] += 1
    # A default, a description, a whole tool, the order.
    assert set(places) == {"default", "description", "/", ""}
