"""Records for tests: a good one, and what differs from it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from memrepo.protocol.record import Address, Lifecycle, Record, Writer
from memrepo.protocol.recordplace import new_record_id

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
WEB = Address("acme", "web")


def a_record(**changes: Any) -> Record:
    """A record of a session about ``acme/web``, good in every way; ``changes`` replace fields.

    ``kind``, ``confidence`` and ``evidence`` go into the attributes, ``trust`` into the
    writer, ``status``, ``ttl_seconds``, ``supersedes``, ``superseded_by`` and ``reason``
    into the lifecycle, ``summary`` into the content.
    """
    attributes: dict[str, Any] = {"kind": "fact", "confidence": 0.5}
    for name in ("kind", "confidence", "evidence", "code_refs"):
        if name in changes:
            attributes[name] = changes.pop(name)
    life = {"ttl_seconds": 3600}
    for name in ("status", "ttl_seconds", "supersedes", "superseded_by", "reason"):
        if name in changes:
            life[name] = changes.pop(name)
    fields: dict[str, Any] = {
        "id": new_record_id(NOW),
        "key": "pool-size",
        "address": WEB,
        "written_by": Writer("codex", "gpt", changes.pop("trust", "session")),
        "created_at": NOW,
        "updated_at": NOW,
        "lifecycle": Lifecycle(**life),  # type: ignore[arg-type]
        "attributes": attributes,
        "content": {"summary": changes.pop("summary", "Twenty connections are enough.")},
    }
    return Record(**{**fields, **changes})
