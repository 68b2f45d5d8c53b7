"""What a change of memory is made of, as values; their JSON form is public.

Every value here is what ``--json`` prints: reports are rendered from it and from
nothing else, so that another process can render the same report again.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from memrepo.semdiff.records import RecordChange

Class = Literal["breaking", "compatible", "wording"]

TurnKind = Literal["appended", "inserted", "edited", "removed", "moved"]

#: The kinds of change of one parameter or of the tool itself.
ToolKind = Literal[
    "parameter-added",
    "parameter-removed",
    "type-changed",
    "became-required",
    "became-optional",
    "enum-narrowed",
    "enum-widened",
    "enum-changed",
    "default-changed",
    "constraint-changed",
    "description-changed",
    "schema-changed",
]


class Word(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run of words of an edited text: kept, taken out, or put in."""

    op: Literal["same", "removed", "added"]
    text: str


class TurnChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One turn that changed.

    ``before_index`` and ``after_index`` count turns from 0 (-1: not there on that
    side). ``words`` is filled for an edited turn only.
    """

    kind: TurnKind
    role: str
    before_index: int = -1
    after_index: int = -1
    before: str = ""
    after: str = ""
    before_role: str = ""
    timestamp: str = ""
    before_timestamp: str = ""
    words: tuple[Word, ...] = ()


class ContextDiff(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Counts of changed turns, and the changes in the order of the new context.

    ``trimmed`` counts removed turns that were the oldest ones and had to leave for
    the context to stay within its limit; they are also in ``removed``.
    """

    appended: int = 0
    inserted: int = 0
    edited: int = 0
    removed: int = 0
    moved: int = 0
    trimmed: int = 0
    before_turns: int = 0
    after_turns: int = 0
    changes: tuple[TurnChange, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not self.changes


class ParameterChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change inside a tool. ``pointer`` is a JSON pointer into the tool."""

    pointer: str
    kind: ToolKind
    cls: Class = msgspec.field(name="class")
    before: Any = None
    after: Any = None


class ToolSummary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole tool that came or went."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool that is there on both sides; ``cls`` is the worst class of its changes."""

    name: str
    cls: Class = msgspec.field(name="class")
    changes: tuple[ParameterChange, ...] = ()


class ToolRename(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool whose name changed while its body is the same or nearly so (breaking)."""

    before: str
    after: str
    cls: Class = msgspec.field(name="class", default="breaking")
    changes: tuple[ParameterChange, ...] = ()


class ToolsDiff(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tools that came, went, got another name, or changed. ``reordered``: order only."""

    added: tuple[ToolSummary, ...] = ()
    removed: tuple[ToolSummary, ...] = ()
    renamed: tuple[ToolRename, ...] = ()
    changed: tuple[ToolChange, ...] = ()
    reordered: bool = False
    before_tools: int = 0
    after_tools: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return not (self.added or self.removed or self.renamed or self.changed or self.reordered)

    @property
    def cls(self) -> Class | None:
        """The worst class of all tool changes for a caller (added: compatible)."""
        found: set[Class] = {c.cls for c in self.changed} | {r.cls for r in self.renamed}
        if self.removed:
            found.add("breaking")
        if self.added:
            found.add("compatible")
        worst: tuple[Class, ...] = ("breaking", "compatible", "wording")
        return next((c for c in worst if c in found), None)


Step = Literal["none", "major", "minor", "patch", "pre-release", "backward", "unknown"]


class MetadataDiff(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``version`` and ``last_updated`` are ``(old, new)``, None where that side is absent.

    ``step`` is how far the version moved; ``needs`` the step that the tool changes
    ask for (semver.org, items 6 to 8); ``fits`` whether it was taken.
    """

    version: tuple[str | None, str | None] = (None, None)
    last_updated: tuple[str | None, str | None] = (None, None)
    step: Step = "none"
    needs: Step = "none"
    fits: bool = True


class AgentDiff(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What changed in one agent. ``unreadable`` names files that could not be compared."""

    agent_id: str
    change: Literal["added", "removed", "changed"]
    context: ContextDiff = ContextDiff()
    tools: ToolsDiff = ToolsDiff()
    metadata: MetadataDiff = MetadataDiff()
    unreadable: tuple[str, ...] = ()


class SnapshotsDiff(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``added``, ``moved`` (to the other layout) and ``archived`` (gone, and the archive's
    record holds them) are numbers of snapshots; the others are the paths."""

    added: int = 0
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    moved: int = 0
    archived: int = 0


class OtherFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A changed file that is no agent's: ``patch`` is a unified diff, "" when binary.

    ``words`` say what the change does where that is known, a sentence each.
    """

    path: str
    change: Literal["added", "removed", "changed"]
    kind: Literal["text", "binary", "policy", "rollout"] = "text"
    patch: str = ""
    truncated: bool = False
    words: tuple[str, ...] = ()


class Diff(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole semantic diff of a change; agents in order of their id, ``records`` in order of
    address and key."""

    agents: tuple[AgentDiff, ...] = ()
    snapshots: SnapshotsDiff = SnapshotsDiff()
    other: tuple[OtherFile, ...] = ()
    records: tuple[RecordChange, ...] = ()
