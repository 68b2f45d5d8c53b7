"""An agent's file as a merge reads it and as it leaves the merge."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from memrepo.protocol.check import Checked, check_file, locate
from memrepo.protocol.documents import Kind
from memrepo.protocol.layout import place_of
from memrepo.protocol.strictjson import place_in
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.values import ConflictKind, Merged

#: The bytes of base, ours and theirs; None where a side has no such file.
Sides = tuple[bytes | None, bytes | None, bytes | None]
V = TypeVar("V")


class Unparseable(Exception):
    """A side that cannot be read as what it should be; the message says where."""


def read_state(kind: Kind, data: bytes | None) -> Any:
    """The typed value of one side's file; an empty list or None where there is no file.

    Raises :class:`Unparseable` for what is no valid JSON of the file's shape, a key given
    twice included.
    """
    if data is None:
        return None if kind == "metadata" else []
    checked = check_file(kind, data, agent_id="")
    if checked.value is None:
        raise Unparseable(_why(data, checked))
    return checked.value


def _why(data: bytes, checked: Checked) -> str:
    """The first thing that is wrong with a file, with line and column."""
    document = checked.document or locate(data)
    problem = next((p for p in checked.problems if p.code != "format"), None)
    if problem is not None:
        line, column = place_in(document.text, problem.offset)
        return f"line {line}, column {column}: {problem.message}"
    if checked.faults:
        fault = checked.faults[0]
        line, column = document.find(fault.pointer, key=fault.at_key)
        return f"line {line}, column {column}: {fault.message}"
    return "line 1, column 1: it cannot be read"


def merge_state(
    merging: Merging,
    kind: Kind,
    sides: Sides,
    *,
    read: Callable[[bytes | None], V],
    join: Callable[[Merging, V, V, V], V],
    write: Callable[[V], bytes],
    same: Callable[[V, V], bool] = operator.eq,
) -> Merged:
    """The outcome for one of an agent's files, of which ours and theirs are given.

    ``read`` raises :class:`Unparseable`. The bytes of ours stay where nothing changed in
    meaning. Two sides may each be fine and together not; that is a conflict "invalid-result".
    """
    values: list[V] = []
    for number, data in enumerate(sides):
        try:
            values.append(read(data))
        except Unparseable as error:
            message = f"{_who(merging, number)} cannot be read: {error}"
            return _decided(merging, kind, "unparseable", message, sides)
    merged = join(merging, *values)
    if merging.conflicts:
        return merging.done(None)
    agent_id = place_of(merging.path).agent_id
    ours = sides[1]
    if ours is not None and same(merged, values[1]) and not _wrong(kind, ours, agent_id):
        return merging.done(ours)
    result = write(merged)
    wrong = _wrong(kind, result, agent_id)
    if not wrong:
        return merging.done(result)
    labels = merging.labels
    message = f"{labels.ours} and {labels.theirs} together break the protocol: {wrong}"
    return _decided(merging, kind, "invalid-result", message, sides)


def _who(merging: Merging, number: int) -> str:
    labels = merging.labels
    names = (f"what {labels.ours} and {labels.theirs} began from", labels.ours, labels.theirs)
    return names[number]


def _decided(
    merging: Merging, kind: Kind, what: ConflictKind, message: str, sides: Sides
) -> Merged:
    """The outcome where only a person can say what the whole file shall be."""
    data = merging.clash_whole(what, message, *sides)
    if merging.conflicts or data is None:
        return merging.done(data)
    wrong = _wrong(kind, data, place_of(merging.path).agent_id)
    if wrong:
        merging.refuse(f"{message}; the recorded decision breaks the protocol too: {wrong}")
    return merging.done(data)


def _wrong(kind: Kind, data: bytes, agent_id: str) -> str:
    """The first error of a file by the protocol, with line and column; "" when there is none."""
    checked = check_file(kind, data, agent_id=agent_id)
    if not (checked.faults or checked.problems):
        return ""
    from memrepo.protocol.catalogue import CATALOGUE

    faults = [f for f in checked.faults if CATALOGUE[f.code].severity == "error"]
    problems = [p for p in checked.problems if CATALOGUE[p.code].severity == "error"]
    if not (faults or problems):
        return ""
    return _why(data, msgspec.structs.replace(checked, faults=faults, problems=problems))
