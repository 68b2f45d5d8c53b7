"""A new record out of what its writer said, and everything that may be wrong with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from memrepo.errors import GateRefused
from memrepo.gate.files import make
from memrepo.gate.recordfile import judge_record_file, record_hits
from memrepo.protocol.findings import Finding
from memrepo.protocol.policy import Policy
from memrepo.protocol.record import Address, Lifecycle, Record, Trust, Writer
from memrepo.protocol.recorddump import dump_record
from memrepo.protocol.recordplace import new_record_id, record_path
from memrepo.recordrules.problem import Problem
from memrepo.recordrules.trust import external_problem, limit_problems, with_defaults
from memrepo.records.values import New


def compose(
    new: New, address: Address, writer: Writer, trust: Trust, blobs: dict[str, str], now: datetime
) -> Record:
    """The record that ``new`` asks for, unsigned, with the defaults of ``trust`` filled in.

    ``blobs`` are what lies at its code references now. Times are whole seconds.
    """
    named = {
        "kind": new.kind,
        "confidence": new.confidence,
        "code_refs": list(new.code_refs) or None,
        "code_blobs": blobs or None,
        "evidence": new.reason or None,
    }
    given = {name: value for name, value in named.items() if value is not None}
    attributes, ttl = with_defaults({**new.attributes, **given}, new.ttl_seconds, trust)
    content: dict[str, Any] = {"summary": new.summary}
    if new.details is not None:
        content["details"] = new.details
    content |= {name: value for name, value in new.content.items() if name not in content}
    when = now.replace(microsecond=0)
    return Record(
        id=new_record_id(now),
        key=new.key,
        address=address,
        written_by=writer,
        created_at=when,
        updated_at=when,
        lifecycle=Lifecycle(ttl_seconds=ttl),
        attributes=attributes,
        content=content,
    )


def judge(record: Record, trust: Trust, policy: Policy) -> list[Finding]:
    """Findings about a record that is to be written, as the gate would have them.

    The schema, the limits of ``trust``, and the text rules.
    """
    path = record_path(record.address, record.id)
    try:
        judged = judge_record_file(path, dump_record(record), policy)
    except (ValueError, TypeError, RecursionError):
        problem = Problem("record-schema", "", "it holds a value that no JSON can hold")
        return as_findings([problem], record, policy)
    if judged.record is None:
        return judged.findings
    external = external_problem(record)
    problems = [*limit_problems(record, trust), *([external] if external else [])]
    return [*as_findings(problems, record, policy), *judged.findings]


def text_findings(record: Record, policy: Policy) -> list[Finding]:
    """Findings of the text rules about a record."""
    path = record_path(record.address, record.id)
    return [
        finding
        for hit in record_hits(record, policy)
        for finding in make(policy, hit.code, path, hit.message, hit.hint, pointer=hit.pointer)
    ]


def as_findings(problems: Sequence[Problem], record: Record, policy: Policy) -> list[Finding]:
    """Problems of a record as findings, with the severity that the policy gives them."""
    path = record_path(record.address, record.id)
    return [
        finding
        for one in problems
        for finding in make(policy, one.code, path, one.message, one.hint, pointer=one.pointer)
    ]


def refuse(findings: Sequence[Finding], what: str) -> None:
    """Raise GateRefused where a finding is an error."""
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        first = errors[0]
        raise GateRefused(f"{what}: {first.message}", first.hint, findings)


def with_signature(record: Record, signature: str) -> Record:
    """``record`` with its signature."""
    return msgspec.structs.replace(record, signature=signature)
