"""Write a merged tree as splices into ours' YAML: comments and layout stay where they are.

Block style is spliced by lines, a flow collection inside its brackets. Whatever comes out
is read again by the caller, who takes it only when it means what was merged.
"""

from __future__ import annotations

import msgspec

from memrepo.semmerge.generic_join import Joined, Outcome
from memrepo.semmerge.generictree import Member, Node
from memrepo.semmerge.jsontext_style import Style
from memrepo.semmerge.jsontext_write import JsonWriter
from memrepo.semmerge.yamltext_lines import CannotSplice, Entry, entries_of, shifted

_SIGNS = frozenset(",[]{}")
_FLOW = Style(newline="", unit="", colon=": ", separator=", ")


def write_yaml(outcome: Outcome, ours: Node) -> str:
    """The text of the whole file: ``outcome`` where ``ours`` stood in its text.

    Raises CannotSplice.
    """
    if not isinstance(outcome, Joined):
        return outcome.text
    text = ours.text
    written, end = _Writer(text).joined(outcome)
    return text[: ours.start] + written + text[end:]


class _Writer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.flow = _FlowWriter(text, _FLOW)

    def joined(self, joined: Joined) -> tuple[str, int]:
        """A collection of ours anew, and where in ours' text the old one ended.

        A block ends with the line of its last value, so that a comment there goes along.
        """
        ours = joined.ours
        if ours.style == "flow":
            return self.flow.joined(joined, ""), ours.end
        before = entries_of(ours)
        end = before[-1].stop
        after: list[tuple[Member | None, Outcome]] = list(joined.members)
        after += [(None, item) for item in joined.items]
        if not after:
            return ("{}" if ours.kind == "object" else "[]"), end
        mine = {id(entry.value): entry for entry in before}
        others = {id(entry.value): entry for entry in entries_of(joined.theirs)}
        placed = [
            (mine.get(id(_source(member, outcome))), member, outcome) for member, outcome in after
        ]
        loose = _loose(before, [entry for entry, _, _ in placed if entry])
        column = before[0].column
        indent = " " * column
        first = loose.get(None, "")
        parts: list[str] = []
        for number, (entry, member, outcome) in enumerate(placed):
            foreign = None if entry else others.get(id(_source(member, outcome)))
            head = entry.head if entry else self.moved(foreign, column) if foreign else ""
            lead = first + head + indent
            parts.append(lead.removeprefix(indent) if number == 0 else lead)
            first = ""
            if entry is None:
                parts.append(self.new(foreign, member, outcome, column))
            else:
                parts.append(self.body(entry, outcome, others.get(id(outcome)), column))
            if number < len(placed) - 1:
                gap = entry.gap + loose.get(id(entry), "") if entry else ""
                parts.append(self.newline + gap)
        return "".join(parts), end

    def moved(self, entry: Entry, column: int) -> str:
        """The comment lines above an entry of theirs, for ours."""
        return self.lines(shifted(entry.head, entry.column, column, first=True))

    def lines(self, text: str) -> str:
        """Lines of another text with the line ends of this one."""
        return text.replace("\r\n", "\n").replace("\n", self.newline)

    def new(self, entry: Entry | None, member: Member | None, outcome: Outcome, column: int) -> str:
        """An entry that ours does not have: its lines in theirs, or a line of its own."""
        if entry is not None:
            return self.lines(shifted(entry.body, entry.column, column))
        if isinstance(outcome, Joined):
            raise CannotSplice("a value of both sides in an entry that ours does not have")
        written = _on_one_line(outcome)
        if member is None:
            return f"- {written}"
        return f"{member.node.text[member.key_start : member.key_end]}: {written}"

    def body(self, entry: Entry, outcome: Outcome, other: Entry | None, column: int) -> str:
        """An entry of ours, with its value as it was, joined or replaced."""
        value, text = entry.value, self.text
        if outcome is value:
            return entry.body
        if isinstance(outcome, Joined):
            written, end = self.joined(outcome)
            return text[entry.start : value.start] + written + text[end : entry.stop]
        if other is None or _one_line(outcome):
            written = _on_one_line(outcome)
            if _one_line(value):
                lead = text[entry.start : value.start]
                lead += "" if lead.endswith((" ", "\t", "\n")) else " "
                return lead + written + text[value.end : entry.stop]
            colon = "" if entry.is_item else ":"
            return f"{text[entry.start : entry.key_end]}{colon} {written}"
        rest = other.text[other.key_end : other.stop]
        moved = self.lines(shifted(rest, other.column, column))
        return text[entry.start : entry.key_end] + moved


class _FlowWriter(JsonWriter):
    """Writes inside brackets, where a word may not hold what ends or begins an entry."""

    def foreign(self, node: Node, indent: str) -> str:
        """As in JSON; a text that could not stand here as it was written gets quotes."""
        unfit = not _one_line(node) or set(node.source) & _SIGNS or node.source[:1] in ("?", ":")
        if node.kind == "scalar" and unfit:
            return _on_one_line(node) if node.style == "quoted" else _as_json(node)
        return super().foreign(node, indent)


def _on_one_line(node: Node) -> str:
    return node.source if _one_line(node) else _as_json(node)


def _as_json(node: Node) -> str:
    """The value as JSON, which is YAML too."""
    return msgspec.json.encode(node.plain()).decode()


def _source(member: Member | None, outcome: Outcome) -> Node:
    if member is not None:
        return member.node
    return outcome.ours if isinstance(outcome, Joined) else outcome


def _loose(before: list[Entry], kept: list[Entry]) -> dict[int | None, str]:
    """Comments that stood apart below entries that go, by the entry above (None: the top)."""
    staying = {id(entry) for entry in kept}
    found: dict[int | None, str] = {}
    above: int | None = None
    for entry in before:
        if id(entry) in staying:
            above = id(entry)
        elif "#" in entry.gap:
            found[above] = found.get(above, "") + entry.gap
    return found


def _one_line(node: Node) -> bool:
    return node.style not in ("lines", "block") and "\n" not in node.source
