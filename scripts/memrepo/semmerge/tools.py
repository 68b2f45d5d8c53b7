"""The three-way merge of ``tools.json``: by tool name, and inside a tool field by field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from memrepo.protocol.strictjson import escape_pointer
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.statefile import merge_state
from memrepo.semmerge.toolentry import (
    Entry,
    as_value,
    of_value,
    parameters_of,
    read_entries,
    same_entry,
    written,
)
from memrepo.semmerge.toolrenames import renames_that_matter
from memrepo.semmerge.toolschema import merge_parameters
from memrepo.semmerge.value import merge_entries, merge_value
from memrepo.semmerge.values import ABSENT, Labels, Merged, Resolution

Groups = dict[str, list[Entry]]


def merge_tools(
    path: str,
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    labels: Labels | None = None,
    resolutions: Sequence[Resolution] = (),
) -> Merged:
    """Merge three texts of a ``tools.json``; ``base`` is None where both sides added it.

    Tools are told apart by name. A tool that one side renamed and the other changed is a
    conflict "renamed-and-changed"; so is one that both renamed differently. Two tools of
    one name on a side are "ambiguous-identity". The order of the tools is ours, with
    theirs' additions behind their neighbours.
    """
    merging = Merging(path, labels, resolutions)
    return merge_state(
        merging,
        "tools",
        (base, ours, theirs),
        read=read_entries,
        join=_join,
        write=written,
        same=_same_list,
    )


def _same_list(merged: list[Entry], entries: list[Entry]) -> bool:
    return len(merged) == len(entries) and all(map(same_entry, merged, entries))


def _by_name(entries: list[Entry]) -> Groups:
    groups: Groups = {}
    for entry in entries:
        groups.setdefault(entry.name, []).append(entry)
    return groups


def _join(
    merging: Merging, base: list[Entry], ours: list[Entry], theirs: list[Entry]
) -> list[Entry]:
    groups = [_by_name(entries) for entries in (base, ours, theirs)]
    doubled = {name for side in groups for name, group in side.items() if len(group) > 1}
    single = [{name: group[0] for name, group in side.items()} for side in groups]
    old_of_ours, old_of_theirs = renames_that_matter(*single)
    mine = {old_of_ours.get(name, name): entry for name, entry in single[1].items()}
    other = {old_of_theirs.get(name, name): entry for name, entry in single[2].items()}

    def one(name: str, *entries: Any) -> Any:
        if name in doubled:
            return _ambiguous(merging, name, *(side.get(name) for side in groups))
        return _merge_tool(merging, f"/{escape_pointer(name)}", *entries)

    return list(merge_entries(merging, "", single[0], mine, other, one).values())


def _ambiguous(
    merging: Merging,
    name: str,
    base: list[Entry] | None,
    ours: list[Entry] | None,
    theirs: list[Entry] | None,
) -> Any:
    """A name that two tools of a side have: nobody can say which is which."""
    groups = (base, ours, theirs)
    if ours == theirs and (ours is None or len(ours) == 1):
        return ours[0] if ours else ABSENT
    names = (f"the base of {merging.labels.theirs}", merging.labels.ours, merging.labels.theirs)
    who = next(n for n, group in zip(names, groups, strict=True) if group and len(group) > 1)
    values = [
        ABSENT if group is None else as_value(group if len(group) > 1 else group[0])
        for group in groups
    ]
    message = f"{who} has several tools called {json.dumps(name[:60])}"
    return _tool(
        merging, merging.clash(f"/{escape_pointer(name)}", "ambiguous-identity", message, *values)
    )


def _tool(merging: Merging, value: Any) -> Any:
    """The tool that a conflict's value is; ABSENT and a refusal where it is none."""
    if value is ABSENT:
        return ABSENT
    entry = of_value(value)
    if entry is None:
        if not merging.conflicts:
            merging.refuse("a recorded decision about a tool gives no tool")
        return ABSENT
    return entry


def _merge_tool(merging: Merging, pointer: str, base: Any, ours: Any, theirs: Any) -> Any:
    if ours == theirs or base == theirs:
        return ours
    if base == ours:
        return theirs
    if same_entry(ours, theirs) or same_entry(base, theirs):
        return ours
    if same_entry(base, ours):
        return theirs
    if ours is ABSENT or theirs is ABSENT or ours.name != theirs.name:
        values = map(as_value, (base, ours, theirs))
        renamed = _renamed(merging, base, ours, theirs)
        if renamed:
            return _tool(merging, merging.clash(pointer, "renamed-and-changed", renamed, *values))
        return _tool(merging, merging.disagree(pointer, *values))
    return _merge_fields(merging, pointer, base, ours, theirs)


def _renamed(merging: Merging, base: Entry, ours: Any, theirs: Any) -> str:
    """What two sides did to a tool that at least one of them renamed; "" where none did."""
    did = [
        (label, f"renamed it to {json.dumps(side.name[:60])}")
        if side is not ABSENT and side.name != base.name
        else (label, "removed it" if side is ABSENT else "changed it")
        for label, side in ((merging.labels.ours, ours), (merging.labels.theirs, theirs))
    ]
    if not any(what.startswith("renamed") for _, what in did):
        return ""
    return ", ".join(f"{label} {what}" for label, what in did)


def _merge_fields(merging: Merging, pointer: str, base: Any, ours: Entry, theirs: Entry) -> Entry:
    """A tool that has one name on both sides, or got one by both."""
    old = base.description if base is not ABSENT else ABSENT
    description = merge_value(
        merging, f"{pointer}/description", old, ours.description, theirs.description
    )
    if ours.parameters == theirs.parameters:
        parameters = ours.parameters
    else:
        three = [ABSENT if base is ABSENT else parameters_of(base)]
        three += [parameters_of(ours), parameters_of(theirs)]
        value = merge_parameters(merging, f"{pointer}/parameters", *three)
        if value is three[1]:
            parameters = ours.parameters
        elif isinstance(value, dict):
            parameters = msgspec.Raw(msgspec.json.encode(value))
        else:
            merging.refuse("a recorded decision about parameters gives no object")
            parameters = ours.parameters
    if not isinstance(description, str):
        merging.refuse("a recorded decision about a description gives no text")
        description = ours.description
    return Entry(ours.name, description, parameters)
