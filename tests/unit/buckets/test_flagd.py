from __future__ import annotations

import json

import pytest
from openfeature.contrib.tools.flagd.core import FlagdCore
from openfeature.evaluation_context import EvaluationContext

from memrepo.buckets.assign import assign
from memrepo.buckets.flagd import flagd_file
from memrepo.errors import BadInput
from memrepo.protocol.rollout import Rollout, State
from memrepo.protocol.rolloutmoves import Moved, abort
from rolloutfiles import NOW, a_rollout, at_step

UNITS = [
    *(f"user-{number}" for number in range(5_000)),
    *(str(number * 7919) for number in range(2_500)),
    *(f"{'x' * (number % 300)}é名{number}" for number in range(2_500)),
]


def asked(rollout: Rollout) -> FlagdCore:
    flagd = FlagdCore()
    flagd.set_flags(json.dumps(flagd_file([rollout])))
    return flagd


def by_flagd(flagd: FlagdCore, unit: str, agent: str | None = None) -> tuple[str, str | None]:
    attributes = {} if agent is None else {"agent_id": agent}
    found = flagd.resolve_string_value(
        "new-classifier",
        "none",
        EvaluationContext(unit, attributes),  # type: ignore[arg-type]
    )
    return found.value, found.variant


def ours(rollout: Rollout, unit: str, agent: str | None = None) -> tuple[str, str]:
    found = assign(rollout, unit, agent)
    return found.branch, found.variant


def test_ten_thousand_units_read_the_branch_that_flagd_says() -> None:
    rollout = at_step(4)
    flagd = asked(rollout)
    assert len(UNITS) == 10_000
    assert [by_flagd(flagd, unit) for unit in UNITS] == [ours(rollout, unit) for unit in UNITS]


@pytest.mark.parametrize("number", range(1, 7))
def test_every_step_is_as_flagd_says(number: int) -> None:
    rollout = at_step(number)
    flagd = asked(rollout)
    some = UNITS[::23]
    assert [by_flagd(flagd, unit) for unit in some] == [ours(rollout, unit) for unit in some]


def test_the_edges_of_the_intervals() -> None:
    # Units whose buckets lie on both sides of each edge, of weight 1 %.
    rollout = at_step(1)
    buckets = {assign(rollout, f"edge-{n}").bucket: f"edge-{n}" for n in range(60_000)}
    near = [
        buckets[bucket]
        for edge in (0, 1_000, 50_000, 51_000, 100_000)
        for bucket in range(edge - 8, edge + 8)
        if bucket in buckets
    ]
    assert len(near) > 20
    flagd = asked(rollout)
    assert [by_flagd(flagd, unit) for unit in near] == [ours(rollout, unit) for unit in near]


def test_what_is_not_running_is_control() -> None:
    aborted = abort(at_step(6), NOW)
    assert isinstance(aborted, Moved)
    for rollout in (a_rollout(), aborted.rollout):
        flagd = asked(rollout)
        assert {by_flagd(flagd, unit) for unit in UNITS[:200]} == {("main", "untracked")}


@pytest.mark.parametrize(
    ("agents", "ids"),
    [
        (("support_v1",), ("support_v1", "support_v2")),
        (("support_*",), ("support_v1", "sales")),
        (("*_v1", "x"), ("support_v1", "x", "xx")),
        (("a*z",), ("az", "abz", "ab")),
        (("*",), ("anything",)),
    ],
)
def test_agents_are_as_flagd_says(agents: tuple[str, ...], ids: tuple[str, ...]) -> None:
    rollout = at_step(5, agents=agents)
    flagd = asked(rollout)
    for agent in (None, *ids):
        for unit in UNITS[:40]:
            assert by_flagd(flagd, unit, agent) == ours(rollout, unit, agent)
    by_agent = at_step(5, agents=agents, unit="agent")
    flagd = asked(by_agent)
    for agent in ids:
        assert by_flagd(flagd, agent) == ours(by_agent, agent)


def test_what_flagd_would_assign_otherwise_is_refused() -> None:
    with pytest.raises(BadInput, match="would move units"):
        flagd_file([at_step(1, assignment="murmur3-utf8/1")])
    for glob in ("a?", "[ab]", "a*b*c"):
        with pytest.raises(BadInput, match="no operation"):
            flagd_file([at_step(1, agents=(glob,))])


def test_the_file() -> None:
    flag = flagd_file([at_step(2)])["flags"]["new-classifier"]
    assert flag["state"] == "ENABLED"
    assert flag["variants"]["treatment"] == "feature/new-classifier"
    assert flag["targeting"]["if"][1]["fractional"] == [
        {"cat": ["new-classifier:", {"var": "targetingKey"}]},
        ["treatment", 5_000],
        ["untracked", 45_000],
        ["control", 5_000],
        ["untracked", 45_000],
    ]
    full = a_rollout(agents=("*",), state=State("running", 6, 100_000, NOW))
    flag = flagd_file([full])["flags"]["new-classifier"]
    assert flag["targeting"]["fractional"][1:] == [["treatment", 100_000], ["untracked", 0]]
