"""Which of a side's new tools is an old one under another name, where that matters.

A rename that the other side left alone needs no attention: one tool goes, one comes. It
matters where the other side changed, renamed or removed the same tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import msgspec

from memrepo.protocol.documents import Tool
from memrepo.semmerge.toolentry import Entry, same_body, same_entry

Entries = Mapping[str, Entry]


class Rename(msgspec.Struct, frozen=True):
    """The new name of a tool; ``certain`` where it was changed in nothing else."""

    name: str
    certain: bool


class _Side:
    """One side's renames, looked for when first asked."""

    def __init__(self, base: Entries, side: Entries) -> None:
        self._base = base
        self._side = side

    @cached_property
    def found(self) -> dict[str, Rename]:
        """By the old name."""
        gone = [entry for name, entry in self._base.items() if name not in self._side]
        new = [entry for name, entry in self._side.items() if name not in self._base]
        if not (gone and new):
            return {}
        from memrepo.semdiff.tools import diff_tools

        pairs = diff_tools([*map(_as_tool, gone)], [*map(_as_tool, new)]).renamed
        return {
            pair.before: Rename(
                pair.after, same_body(self._base[pair.before], self._side[pair.after])
            )
            for pair in pairs
        }


def _as_tool(entry: Entry) -> Tool:
    return Tool(entry.name, entry.description, msgspec.json.decode(entry.parameters))


def renames_that_matter(
    base: Entries, ours: Entries, theirs: Entries
) -> tuple[dict[str, str], dict[str, str]]:
    """For ours and for theirs: the old name of each new tool that is an old one.

    Where the other side changed the tool, a body that is much alike makes a rename. Where
    the tool is gone on both sides, only an equal body does: two tools that were taken out
    and two others that came are no disagreement.
    """
    mine, other = _Side(base, ours), _Side(base, theirs)
    old_of_ours: dict[str, str] = {}
    old_of_theirs: dict[str, str] = {}
    for old, before in base.items():
        left, right = ours.get(old), theirs.get(old)
        if left is not None and right is not None:
            continue
        here = mine.found.get(old) if _asks(left, right, before) else None
        there = other.found.get(old) if _asks(right, left, before) else None
        if left is None and right is None and not _certain(here, there):
            continue
        both = here is not None and there is not None and here.name == there.name
        # A name that the other side has too, for a tool of its own, is merged by that name.
        if here is not None and (both or here.name not in theirs):
            old_of_ours[here.name] = old
        if there is not None and (both or there.name not in ours):
            old_of_theirs[there.name] = old
    return old_of_ours, old_of_theirs


def _asks(here: Entry | None, there: Entry | None, before: Entry) -> bool:
    """Whether it matters what became of a tool here: it is gone, and not untouched there."""
    return here is None and (there is None or not same_entry(there, before))


def _certain(*renames: Rename | None) -> bool:
    return any(rename is not None and rename.certain for rename in renames)
