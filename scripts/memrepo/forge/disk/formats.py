"""The files of a local forge as text, for people: YAML a line, Markdown for what is prose.

What a person added to a file is kept when memrepo writes it again, comments in YAML
excepted. Pure; the errors name the file and the line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as AnySequence
from datetime import UTC, datetime

import msgspec

from memrepo.errors import BadInput
from memrepo.forge.failure import plain
from memrepo.forge.forge import Label
from memrepo.protocol.timestamps import iso, parse_timestamp
from memrepo.protocol.yamltree import Mapping, Node, Scalar, Sequence, YamlProblem, read_tree

Value = str | bool | tuple[str, ...]

_PLAIN = re.compile(r"[A-Za-z/][\w ./@+-]*(?<! )", re.ASCII)
_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
# What JSON leaves as it is and YAML does not: line ends of YAML, and what it calls unprintable.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_YES = {"true", "yes", "on"}
_NO = {"false", "no", "off"}
_FENCE = "---\n"
_FRONT = re.compile(r"---\n((?:.*\n)*?)---(?:\n|\Z)")


class Fields(msgspec.Struct, frozen=True):
    """The keys of one YAML file, and where they stand; the getters raise BadInput."""

    where: str
    values: AnyMapping[str, Value]
    lines: AnyMapping[str, int]

    def text(self, key: str, default: str | None = None) -> str:
        """One line of text; without a default the key has to be there."""
        value = self.values.get(key, default)
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str):
            raise self.problem(key, "is missing" if value is None else "is no text")
        return value

    def flag(self, key: str) -> bool:
        """True or false; false when the key is not there."""
        value = self.text(key, "false").lower()
        if value not in _YES | _NO:
            raise self.problem(key, "is neither true nor false")
        return value in _YES

    def several(self, key: str) -> tuple[str, ...]:
        """A list of texts; a single text counts as a list of one."""
        value = self.values.get(key, ())
        if isinstance(value, str):
            return (value,) if value else ()
        return value if isinstance(value, tuple) else (self.text(key),)

    def time(self, key: str, default: datetime | None = None) -> datetime:
        """A time in UTC; one without an offset is taken as UTC."""
        if default is not None and key not in self.values:
            return default
        text = self.text(key).replace(" ", "T", 1)
        found = parse_timestamp(text, need_offset=False)
        if found is None and re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            found = parse_timestamp(f"{text}T00:00", need_offset=False)
        if found is None:
            raise self.problem(key, "is no time such as 2026-03-01T12:00:00Z")
        return found.astimezone(UTC)

    def problem(self, key: str, what: str) -> BadInput:
        """The error for one key."""
        line = self.lines.get(key)
        place = f"{self.where}, line {line}" if line else self.where
        return BadInput(f"{place}: {plain(key)} {what}", "repair the file by hand")


def read_fields(data: bytes, where: str, first_line: int = 1) -> Fields:
    """A YAML file of keys with texts or lists of texts.  Raises BadInput."""
    tree = _tree(data, where, first_line)
    values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    for key, node in tree.items if tree else ():
        lines[key.text] = key.line + first_line - 1
        if isinstance(node, Scalar):
            if not node.is_null:
                is_flag = node.plain and node.text in ("true", "false")
                values[key.text] = node.text == "true" if is_flag else node.text
        elif isinstance(node, Sequence):
            values[key.text] = tuple(_scalar(item, where, first_line) for item in node.items)
        else:
            raise _problem(where, node.line + first_line - 1, "a text or a list belongs here")
    return Fields(where, values, lines)


def write_fields(values: AnyMapping[str, Value]) -> bytes:
    """The YAML file of these keys, in their order."""
    lines = []
    for key, value in values.items():
        if isinstance(value, bool):
            lines.append(f"{_spelt(key)}: {'true' if value else 'false'}")
        elif isinstance(value, str):
            lines.append(f"{_spelt(key)}: {_spelt(value)}")
        elif value:
            lines.append(f"{_spelt(key)}:")
            lines += [f"  - {_spelt(item)}" for item in value]
        else:
            lines.append(f"{_spelt(key)}: []")
    return "".join(f"{line}\n" for line in lines).encode()


def read_labels(data: bytes, where: str) -> dict[str, Label]:
    """``labels.yml``: each label's name with its colour and description.  Raises BadInput."""
    tree = _tree(data, where, 1)
    found = {}
    for key, node in tree.items if tree else ():
        if not isinstance(node, Mapping):
            raise _problem(where, node.line, "a label has a colour and a description")
        parts = {part.text: _scalar(value, where, 1) for part, value in node.items}
        colour = parts.get("colour", Label("").colour)
        found[key.text] = Label(key.text, colour, parts.get("description", ""))
    return found


def write_labels(labels: AnySequence[Label]) -> bytes:
    """``labels.yml`` of these labels."""
    return "".join(
        f"{_spelt(label.name)}:\n  colour: {json.dumps(label.colour)}\n"
        f"  description: {_spelt(label.description)}\n"
        for label in labels
    ).encode()


def read_text(data: bytes, where: str) -> str:
    """A Markdown file: its line ends made one kind, the last one left out.  Raises BadInput."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _problem(where, line, "these bytes are not UTF-8") from None
    return text.replace("\r\n", "\n").removesuffix("\n")


def write_text(text: str) -> bytes:
    """A Markdown file."""
    text = text.replace("\r\n", "\n")
    return (text if text.endswith("\n") or not text else f"{text}\n").encode()


def read_comment(data: bytes, where: str) -> tuple[Fields, str]:
    """A comment's file: what stands before its text (perhaps nothing), and the text."""
    text = read_text(data, where)
    if not text.startswith(_FENCE):
        return Fields(where, {}, {}), text
    found = _FRONT.match(text)
    if found is None:
        raise _problem(where, 1, "the lines between --- and --- have no end")
    return read_fields(found[1].encode(), where, 2), text[found.end() :].removeprefix("\n")


def write_comment(author: str, created_at: datetime, updated_at: datetime, body: str) -> bytes:
    """A comment's file: who and when between two lines of ---, then the text."""
    front = write_fields(
        {"author": author, "created_at": iso(created_at), "updated_at": iso(updated_at)}
    )
    return b"".join((_FENCE.encode(), front, _FENCE.encode(), b"\n", write_text(body)))


def _tree(data: bytes, where: str, first_line: int) -> Mapping | None:
    try:
        tree = read_tree(data)
    except YamlProblem as error:
        line = error.line + first_line - 1 if error.line else 0
        raise _problem(where, line, error.message) from None
    if tree is not None and not isinstance(tree, Mapping):
        raise _problem(where, tree.line + first_line - 1, "lines of `key: text` belong here")
    return tree


def _scalar(node: Node, where: str, first_line: int) -> str:
    if not isinstance(node, Scalar):
        raise _problem(where, node.line + first_line - 1, "a text belongs here")
    return node.text


def _problem(where: str, line: int, what: str) -> BadInput:
    place = f"{where}, line {line}" if line else where
    return BadInput(f"{place}: {plain(what)}", "repair the file by hand")


def _spelt(text: str) -> str:
    """A YAML scalar that every reader takes for this text."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    spelt = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", spelt)
