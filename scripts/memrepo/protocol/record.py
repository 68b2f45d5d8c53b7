"""The shared record, envelope ``agent-memory/0.1``, as values: one record is one YAML file.

``recordfile.py`` reads and writes the file; this module is what the rest of the package
knows of a record.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec

SCHEMA = "agent-memory/0.1"
RECORDS_FOLDER = "records"

Scope = Literal["project", "branch", "org", "agent"]
Trust = Literal["verified-ci", "human", "session", "external"]
Status = Literal["active", "superseded", "archived"]

#: From the least to the most; a lower one never supersedes a higher one.
TRUST_ORDER: tuple[Trust, ...] = ("external", "session", "verified-ci", "human")


class Address(msgspec.Struct, frozen=True):
    """The place in the world of code that a record is about.

    ``repo`` is "" for the scope "org", and ``branch`` for all scopes but "branch". A record
    of the scope "agent" is for its writer alone, and ``agent`` names that writer there;
    elsewhere it is "".
    """

    org: str
    repo: str = ""
    branch: str = ""
    scope: Scope = "project"
    agent: str = ""


class Writer(msgspec.Struct, frozen=True):
    """Who says so. ``trust`` is what the writer claims; a signature has to back the higher ones."""

    agent: str
    model: str = ""
    trust: Trust = "session"


class Lifecycle(msgspec.Struct, frozen=True):
    """``ttl_seconds`` counts from ``created_at``; None never ends."""

    status: Status = "active"
    ttl_seconds: int | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    reason: str = ""


class CodeRef(msgspec.Struct, frozen=True):
    """A place in the code: ``path``, ``line`` (from 1, or None), and the blob seen when written.

    ``blob`` is a Git blob id, "" when the writer had no checkout.
    """

    path: str
    line: int | None = None
    blob: str = ""


class Record(msgspec.Struct, frozen=True):
    """One record. Times are UTC. ``attributes`` and ``content`` keep whatever else was given.

    ``attributes`` holds ``kind`` always, ``confidence`` (0 to 1) and ``code_refs`` when there
    are some; ``content`` holds ``summary`` always. ``signature`` is an armoured SSH signature
    over :func:`memrepo.protocol.recordfile.signed_bytes`, "" when there is none.
    """

    id: str
    key: str
    address: Address
    written_by: Writer
    created_at: datetime
    updated_at: datetime
    lifecycle: Lifecycle
    attributes: dict[str, Any]
    content: dict[str, Any]
    signature: str = ""

    @property
    def kind(self) -> str:
        """What sort of conclusion it is."""
        return str(self.attributes.get("kind", "fact"))

    @property
    def summary(self) -> str:
        """The conclusion itself."""
        return str(self.content.get("summary", ""))

    @property
    def confidence(self) -> float:
        """From 0 to 1; one that is not given counts as certain."""
        return float(self.attributes.get("confidence", 1.0))

    @property
    def expires_at(self) -> datetime | None:
        """When it ends, or None for never."""
        ttl = self.lifecycle.ttl_seconds
        return None if ttl is None else self.created_at + timedelta(seconds=ttl)

    def is_active(self, now: datetime) -> bool:
        """Whether it holds at ``now``: active and not yet at its end."""
        ends = self.expires_at
        return self.lifecycle.status == "active" and (ends is None or now < ends)
