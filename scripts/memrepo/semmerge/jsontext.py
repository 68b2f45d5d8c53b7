"""JSON as a tree that knows where each piece of its text stands, so that a merge can splice.

Stricter than the readers of the standard library: a key given twice, ``NaN``, half a
surrogate pair and text after the value are refused, with their place.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal

from memrepo.protocol.strictjson import place_in
from memrepo.semmerge.generictree import Member, Node, TreeProblem

#: Deeper nesting than any person writes; every reader and writer of the tree recurses.
MAX_DEPTH = 100

# One token with the space before it: groups are punctuation, string, number, word.
_TOKEN = re.compile(
    r"[ \t\n\r]*(?:([\[\]{}:,])"
    r'|("[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")'
    r"|(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z.+-])"
    r"|(true|false|null)\b)"
)
_SPACE = re.compile(r"[ \t\n\r]*")
_WORDS = {"true": True, "false": False, "null": None}
_MAX_NUMBER = 1000
_MAX_EXPONENT = 9999


def decode(data: bytes) -> str:
    """The text of ``data``, a byte order mark kept. Raises TreeProblem when not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TreeProblem(f"byte {error.start:,} is not UTF-8") from None


def read_json(text: str) -> Node:
    """The one JSON value in ``text``. Raises TreeProblem with line and column."""
    start = 1 if text.startswith("\ufeff") else 0
    reader = _Reader(text)
    node = reader.value(start, 0)
    end = reader.space(node.end)
    if end != len(text):
        raise reader.problem("there is more text after the end of the value", end)
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.match = _TOKEN.match

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def problem(self, message: str, at: int) -> TreeProblem:
        line, column = place_in(self.text, at)
        return TreeProblem(f"line {line}, column {column}: {message}")

    def token(self, at: int) -> re.Match[str]:
        found = self.match(self.text, at)
        if found is None:
            here = self.space(at)
            what = "the file ends here" if here == len(self.text) else "this is not JSON"
            raise self.problem(what, here)
        return found

    def value(self, at: int, depth: int) -> Node:
        found = self.token(at)
        kind = found.lastindex or 0
        start, end = found.span(kind)
        if kind == 1:
            if depth > MAX_DEPTH:
                raise self.problem(f"nested deeper than {MAX_DEPTH} levels", start)
            if found[1] == "{":
                return self.object(start, depth + 1)
            if found[1] == "[":
                return self.array(start, depth + 1)
            raise self.problem(f"found {found[1]} where a value should be", start)
        if kind == 2:
            return Node("scalar", self.text, start, end, self.string(found))
        if kind == 3:
            return Node("scalar", self.text, start, end, self.number(found[3], start))
        return Node("scalar", self.text, start, end, _WORDS[found[4]])

    def string(self, found: re.Match[str]) -> str:
        literal = found[2]
        if "\\" not in literal:
            return literal[1:-1]
        value: str = json.loads(literal)
        try:
            value.encode()
        except UnicodeEncodeError:
            message = "half of a surrogate pair is no character"
            raise self.problem(message, found.start(2)) from None
        return value

    def number(self, literal: str, at: int) -> int | Decimal:
        if len(literal) > _MAX_NUMBER:
            raise self.problem(f"a number of {len(literal):,} characters", at)
        if literal.lstrip("-").isdigit():
            return int(literal)
        exponent = re.split("[eE]", literal)[1:]
        if exponent and abs(int(exponent[0])) > _MAX_EXPONENT:
            raise self.problem("a number with an exponent beyond all measure", at)
        return Decimal(literal)

    def object(self, start: int, depth: int) -> Node:
        node = Node("object", self.text, start, start)
        found = self.token(start + 1)
        if found[1] == "}":
            node.end = found.end()
            return node
        seen: set[str] = set()
        while True:
            if found[2] is None:
                raise self.problem('expected a key in double quotes or "}"', found.end() - 1)
            key, (key_start, key_end) = self.string(found), found.span(2)
            if key in seen:
                shown = json.dumps(key[:60])
                error = self.problem(f"the key {shown} stands twice in one object", key_start)
                error.twice = True
                raise error
            seen.add(key)
            colon = self.token(key_end)
            if colon[1] != ":":
                raise self.problem('expected ":" after a key', colon.end() - 1)
            value = self.value(colon.end(), depth)
            node.members.append(Member(key, key_start, key_end, value))
            node.end, found = self.next(value.end, "}")
            if node.end:
                return node

    def array(self, start: int, depth: int) -> Node:
        node = Node("array", self.text, start, start)
        found = self.token(start + 1)
        if found[1] == "]":
            node.end = found.end()
            return node
        at = start + 1
        while True:
            value = self.value(at, depth)
            node.items.append(value)
            node.end, found = self.next(value.end, "]")
            if node.end:
                return node
            at = found.start()

    def next(self, at: int, close: str) -> tuple[int, re.Match[str]]:
        """The end of the container, or 0 and the token that begins the next entry."""
        found = self.token(at)
        if found[1] == close:
            return found.end(), found
        if found[1] != ",":
            raise self.problem(f'expected "," or "{close}"', found.end() - 1)
        following = self.token(found.end())
        if following[1] == close:
            raise self.problem(f'a comma before "{close}"; take it out', found.start(1))
        return 0, following
