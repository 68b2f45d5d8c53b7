"""Files that are lines: JSON Lines joined by meaning, other text by Git's own line merge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import msgspec

from memrepo.semmerge.generic_gaps import replaced_differently
from memrepo.semmerge.generic_identity import TEXT, choose_identity, joint_order
from memrepo.semmerge.generic_join import Join, Joined, Outcome
from memrepo.semmerge.generictree import Node, TreeProblem
from memrepo.semmerge.jsontext import read_json
from memrepo.semmerge.jsontext_style import find_style
from memrepo.semmerge.jsontext_write import JsonWriter

#: Git's line merge of (base, ours, theirs): the result, or None where lines conflict.
LineMerge = Callable[[bytes, bytes, bytes], bytes | None]


def read_lines(text: str) -> Node:
    """The lines of a JSON Lines text as one array; blank lines are passed over.

    Each line is a text of its own. Raises TreeProblem with the line's number.
    """
    items = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t\r"):
            continue
        try:
            items.append(read_json(line))
        except TreeProblem as problem:
            again = TreeProblem(f"line {number}: {problem.message}")
            again.twice = problem.twice
            raise again from None
    return Node("array", text, 0, len(text), items=items)


def join_lines(join: Join, base: Node | None, ours: Node, theirs: Node) -> Outcome | None:
    """Lines joined by the key that every one has, else as whole lines."""
    sides = [base.items if base else [], ours.items, theirs.items]
    identity, _ = choose_identity(sides)
    if identity is not None and identity.name != TEXT:
        return join.keyed("", identity, base, ours, theirs)
    before, left, right = (_numbered(side) for side in sides)
    if replaced_differently(list(before), list(left), list(right), deletion_counts=True):
        return join.disagree("", base, ours, theirs)
    kept = {name for name in {**left, **right} if _stays(name, before, left, right)}
    order, torn = joint_order(list(before), list(left), list(right), kept)
    if torn:
        labels = join.merging.labels
        message = f"{labels.ours} and {labels.theirs} moved the same lines, differently"
        return join.disagree("", base, ours, theirs, ("order", message))
    join.merging.note("", "identity-key", "lines were told apart by their whole text")
    return Joined(ours, theirs, items=[left.get(name) or right[name] for name in order])


def write_lines(outcome: Outcome, ours: Node) -> str:
    """The text of the file: ours' lines as they were, others in a line of their own."""
    if not isinstance(outcome, Joined):
        return outcome.text
    style = msgspec.structs.replace(
        find_style(ours.items[0]) if ours.items else find_style(outcome.theirs), newline=""
    )
    end = "\r\n" if "\r\n" in ours.text else "\n"
    lines = [_line(item, style) for item in outcome.items]
    closed = not ours.text or ours.text.endswith("\n")
    return end.join(lines) + (end if closed and lines else "")


def _line(item: Outcome, style: Any) -> str:
    if isinstance(item, Joined):
        text = item.ours.text.rstrip("\r")
        written = JsonWriter(item.ours.text, style).joined(item, "")
        return text[: item.ours.start] + written + text[item.ours.end :]
    return item.text.rstrip("\r")


def _numbered(lines: list[Node]) -> dict[Hashable, Node]:
    """Each line by its meaning and which of several equal ones it is."""
    seen: Counter[Hashable] = Counter()
    named: dict[Hashable, Node] = {}
    for line in lines:
        seen[line.meaning] += 1
        named[line.meaning, seen[line.meaning]] = line
    return named


def _stays(
    name: Hashable,
    before: dict[Hashable, Node],
    left: dict[Hashable, Node],
    right: dict[Hashable, Node],
) -> bool:
    return (name in left and name in right) or name not in before
