from __future__ import annotations

from typing import Any

import pytest

from memrepo.protocol.record import TRUST_ORDER, Address, Trust
from memrepo.recordrules.trust import (
    UNVERIFIED_TTL,
    effective_trust,
    external_problem,
    limit_problems,
    supersede_problem,
    with_defaults,
)
from recordfiles import a_record

GOOD: dict[str, Any] = {"confidence": 0.69, "ttl_seconds": UNVERIFIED_TTL}


@pytest.mark.parametrize(
    ("trust", "fields", "codes"),
    [
        ("session", GOOD, []),
        ("session", {**GOOD, "confidence": 0.7}, ["record-trust"]),
        ("session", {**GOOD, "ttl_seconds": UNVERIFIED_TTL + 1}, ["record-ttl"]),
        ("session", {**GOOD, "ttl_seconds": None}, ["record-ttl"]),
        ("session", {**GOOD, "kind": "constraint"}, ["record-trust"]),
        ("external", GOOD, []),
        ("external", {**GOOD, "confidence": 1}, ["record-trust"]),
        ("human", {"confidence": 1, "ttl_seconds": None}, []),
        ("human", {"confidence": 1, "ttl_seconds": None, "kind": "constraint"}, []),
        ("verified-ci", {"confidence": 1, "ttl_seconds": None, "kind": "constraint"}, []),
        ("human", {**GOOD, "kind": "inference"}, []),
        ("human", {"ttl_seconds": None, "kind": "inference"}, ["record-ttl"]),
        ("verified-ci", {**GOOD, "confidence": 0.7, "kind": "inference"}, ["record-trust"]),
    ],
)
def test_limits(trust: Trust, fields: dict[str, Any], codes: list[str]) -> None:
    problems = limit_problems(a_record(trust=trust, **fields), trust)
    assert [problem.code for problem in problems] == codes


def test_a_confidence_that_is_not_given_counts_as_certain() -> None:
    record = a_record(attributes={"kind": "fact"})
    assert [p.pointer for p in limit_problems(record, "session")] == ["/attributes/confidence"]


@pytest.mark.parametrize("trust", TRUST_ORDER)
@pytest.mark.parametrize("kind", ["fact", "inference"])
def test_what_is_filled_in_is_within_the_limits(trust: Trust, kind: str) -> None:
    attributes, ttl = with_defaults({"kind": kind}, None, trust)
    record = a_record(attributes=attributes, ttl_seconds=ttl, trust=trust)
    assert limit_problems(record, trust) == []


def test_what_is_given_is_never_replaced() -> None:
    assert with_defaults({"kind": "fact", "confidence": 1}, 5, "session") == (
        {"kind": "fact", "confidence": 1},
        5,
    )
    assert with_defaults({}, None, "human") == ({"kind": "fact"}, None)


@pytest.mark.parametrize(
    ("claimed", "backed", "counts"),
    [
        ("human", None, "session"),
        ("human", "verified-ci", "session"),
        ("human", "human", "human"),
        ("verified-ci", "human", "verified-ci"),
        ("verified-ci", None, "session"),
        ("session", "human", "session"),
        ("external", "human", "external"),
    ],
)
def test_the_trust_that_counts(claimed: Trust, backed: Trust | None, counts: Trust) -> None:
    assert effective_trust(claimed, backed) == counts


@pytest.mark.parametrize("new", TRUST_ORDER)
@pytest.mark.parametrize("old", TRUST_ORDER)
def test_a_lower_trust_never_supersedes_a_higher_one(new: Trust, old: Trust) -> None:
    refused = supersede_problem(new, "mem_x", old, "run 17")
    assert (refused is not None) == (TRUST_ORDER.index(new) < TRUST_ORDER.index(old))


def test_raising_the_trust_names_its_evidence() -> None:
    refused = supersede_problem("human", "mem_x", "session", " ")
    assert refused is not None
    assert refused.pointer == "/attributes/evidence"
    assert supersede_problem("human", "mem_x", "session", "seen on 2026-11-30 by Ann") is None
    assert supersede_problem("human", "mem_x", "verified-ci", "") is None


def test_external_writes_to_its_own_scope_alone() -> None:
    own = Address("acme", "web", scope="agent", agent="codex")
    assert external_problem(a_record(trust="external")) is not None
    assert external_problem(a_record(trust="external", address=own)) is None
    assert external_problem(a_record(trust="session")) is None
