"""What a change does to shared records, as values; their JSON form is public."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from memrepo.protocol.record import Record, Status, Trust
from memrepo.protocol.timestamps import iso

#: ``replaced``: a new record took the place of an older one; ``superseded``: an older one was
#: told off by a record that was there before; ``edited`` and ``removed``: what no change may do.
RecordKind = Literal["added", "replaced", "superseded", "archived", "edited", "removed"]

#: What a side shows by name, and so not again under ``attributes``.
_NAMED = ("kind", "confidence", "evidence", "code_refs")
_BLOB = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class RecordSide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One conclusion. ``claimed`` is the trust that its writer claims, ``trust`` the one that
    counts; ``signed_by`` names the signer that backs it. ``expires_at`` is "" for never.

    ``attributes`` and ``content`` hold what has no field of its own here.
    """

    id: str
    summary: str
    kind: str
    agent: str
    model: str
    claimed: Trust
    trust: Trust
    status: Status
    confidence: float
    created_at: str
    expires_at: str
    evidence: str = ""
    signed_by: str = ""
    code_refs: tuple[str, ...] = ()
    attributes: dict[str, Any] = {}
    content: dict[str, Any] = {}


class RecordChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happened to one conclusion: ``before`` held, ``after`` holds; None for nothing.

    ``path`` is the file of the record that is new, or else of the one that changed;
    ``address`` the place it is about, in words; ``reason`` why, as its writer says.
    """

    path: str
    key: str
    address: str
    change: RecordKind
    before: RecordSide | None = None
    after: RecordSide | None = None
    reason: str = ""


def side_of(record: Record, trust: Trust, signed_by: str = "") -> RecordSide:
    """A record as one side of a change; ``trust`` is the one that counts."""
    ends = record.expires_at
    refs = tuple(record.attributes.get("code_refs", ()))
    evidence = record.attributes.get("evidence", "")
    rest = {name: value for name, value in record.attributes.items() if name not in _NAMED}
    if not isinstance(evidence, str):
        rest["evidence"], evidence = evidence, ""
    if _are_blobs(rest.get("code_blobs"), refs):
        del rest["code_blobs"]
    return RecordSide(
        id=record.id,
        summary=record.summary,
        kind=record.kind,
        agent=record.written_by.agent,
        model=record.written_by.model,
        claimed=record.written_by.trust,
        trust=trust,
        status=record.lifecycle.status,
        confidence=record.confidence,
        created_at=iso(record.created_at),
        expires_at=iso(ends) if ends else "",
        evidence=evidence,
        signed_by=signed_by,
        code_refs=refs,
        attributes=rest,
        content={name: value for name, value in record.content.items() if name != "summary"},
    )


def _are_blobs(value: object, refs: tuple[str, ...]) -> bool:
    """Whether a value only says which blobs the references were seen with."""
    return isinstance(value, dict) and all(
        isinstance(blob, str) and _BLOB.fullmatch(blob) and any(r.startswith(path) for r in refs)
        for path, blob in value.items()
    )
