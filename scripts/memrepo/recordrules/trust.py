"""What a writer may claim: the limits of each trust, and what a writer's silence means."""

from __future__ import annotations

from typing import Any

from memrepo.protocol.record import TRUST_ORDER, Record, Trust
from memrepo.recordrules.problem import Problem

#: Days, in seconds, that something nobody verified may hold.
UNVERIFIED_TTL = 7 * 86_400
#: What nobody verified is less certain than this.
UNVERIFIED_CONFIDENCE = 0.7
DEFAULT_CONFIDENCE = 0.5
VERIFIED: frozenset[Trust] = frozenset({"verified-ci", "human"})


def rank(trust: Trust) -> int:
    """How much a trust weighs; a lower one never supersedes a higher one."""
    return TRUST_ORDER.index(trust)


def effective_trust(claimed: Trust, backed: Trust | None) -> Trust:
    """The trust that counts: a higher claim than ``session`` only with a signature behind it.

    ``backed`` is the trust that the policy lets the signature's signer give, None when there
    is no good signature. A signer may always claim less than it could.
    """
    if claimed not in VERIFIED:
        return claimed
    return claimed if backed is not None and rank(backed) >= rank(claimed) else "session"


def is_unverified(kind: str, trust: Trust) -> bool:
    """Whether nobody stands behind it: the writer may not, or it is only an inference."""
    return trust not in VERIFIED or kind == "inference"


def with_defaults(
    attributes: dict[str, Any], ttl_seconds: int | None, trust: Trust
) -> tuple[dict[str, Any], int | None]:
    """The attributes and the end of a new record, filled in where its writer was silent."""
    filled = {"kind": "fact", **attributes}
    if is_unverified(str(filled["kind"]), trust):
        filled.setdefault("confidence", DEFAULT_CONFIDENCE)
        return filled, UNVERIFIED_TTL if ttl_seconds is None else ttl_seconds
    return filled, ttl_seconds


def limit_problems(record: Record, trust: Trust) -> list[Problem]:
    """What ``record`` claims beyond what ``trust``, the one that counts, allows it."""
    problems = []
    ttl = record.lifecycle.ttl_seconds
    if is_unverified(record.kind, trust):
        who = "an inference" if trust in VERIFIED else f"a record of the trust {trust}"
        if record.confidence >= UNVERIFIED_CONFIDENCE:
            problems.append(
                Problem(
                    "record-trust",
                    "/attributes/confidence",
                    f"{who} may claim less than {UNVERIFIED_CONFIDENCE} confidence, "
                    f"not {record.confidence:g}",
                    "lower it, or have a person or a CI job that signs verify it",
                )
            )
        if ttl is None or ttl > UNVERIFIED_TTL:
            given = "has no end" if ttl is None else f"ends after {ttl:,} seconds"
            problems.append(
                Problem(
                    "record-ttl",
                    "/lifecycle/ttl_seconds",
                    f"{who} {given}; {UNVERIFIED_TTL:,} (seven days) is the most",
                    f"give ttl_seconds of at most {UNVERIFIED_TTL}",
                )
            )
    if record.kind == "constraint" and trust not in VERIFIED:
        problems.append(
            Problem(
                "record-trust",
                "/attributes/kind",
                f"a constraint needs the trust human or verified-ci; this one has {trust}",
                "write it as an inference, and let a person or a CI job promote it",
            )
        )
    return problems


def supersede_problem(
    new_trust: Trust, old_id: str, old_trust: Trust, evidence: str
) -> Problem | None:
    """Why a record may not take the place of another, or None when it may.

    Who raises the trust of a conclusion has to name what verified it.
    """
    if rank(new_trust) < rank(old_trust):
        return Problem(
            "record-trust",
            "/lifecycle/supersedes",
            f"{old_id} has the trust {old_trust}; {new_trust} does not supersede it",
            "propose it in a pull request, where someone with that trust can write it",
        )
    if new_trust in VERIFIED and old_trust not in VERIFIED and not evidence.strip():
        return Problem(
            "record-trust",
            "/attributes/evidence",
            f"it raises {old_id} from {old_trust} to {new_trust} and names no evidence",
            "name a test, the address of a run, or a person",
        )
    return None


def external_problem(record: Record) -> Problem | None:
    """Why a writer who reads what anyone may write cannot write this without a review."""
    if record.written_by.trust != "external" or record.address.scope == "agent":
        return None
    return Problem(
        "record-trust",
        "/address/scope",
        f"the trust external writes to the scope agent, not to {record.address.scope}",
        "write it there, or propose it in a pull request",
    )
