"""Who last changed a place, on either side, in the words of a report. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from memrepo.gitrepo.linear import Step
from memrepo.gitrepo.log import LogEntry, iso_time
from memrepo.knowledge.outcome import Touched
from memrepo.semmerge.values import ABSENT

_IDENTITIES = ("name", "id", "key")


def touched_of(step: Step) -> Touched:
    """Author, time and subject of the commit that a step is of."""
    who, _, when = step.parsed.author.decode("utf-8", "replace").rpartition("> ")
    message = step.parsed.message.decode("utf-8", "replace").strip("\n")
    return Touched(step.commit, f"{who}>", iso_time(when), message.partition("\n")[0])


def touched_in(entry: LogEntry) -> Touched:
    """The same of a commit in the log."""
    return Touched(entry.commit, f"{entry.author} <{entry.email}>", entry.time, entry.subject)


def last_change(versions: Iterable[tuple[Touched, bytes | None]], pointer: str) -> Touched:
    """The commit that made the place what it is; ``versions`` are a file's, the newest first.

    The last one of an unbroken run with the newest version's value.
    """
    found, now = Touched(), None
    for who, data in versions:
        value = _value_at(data, pointer)
        if not found.commit:
            now = value
        elif value != now:
            break
        found = who
    return found


def _value_at(data: bytes | None, pointer: str) -> Any:
    """The value at a pointer whose entries of arrays go by their key; the bytes for no JSON."""
    if data is None:
        return ABSENT
    if not pointer:
        return data
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return data
    for token in pointer.split("/")[1:]:
        value = _entry(value, token.replace("~1", "/").replace("~0", "~"))
    return value


def _entry(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return value.get(key, ABSENT)
    if isinstance(value, list):
        for one in value:
            if isinstance(one, dict) and key in (one.get(name) for name in _IDENTITIES):
                return one
        if key.isdecimal() and int(key) < len(value):
            return value[int(key)]
    return ABSENT
