"""Judge all shared records of one state of a repository."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from memrepo.gate.recordclaims import check_signatures, claim_problems, code_problems
from memrepo.gate.recordcode import OwnCode
from memrepo.gate.recordfile import judge_record_file, place_problems
from memrepo.gitrepo.backing import Backing
from memrepo.gitrepo.repository import Repository
from memrepo.protocol.findings import Finding
from memrepo.protocol.policy import Policy
from memrepo.protocol.record import Record
from memrepo.protocol.recordplace import address_folder, record_path
from memrepo.recordrules.chain import chain_problems
from memrepo.recordrules.problem import Problem


def judge_all_records(
    files: Iterable[tuple[str, bytes]],
    policy: Policy,
    repo: Repository,
    *,
    text: bool = True,
    chains: bool = True,
    now: datetime | None = None,
) -> list[Finding]:
    """Every rule over the records in ``files`` (path and bytes), all of them there are.

    What a record claims is asked of the active ones: one that was told off binds nobody. Code
    references are looked up in ``HEAD``. ``chains`` false is for some files alone.
    """
    backing = Backing(policy.records.signers)
    code = OwnCode(repo, repo.tip())
    found: list[Finding] = []
    texts: dict[str, bytes] = {}
    addresses: dict[str, dict[str, Record]] = {}
    for path, data in files:
        judged = judge_record_file(path, data, policy, text=text)
        found += judged.findings
        if judged.record is not None:
            texts[path] = data
            folder = address_folder(judged.record.address)
            addresses.setdefault(folder, {})[judged.record.id] = judged.record

    def say(record: Record, problems: Iterable[Problem]) -> None:
        path = record_path(record.address, record.id)
        found.extend(place_problems(problems, path, texts[path], policy))

    when = now or datetime.now(UTC)
    for records in addresses.values():
        active = [one for one in records.values() if one.lifecycle.status == "active"]
        check_signatures(active, backing)
        for record in active:
            say(record, claim_problems(record, backing, when))
            say(record, code_problems(record, code.of(record)))
        for record_id, problem in chain_problems(records, backing.trust_of) if chains else ():
            say(records[record_id], [problem])
    return found
