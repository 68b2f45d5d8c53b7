"""A file with conflicts as a person decides them in an editor: Git's marker lines, in place.

It is no JSON and no YAML until every marker is gone. The last line is a marker that is
never closed: ``git rerere`` records no resolution of such a file, so none is ever used
for another file with the same lines.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import msgspec

from memrepo.semmerge.generic import format_of
from memrepo.semmerge.generic_identity import SINGLE
from memrepo.semmerge.generictree import Node, TreeProblem
from memrepo.semmerge.jsontext import read_json
from memrepo.semmerge.jsonvalue import frozen
from memrepo.semmerge.values import Absent, Conflict, Labels

_LONGEST = 120


class _Place(msgspec.Struct, frozen=True):
    """Lines ``first`` to ``last`` (from 0, exclusive) that hold one conflict's value in ours.

    ``before`` and ``after`` surround the value on them.
    """

    first: int
    last: int
    before: str
    after: str


def marked(joined: bytes, conflicts: Sequence[Conflict], labels: Labels) -> bytes:
    """``joined``, where each conflict holds ours' value, with all three values in its place.

    A place that is not a line of its own is shown above the file.
    """
    text = joined.decode("utf-8", "surrogateescape")
    path = conflicts[0].path
    root = _root(path, text)
    lines = text.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    above: list[Conflict] = []
    found = sorted(
        ((_place(root, text, lines, conflict), conflict) for conflict in conflicts),
        key=lambda pair: pair[0].first if pair[0] else -1,
        reverse=True,
    )
    limit = len(lines)
    for place, conflict in found:
        if place is None or place.last > limit:
            above.append(conflict)
            continue
        lines[place.first : place.last] = _hunk(
            conflict, labels, place, lines[place.first : place.last]
        )
        limit = place.first
    top = [line for c in conflicts if c in above for line in _hunk(c, labels, None, [])]
    count = f"{len(conflicts)} place{'' if len(conflicts) == 1 else 's'}"
    last = f"<<<<<<< memrepo: {count} to decide in this file; then take this line out too"
    return "\n".join([*top, *lines, last, ""]).encode("utf-8", "surrogateescape")


def _hunk(conflict: Conflict, labels: Labels, place: _Place | None, ours: list[str]) -> list[str]:
    where = _plain(conflict.pointer or "the whole file")
    if place is None:
        ours = _value(conflict.ours, "", "")
    before, after = (place.before, place.after) if place else ("", "")
    return [
        f"<<<<<<< {_plain(labels.ours)}: {where}",
        *ours,
        "||||||| base",
        *_value(conflict.base, before, after),
        "=======",
        *_value(conflict.theirs, before, after),
        f">>>>>>> {_plain(labels.theirs)}: {_plain(conflict.message)}",
    ]


def _value(value: object, before: str, after: str) -> list[str]:
    if isinstance(value, Absent):
        return []
    if not before and isinstance(value, str) and "\n" in value:
        return value.rstrip("\n").split("\n")  # a whole file
    return [before + frozen(value).decode() + after]


def _plain(text: str) -> str:
    shown = json.dumps(text)[1:-1].replace('\\"', '"')
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."


def _root(path: str, text: str) -> Node | None:
    kind = format_of(path)
    try:
        if kind == "json":
            return read_json(text)
        if kind == "yaml":
            from memrepo.semmerge.yamltext import read_yaml

            return read_yaml(text).root
    except TreeProblem:
        pass
    return None


def _place(root: Node | None, text: str, lines: list[str], conflict: Conflict) -> _Place | None:
    if not conflict.pointer:
        return _Place(0, len(lines), "", "") if not isinstance(conflict.ours, Absent) else None
    if root is None:
        return None
    node, start = root, root.start
    tokens = [t.replace("~1", "/").replace("~0", "~") for t in conflict.pointer[1:].split("/")]
    for depth, token in enumerate(tokens):
        inner = _inner(node, token)
        if inner is None:
            return _gone(node, text, token) if depth == len(tokens) - 1 else None
        start, node = inner
    first = text.count("\n", 0, start)
    last = text.count("\n", 0, node.end)
    head = text[text.rfind("\n", 0, start) + 1 : start]
    stop = text.find("\n", node.end)
    tail = text[node.end : stop if stop >= 0 else len(text)]
    if head.strip(" \t-") or tail.partition(" #")[0].strip(" \t\r,"):
        return None
    return _Place(first, last + 1, head + text[start : node.start], tail)


def _gone(node: Node, text: str, token: str) -> _Place | None:
    """Right below the line that opens an object or array that lacks the entry in ours."""
    if node.style or not (node.members or node.items):
        return None
    first = node.members[0].key_start if node.members else node.items[0].start
    head = text[text.rfind("\n", 0, first) + 1 : first]
    if head.strip() or "\n" not in text[node.start : first]:
        return None
    key = f"{json.dumps(token, ensure_ascii=False)}: " if node.kind == "object" else ""
    line = text.count("\n", 0, first)
    return _Place(line, line, head + key, ",")


def _inner(node: Node, token: str) -> tuple[int, Node] | None:
    """The entry that one token of a pointer names, and where it begins (with its key)."""
    for member in node.members:
        if member.key == token:
            return member.key_start, member.node
    for item in node.items:
        if item.kind == "scalar" and item.value == token:
            return item.start, item
        names = {m.key: m.node.value for m in item.members if m.node.kind == "scalar"}
        if any(str(names.get(key)) == token for key in SINGLE if key in names):
            return item.start, item
    return None
