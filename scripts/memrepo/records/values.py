"""What the operations on shared records take and answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from memrepo.protocol.findings import Finding
from memrepo.protocol.record import Address, Record, Status, Trust
from memrepo.protocol.recorddump import address_fields, lifecycle_fields
from memrepo.protocol.timestamps import iso
from memrepo.recordrules.coderefs import CodeState

#: For :attr:`New.expect`: no record of that key may be active.
NONE_ACTIVE = "none"


class New(msgspec.Struct, frozen=True):
    """A conclusion to be written. What is left out gets the default of the writer's trust.

    ``reason`` is why, or the evidence (a test, the address of a run, a person), and is kept
    under ``attributes.evidence``. ``expect`` is the id that must be the active one, or
    ``none``; ``address`` is the writer's own by default. ``attributes`` and ``content`` are
    further fields of the record.
    """

    key: str
    summary: str
    kind: str | None = None
    confidence: float | None = None
    ttl_seconds: int | None = None
    code_refs: tuple[str, ...] = ()
    details: Any = None
    reason: str = ""
    expect: str | None = None
    address: Address | None = None
    attributes: dict[str, Any] = {}
    content: dict[str, Any] = {}


class Filters(msgspec.Struct, frozen=True):
    """Which records a list or a search answers; None is any. ``limit`` 0 is all.

    ``trust`` is the one that counts. ``expired`` takes in active ones that are past their
    end; ``inherited`` those of the addresses around the one that was asked.
    """

    kind: str | None = None
    trust: Trust | None = None
    status: Status | Literal["any"] = "active"
    agent: str | None = None
    key: str | None = None
    expired: bool = False
    limit: int = 50
    inherited: bool = True


class Answer(msgspec.Struct, frozen=True):
    """One whole record, and what it is worth now.

    ``trust`` is the one that counts; ``effective_confidence`` (0 to 1) is lower than what the
    record says where nobody vouches for it or the code it cites is no longer so. ``notes``
    are for whoever reads or wrote it, one line each.
    """

    record: Record
    trust: Trust
    effective_confidence: float
    code: tuple[CodeState, ...] = ()
    expired: bool = False
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape: the record as its file has it, and the rest beside it."""
        return {
            "record": record_fields(self.record),
            "trust": self.trust,
            "effective_confidence": round(self.effective_confidence, 4),
            "code_refs": [one.as_json() for one in self.code],
            "expired": self.expired,
            "notes": list(self.notes),
        }


class Found(msgspec.Struct, frozen=True):
    """One hit of a search; a higher ``score`` fits better, within one search alone."""

    answer: Answer
    score: float

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape."""
        return {**self.answer.as_json(), "score": round(self.score, 4)}


class Summary(msgspec.Struct, frozen=True):
    """One record in a list: enough to choose by. ``trust`` is the one that counts."""

    id: str
    key: str
    kind: str
    summary: str
    address: Address
    agent: str
    model: str
    trust: Trust
    confidence: float
    status: Status
    created_at: datetime
    expires_at: datetime | None
    expired: bool

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape."""
        return {
            "id": self.id,
            "key": self.key,
            "kind": self.kind,
            "summary": self.summary,
            "address": address_fields(self.address),
            "agent": self.agent,
            "model": self.model,
            "trust": self.trust,
            "confidence": self.confidence,
            "status": self.status,
            "created_at": iso(self.created_at),
            "expires_at": iso(self.expires_at) if self.expires_at else None,
            "expired": self.expired,
        }


class Written(msgspec.Struct, frozen=True):
    """What a write or an archive did. ``changed`` is false where there was nothing to do.

    ``commit`` holds the record ("" when nothing was committed); ``superseded`` is the record
    that it took the place of. A push that failed leaves the commit here for the next one:
    ``push_failed`` says why, and ``push_exit`` is the exit code of that failure.
    """

    answer: Answer
    changed: bool
    commit: str = ""
    superseded: str | None = None
    pushed: bool = False
    push_failed: str = ""
    push_exit: int = 0
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape."""
        return {
            **self.answer.as_json(),
            "changed": self.changed,
            "commit": self.commit,
            "superseded": self.superseded,
            "pushed": self.pushed,
            "push_failed": self.push_failed,
            "findings": [one.as_json() for one in self.findings],
            "notes": [*self.answer.notes, *self.notes],
        }


class Swept(msgspec.Struct, frozen=True):
    """The ids of the records that were archived because they were past their end."""

    archived: tuple[str, ...]
    commit: str = ""
    pushed: bool = False
    push_failed: str = ""
    push_exit: int = 0
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape."""
        return {
            "archived": list(self.archived),
            "commit": self.commit,
            "pushed": self.pushed,
            "push_failed": self.push_failed,
            "notes": list(self.notes),
        }


class Outcome(msgspec.Struct, frozen=True):
    """What became of a record that met another writer's.

    ``lost`` says that it is not the active one; ``instead`` is the id that is then. ``kept``
    is false where it was left out, since the other says the same.
    """

    record_id: str
    note: str
    instead: str
    lost: bool = False
    kept: bool = True


class Synced(msgspec.Struct, frozen=True):
    """``tip`` is the branch's commit now ("" for none); ``rebuilt`` counts commits made again."""

    tip: str
    rebuilt: int = 0
    pushed: bool = False
    outcomes: tuple[Outcome, ...] = ()


class Brief(msgspec.Struct, frozen=True):
    """What an agent should be told at its start. ``tokens`` is an estimate."""

    text: str
    tokens: int
    shown: int
    left_out: int
    records: tuple[Answer, ...]

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape."""
        return {
            "text": self.text,
            "tokens": self.tokens,
            "shown": self.shown,
            "left_out": self.left_out,
            "records": [one.as_json() for one in self.records],
        }


def record_fields(record: Record) -> dict[str, Any]:
    """A record as its file has it, as plain values."""
    return {
        "id": record.id,
        "key": record.key,
        "address": address_fields(record.address),
        "written_by": msgspec.to_builtins(record.written_by),
        "created_at": iso(record.created_at),
        "updated_at": iso(record.updated_at),
        "lifecycle": lifecycle_fields(record),
        "attributes": record.attributes,
        "content": record.content,
        **({"signature": record.signature} if record.signature else {}),
    }
