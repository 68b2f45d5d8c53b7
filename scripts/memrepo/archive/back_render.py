"""What the way back from the archive says: lines for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from memrepo.archive.check import Checked
from memrepo.archive.restore import Restored
from memrepo.archive.status import Listed, Status
from memrepo.report.escape import for_terminal
from memrepo.report.phrases import count, listed, size
from memrepo.shards.values import Archived


def release_lines(found: Iterable[Listed]) -> Iterator[str]:
    """``archive list``: a line a release and one a shard, made safe to print."""
    for release in found:
        where = f"  {release.url}" if release.url else ""
        what = f"{count(release.snapshots, 'snapshot')}, {size(release.size)} packed"
        yield for_terminal(f"{release.tag}  {what}{where}")
        for shard in release.shards:
            days = f"{shard['first'][:10]} to {shard['last'][:10]}"
            number = count(shard["snapshots"], "snapshot")
            yield for_terminal(f"  {shard['asset']}  {days}  {number}  {size(shard['size'])}")


def status_text(status: Status, now: datetime) -> str:
    """``archive status``, made safe to print. No last newline."""
    return "\n".join(map(for_terminal, _status(status, now)))


def _status(status: Status, now: datetime) -> Iterator[str]:
    if not status.shards:
        yield "nothing is archived yet"
    else:
        what = f"{count(status.archived, 'snapshot')} in {count(status.shards, 'shard')}"
        yield f"archived: {what}, the last in {status.last_tag} ({_age(status, now)})"
    yield f"in the tree: {count(status.snapshots, 'snapshot')}"
    if not status.due:
        yield f"due: nothing is older than {status.older_than_days} days"
        return
    size_of_it = "" if status.due_bytes is None else f", {size(status.due_bytes)}"
    since = f", since {status.due_since:%Y-%m-%d}" if status.due_since else ""
    yield f"due: {count(status.due, 'snapshot')}{size_of_it}{since}"
    if status.overdue:
        has = "stopped" if status.shards else "never run"
        yield (
            f"overdue: some are due for more than {status.overdue_days} days; the archive has"
            f" {has}: memrepo archive run"
        )


def _age(status: Status, now: datetime) -> str:
    if status.archived_at is None:
        return "when is not known in a shallow clone"
    return f"{count((now - status.archived_at).days, 'day')} ago"


def checked_line(row: Checked) -> str:
    """One line of ``archive verify``, made safe to print."""
    name = f"{row.tag} {row.asset}"
    if row.problems:
        return for_terminal(f"wrong  {name}: {'; '.join(row.problems)}")
    how = "read and compared" if row.deep else "there, with its digest"
    return for_terminal(f"ok     {name}: {count(row.snapshots, 'snapshot')} {how}")


def restored_text(done: Restored) -> str:
    """The last line of ``archive restore``, made safe to print."""
    what = count(done.snapshots, "snapshot")
    there = done.snapshots - done.written
    note = f" ({there:,} of them were there)" if there else ""
    of = f"{what} of {listed(done.releases)}"
    if done.folder:
        text = f"{of} in {done.folder}{note}"
    elif done.new_branch and not done.written:
        text = f"new branch {done.branch} at {done.commit}: {of} are all there already"
    elif not done.written:
        text = f"nothing to do: {of} are there already"
    else:
        text = f"{of} on {done.branch}, commit {done.commit}{note}"
    return for_terminal(f"{text}, read from {done.source}" if done.source else text)


def planned_json(meant: Sequence[Archived]) -> list[dict[str, Any]]:
    """What a dry run of ``archive restore --json`` prints."""
    return [{"path": one.path, "blob": one.blob} for one in meant]
