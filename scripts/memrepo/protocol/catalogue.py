"""Every finding code: what it says, why a team cares, and whether a policy may switch it.

Codes are stable words; a code that is published is never given another meaning. A code
is *switchable* when teams can rightly differ about it. The others stand for what makes
a memory unreadable to someone else, or lets someone forge it: no policy may switch them
off, since every reader of the repository relies on them.
"""

from __future__ import annotations

from memrepo.protocol.catalogue_changes import CHANGE_RULES
from memrepo.protocol.catalogue_files import FILE_RULES
from memrepo.protocol.catalogue_records import RECORD_RULES
from memrepo.protocol.findings import Severity
from memrepo.protocol.policy import Policy
from memrepo.protocol.rule import Rule

__all__ = ["CATALOGUE", "Rule", "severity_of"]

#: Every finding code, in the order of the documentation.
CATALOGUE: dict[str, Rule] = {
    rule.code: rule for rule in (*FILE_RULES, *CHANGE_RULES, *RECORD_RULES)
}


def severity_of(code: str, policy: Policy) -> Severity | None:
    """How severe ``code`` is under ``policy``; None where the policy switched it off.

    A policy's word on a code that is not switchable has no effect. Raises ``KeyError``
    for a code that does not exist.
    """
    rule = CATALOGUE[code]
    level = policy.severity.get(code, rule.severity) if rule.switchable else rule.severity
    return None if level == "off" else level
