"""Shared records as text for a person at a terminal. Pure; what others wrote is escaped."""

from __future__ import annotations

import json

from memrepo.protocol.recordplace import address_words
from memrepo.protocol.timestamps import iso
from memrepo.records.values import Answer, Found, Summary, Written
from memrepo.report.escape import clipped, for_terminal

_SHOWN = 200


def list_line(one: Summary) -> str:
    """One record in a list: id, key, what counts, how long, what it says."""
    ends = f"until {iso(one.expires_at)}" if one.expires_at else "no end"
    state = "expired" if one.expired and one.status == "active" else one.status
    marks = f"{one.trust}, {one.kind}, {one.confidence:.2f}, {state}, {ends}"
    return for_terminal(f"{one.id} {one.key} [{marks}] {clipped(one.summary, _SHOWN)}")


def found_line(one: Found) -> str:
    """One hit of a search: the same, with the state of the code it cites."""
    record, answer = one.answer.record, one.answer
    stale = [
        f"{code.ref} {code.state}" for code in answer.code if code.state in ("changed", "missing")
    ]
    marks = [answer.trust, record.kind, f"{answer.effective_confidence:.2f}", *stale]
    said = clipped(record.summary, _SHOWN)
    return for_terminal(f"{record.id} {record.key} [{', '.join(marks)}] {said}")


def whole_text(answer: Answer) -> str:
    """Everything about one record, line by line."""
    record, life = answer.record, answer.record.lifecycle
    by = record.written_by
    model = f" ({by.model})" if by.model else ""
    ends = iso(record.expires_at) if record.expires_at else "never"
    lines = [
        ("key", record.key),
        ("id", record.id),
        ("about", address_words(record.address)),
        ("summary", record.summary),
        ("kind", record.kind),
        ("written by", f"{by.agent}{model}, who claims {by.trust}"),
        ("counts as", f"{answer.trust}, confidence {answer.effective_confidence:.2f}"),
        ("status", f"{life.status}{' (expired)' if answer.expired else ''}"),
        ("created", iso(record.created_at)),
        ("ends", ends),
    ]
    if life.supersedes:
        lines.append(("supersedes", life.supersedes))
    extra = {k: v for k, v in record.attributes.items() if k not in _SAID}
    extra |= {k: v for k, v in record.content.items() if k != "summary"}
    lines += [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in extra.items()
    ]
    lines += [
        ("code", f"{one.ref} {one.state}{f' → {one.now}' if one.now else ''}")
        for one in answer.code
    ]
    lines += [("note", note) for note in answer.notes]
    return "".join(f"{for_terminal(name)}: {for_terminal(text)}\n" for name, text in lines)


def changed_line(done: Written) -> str:
    """What a dry run would have done."""
    if not done.changed:
        return "would change nothing"
    record = done.answer.record
    if record.lifecycle.status == "archived":
        return f"would archive {record.id}"
    return f"would write {record.key}" + (
        f", superseding {done.superseded}" if done.superseded else ""
    )


_SAID = ("kind", "confidence", "code_refs", "code_blobs")
