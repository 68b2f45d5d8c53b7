"""A strict JSON reader (RFC 8259) that knows where everything stands.

The readers of the standard library and of msgspec are fast but keep no places, take
the last of two equal keys, and stop with a traceback at deep nesting. This one is
called for files that a fast reader did not accept, and to find the line of a finding.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

MAX_DEPTH = 64
#: Python refuses to turn longer digit strings into an integer, and so would others.
MAX_DIGITS = 4000

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BODY = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+'
_STRING_HEAD = re.compile(_BODY)
_STRING = re.compile(_BODY + '"')
_WORDS = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"-?[A-Za-z]+")
_NON_FINITE = frozenset(["NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"])


class Problem(msgspec.Struct, frozen=True):
    """Something wrong in a file: a finding code, words, and an offset in characters."""

    code: str
    message: str
    offset: int
    pointer: str = ""
    hint: str = ""


class Document(msgspec.Struct):
    """What was read: ``value`` is only meaningful where ``readable`` is true.

    ``values`` and ``keys`` map a JSON pointer to the offset (in characters) of the value
    and, for a member of an object, of its key.
    """

    text: str
    value: Any = None
    readable: bool = False
    problems: list[Problem] = []
    values: dict[str, int] = {}
    keys: dict[str, int] = {}

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset in characters."""
        return place_in(self.text, offset)

    def find(self, pointer: str, *, key: bool = False) -> tuple[int, int]:
        """Line and column of what ``pointer`` names, or of its nearest known parent."""
        if key and pointer in self.keys:
            return self.place(self.keys[pointer])
        while pointer not in self.values and pointer:
            pointer = pointer.rpartition("/")[0]
        return self.place(self.values.get(pointer, 0))


class _Stop(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def place_in(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of an offset in characters of ``text``."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def escape_pointer(key: str) -> str:
    """One reference token of a JSON pointer (RFC 6901, section 3)."""
    return key.replace("~", "~0").replace("/", "~1")


def read(text: str, *, max_depth: int = MAX_DEPTH) -> Document:
    """Read ``text`` and say all that is wrong with it as JSON. Never raises.

    Finding codes: ``json-syntax`` (reading stops there), ``depth`` (likewise),
    ``duplicate-key``, ``non-finite-number`` and ``encoding`` (half a surrogate pair).
    """
    reader = _Reader(text, max_depth)
    try:
        value = reader.document()
    except _Stop as stop:
        reader.problems.append(stop.problem)
        return Document(text, None, False, reader.problems, reader.values, reader.keys)
    return Document(text, value, True, reader.problems, reader.values, reader.keys)


class _Reader:
    def __init__(self, text: str, max_depth: int) -> None:
        self.text = text
        self.max_depth = max_depth
        self.problems: list[Problem] = []
        self.values: dict[str, int] = {}
        self.keys: dict[str, int] = {}

    def document(self) -> Any:
        value, end = self.value(self.space(0), "", 0)
        end = self.space(end)
        if end < len(self.text):
            raise self.stop("there is more text after the end of the JSON value", end)
        return value

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def stop(self, message: str, at: int, pointer: str = "", code: str = "json-syntax") -> _Stop:
        return _Stop(Problem(code, message, min(at, len(self.text)), pointer))

    def value(self, at: int, pointer: str, depth: int) -> tuple[Any, int]:
        self.values[pointer] = at
        first = self.text[at : at + 1]
        if first == '"':
            return self.string(at, pointer)
        if first and first in "{[":
            if depth >= self.max_depth:
                message = f"nested deeper than {self.max_depth} levels"
                raise self.stop(message, at, pointer, "depth")
            return (self.object if first == "{" else self.array)(at + 1, pointer, depth + 1)
        number = _NUMBER.match(self.text, at)
        if number:
            return self.number(number, pointer)
        return self.word(at, pointer)

    def object(self, at: int, pointer: str, depth: int) -> tuple[dict[str, Any], int]:
        result: dict[str, Any] = {}
        at = self.space(at)
        if self.text[at : at + 1] == "}":
            return result, at + 1
        while True:
            if self.text[at : at + 1] != '"':
                raise self.stop('expected a key in double quotes or "}"', at, pointer)
            key_at = at
            key, at = self.string(at, pointer)
            inner = f"{pointer}/{escape_pointer(key)}"
            if key in result:
                message = f"the key {_short(key)} stands twice in one object"
                self.problems.append(Problem("duplicate-key", message, key_at, inner))
            self.keys[inner] = key_at
            at = self.space(at)
            if self.text[at : at + 1] != ":":
                raise self.stop(f'expected ":" after the key {_short(key)}', at, inner)
            result[key], at = self.value(self.space(at + 1), inner, depth)
            at, done = self.separator(at, "}", pointer)
            if done:
                return result, at

    def array(self, at: int, pointer: str, depth: int) -> tuple[list[Any], int]:
        result: list[Any] = []
        at = self.space(at)
        if self.text[at : at + 1] == "]":
            return result, at + 1
        while True:
            value, at = self.value(at, f"{pointer}/{len(result)}", depth)
            result.append(value)
            at, done = self.separator(at, "]", pointer)
            if done:
                return result, at

    def separator(self, at: int, close: str, pointer: str) -> tuple[int, bool]:
        """Past a comma and the space after it, or past the closing bracket."""
        at = self.space(at)
        sign = self.text[at : at + 1]
        if sign == close:
            return at + 1, True
        if sign != ",":
            what = "the file ends" if not sign else f"found {_short(sign)}"
            raise self.stop(f'{what} where "," or "{close}" should be', at, pointer)
        after = self.space(at + 1)
        if self.text[after : after + 1] == close:
            raise self.stop(f'a comma before "{close}"; take it out', at, pointer)
        return after, False

    def string(self, at: int, pointer: str) -> tuple[str, int]:
        found = _STRING.match(self.text, at)
        if not found:
            head = _STRING_HEAD.match(self.text, at)
            bad = head.end() if head else at
            sign = self.text[bad : bad + 1]
            if not sign:
                raise self.stop("a string is not closed before the file ends", at, pointer)
            if sign == "\\":
                raise self.stop("no JSON escape begins like this", bad, pointer)
            what = "a line break" if sign in "\r\n" else f"the control character {_name(sign)}"
            raise self.stop(f"{what} inside a string must be escaped", bad, pointer)
        text = found[0][1:-1]
        if "\\" in text:
            text = json.loads(found[0])
        try:
            text.encode()
        except UnicodeEncodeError:
            message = "half of a surrogate pair (\\ud800 to \\udfff) is no character"
            self.problems.append(Problem("encoding", message, at, pointer))
            text = text.encode("utf-8", "replace").decode()
        return text, found.end()

    def number(self, found: re.Match[str], pointer: str) -> tuple[int | float, int]:
        literal = found[0]
        if len(literal) > MAX_DIGITS:
            raise self.stop(f"a number of {len(literal)} digits", found.start(), pointer)
        if found[1] is None and found[2] is None:
            return int(literal), found.end()
        number = float(literal)
        if number in (float("inf"), float("-inf")):
            message = f"the number {_short(literal)} is too large to be held"
            self.problems.append(Problem("non-finite-number", message, found.start(), pointer))
            number = 0.0
        return number, found.end()

    def word(self, at: int, pointer: str) -> tuple[Any, int]:
        found = _WORD.match(self.text, at)
        if found and found[0] in _WORDS:
            return _WORDS[found[0]], found.end()
        if found and found[0] in _NON_FINITE:
            message = f"{found[0]} is not a JSON number"
            self.problems.append(Problem("non-finite-number", message, at, pointer))
            return 0.0, found.end()
        sign = self.text[at : at + 1]
        what = "the file ends" if not sign else f"found {_short(found[0] if found else sign)}"
        raise self.stop(f"{what} where a value should be", at, pointer)


def _short(text: str) -> str:
    """Text of a file as it may stand in a message: ASCII, quoted, at most 60 characters."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return json.dumps(shown)


def _name(sign: str) -> str:
    return f"U+{ord(sign):04X}"
