"""What changed in an agent's tools, and what each change means for whoever calls them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from memrepo.protocol.documents import Tool
from memrepo.semdiff.change import (
    ParameterChange,
    ToolChange,
    ToolRename,
    ToolsDiff,
    ToolSummary,
)
from memrepo.semdiff.jsonvalue import frozen, same
from memrepo.semdiff.likeness import Sketch, likeness
from memrepo.semdiff.parameters import signature
from memrepo.semdiff.schema import diff_parameters, worst

#: Likeness of two tools' bodies from which one is the other under a new name.
_RENAMED = 0.75
#: Pairs of gone and new tools that are all compared; above, only equal bodies are.
_ALL_PAIRS = 4_096

Pair = tuple[int, int]


def diff_tools(before: Sequence[Tool], after: Sequence[Tool]) -> ToolsDiff:
    """Tools added, removed, renamed and changed; tools of one name are one tool.

    A tool that is gone and a new one whose body (parameters and description) is the
    same or nearly so are one renamed tool. Of several tools with one name, the first is
    compared with the first. Tools come in the order of ``after``, removed ones in that
    of ``before``; two lists that differ in order only are ``reordered``.
    """
    pairs, gone, new = _by_name(before, after)
    renames = _renames(before, after, gone, new)
    renamed = [
        ToolRename(
            before=before[i].name,
            after=after[j].name,
            changes=_body_changes(before[i], after[j]),
        )
        for i, j in renames
    ]
    changed: list[ToolChange] = []
    for i, j in pairs:
        changes = _body_changes(before[i], after[j])
        if changes:
            changed.append(ToolChange(after[j].name, worst(c.cls for c in changes), changes))
    olds = [i for i, _ in sorted(pairs + renames, key=lambda pair: pair[1])]
    left, right = {i for i, _ in renames}, {j for _, j in renames}
    return ToolsDiff(
        added=tuple(_summary(after[j]) for j in new if j not in right),
        removed=tuple(_summary(before[i]) for i in gone if i not in left),
        renamed=tuple(renamed),
        changed=tuple(changed),
        reordered=olds != sorted(olds),
        before_tools=len(before),
        after_tools=len(after),
    )


def _summary(tool: Tool) -> ToolSummary:
    return ToolSummary(tool.name, tool.description, tool.parameters)


def _body_changes(old: Tool, new: Tool) -> tuple[ParameterChange, ...]:
    changes: list[ParameterChange] = []
    if old.description != new.description:
        changes.append(
            ParameterChange(
                "/description", "description-changed", "wording", old.description, new.description
            )
        )
    return (*changes, *diff_parameters(old.parameters, new.parameters))


def _by_name(
    before: Sequence[Tool], after: Sequence[Tool]
) -> tuple[list[Pair], list[int], list[int]]:
    """Pairs of one name in the order of ``after``, and the indexes left on each side."""
    places: dict[str, list[int]] = {}
    for i in range(len(before) - 1, -1, -1):
        places.setdefault(before[i].name, []).append(i)
    pairs: list[Pair] = []
    new: list[int] = []
    for j, tool in enumerate(after):
        same_name = places.get(tool.name)
        if same_name:
            pairs.append((same_name.pop(), j))
        else:
            new.append(j)
    return pairs, sorted(i for rest in places.values() for i in rest), new


def _renames(
    before: Sequence[Tool], after: Sequence[Tool], gone: list[int], new: list[int]
) -> list[Pair]:
    """One to one, the most alike first, in the order of ``after``."""
    if not (gone and new):
        return []
    if len(gone) * len(new) > _ALL_PAIRS:
        return _equal_bodies(before, after, gone, new)
    olds = [(i, _Body(before[i])) for i in gone]
    news = [(j, _Body(after[j])) for j in new]
    scored: list[tuple[float, float, int, int]] = []
    for i, old in olds:
        for j, body in news:
            score = old.likeness(body)
            if score >= _RENAMED:
                scored.append((-score, -likeness(old.name, body.name), i, j))
    pairs: list[Pair] = []
    left: set[int] = set()
    right: set[int] = set()
    for _, _, i, j in sorted(scored):
        if i not in left and j not in right:
            pairs.append((i, j))
            left.add(i)
            right.add(j)
    return sorted(pairs, key=lambda pair: pair[1])


def _equal_bodies(
    before: Sequence[Tool], after: Sequence[Tool], gone: list[int], new: list[int]
) -> list[Pair]:
    places: dict[Hashable, list[int]] = {}
    for i in reversed(gone):
        places.setdefault((before[i].description, frozen(before[i].parameters)), []).append(i)
    pairs: list[Pair] = []
    for j in new:
        equal = places.get((after[j].description, frozen(after[j].parameters)))
        if equal and (after[j].description or signature(after[j].parameters)):
            pairs.append((equal.pop(), j))
    return pairs


class _Body:
    """A tool without its name, ready to be compared with many others."""

    def __init__(self, tool: Tool) -> None:
        self.name = Sketch(tool.name)
        self._description = Sketch(tool.description)
        self._parameters: Any = tool.parameters
        self._signature = frozenset(signature(tool.parameters).items())

    def likeness(self, other: _Body) -> float:
        """Half parameters (names with types), half description; what both lack counts nothing.

        Two tools with neither are not alike: nothing says so.
        """
        parts: list[float] = []
        total = len(self._signature) + len(other._signature)
        if total:
            shared = len(self._signature & other._signature)
            parts.append(2 * shared / total)
        if self._description.text or other._description.text:
            parts.append(likeness(self._description, other._description))
        if not parts:
            return 0.0
        score = sum(parts) / len(parts)
        # Equal in everything that counts, but not everywhere: below those that are.
        return score if score < 1 or same(self._parameters, other._parameters) else 0.99
