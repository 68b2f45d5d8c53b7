"""Write a merged tree as splices into ours' text: what is not changed keeps its bytes."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.semmerge.generic_join import Joined, Outcome
from memrepo.semmerge.generictree import Member, Node
from memrepo.semmerge.jsontext_style import Style, entry_spans, find_style, indent_at


def write_json(outcome: Outcome, ours: Node, theirs: Node) -> str:
    """The text of the whole file: ``outcome`` where ``ours`` stood in its text.

    What came from theirs is laid out as ours is, with theirs' spelling of numbers and
    texts.
    """
    writer = JsonWriter(ours.text, find_style(ours, theirs))
    head, tail = ours.text[: ours.start], ours.text[ours.end :]
    return head + writer.write(outcome, indent_at(ours.text, ours.start)) + tail


class JsonWriter:
    """Writes parts of one file, ``text``, in its style."""

    def __init__(self, text: str, style: Style) -> None:
        self.text = text
        self.style = style

    def write(self, outcome: Outcome, indent: str) -> str:
        """One value; ``indent`` is the space before the line that it begins on."""
        if isinstance(outcome, Joined):
            return self.joined(outcome, indent)
        if outcome.text is self.text:
            return outcome.source
        return self.foreign(outcome, indent)

    def joined(self, joined: Joined, indent: str) -> str:
        """A container of ours with entries changed, added or gone."""
        ours = joined.ours
        entries: Sequence[tuple[Member | None, Outcome]] = (
            list(joined.members)
            if ours.kind == "object"
            else [(None, item) for item in joined.items]
        )
        brackets = "{}" if ours.kind == "object" else "[]"
        if not entries:
            return brackets if entry_spans(ours) else ours.source
        layout = _Layout(ours, indent, self.style, wide=self.is_wide(joined))
        parts = [brackets[0], layout.lead]
        last: int | None = None
        for number, (member, outcome) in enumerate(entries):
            index = layout.index(member, outcome)
            if number:
                parts.append(layout.between(last, index))
            if member is not None:
                parts.append(self.key(member, ours))
            parts.append(self.write(outcome, layout.indent))
            last = index
        return "".join([*parts, layout.trail, brackets[1]])

    def is_wide(self, joined: Joined) -> bool:
        """Whether a container that is empty in ours gets a line for each entry."""
        return bool(self.style.newline) and not _on_one_line(joined.theirs)

    def key(self, member: Member, ours: Node) -> str:
        """A member's key with the colon; a new one has its sibling's colon."""
        source = member.node.text
        key = source[member.key_start : member.key_end]
        if source is self.text:
            return self.text[member.key_start : member.node.start]
        if ours.members:
            sibling = ours.members[0]
            return key + self.text[sibling.key_end : sibling.node.start]
        return key + self.style.colon

    def foreign(self, node: Node, indent: str) -> str:
        """A value of another text, laid out as this one is."""
        if node.kind == "scalar":
            return node.source
        style = self.style
        brackets = "{}" if node.kind == "object" else "[]"
        wide = bool(style.newline) and not _on_one_line(node)
        inner = indent + style.unit if wide else indent
        entries = [
            node.text[m.key_start : m.key_end] + style.colon + self.foreign(m.node, inner)
            for m in node.members
        ] or [self.foreign(item, inner) for item in node.items]
        if not entries:
            return brackets
        if wide:
            lead, trail = style.newline + inner, style.newline + indent
            return brackets[0] + lead + f",{lead}".join(entries) + trail + brackets[1]
        return brackets[0] + style.pad + style.separator.join(entries) + style.pad + brackets[1]


class _Layout:
    """The space around and between the entries of a container of ours."""

    def __init__(self, ours: Node, indent: str, style: Style, *, wide: bool) -> None:
        text, spans = ours.text, entry_spans(ours)
        self.text, self.spans = text, spans
        self.places = {id(m.node): i for i, m in enumerate(ours.members)}
        self.places.update({id(item): i for i, item in enumerate(ours.items)})
        self.keys = {id(m): i for i, m in enumerate(ours.members)}
        if spans:
            self.lead = text[ours.start + 1 : spans[0][0]]
            self.trail = text[spans[-1][1] : ours.end - 1]
        elif wide:
            self.lead, self.trail = style.newline + indent + style.unit, style.newline + indent
        else:
            self.lead = self.trail = style.pad
        split = "\n" in self.lead
        self.indent = self.lead.rpartition("\n")[2] if split else indent
        self.usual = f",{self.lead}" if split else style.separator
        if len(spans) > 1:
            self.usual = text[spans[-2][1] : spans[-1][0]]

    def index(self, member: Member | None, outcome: Outcome) -> int | None:
        """Which entry of ours this is, or None."""
        if member is not None:
            return self.keys.get(id(member))
        return self.places.get(id(outcome.ours if isinstance(outcome, Joined) else outcome))

    def between(self, before: int | None, after: int | None) -> str:
        """What stands between two entries: what stood there in ours where that can be."""
        if after and (before is None or before + 1 == after or before < after):
            return self.text[self.spans[after - 1][1] : self.spans[after][0]]
        return self.usual


def _on_one_line(node: Node) -> bool:
    """Whether ``node`` stands on one line of a text that has several."""
    if "\n" not in node.text.strip():
        return False
    return bool(node.members or node.items) and "\n" not in node.source
