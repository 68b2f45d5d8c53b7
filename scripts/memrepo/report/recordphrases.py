"""The words about shared records that all renderings share. Raw text: the caller escapes it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from memrepo.report.phrases import count
from memrepo.semdiff.change import Diff
from memrepo.semdiff.records import RecordChange, RecordKind, RecordSide

RECORD_SIGNS: dict[RecordKind, str] = {
    "added": "+",
    "replaced": "~",
    "superseded": "−",
    "archived": "−",
    "edited": "!",
    "removed": "!",
}


def is_wrong(change: RecordChange) -> bool:
    """Whether it is something that no change may do to a record."""
    return change.change in ("edited", "removed")


def who_phrase(side: RecordSide) -> str:
    """Who says so: ``codex (gpt-5)``."""
    return f"{side.agent} ({side.model})" if side.model else side.agent


def is_unbacked(side: RecordSide) -> bool:
    """Whether its writer claims a trust that does not count."""
    return side.claimed != side.trust


def trust_phrase(side: RecordSide) -> str:
    """``human, signed by ann@example.com``; ``session (claims human, and nothing backs it)``."""
    if is_unbacked(side):
        return f"{side.trust} (claims {side.claimed}, which nothing backs)"
    return f"{side.trust}, signed by {side.signed_by}" if side.signed_by else side.trust


def ends_phrase(side: RecordSide) -> str:
    """When it ends: ``ends 2026-12-07T12:00:00Z``, or ``never ends``."""
    return f"ends {side.expires_at}" if side.expires_at else "never ends"


def kind_phrase(side: RecordSide) -> str:
    """What sort of conclusion it is and how sure: ``fact, confidence 0.5``."""
    return f"{side.kind}, confidence {side.confidence:g}"


def facts(change: RecordChange) -> Iterator[tuple[str, str]]:
    """Everything else that is known of the conclusion now, as (label, text).

    Of an older conclusion that was replaced or is gone, who said it and with what trust.
    """
    side = change.after or change.before
    if side is None:
        return
    yield "who", who_phrase(side)
    yield "trust", trust_phrase(side)
    yield "kind", kind_phrase(side)
    yield "ends", side.expires_at or "never"
    yield "evidence", side.evidence or "none named"
    if change.reason:
        yield "reason", change.reason
    if side.code_refs:
        yield "code", ", ".join(side.code_refs)
    for name, value in (*side.content.items(), *side.attributes.items()):
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if change.after is not None and change.before is not None:
        before = change.before
        yield "before", f"{who_phrase(before)}, {trust_phrase(before)}, {kind_phrase(before)}"
        if change.change == "edited":
            yield from _edited(before, change.after)
    yield "id", side.id


def _edited(before: RecordSide, after: RecordSide) -> Iterator[tuple[str, str]]:
    """What else was another, of a record that was changed where none may be."""
    for name in ("status", "created_at", "expires_at", "evidence", "code_refs"):
        yield from _was(name, getattr(before, name), getattr(after, name))
    for old, new in ((before.content, after.content), (before.attributes, after.attributes)):
        for name in (*old, *(one for one in new if one not in old)):
            yield from _was(name, old.get(name), new.get(name))


def _was(name: str, old: object, new: object) -> Iterator[tuple[str, str]]:
    if old != new:
        yield f"{name} was", old if isinstance(old, str) else json.dumps(old, ensure_ascii=False)


def records_phrase(diff: Diff) -> str:
    """``3 records: 1 added, 2 replaced``."""
    parts = [
        f"{number:,} {kind}"
        for kind in RECORD_SIGNS
        if (number := sum(one.change == kind for one in diff.records))
    ]
    return f"{count(len(diff.records), 'record')}: {', '.join(parts)}"
