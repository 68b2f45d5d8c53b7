"""The three-way merge of ``metadata.json``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial

from memrepo.protocol.canonical import dump
from memrepo.protocol.documents import Metadata
from memrepo.protocol.semver import parse_version
from memrepo.protocol.timestamps import parse_timestamp
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.statefile import merge_state, read_state
from memrepo.semmerge.values import ABSENT, Labels, Merged, Resolution


def merge_metadata(
    path: str,
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    labels: Labels | None = None,
    resolutions: Sequence[Resolution] = (),
) -> Merged:
    """Merge three texts of a ``metadata.json``; ``base`` is None where both sides added it.

    ``last_updated`` is the later instant, as that side spells it. A ``version`` that both
    changed differently is the higher of the two (semver.org 2.0.0, item 11), and a note
    says so; two that are equally high are a conflict. ``agent_id`` must agree.
    """
    merging = Merging(path, labels, resolutions)
    read: Callable[[bytes | None], Metadata | None] = partial(read_state, "metadata")
    return merge_state(
        merging, "metadata", (base, ours, theirs), read=read, join=_join, write=_write
    )


def _join(
    merging: Merging, base: Metadata | None, ours: Metadata | None, theirs: Metadata | None
) -> Metadata | None:
    if ours is None or theirs is None:
        return None
    return Metadata(
        _agent_id(merging, base, ours, theirs),
        _version(merging, base, ours, theirs),
        _last_updated(merging, base, ours, theirs),
    )


def _write(metadata: Metadata | None) -> bytes:
    return dump(metadata) if metadata else b""


def _agent_id(merging: Merging, base: Metadata | None, ours: Metadata, theirs: Metadata) -> str:
    if ours.agent_id == theirs.agent_id:
        return ours.agent_id
    message = f"{merging.labels.ours} and {merging.labels.theirs} must name the same agent"
    before = base.agent_id if base else ABSENT
    return _text(
        merging,
        merging.clash("/agent_id", "both-changed", message, before, ours.agent_id, theirs.agent_id),
    )


def _version(merging: Merging, base: Metadata | None, ours: Metadata, theirs: Metadata) -> str:
    before, mine, other = base.version if base else ABSENT, ours.version, theirs.version
    if mine == other or before == other:
        return mine
    if before == mine:
        return other
    left, right = parse_version(mine), parse_version(other)
    if left is None or right is None or left.precedence == right.precedence:
        return _text(merging, merging.disagree("/version", before, mine, other))
    higher = mine if left.precedence > right.precedence else other
    message = (
        f"{merging.labels.ours} says {json.dumps(mine)} and {merging.labels.theirs} "
        f"{json.dumps(other)}; the higher one was taken"
    )
    merging.note("/version", "version-higher", message)
    return higher


def _last_updated(merging: Merging, base: Metadata | None, ours: Metadata, theirs: Metadata) -> str:
    before = base.last_updated if base else ABSENT
    mine, other = ours.last_updated, theirs.last_updated
    if mine == other or before == other:
        return mine
    if before == mine:
        return other
    left, right = (parse_timestamp(text, need_offset=False) for text in (mine, other))
    if left is None or right is None:
        return _text(merging, merging.disagree("/last_updated", before, mine, other))
    labels = merging.labels
    message = f"{labels.ours} and {labels.theirs} both set this time; the later one was taken"
    merging.note("/last_updated", "later-time", message)
    return mine if left >= right else other


def _text(merging: Merging, value: object) -> str:
    if isinstance(value, str):
        return value
    merging.refuse("a recorded decision about metadata gives no text")
    return ""
