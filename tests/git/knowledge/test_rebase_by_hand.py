"""A person's ``git rebase`` with memrepo's driver registered comes to the job's own tree."""

from __future__ import annotations

import random
import shlex
import sys
from functools import partial

import pytest

from knowledgework import merge_now, on_branch, on_main, origin, tools
from repositories import GitRepo

NAMES = ("find", "refund", "cancel", "ship", "track", "quote")


def some_change(repo: GitRepo, chance: random.Random, side: str, number: int) -> None:
    """Another tool, a reworded one of this side's own, or a setting, by chance."""
    mine = NAMES[: len(NAMES) // 2] if side == "main" else NAMES[len(NAMES) // 2 :]
    words = {name: f"{side} {number} {name}." for name in chance.sample(mine, 2)}
    added = [f"{side}-{n}" for n in range(number)]
    repo.write_agent("bot", tools=tools(*NAMES, *added, **words), version=f"1.{number}.0")
    repo.write("settings.json", '{\n  "' + side + '": ' + f'{number},\n  "z": 0\n' + "}\n")


@pytest.mark.parametrize("seed", range(4))
def test_the_same_tree(work: GitRepo, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    driver = f"{shlex.quote(sys.executable)} -m memrepo merge-driver %O %A %B %P"
    work.git("config", "merge.memrepo.driver", driver)
    work.git("config", "rerere.enabled", "false")

    def begin() -> None:
        work.write(".gitattributes", "*.json merge=memrepo\n")
        work.write("settings.json", '{\n  "z": 0\n}\n')
        work.write_agent("bot", tools=tools(*NAMES))

    on_main(work, begin)
    steps = [partial(some_change, work, chance, "wiki", n) for n in range(1, 5)]
    on_branch(work, "wiki", *steps)
    for number in range(1, 4):
        on_main(work, partial(some_change, work, chance, "main", number))
    work.git("switch", "--quiet", "--create", "by-hand", "knowledge/wiki")
    work.git("rebase", "--quiet", "main")
    assert merge_now(work).commits == 4
    by_hand = work.git("rev-parse", "by-hand^{tree}")
    assert origin(work).git("rev-parse", "main^{tree}") == by_hand
