"""The messages of commits of records. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.protocol.record import Record

RECORD_TRAILER = "Record"
EXPECT_TRAILER = "Expect"
_MOST_NAMED = 20


def written_message(record: Record, expect: str | None) -> str:
    """For a new record: its key, and its id as a trailer. What it says is not repeated.

    Nor is what it supersedes, which a lost race may still change; what its writer expected
    to be active (an id, or ``none``) is for those who publish it later.
    """
    trailers = [f"{RECORD_TRAILER}: {record.id}"]
    if expect is not None:
        trailers.append(f"{EXPECT_TRAILER}: {expect}")
    return _message(f"{record.key} written", trailers)


def ended_message(records: Sequence[Record], why: str) -> str:
    """For records that are archived."""
    if len(records) == 1:
        return _message(f"{records[0].key} archived", [f"{RECORD_TRAILER}: {records[0].id}"])
    trailers = [f"{RECORD_TRAILER}: {record.id}" for record in records[:_MOST_NAMED]]
    return _message(f"{len(records):,} {why} records archived", trailers)


def _message(subject: str, trailers: list[str]) -> str:
    return f"records: {subject}\n\n" + "\n".join(trailers) + "\n"
