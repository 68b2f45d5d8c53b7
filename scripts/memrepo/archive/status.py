"""How old the archive is, and what is due: facts from one commit, judged by its policy."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from memrepo.gitrepo.blobs import blob_sizes, iter_tree, promisor
from memrepo.gitrepo.branches import branch_checked_out, default_remote
from memrepo.gitrepo.linear import count_beyond
from memrepo.gitrepo.log import log_paths
from memrepo.gitrepo.remote import find_remote, known_ref
from memrepo.gitrepo.repository import Repository
from memrepo.history.archived import ArchiveIndex
from memrepo.protocol.layout import place_of
from memrepo.protocol.policy import Archive
from memrepo.report.phrases import count
from memrepo.shards.plan import plan_shards
from memrepo.shards.values import INDEX_PATH, Archived


class Status(msgspec.Struct, frozen=True):
    """The archive at ``commit``. Times are in UTC.

    ``due`` are snapshots older than ``older_than_days`` (each agent's newest is never due),
    of ``due_bytes`` (None where the clone does not have their sizes), since ``due_since``.
    ``overdue``: some are due for more than ``overdue_days``. ``archived_at`` is when the
    index last changed, None where that never was, or the clone does not reach back so far.
    """

    commit: str
    shards: int
    archived: int
    archived_at: datetime | None
    last_tag: str
    last_url: str
    snapshots: int
    due: int
    due_bytes: int | None
    due_since: datetime | None
    overdue: bool
    older_than_days: int
    overdue_days: int

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of ``archive status --json``."""
        value: dict[str, Any] = msgspec.to_builtins(self)
        return value


def look(repo: Repository, commit: str, policy: Archive, *, now: datetime | None = None) -> Status:
    """The status of the archive at a commit id."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    index = ArchiveIndex(repo.view(commit))
    listed = [
        Archived(entry.path, entry.oid, 0)
        for entry in iter_tree(repo, commit, "history")
        if entry.mode in (0o100644, 0o100664) and place_of(entry.path).role == "snapshot"
    ]
    before = moment - timedelta(days=policy.older_than_days)
    plan = plan_shards(listed, commit=commit, before=before)
    due = [one for shard in plan.shards for one in shard.snapshots]
    oldest = min((when for one in due if (when := _when(one.path))), default=None)
    since = oldest + timedelta(days=policy.older_than_days) if oldest else None
    last = index.lines[-1] if index.lines else None
    return Status(
        commit=commit,
        shards=len(index.lines),
        archived=sum(line.snapshots for line in index.lines),
        archived_at=_archived_at(repo, commit) if last else None,
        last_tag=last.tag if last else "",
        last_url=last.url if last else "",
        snapshots=len(listed),
        due=len(due),
        due_bytes=None if promisor(repo) else sum(blob_sizes(repo, [one.blob for one in due])),
        due_since=since,
        overdue=since is not None and moment - since > timedelta(days=policy.overdue_days),
        older_than_days=policy.older_than_days,
        overdue_days=policy.overdue_days,
    )


def judged_note(repo: Repository) -> str:
    """Where HEAD, which is judged, is not what a run would take, as last fetched; else ""."""
    branch, remote = branch_checked_out(repo), default_remote(repo)
    here = repo.tip()
    if branch is None or remote is None or here is None:
        return ""
    seen = _last_seen(repo, remote, branch)
    if seen is None:
        return f"judged is {branch} here; {remote}/{branch}, which a run takes, is not fetched yet"
    ahead, behind = count_beyond(repo, here, seen), count_beyond(repo, seen, here)
    far = [f"{count(ahead, 'commit')} ahead of" if ahead else ""]
    far += [f"{count(behind, 'commit')} behind" if behind else ""]
    if not any(far):
        return ""
    where = " and ".join(filter(None, far))
    return f"judged is {branch} here, {where} {remote}/{branch} as last fetched, which a run takes"


def _last_seen(repo: Repository, remote: str, branch: str) -> str | None:
    """The newest tip of a remote's branch that Git or memrepo fetched."""
    refs = (f"refs/remotes/{remote}/{branch}", known_ref(find_remote(repo, remote), branch))
    git, ours = map(repo.tip, refs)
    if git is None or ours is None:
        return ours or git
    return ours if count_beyond(repo, ours, git) else git


def _when(path: str) -> datetime | None:
    snapshot = place_of(path).snapshot
    return snapshot.when if snapshot else None


def _archived_at(repo: Repository, commit: str) -> datetime | None:
    if repo.is_shallow:
        # The clone's first commit seems to bring every file.
        return None
    entries = log_paths(repo, [INDEX_PATH], commit, limit=1)
    return datetime.fromisoformat(entries[0].committed).astimezone(UTC) if entries else None


class Listed(msgspec.Struct, frozen=True):
    """One release of the archive, with its shards as the index has them."""

    tag: str
    url: str
    shards: tuple[dict[str, Any], ...]
    snapshots: int
    bytes: int
    size: int
    first: datetime
    last: datetime

    def as_json(self) -> dict[str, Any]:
        """The public JSON shape of one element of ``archive list --json``."""
        value: dict[str, Any] = msgspec.to_builtins(self)
        return value


def releases_of(index: ArchiveIndex) -> list[Listed]:
    """What the index knows, release by release, the oldest first."""
    tags = Counter(line.tag for line in index.lines)
    found = []
    for tag in tags:
        lines = [line for line in index.lines if line.tag == tag]
        found.append(
            Listed(
                tag=tag,
                url=next((line.url for line in lines if line.url), ""),
                shards=tuple(msgspec.to_builtins(line) for line in lines),
                snapshots=sum(line.snapshots for line in lines),
                bytes=sum(line.bytes for line in lines),
                size=sum(line.size for line in lines),
                first=min(line.first for line in lines),
                last=max(line.last for line in lines),
            )
        )
    return found
