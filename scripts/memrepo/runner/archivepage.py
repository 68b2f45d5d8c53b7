"""What ``actions/archive`` and ``actions/restore`` put on the page of their run. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import msgspec

from memrepo.archive.phases import Ask
from memrepo.archive.proof import Proven
from memrepo.archive.restore import Restored
from memrepo.archive.status import Status
from memrepo.archive.summary import render_summary
from memrepo.archive.values import ArchiveOutcome
from memrepo.report.escape import code_markdown, for_markdown
from memrepo.report.phrases import count, size

_MOST_ROWS = 60
_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9._~:/%+-]+")


def overdue_words(found: Status) -> str:
    """Why an archive is overdue; "" where it is not."""
    if not found.overdue:
        return ""
    since = f" since {found.due_since:%Y-%m-%d}" if found.due_since else ""
    why = (
        "A weekly run never lets that happen: see whether its schedule was switched off."
        if found.shards
        else "It had never run."
    )
    return (
        f"The archive was overdue: {count(found.due, 'snapshot')} due{since}, which is more than "
        f"{found.overdue_days} days. {why}"
    )


def outcome_page(outcome: ArchiveOutcome, overdue: str) -> str:
    """What a run moved, the sizes before and after, the way back, and a chart by week."""
    parts = [render_summary(outcome)]
    if outcome.pull_request:
        words = f"Pull request {outcome.pull_request}"
        parts.append(f"{_linked(words, outcome.pull_request_url)}\n")
    if overdue:
        parts.append(f"> {for_markdown(overdue)}\n")
    return "\n".join(parts)


def _linked(words: str, url: str) -> str:
    return f"[{words}]({url})" if _PLAIN_URL.fullmatch(url) else words


def plan_page(asks: Sequence[Ask], overdue: str) -> str:
    """What the jobs of a matrix are to publish."""
    total = sum(ask.snapshots for ask in asks)
    lines = [f"### Archive: {count(total, 'snapshot')} are due, in {count(len(asks), 'shard')}", ""]
    if asks:
        lines += ["| shard | release | snapshots | in the tree |", "|---|---|---:|---:|"]
        lines += [
            f"| {ask.shard} | {code_markdown(ask.tag)} | {ask.snapshots:,} | {size(ask.bytes)} |"
            for ask in asks[:_MOST_ROWS]
        ]
        if len(asks) > _MOST_ROWS:
            lines.append(f"| and {len(asks) - _MOST_ROWS:,} more | | | |")
        lines.append("")
    if overdue:
        lines.append(f"> {for_markdown(overdue)}")
    return "\n".join(lines).strip() + "\n"


class ShardPage(msgspec.Struct, frozen=True):
    """The page of one published shard, and the SHA-256 of its ``SHA256SUMS``."""

    text: str
    sha256: str


def shard_page(proven: Proven) -> ShardPage:
    """What one job of a matrix published."""
    sha256 = hashlib.sha256(proven.sums).hexdigest()
    tag = code_markdown(proven.release.tag)
    what = count(proven.manifest.snapshots, "snapshot")
    sums = f"SHA-256 of its `SHA256SUMS`: {code_markdown(sha256)}"
    return ShardPage(f"### Archive: {what} published in {tag}\n\n{sums}\n", sha256)


def restored_page(done: Restored) -> str:
    """What came back, and where it is."""
    what = count(done.snapshots, "snapshot")
    tags = ", ".join(code_markdown(tag) for tag in done.releases)
    lines = [f"### Restored: {what}", "", f"From {tags}."]
    if done.folder:
        lines.append(f"In the folder {code_markdown(done.folder)} of the runner.")
    else:
        commit = code_markdown(done.commit[:12])
        lines.append(f"On the branch {code_markdown(done.branch)}, at {commit}.")
    if there := done.snapshots - done.written:
        lines.append(f"{there:,} of them were there already.")
    return "\n".join(lines) + "\n"
