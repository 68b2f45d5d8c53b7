"""What a three-way merge takes and gives, as values."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Absent(msgspec.Struct, frozen=True):
    """Nothing at a place: not the same as ``null``."""


ABSENT = Absent()

#: Why a person must decide. The first group is about values, the second about whole files.
ConflictKind = Literal[
    "both-changed",  # one place, two values
    "both-added",  # one new key or identity, two values
    "changed-and-removed",
    "renamed-and-changed",
    "order",  # both moved the same entries, differently
    "ambiguous-identity",  # two entries with one key on a side
    "unparseable",
    "invalid-result",  # each side is fine, the two together break the protocol
    "text",  # lines, for Markdown and other text
    "add-add",
    "delete-modify",
    "file-folder",
    "mode",
    "symlink",
    "submodule",
    "snapshot",  # one name, different bytes
]
NoteKind = Literal[
    "version-higher",  # both raised the version; the higher one was taken
    "later-time",  # both moved a time forward; the later one was taken
    "identity-key",  # the key by which an array's entries were told apart
    "spelling",  # both spellings of parameters, with one meaning; the JSON Schema was taken
    "resolved",  # a recorded decision was used
]
Take = Literal["ours", "theirs", "base", "value"]


class Labels(msgspec.Struct, frozen=True):
    """What the two sides are called in messages, as in ``main`` and ``knowledge/wiki``."""

    ours: str = "ours"
    theirs: str = "theirs"


class Conflict(msgspec.Struct, frozen=True):
    """One place where the sides disagree.

    ``pointer`` is a JSON pointer in which entries of keyed arrays go by their key
    (``/refund/parameters/properties/amount/default`` in ``tools.json``), "" for the whole
    file. ``base``, ``ours`` and ``theirs`` are JSON values or ABSENT; for whole files and
    text they are texts or ABSENT.
    """

    path: str
    pointer: str
    kind: ConflictKind
    message: str
    base: Any = ABSENT
    ours: Any = ABSENT
    theirs: Any = ABSENT


class Note(msgspec.Struct, frozen=True):
    """Something that was decided without a person and that the report names.

    ``count`` is how many places in the file it stands for.
    """

    path: str
    pointer: str
    kind: NoteKind
    message: str
    count: int = 1


class Resolution(msgspec.Struct, frozen=True):
    """A person's decision about one place, good for exactly these three values.

    The values are SHA-256 of their canonical JSON (:func:`memrepo.semmerge.resolve.digest`).
    ``value`` counts only when ``take`` is "value". ``branch`` is the side that it was made
    about, as in ``knowledge/wiki``, or "".
    """

    path: str
    pointer: str
    base: str
    ours: str
    theirs: str
    take: Take
    value: Any = ABSENT
    branch: str = ""


class Merged(msgspec.Struct, frozen=True):
    """The outcome for one file: its bytes, or None when there are conflicts or it is removed.

    It is removed when ``data`` is None and there is no conflict.
    """

    data: bytes | None
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether nobody has to decide."""
        return not self.conflicts
