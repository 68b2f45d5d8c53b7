"""The messages of commits of records. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.protocol.record import Record

RECORD_TRAILER = "Record"
SUPERSEDES_TRAILER = "Supersedes"
_MOST_NAMED = 20


def written_message(record: Record, superseded: str | None, expect: str | None) -> str:
    """For a new record: its key, and its id as a trailer. What it says is not repeated."""
    trailers = [f"{RECORD_TRAILER}: {record.id}"]
    if superseded:
        trailers.append(f"{SUPERSEDES_TRAILER}: {superseded}")
    if expect is not None:
        trailers.append(f"Expect: {expect}")
    verb = "supersedes another record" if superseded else "new record"
    return _message(f"{record.key} {verb}", trailers)


def ended_message(records: Sequence[Record], why: str) -> str:
    """For records that are archived."""
    if len(records) == 1:
        return _message(f"{records[0].key} archived", [f"{RECORD_TRAILER}: {records[0].id}"])
    trailers = [f"{RECORD_TRAILER}: {record.id}" for record in records[:_MOST_NAMED]]
    return _message(f"{len(records):,} {why} records archived", trailers)


def _message(subject: str, trailers: list[str]) -> str:
    return f"records: {subject}\n\n" + "\n".join(trailers) + "\n"
