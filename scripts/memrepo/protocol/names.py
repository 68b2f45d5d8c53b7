"""Names that lie in paths: agent ids and snapshot names."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import msgspec

_AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,99}")
_SNAPSHOT = re.compile(r"([0-9]{8}-[0-9]{6})-(.+)\.json", re.DOTALL)
_STAMP = "%Y%m%d-%H%M%S"
# Windows opens the device whatever follows the first dot, in any case.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"] + [f"{d}{n}" for d in ("com", "lpt") for n in range(10)]
)


def agent_id_problem(agent_id: str) -> str | None:
    """Why ``agent_id`` cannot be one, in words, or None when it can.

    An agent id is one path component that is safe on every system: 1 to 100 of
    ``A-Z a-z 0-9 . _ @ -``, starting with a letter or digit, not ending in a dot and
    not the name of a Windows device.
    """
    if not agent_id:
        return "is empty"
    if len(agent_id) > 100:
        return f"is {len(agent_id)} characters long; 100 is the most"
    if not _AGENT_ID.fullmatch(agent_id):
        if not re.match(r"[A-Za-z0-9]", agent_id):
            return "must start with a letter or a digit"
        bad = re.search(r"[^A-Za-z0-9._@-]", agent_id)
        return f"holds {bad.group() if bad else agent_id!a}, which is not allowed"
    if agent_id.endswith("."):
        return "must not end in a dot"
    if agent_id.split(".", 1)[0].lower() in _DEVICES:
        return "is the name of a Windows device"
    return None


class SnapshotName(msgspec.Struct, frozen=True):
    """A snapshot's name taken apart: ``when`` is UTC to the second."""

    when: datetime
    agent_id: str

    @property
    def file_name(self) -> str:
        """The name itself, without a folder."""
        # strftime writes the year 999 with three digits.
        return f"{self.when.year:04}{self.when:%m%d-%H%M%S}-{self.agent_id}.json"

    def path(self, layout: str) -> str:
        """Where the snapshot lies in the repository, for ``flat`` or ``daily``."""
        if layout == "daily":
            return f"history/{self.when.year:04}/{self.when:%m/%d}/{self.file_name}"
        return f"history/{self.file_name}"

    def next_second(self) -> SnapshotName:
        """The name one second later, for when this one is taken."""
        return SnapshotName(self.when + timedelta(seconds=1), self.agent_id)


def parse_snapshot_name(name: str) -> SnapshotName | None:
    """The parts of ``YYYYMMDD-HHMMSS-<agent_id>.json``, or None when it is no such name.

    The date and time must exist, and the agent id must be a valid one.
    """
    found = _SNAPSHOT.fullmatch(name)
    if not found or agent_id_problem(found[2]):
        return None
    try:
        when = datetime.strptime(found[1], _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return SnapshotName(when, found[2])
