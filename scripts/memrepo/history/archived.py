"""What the archive holds, as one commit's index says it: known here, without a forge.

Members files are read only for shards that can hold what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from memrepo.errors import BadInput, UnknownRevision
from memrepo.gitrepo.repository import TipView
from memrepo.protocol.names import parse_snapshot_name
from memrepo.shards.index import (
    InArchive,
    archived_snapshots,
    members_path,
    parse_index,
    parse_members,
)
from memrepo.shards.values import INDEX_PATH, Archived, IndexLine


def read_index(view: TipView) -> list[IndexLine]:
    """The index of a commit, none without one.  Raises BadInput for one that is damaged."""
    data = view.read(INDEX_PATH)
    if data is None and view.exists(INDEX_PATH):
        raise BadInput(
            f"{INDEX_PATH} is no plain file",
            f"take back its last good version: git log {INDEX_PATH}",
        )
    return parse_index(data or b"", INDEX_PATH)


class SnapshotArchived(UnknownRevision):
    """A snapshot that left the tree: ``found`` is where the archive keeps it (exit 2)."""

    def __init__(self, found: InArchive) -> None:
        super().__init__(
            f"{found.path} is archived in release {found.line.tag} and not in this clone",
            f"memrepo archive show {found.path} fetches it",
        )
        self.found = found


class ArchiveIndex:
    """The index that a commit has; ``lines`` is empty where there is none.

    Raises BadInput for an index, and while it is searched for a members file, that cannot
    be read or is not what the index says.
    """

    def __init__(self, view: TipView) -> None:
        self.lines = read_index(view)
        self.read = view.read
        self._members: dict[IndexLine, Sequence[Archived]] = {}

    def members(self, line: IndexLine) -> Sequence[Archived]:
        """The snapshots of a shard, in order of paths, sizes unknown; kept once read.

        Raises BadInput where the list is missing or not the one that the index names.
        """
        if line not in self._members:
            path = members_path(line.tag, line.shard)
            data = self.read(path)
            if data is None:
                raise BadInput(
                    f"{path} is missing, which lists what {line.asset} holds",
                    "take it back: git log --diff-filter=D -- " + path,
                )
            self._members[line] = parse_members(data, line)
        return self._members[line]

    def find(self, name: str) -> InArchive | None:
        """The snapshot of that path or file name, as it was archived last."""
        file_name = name.rpartition("/")[2]
        snapshot = parse_snapshot_name(file_name)
        if snapshot is None:
            return None
        paths = {name} if "/" in name else {snapshot.path("flat"), snapshot.path("daily")}
        for one in self.of_agent(snapshot.agent_id, since=snapshot.when, until=snapshot.when):
            if one.path in paths:
                return one
        return None

    def of_agent(
        self, agent_id: str, *, since: datetime | None = None, until: datetime | None = None
    ) -> Iterator[InArchive]:
        """The agent's snapshots in the shards that reach into a time, newest shard first.

        ``since`` and ``until`` choose shards, not snapshots.
        """
        lines = (
            line
            for line in reversed(self.lines)
            if agent_id in line.agents
            and (since is None or line.last >= since)
            and (until is None or line.first <= until)
        )
        for line in lines:
            yield from archived_snapshots([line], self.read, agent_id=agent_id)
