"""YAML as a small tree with places, for files that untrusted people write.

Built from the parser's events: nothing is constructed, so a tag runs nothing, and an
alias cannot multiply. What two readers could understand differently is refused: tags,
anchors, aliases, a second document, a key given twice.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 65_536
MAX_DEPTH = 16

# YAML 1.1, section 5.1. Compiled when first used: it takes milliseconds.
_UNPRINTABLE = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


class Scalar(msgspec.Struct, frozen=True):
    """A text; ``plain`` when it was written without quotes. Lines and columns from 1."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def is_null(self) -> bool:
        """Whether YAML reads it as nothing rather than as text."""
        return self.plain and self.text in ("", "~", "null")


class Sequence(msgspec.Struct, frozen=True):
    """Entries in the order of the file."""

    items: tuple[Node, ...]
    line: int
    column: int


class Mapping(msgspec.Struct, frozen=True):
    """Keys are unique, and in the order of the file."""

    items: tuple[tuple[Scalar, Node], ...]
    line: int
    column: int


Node = Scalar | Sequence | Mapping


class YamlProblem(Exception):
    """Why the bytes cannot be read; ``line`` and ``column`` are 0 for the whole file."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def read_tree(data: bytes) -> Node | None:
    """The one document in ``data``, or None when there is none (empty, only comments).

    Raises :class:`YamlProblem`, and nothing else, whatever the bytes.
    """
    if len(data) > MAX_BYTES:
        raise YamlProblem(f"the file has {len(data):,} bytes; {MAX_BYTES:,} is the most")
    import yaml

    events = _events(_text(data))
    try:
        next(events)  # the start of the stream
        if isinstance(next(events), yaml.StreamEndEvent):
            return None
        tree = _node(next(events), events, 0)
        next(events)  # the end of the document
        last = next(events)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise YamlProblem(str(error.problem or error.context or "not YAML"), *place) from None
    except (yaml.YAMLError, ValueError, OverflowError):
        # PyYAML lets these through for a directive or an escape with a senseless number.
        raise YamlProblem("not YAML") from None
    if not isinstance(last, yaml.StreamEndEvent):
        raise YamlProblem("a second document begins", *_place(last))
    return tree


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        raise YamlProblem("not UTF-8", *_end_of(before)) from None
    found = re.search(_UNPRINTABLE, text)
    if found:
        code = f"U+{ord(found.group()):04X}"
        raise YamlProblem(f"holds the character {code}", *_end_of(text[: found.start()]))
    return text


def _end_of(text: str) -> tuple[int, int]:
    return text.count("\n") + 1, len(text) - text.rfind("\n")


def _events(text: str) -> Iterator[Any]:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.parse(text, Loader=loader)


def _place(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _node(event: Any, events: Iterator[Any], depth: int) -> Node:
    import yaml

    line, column = _place(event)
    if depth > MAX_DEPTH:
        raise YamlProblem(f"nested deeper than {MAX_DEPTH}", line, column)
    if isinstance(event, yaml.AliasEvent):
        raise YamlProblem("an alias (*) is not allowed here", line, column)
    if event.anchor is not None:
        raise YamlProblem("an anchor (&) is not allowed here", line, column)
    if event.tag is not None:
        raise YamlProblem("a tag (!) is not allowed here", line, column)
    if isinstance(event, yaml.ScalarEvent):
        return Scalar(event.value, event.style is None or event.style == "", line, column)
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_node(event, events, depth + 1))
        return Sequence(tuple(items), line, column)
    pairs: dict[str, tuple[Scalar, Node]] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        key = _node(event, events, depth + 1)
        if not isinstance(key, Scalar):
            raise YamlProblem("a key must be a word", key.line, key.column)
        if key.text in pairs:
            first = pairs[key.text][0].line
            raise YamlProblem(f"the key of line {first} is given again", key.line, key.column)
        pairs[key.text] = (key, _node(next(events), events, depth + 1))
    return Mapping(tuple(pairs.values()), line, column)
