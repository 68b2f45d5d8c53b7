"""The three-way merge of one file, by what its path says it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memrepo.protocol.layout import place_of
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.values import Labels, Merged, Resolution

if TYPE_CHECKING:
    from memrepo.semmerge.lines import LineMerge


def _merge_of(kind: str) -> Callable[..., Merged] | None:
    """The merge of one of an agent's files; each loads its own rules, and a driver needs one."""
    if kind == "context":
        from memrepo.semmerge.context import merge_context

        return merge_context
    if kind == "tools":
        from memrepo.semmerge.tools import merge_tools

        return merge_tools
    if kind == "metadata":
        from memrepo.semmerge.metadata import merge_metadata

        return merge_metadata
    return None


def merge_file(
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    *,
    labels: Labels | None = None,
    resolutions: Sequence[Resolution] = (),
    line_merge: LineMerge | None = None,
) -> Merged:
    """Merge one file whose three versions are given; None is no file. Never raises.

    ``path`` is from the root of the memory repo, with ``/``. Where the sides are equal, or
    one left the file alone, the outcome is exactly the other's bytes; nothing is read then.
    An agent's file that comes of two sides is laid out as memrepo writes it and valid by
    the protocol, without the limits of a policy. ``line_merge`` is Git's merge of texts;
    without it a text that both sides changed is a conflict.
    """
    if ours == theirs or base == theirs:
        return Merged(ours)
    if base == ours:
        return Merged(theirs)
    place = place_of(path)
    if ours is None or theirs is None:
        return _deleted(path, base, ours, theirs, labels, resolutions)
    if place.role == "snapshot":
        merging = Merging(path, labels, resolutions)
        words = f"{merging.labels.ours} and {merging.labels.theirs} have other snapshots"
        message = f"{words} of this name; a snapshot is never changed"
        return merging.done(merging.clash_whole("snapshot", message, base, ours, theirs))
    try:
        merge = _merge_of(place.kind or "") if place.role == "state" else None
        if merge is not None:
            # Git gives an empty file for the base where both sides added one.
            before = base if base and base.strip() else None
            return merge(path, before, ours, theirs, labels, resolutions)
        from memrepo.semmerge.generic import merge_generic

        return merge_generic(path, base, ours, theirs, labels, resolutions, line_merge=line_merge)
    except RecursionError:
        merging = Merging(path, labels, resolutions)
        message = "the file is nested too deeply to be merged"
        return merging.done(merging.clash_whole("unparseable", message, base, ours, theirs))


def _deleted(
    path: str,
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    labels: Labels | None,
    resolutions: Sequence[Resolution],
) -> Merged:
    """One side changed the file and the other deleted it."""
    merging = Merging(path, labels, resolutions)
    changed, deleted = merging.labels.ours, merging.labels.theirs
    if ours is None:
        changed, deleted = deleted, changed
    message = f"{changed} changed the file, {deleted} deleted it"
    return merging.done(merging.clash_whole("delete-modify", message, base, ours, theirs))
