"""YAML as a tree that knows where each piece of its text stands.

Built from the parser's events: nothing is constructed, so a tag runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from memrepo.semmerge.generictree import Member, Node, TreeProblem

MAX_DEPTH = 50
#: Values with their aliases written out: a small file can name very many.
MAX_NODES = 200_000

_CORE = "tag:yaml.org,2002:"


class YamlText(msgspec.Struct, frozen=True):
    """A file's tree; ``whole`` says why its text cannot be spliced, "" where it can."""

    root: Node
    whole: str


def read_yaml(text: str) -> YamlText:
    """Read ``text``; several documents make one array. Raises TreeProblem with a place."""
    import yaml

    try:
        return _Reader(text).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise TreeProblem(place + str(error.problem or error.context or "not YAML")) from None
    except (yaml.YAMLError, ValueError, OverflowError):
        raise TreeProblem("this is not YAML") from None


class _Reader:
    def __init__(self, text: str) -> None:
        import yaml

        self.text = text
        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self.events: Iterator[Any] = yaml.parse(text, Loader=loader)
        self.resolver: Any = yaml.resolver.Resolver()
        self.constructor = yaml.constructor.SafeConstructor()
        self.anchors: dict[str, Node] = {}
        self.sizes: dict[int, int] = {}
        self.count = 0
        self.whole = ""

    def read(self) -> YamlText:
        import yaml

        documents: list[Node] = []
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.anchors.clear()
                if event.explicit and event.tags:
                    self.whole = "it declares tags"
                documents.append(self.node(next(self.events), 0))
        if not documents:
            return YamlText(Node("scalar", self.text, 0, 0, style="plain"), "it is empty")
        if len(documents) == 1:
            return YamlText(documents[0], self.whole)
        end = len(self.text)
        root = Node("array", self.text, 0, end, items=documents, style="stream")
        return YamlText(root, "it holds several documents")

    def node(self, event: Any, depth: int) -> Node:
        import yaml

        self.spend(1)
        if depth > MAX_DEPTH:
            raise TreeProblem(f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        before = self.count
        if isinstance(event, yaml.ScalarEvent):
            node = self.scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self.collection("array", event)
            while not isinstance(event_in := next(self.events), yaml.SequenceEndEvent):
                node.items.append(self.node(event_in, depth + 1))
            self.close(node, event_in)
        else:
            node = self.collection("object", event)
            seen: set[str] = set()
            while not isinstance(event_in := next(self.events), yaml.MappingEndEvent):
                node.members.append(self.member(event_in, seen, depth))
            self.close(node, event_in)
        if event.anchor is not None:
            self.whole = "it has anchors"
            self.anchors[event.anchor] = node
            self.sizes[id(node)] = self.count - before
        return node

    def spend(self, nodes: int) -> None:
        self.count += nodes
        if self.count > MAX_NODES:
            raise TreeProblem(f"more than {MAX_NODES:,} values, with its aliases written out")

    def alias(self, event: Any) -> Node:
        self.whole = "it has aliases"
        named = self.anchors.get(event.anchor)
        if named is None:
            line = event.start_mark.line + 1
            raise TreeProblem(f"line {line}: an alias to itself or to nothing")
        self.spend(self.sizes[id(named)])
        start, end = event.start_mark.index, event.end_mark.index
        return Node(
            named.kind, self.text, start, end, named.value, named.members, named.items, "alias"
        )

    def collection(self, kind: Any, event: Any) -> Node:
        tag = event.tag
        if tag is not None:
            self.whole = "it has tags"
        style = "flow" if event.flow_style else "block"
        start = event.start_mark.index
        return Node(kind, self.text, start, start, None if event.implicit else tag, style=style)

    def close(self, node: Node, event: Any) -> None:
        """Where the node ends: a block with its last entry, not with the space below it."""
        last = node.members[-1].node if node.members else node.items[-1] if node.items else None
        node.end = event.end_mark.index if node.style == "flow" or last is None else last.end

    def member(self, event: Any, seen: set[str], depth: int) -> Member:
        import yaml

        line = event.start_mark.line + 1
        if not isinstance(event, yaml.ScalarEvent):
            raise TreeProblem(f"line {line}: a key must be a word")
        key = self.scalar(event)
        if event.anchor is not None:
            raise TreeProblem(f"line {line}: a key with an anchor")
        # `1: a` and `"1": a` are two keys, and so are `yes` and `true` in two readers.
        name = key.value if isinstance(key.value, str) else key.source
        if name in seen:
            problem = TreeProblem(f"line {line}: a key stands twice in one mapping")
            problem.twice = True
            raise problem
        seen.add(name)
        return Member(name, key.start, key.end, self.node(next(self.events), depth + 1))

    def scalar(self, event: Any) -> Node:
        import yaml

        start, end = event.start_mark.index, event.end_mark.index
        style = {None: "plain", "": "plain", "|": "lines", ">": "lines"}.get(event.style, "quoted")
        if style == "lines" and "+" not in self.text[start : start + 3]:
            end = start + len(self.text[start:end].rstrip("\n "))
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
        if event.tag is not None:
            self.whole = "it has tags"
        value = self.scalar_value(tag, event.value)
        return Node("scalar", self.text, start, end, value, style=style)

    def scalar_value(self, tag: str, value: str) -> Any:
        import yaml

        name = tag.removeprefix(_CORE)
        if name == "str":
            return value
        if name == "null" and value in ("", "~", "null", "Null", "NULL"):
            return None
        if name == "bool" and value.lower() in self.constructor.bool_values:
            return self.constructor.bool_values[value.lower()]
        if name == "int":
            return self.constructor.construct_yaml_int(yaml.ScalarNode(tag, value))
        if name == "float":
            try:
                number = Decimal(value.replace("_", ""))
            except InvalidOperation:
                return tag, value
            return number if number.is_finite() and abs(number.adjusted()) < 9999 else (tag, value)
        return tag, value
