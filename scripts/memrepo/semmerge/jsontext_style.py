"""How a JSON text is laid out, so that what is added to it looks like the rest."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from memrepo.semmerge.generictree import Node


class Style(msgspec.Struct, frozen=True):
    """``newline`` is "" where the text has one line; ``separator`` stands inside a line."""

    newline: str
    unit: str
    colon: str
    separator: str
    pad: str = ""


def find_style(root: Node, like: Node | None = None) -> Style:
    """The layout of the text of ``root``; where that shows none, the one of ``like``."""
    text = root.text
    newline = unit = ""
    colon = separator = pad = None
    for node in _containers(root):
        spans = entry_spans(node)
        if not spans:
            continue
        lead = text[node.start + 1 : spans[0][0]]
        if colon is None and node.kind == "object":
            member = node.members[0]
            colon = text[member.key_end : member.node.start]
        if "\n" in lead:
            if not newline:
                newline = "\r\n" if "\r\n" in lead else "\n"
                unit = lead.rpartition("\n")[2].removeprefix(indent_at(text, node.start))
        else:
            pad = lead if pad is None else pad
            if separator is None and len(spans) > 1:
                between = text[spans[0][1] : spans[1][0]]
                separator = None if "\n" in between else between
        if newline and colon and separator:
            break
    empty = not newline and colon is None and separator is None
    if empty and like is not None:
        return find_style(like)
    if colon is None or "\n" in colon:
        colon = ": "
    if separator is None:
        separator = ", " if colon.endswith(" ") else ","
    return Style(newline, unit, colon, separator, pad or "")


def entry_spans(node: Node) -> list[tuple[int, int]]:
    """Where each entry of a container begins and ends; a member with its key."""
    if node.kind == "object":
        return [(m.key_start, m.node.end) for m in node.members]
    return [(item.start, item.end) for item in node.items]


def indent_at(text: str, at: int) -> str:
    """The space at the beginning of the line in which ``at`` stands."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _containers(root: Node) -> Iterator[Node]:
    if root.kind == "scalar":
        return
    yield root
    for inner in [m.node for m in root.members] or root.items:
        yield from _containers(inner)
