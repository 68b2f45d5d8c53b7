"""The entries of a YAML block collection as lines."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from memrepo.semmerge.generictree import Node


class CannotSplice(Exception):
    """The text has a form in which nothing can be changed safely."""


class Entry(msgspec.Struct, eq=False):
    """A member or an item, as lines of its text.

    ``head`` are the comment lines right above it. The body goes from ``start`` (its key
    or dash, which ends at ``key_end``) to ``stop``, the end of the line on which its
    value ends. ``gap`` are the lines below it, up to the next entry's head.
    """

    text: str
    start: int
    key_end: int
    value: Node
    stop: int
    column: int
    is_item: bool
    head: str = ""
    gap: str = ""

    @property
    def body(self) -> str:
        """The entry without the lines around it."""
        return self.text[self.start : self.stop]


def entries_of(node: Node) -> list[Entry]:
    """The entries of a block collection; none where ``node`` is something else.

    Raises CannotSplice for a form that lines cannot tell apart.
    """
    if node.style != "block":
        return []
    text = node.text
    found = [_entry(text, m.key_start, m.key_end, m.node) for m in node.members]
    for item in node.items:
        dash = _dash(item)
        found.append(_entry(text, dash, dash + 1, item, is_item=True))
    for above, entry in pairwise(found):
        line = text.rfind("\n", 0, entry.start) + 1
        if line <= above.stop or text[line : entry.start].strip(" "):
            raise CannotSplice("two entries on one line")
        between = _lines(text[above.stop : line])[1:]
        heads = len(between)
        while heads and between[heads - 1].lstrip(" \t").startswith("#"):
            heads -= 1
        entry.head = "".join(between[heads:])
        above.gap = "".join(between[:heads])
    return found


def _entry(text: str, start: int, key_end: int, value: Node, *, is_item: bool = False) -> Entry:
    stop = text.find("\n", value.end)
    stop = len(text) if stop < 0 else stop
    stop -= text[stop - 1 : stop] == "\r"
    column = start - (text.rfind("\n", 0, start) + 1)
    return Entry(text, start, key_end, value, stop, column, is_item)


def _dash(item: Node) -> int:
    at = len(item.text[: item.start].rstrip(" \t")) - 1
    if at < 0 or item.text[at] != "-":
        raise CannotSplice("an entry that begins below its dash")
    return at


def shifted(text: str, column: int, to: int, *, first: bool = False) -> str:
    """Lines moved from one column to another; the first of them only with ``first``."""
    out = []
    for number, line in enumerate(_lines(text)):
        if (number == 0 and not first) or not line.strip():
            out.append(line)
        elif line.startswith(" " * column):
            out.append(" " * to + line[column:])
        else:
            out.append(" " * to + line.lstrip(" "))
    return "".join(out)


def _lines(text: str) -> list[str]:
    """Each line with its line feed."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines
