"""Reads values out of a YAML tree strictly: each method gives a usable value, or a finding.

Keys that nobody knows are refused with what was probably meant, since a misspelt key
would have no effect in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from memrepo.protocol.catalogue import CATALOGUE
from memrepo.protocol.findings import Finding
from memrepo.protocol.strictjson import escape_pointer
from memrepo.protocol.suggest import closest, one_of, shown
from memrepo.protocol.yamltree import Mapping, Node, Scalar, Sequence

MAX_FINDINGS = 100

_T = TypeVar("_T")


class TreeReader:
    """Collects findings while it reads; every method returns a usable value or None.

    ``subject`` begins the codes: ``<subject>-value``, ``<subject>-unknown-key``.
    ``optional`` are the keys that may be missing wherever they are known.
    """

    def __init__(self, path: str, subject: str, optional: Collection[str] = ()) -> None:
        self.path = path
        self.subject = subject
        self.optional = optional
        self.findings: list[Finding] = []

    def add(self, code: str, node: Node, pointer: str, message: str, hint: str = "") -> None:
        """A finding at the place of ``node``; at most ``MAX_FINDINGS`` are kept."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(
                Finding(
                    code=code,
                    severity=CATALOGUE[code].severity,
                    path=self.path,
                    line=node.line,
                    column=node.column,
                    pointer=pointer,
                    message=message,
                    hint=hint,
                )
            )

    def bad(self, node: Node, pointer: str, message: str, hint: str = "") -> None:
        """A value that cannot be used."""
        self.add(f"{self.subject}-value", node, pointer, message, hint)

    def keys(
        self, node: Node | None, pointer: str, what: str, known: tuple[str, ...]
    ) -> dict[str, Node]:
        """The values of a mapping by key; a finding for each that is unknown or missing."""
        if not isinstance(node, Mapping):
            place = node or Scalar("", True, 1, 1)
            hint = f"Write one `key: value` a line: {', '.join(known)}."
            self.bad(place, pointer, f"{what} must hold keys and values.", hint)
            return {}
        found = {}
        for key, value in node.items:
            if key.text in known:
                found[key.text] = value
                continue
            hint = closest(key.text, known) or f"Known here: {', '.join(known)}."
            message = f"{what} has no key {shown(key.text)}."
            below = f"{pointer}/{escape_pointer(key.text)}"
            self.add(f"{self.subject}-unknown-key", key, below, message, hint)
        for key_text in known:
            if key_text not in found and key_text not in self.optional:
                hint = self.missing_hint(key_text, found)
                self.bad(node, pointer, f"{what} has no `{key_text}`.", hint)
        return found

    def missing_hint(self, key: str, found: dict[str, Node]) -> str:  # noqa: ARG002
        """What to do about a key that is missing; ``found`` are its neighbours."""
        return ""

    def text(
        self, node: Node | None, pointer: str, what: str, problem: Callable[[str], str | None]
    ) -> str | None:
        """A text with which ``problem`` finds nothing wrong."""
        if node is None:
            return None
        if not isinstance(node, Scalar) or node.is_null:
            self.bad(node, pointer, f"{what} must be a text.")
            return None
        why = problem(node.text)
        if why:
            self.bad(node, pointer, f"{what} {why}: {shown(node.text)}.")
            return None
        return node.text

    def value(
        self,
        node: Node | None,
        pointer: str,
        message: str,
        parse: Callable[[str], _T | None],
        hint: str = "",
    ) -> _T | None:
        """What ``parse`` makes of a plain word; ``message`` where it makes nothing of it."""
        if node is None:
            return None
        value = parse(node.text) if isinstance(node, Scalar) and node.plain else None
        if value is None:
            self.bad(node, pointer, message, hint)
        return value

    def word(self, node: Node | None, pointer: str, what: str, words: tuple[str, ...]) -> Any:
        """One of ``words``."""
        if node is None or (isinstance(node, Scalar) and node.text in words):
            return node.text if isinstance(node, Scalar) else None
        hint = closest(node.text, words) if isinstance(node, Scalar) else ""
        self.bad(node, pointer, f"{what} must be {one_of(words)}.", hint)
        return None

    def items(self, node: Node | None, pointer: str, what: str, most: int) -> tuple[Node, ...]:
        """The entries of a list, the first ``most`` of them; none where there is no list."""
        if node is None or (isinstance(node, Scalar) and node.is_null):
            return ()
        if not isinstance(node, Sequence):
            self.bad(node, pointer, f"{what} must be a list.", "Write one `- entry` a line.")
            return ()
        if len(node.items) > most:
            self.bad(node, pointer, f"{what} has {len(node.items)} entries; {most} is the most.")
        return node.items[:most]
