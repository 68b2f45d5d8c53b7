"""JSON, JSON Lines and YAML: read three trees, join them, splice the result into ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from memrepo.semmerge.generic import Format
from memrepo.semmerge.generic_join import Join, Outcome, retold
from memrepo.semmerge.generictree import Node, TreeProblem, same
from memrepo.semmerge.jsontext import decode, read_json
from memrepo.semmerge.jsontext_write import write_json
from memrepo.semmerge.lines import LineMerge, join_lines, read_lines, write_lines
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.values import ConflictKind, Merged

_COMMENT = re.compile(rb"(?:^|[ \t])#.*", re.MULTILINE)


class _Side(msgspec.Struct):
    root: Node
    whole: str = ""


def merge_structured(
    merging: Merging,
    kind: Format,
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    line_merge: LineMerge | None,
) -> Merged:
    """As :func:`memrepo.semmerge.generic.merge_generic`, for the formats with a tree."""
    labels = merging.labels
    read = _READERS[kind]
    sides: list[_Side | None] = []
    for name, data in (("the base", base), (labels.ours, ours), (labels.theirs, theirs)):
        try:
            sides.append(None if data is None else read(decode(data)))
        except TreeProblem as problem:
            conflict: ConflictKind = "ambiguous-identity" if problem.twice else "unparseable"
            message = f"{name} cannot be read: {problem.message}"
            return merging.done(merging.clash_whole(conflict, message, base, ours, theirs))
    before, left, right = sides
    assert left is not None  # noqa: S101 (ours and theirs are bytes)
    assert right is not None  # noqa: S101
    join = Join(merging)
    root = before.root if before else None
    if kind == "jsonl" and not any(
        same(*pair) for pair in ((left.root, right.root), (right.root, root), (left.root, root))
    ):
        outcome = join_lines(join, root, left.root, right.root)
    else:
        outcome = join.value("", "", root, left.root, right.root)
    join.tell_times()
    if merging.conflicts or outcome is None:
        return merging.done(None)
    if outcome is left.root:
        remarks = (
            _remarks(left, right, (base, ours, theirs), line_merge) if kind == "yaml" else None
        )
        return merging.done(remarks or ours)
    if kind == "yaml":
        known = [side for side in sides if side]
        joined = _yaml(outcome, known, left.root, (base, ours, theirs), line_merge)
    else:
        write: Callable[..., str] = write_json if kind == "json" else write_lines
        others = (right.root,) if kind == "json" else ()
        joined = _checked(write(outcome, left.root, *others), outcome, read)
    if joined is None:
        message = f"what {labels.ours} and {labels.theirs} changed cannot be written in one text"
        chosen = merging.clash_whole("invalid-result", message, base, ours, theirs)
        return merging.done(chosen)
    return merging.done(joined)


def _yaml(
    outcome: Outcome,
    sides: list[_Side],
    ours: Node,
    data: tuple[bytes | None, bytes, bytes],
    line_merge: LineMerge | None,
) -> bytes | None:
    """Git's line merge where it means the same, for the comments of both; else by splicing."""
    from memrepo.semmerge.yamltext_lines import CannotSplice
    from memrepo.semmerge.yamltext_write import write_yaml

    lines = line_merge(data[0] or b"", *data[1:]) if line_merge else None
    if lines is not None and (found := _checked(lines.decode(), outcome, _read_yaml)) is not None:
        return found
    if any(side.whole for side in sides):
        return None
    try:
        return _checked(write_yaml(outcome, ours), outcome, _read_yaml)
    except CannotSplice:
        return None


def _remarks(
    left: _Side, right: _Side, data: tuple[bytes | None, bytes, bytes], line_merge: LineMerge | None
) -> bytes | None:
    """What ours means with the comments of theirs, where theirs changed nothing else.

    By Git's line merge; where lines meet and ours left the comments alone, by writing what
    ours changed into the text of theirs. None where neither can be.
    """
    from memrepo.semmerge.yamltext_lines import CannotSplice
    from memrepo.semmerge.yamltext_write import write_yaml

    base, ours, theirs = (_comments(side or b"") for side in data)
    if theirs in (base, ours):
        return None
    lines = line_merge(data[0] or b"", *data[1:]) if line_merge else None
    if lines is not None and (found := _checked(lines.decode(), left.root, _read_yaml)) is not None:
        return found
    outcome = retold(right.root, left.root)
    if ours != base or right.whole or outcome is None:
        return None
    try:
        return _checked(write_yaml(outcome, right.root), left.root, _read_yaml)
    except CannotSplice:
        return None


def _comments(data: bytes) -> list[bytes]:
    return _COMMENT.findall(data)


def _checked(text: str, outcome: Outcome, read: Callable[[str], _Side]) -> bytes | None:
    """The text as bytes, but only when it means what was merged."""
    try:
        found = read(text).root
    except TreeProblem:
        return None
    return text.encode() if found.meaning == outcome.meaning else None


def _read_json(text: str) -> _Side:
    return _Side(read_json(text))


def _read_lines(text: str) -> _Side:
    return _Side(read_lines(text))


def _read_yaml(text: str) -> _Side:
    from memrepo.semmerge.yamltext import read_yaml

    found = read_yaml(text)
    return _Side(found.root, found.whole)


_READERS: dict[Any, Callable[[str], _Side]] = {
    "json": _read_json,
    "jsonl": _read_lines,
    "yaml": _read_yaml,
}
