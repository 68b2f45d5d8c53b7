"""Read what a source gives, JSON or YAML, as plain values: strictly, and within bounds. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memrepo.errors import BadInput
from memrepo.protocol.strictjson import read

#: Far above any list of tools or API that a model could be given.
MOST_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 100
MOST_VALUES = 500_000

# YAML 1.2, core schema (10.3.2): what a plain scalar means.
_NULL = re.compile(r"null|Null|NULL|~|")
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]{1,1000}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?")


def read_document(data: bytes, name: str) -> Any:
    """The value of a JSON or YAML document; ``name`` is what messages call it.

    Refused (:class:`BadInput`, with line and column): what is no UTF-8, a key given twice,
    ``NaN``, more than :data:`MAX_DEPTH` levels or :data:`MOST_VALUES` values, and in YAML
    tags, merge keys, and aliases that go round in a circle.
    """
    if len(data) > MOST_BYTES:
        raise BadInput(f"{name} has {len(data):,} bytes; {MOST_BYTES:,} is the most")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: byte {error.start:,} is not UTF-8", "save it as UTF-8") from None
    if not text.strip():
        raise BadInput(f"{name} is empty", "give the source's answer as it came")
    return _json(text, name) if text.lstrip()[0] in "{[" else _yaml(text, name)


def read_json_value(text: str, name: str) -> Any:
    """The value of a JSON text of any kind.  Raises :class:`BadInput`."""
    return _json(text, name)


def _json(text: str, name: str) -> Any:
    try:
        return _fast_json(text)
    except (ValueError, RecursionError):
        document = read(text, max_depth=MAX_DEPTH)
    for problem in document.problems:
        line, column = document.place(problem.offset)
        raise BadInput(f"{name}, line {line}, column {column}: {problem.message}", problem.hint)
    return document.value


def _fast_json(text: str) -> Any:
    """The value; ValueError where the strict reader has to say what is wrong, if anything is."""
    import json

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key stands twice")
        return found

    def refuse(_word: str) -> None:
        raise ValueError("no JSON number")

    def number(literal: str) -> float:
        value = float(literal)
        if value in (float("inf"), float("-inf")):
            raise ValueError("no number that can be held")
        return value

    if "\\ud" in text.lower():
        raise ValueError("maybe half a surrogate pair")
    return json.loads(text, object_pairs_hook=members, parse_constant=refuse, parse_float=number)


def _yaml(text: str, name: str) -> Any:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Yaml(yaml.parse(text, Loader=loader), name).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        why = error.problem or error.context or "not YAML"
        raise BadInput(f"{name}{where}: {why}", "give JSON or YAML") from None
    except (yaml.YAMLError, ValueError, OverflowError):
        raise BadInput(f"{name} is neither JSON nor YAML", "give JSON or YAML") from None


class _Yaml:
    """Plain values built from the parser's events, so that no tag runs anything."""

    def __init__(self, events: Iterator[Any], name: str) -> None:
        self.events, self.name = events, name
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.open: set[str] = set()
        self.values = 0

    def document(self) -> Any:
        import yaml

        next(self.events)
        first = next(self.events)
        if isinstance(first, yaml.StreamEndEvent):
            raise BadInput(f"{self.name} holds nothing", "give the source's answer as it came")
        value, _ = self.value(next(self.events), 0)
        next(self.events)
        last = next(self.events)
        if not isinstance(last, yaml.StreamEndEvent):
            raise self.refused(last, "a second document begins")
        return value

    def refused(self, event: Any, why: str) -> BadInput:
        mark = event.start_mark
        return BadInput(f"{self.name}, line {mark.line + 1}, column {mark.column + 1}: {why}")

    def value(self, event: Any, depth: int) -> tuple[Any, int]:
        """The value that begins with ``event``, and of how many it is made."""
        import yaml

        if isinstance(event, yaml.AliasEvent):
            if event.anchor in self.open:
                raise self.refused(event, f"the alias *{event.anchor} holds itself")
            if event.anchor not in self.anchors:
                raise self.refused(event, f"there is no anchor &{event.anchor}")
            value, size = self.anchors[event.anchor]
            self.count(event, size)
            return value, size
        if depth > MAX_DEPTH:
            raise self.refused(event, f"nested deeper than {MAX_DEPTH} levels")
        if event.tag is not None and event.tag != "!":
            raise self.refused(event, "a tag (!) is not read here")
        self.count(event, 1)
        if event.anchor is not None:
            self.open.add(event.anchor)
        if isinstance(event, yaml.ScalarEvent):
            plain = not event.style and event.tag is None
            value, size = (self.scalar(event.value) if plain else event.value), 1
        elif isinstance(event, yaml.SequenceStartEvent):
            value, size = self.sequence(depth)
        else:
            value, size = self.mapping(depth)
        if event.anchor is not None:
            self.open.discard(event.anchor)
            self.anchors[event.anchor] = value, size
        return value, size

    def count(self, event: Any, size: int) -> None:
        self.values += size
        if self.values > MOST_VALUES:
            raise self.refused(event, f"more than {MOST_VALUES:,} values")

    def sequence(self, depth: int) -> tuple[list[Any], int]:
        import yaml

        items: list[Any] = []
        size = 1
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            item, inner = self.value(event, depth + 1)
            items.append(item)
            size += inner
        return items, size

    def mapping(self, depth: int) -> tuple[dict[str, Any], int]:
        import yaml

        members: dict[str, Any] = {}
        size = 1
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self.refused(event, "a key must be a word")
            if event.value == "<<" and not event.style:
                raise self.refused(event, "a merge key (<<) is not read here")
            if event.value in members:
                raise self.refused(event, f"the key {event.value[:60]!a} stands twice")
            members[event.value], inner = self.value(next(self.events), depth + 1)
            size += inner
        return members, size

    def scalar(self, text: str) -> Any:
        if _NULL.fullmatch(text):
            return None
        if text in _BOOL:
            return _BOOL[text]
        if _INT.fullmatch(text):
            return int(text)
        return float(text) if _FLOAT.fullmatch(text) else text
