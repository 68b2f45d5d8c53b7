"""Everything about all records at once: schema, places, limits, signatures, chains, code."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from memrepo.gate.files import make
from memrepo.gitrepo.changes import iter_blobs, list_tree
from memrepo.protocol.findings import Finding, in_order
from memrepo.protocol.policy import Policy
from memrepo.protocol.record import RECORDS_FOLDER, Record
from memrepo.protocol.recordfile import parse_record
from memrepo.protocol.recordplace import address_folder, record_path
from memrepo.recordrules.chain import chain_problems
from memrepo.recordrules.trust import limit_problems
from memrepo.records.compose import as_findings
from memrepo.records.worth import Worth

if TYPE_CHECKING:
    from memrepo.gitrepo.repository import Repository


def verify_all(repo: Repository, commit: str | None, worth: Worth, policy: Policy) -> list[Finding]:
    """Findings about every file below ``records/`` that ``commit`` holds, worst first.

    Records that ended long ago are held to their limits, too: these never change.
    """
    if commit is None:
        return []
    findings: list[Finding] = []
    by_address: dict[str, dict[str, Record]] = defaultdict(dict)
    entries = list_tree(repo, commit, RECORDS_FOLDER)
    blobs = iter_blobs(repo, (entry.oid for entry in entries if entry.kind == "blob"))
    for entry in entries:
        data = next(blobs)[1] if entry.kind == "blob" else None
        if entry.mode != 0o100644 or data is None or data.data is None:
            message = "it is no plain file"
            findings += make(policy, "record-schema", entry.path, message, "take it away")
            continue
        record, problems = parse_record(data.data, entry.path)
        findings += problems
        if record:
            by_address[address_folder(record.address)][record.id] = record
            findings += _of_one(record, worth, policy)
    for records in by_address.values():
        for record_id, problem in chain_problems(records, worth.trust_of):
            findings += as_findings([problem], records[record_id], policy)
    return in_order(findings)


def _of_one(record: Record, worth: Worth, policy: Policy) -> list[Finding]:
    path = record_path(record.address, record.id)
    found = as_findings(limit_problems(record, worth.trust_of(record)), record, policy)
    why = worth.problem(record)
    if why:
        hint = "sign it with a key that the policy lists (records.signers), or claim session"
        found += make(policy, "record-signature", path, why, hint, pointer="/signature")
    if record.lifecycle.status != "active":
        return found
    for number, one in enumerate(worth.code_of(record)):
        if one.state in ("changed", "missing"):
            message = f"the code at {one.ref} is {one.state}: {one.why}"
            hint = "look whether it still holds, and write it anew"
            pointer = f"/attributes/code_refs/{number}"
            found += make(policy, "record-code-ref", path, message, hint, pointer=pointer)
    return found
