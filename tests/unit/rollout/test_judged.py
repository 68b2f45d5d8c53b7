"""Rollout files in a change: what is wrong with them, and what an edit does in words."""

from __future__ import annotations

import msgspec

from memrepo.gate.rollouts import judge_all, judge_overlaps, judge_rollout_edit
from memrepo.protocol.policy import Policy
from memrepo.protocol.rollout import rollout_path
from memrepo.protocol.rolloutdump import dump_rollout
from rolloutfiles import a_rollout, at_step

PATH = rollout_path("new-classifier")
POLICY = Policy()


def codes(path: str, old: bytes | None, new: bytes | None) -> list[str]:
    return [finding.code for finding in judge_rollout_edit(path, old, new, POLICY).findings]


def test_a_step_is_said_and_fine() -> None:
    old, new = dump_rollout(at_step(1)), dump_rollout(at_step(2))
    edited = judge_rollout_edit(PATH, old, new, POLICY)
    assert edited.findings == []
    assert edited.words == (
        "1 % → 5 % of units of support_agent_v1 will read feature/new-classifier.",
    )


def test_what_would_move_units_is_an_error_save_in_a_draft() -> None:
    other = dump_rollout(at_step(1, salt="other:"))
    assert codes(PATH, dump_rollout(at_step(1)), other) == ["rollout-fixed"]
    assert codes(PATH, dump_rollout(a_rollout()), dump_rollout(a_rollout(salt="other:"))) == []


def test_removing_one_that_runs_is_an_error() -> None:
    assert codes(PATH, dump_rollout(at_step(2)), None) == ["rollout-fixed"]
    assert codes(PATH, dump_rollout(a_rollout()), None) == []
    words = judge_rollout_edit(PATH, dump_rollout(at_step(2)), None, POLICY).words
    assert "the rollout is removed while it runs" in words[0]


def test_a_file_that_nothing_would_read_is_said() -> None:
    data = dump_rollout(a_rollout())
    for path in (".memrepo/rollouts/new-classifier.yaml", ".memrepo/rollouts/x/new-classifier.yml"):
        assert "rollout-value" in codes(path, None, data)


def test_a_file_with_a_mistake_does_nothing_that_could_be_said() -> None:
    edited = judge_rollout_edit(PATH, dump_rollout(at_step(1)), b"steps: [", POLICY)
    assert ([finding.code for finding in edited.findings], edited.words) == (["rollout-syntax"], ())


def test_two_on_one_agent_are_said_once_where_the_change_is() -> None:
    one, other = at_step(1), msgspec.structs.replace(at_step(1), name="b", agents=("support_*",))
    third = msgspec.structs.replace(at_step(1), name="c", agents=("sales",))
    assert [f.path for f in judge_overlaps([one, other, third], POLICY)] == [rollout_path("b")]
    assert judge_overlaps([one, other, third], POLICY, only=["c"]) == []
    assert judge_overlaps([one, msgspec.structs.replace(other, control="next")], POLICY) == []
    (found,) = judge_overlaps([one, other, third], POLICY, only=[one.name])
    assert (found.path, "b is running and covers" in found.message) == (PATH, True)
    files = {rollout_path(r.name): dump_rollout(r) for r in (one, third)} | {
        rollout_path("d"): b"steps: ["
    }
    assert judge_all(files, files.get, POLICY) == []
