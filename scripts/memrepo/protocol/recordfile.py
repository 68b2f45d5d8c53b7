"""Reads the file of a record: the record it holds, or a finding for each mistake."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar, get_args

from memrepo.errors import BadInput
from memrepo.protocol.findings import Finding
from memrepo.protocol.record import (
    SCHEMA,
    Address,
    Lifecycle,
    Record,
    Scope,
    Status,
    Trust,
    Writer,
)
from memrepo.protocol.recordplace import (
    address_problem,
    key_problem,
    record_id_problem,
    record_path,
)
from memrepo.protocol.recordquick import read_canonical
from memrepo.protocol.strictjson import escape_pointer
from memrepo.protocol.suggest import shown
from memrepo.protocol.timestamps import parse_timestamp, timestamp_problem
from memrepo.protocol.treereader import TreeReader
from memrepo.protocol.yamltree import Mapping, Node, Scalar, Sequence, YamlProblem, read_tree

_T = TypeVar("_T")

#: The keys of each part, in the order they are written.
TOP_KEYS = (
    *("schema", "id", "key", "address", "written_by", "created_at", "updated_at"),
    *("lifecycle", "attributes", "content", "signature"),
)
ADDRESS_KEYS = ("org", "repo", "branch", "scope", "agent")
WRITER_KEYS = ("agent", "model", "trust")
LIFECYCLE_KEYS = ("status", "ttl_seconds", "supersedes", "superseded_by", "reason")
_OPTIONAL = {
    *("signature", "repo", "branch", "agent", "model"),
    *("ttl_seconds", "supersedes", "superseded_by", "reason"),
}
#: A century: longer is a mistake of units.
MOST_TTL = 36_525 * 86_400
MOST_SUMMARY = 2_000
MOST_REASON = 1_000
_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WHOLE = re.compile(r"0|[1-9][0-9]{0,9}")
_SIGNATURE = re.compile(
    r"-----BEGIN SSH SIGNATURE-----\n[A-Za-z0-9+/=\n]{1,8000}\n-----END SSH SIGNATURE-----\n?"
)


def parse_record(data: bytes, path: str) -> tuple[Record | None, list[Finding]]:
    """The record in ``data``, or None and what is wrong with it. Never raises.

    ``path`` is where the file lies, and has to be the one that follows from the address
    and the id (code ``record-address``); every other mistake is a ``record-schema``.
    """
    reader = _Reader(path, "record", _OPTIONAL)
    record = read_canonical(data)
    if record is None or _is_wrong(record):
        try:
            record = reader.record(read_tree(data))
        except YamlProblem as problem:
            message = f"The record cannot be read: {problem.message}."
            reader.bad(Scalar("", True, problem.line, problem.column), "", message)
        if record is None or reader.findings:
            return None, reader.findings
    if path != record_path(record.address, record.id):
        place = Scalar("", True, 1, 1)
        hint = f"Its place is {record_path(record.address, record.id)}."
        message = "The record's path is not the one of its address and id."
        reader.add("record-address", place, "/address", message, hint)
        return None, reader.findings
    return record, []


def read_record(data: bytes, path: str) -> Record:
    """The record in ``data``.  Raises BadInput with the first mistake and its place."""
    record, findings = parse_record(data, path)
    if record is None:
        first = findings[0]
        more = f" ({len(findings) - 1} more)" if len(findings) > 1 else ""
        place = f"{first.path}:{first.line}:{first.column}"
        raise BadInput(f"{place}: {first.message}{more}", first.hint)
    return record


def _is_wrong(record: Record) -> bool:
    """Whether anything is wrong with a record that was read the quick way."""
    life, by = record.lifecycle, record.written_by
    ids = (record.id, life.supersedes, life.superseded_by)
    wrong: list[object] = [
        *(record_id_problem(one) for one in ids if one is not None),
        key_problem(record.key),
        address_problem(record.address),
        writer_problem(by.agent),
        by.model and writer_problem(by.model),
        life.ttl_seconds is not None and not 0 < life.ttl_seconds <= MOST_TTL,
        len(life.reason) > MOST_REASON,
        attribute_problem(record.attributes),
        content_problem(record.content),
        record.signature and not _SIGNATURE.fullmatch(record.signature),
    ]
    return any(wrong)


def writer_problem(text: str) -> str | None:
    """Why ``text`` can name no agent or model, in words, or None when it can."""
    if not text or not text.isprintable() or text != text.strip():
        return "must be a name of printed characters"
    return "is longer than 100 characters" if len(text) > 100 else None


def attribute_problem(attributes: dict[str, Any]) -> tuple[str, str] | None:
    """The attribute that cannot be, and why; None when all is well."""
    kind = attributes.get("kind")
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        return "kind", "must be one word of small letters: fact, decision, constraint, …"
    confidence = attributes.get("confidence", 1)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return "confidence", "must be a number from 0 to 1"
    if not 0 <= confidence <= 1:
        return "confidence", "must be a number from 0 to 1"
    refs = attributes.get("code_refs", [])
    if not isinstance(refs, list) or not all(isinstance(ref, str) and ref for ref in refs):
        return "code_refs", "must be a list of texts like src/pool.py:20"
    return ("code_refs", "has more than 50 entries") if len(refs) > 50 else None


def content_problem(content: dict[str, Any]) -> tuple[str, str] | None:
    """The field of the content that cannot be, and why; None when all is well."""
    summary = content.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        return "summary", "must be a text that says what was concluded"
    if len(summary) > MOST_SUMMARY:
        return "summary", f"is longer than {MOST_SUMMARY:,} characters: put the rest into details"
    return None


class _Reader(TreeReader):
    def add(self, code: str, node: Node, pointer: str, message: str, hint: str = "") -> None:
        # One code for every way in which an envelope can be wrong.
        known = code if code == "record-address" else "record-schema"
        super().add(known, node, pointer, message, hint)

    def record(self, tree: Node | None) -> Record | None:
        found = self.keys(tree, "", "The record", TOP_KEYS)
        if not found:
            return None
        self.word(found.get("schema"), "/schema", "`schema`", (SCHEMA,))
        fields = {
            "id": self.text(found.get("id"), "/id", "`id`", record_id_problem),
            "key": self.text(found.get("key"), "/key", "`key`", key_problem),
            "address": self.given(found.get("address"), self.address),
            "written_by": self.given(found.get("written_by"), self.writer),
            "created_at": self.time(found.get("created_at"), "/created_at"),
            "updated_at": self.time(found.get("updated_at"), "/updated_at"),
            "lifecycle": self.given(found.get("lifecycle"), self.lifecycle),
            "attributes": self.open(found, "attributes", attribute_problem),
            "content": self.open(found, "content", content_problem),
            "signature": self.signature(found.get("signature")),
        }
        if self.findings or any(value is None for value in fields.values()):
            return None
        return Record(**fields)  # type: ignore[arg-type]

    def given(self, node: Node | None, read: Callable[[Node], _T | None]) -> _T | None:
        """What ``read`` makes of a part that is there; that one is missing was said already."""
        return None if node is None else read(node)

    def time(self, node: Node | None, pointer: str) -> datetime | None:
        text = self.text(node, pointer, f"`{pointer[1:]}`", _time_problem)
        when = parse_timestamp(text) if text is not None else None
        return when.astimezone(UTC) if when else None

    def address(self, node: Node) -> Address | None:
        found = self.keys(node, "/address", "`address`", ADDRESS_KEYS)
        scope = self.word(found.get("scope"), "/address/scope", "`scope`", get_args(Scope))
        texts = {
            name: self.text(found.get(name), f"/address/{name}", f"`{name}`", _nothing) or ""
            for name in ("org", "repo", "branch", "agent")
        }
        if scope is None:
            return None
        address = Address(scope=scope, **texts)
        problem = address_problem(address)
        if problem:
            name, why = problem
            self.bad(found.get(name, node), f"/address/{name}", f"`{name}`: {why}.")
            return None
        return address

    def writer(self, node: Node) -> Writer | None:
        found = self.keys(node, "/written_by", "`written_by`", WRITER_KEYS)
        at = "/written_by"
        agent = self.text(found.get("agent"), f"{at}/agent", "`agent`", writer_problem)
        model = self.text(found.get("model"), f"{at}/model", "`model`", _model_problem)
        trust = self.word(found.get("trust"), f"{at}/trust", "`trust`", get_args(Trust))
        return Writer(agent, model or "", trust) if agent and trust else None

    def lifecycle(self, node: Node) -> Lifecycle | None:
        at = "/lifecycle"
        found = self.keys(node, at, "`lifecycle`", LIFECYCLE_KEYS)
        status = self.word(found.get("status"), f"{at}/status", "`status`", get_args(Status))
        found = {name: one for name, one in found.items() if not _is_null(one)}
        ttl = self.value(
            found.get("ttl_seconds"),
            f"{at}/ttl_seconds",
            f"`ttl_seconds` must be a whole number of seconds from 1 to {MOST_TTL:,}, or null.",
            lambda text: (
                int(text) if _WHOLE.fullmatch(text) and 0 < int(text) <= MOST_TTL else None
            ),
        )
        ids = [
            self.text(found.get(name), f"{at}/{name}", f"`{name}`", record_id_problem)
            for name in ("supersedes", "superseded_by")
        ]
        reason = self.text(found.get("reason"), f"{at}/reason", "`reason`", _reason_problem)
        return Lifecycle(status, ttl, ids[0], ids[1], reason or "") if status else None

    def open(self, found: dict[str, Node], name: str, problem: Any) -> dict[str, Any] | None:
        """A mapping that may hold whatever it likes beside what ``problem`` looks at."""
        node = found.get(name)
        if node is None:
            return None
        if not isinstance(node, Mapping):
            self.bad(node, f"/{name}", f"`{name}` must hold keys and values.")
            return None
        values: dict[str, Any] = self.plain(node, f"/{name}")
        wrong = problem(values)
        if wrong:
            key, why = wrong
            at = next((value for one, value in node.items if one.text == key), node)
            self.bad(at, f"/{name}/{key}", f"`{key}` {why}.")
            return None
        return values

    def plain(self, node: Node, pointer: str) -> Any:
        """A value as JSON has it: a word without quotes is one only where JSON knows none."""
        if isinstance(node, Mapping):
            for key, _ in node.items:
                if not key.text or len(key.text) > 100:
                    self.bad(key, pointer, "A key must have 1 to 100 characters.")
            return {
                key.text: self.plain(value, f"{pointer}/{escape_pointer(key.text)}")
                for key, value in node.items
            }
        if isinstance(node, Sequence):
            return [self.plain(one, f"{pointer}/{i}") for i, one in enumerate(node.items)]
        if not node.plain:
            return node.text
        words = {"null": None, "~": None, "": None, "true": True, "false": False}
        if node.text in words:
            return words[node.text]
        if not _NUMBER.fullmatch(node.text):
            return node.text
        whole = re.fullmatch(r"-?[0-9]+", node.text)
        if len(node.text) > 40 or (not whole and abs(float(node.text)) == float("inf")):
            self.bad(node, pointer, f"The number {shown(node.text)} is too long.")
            return None
        return int(node.text) if whole else float(node.text)

    def signature(self, node: Node | None) -> str | None:
        return "" if node is None else self.text(node, "/signature", "`signature`", _no_signature)


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_null


def _nothing(_: str) -> str | None:
    return None


def _time_problem(text: str) -> str | None:
    when = parse_timestamp(text)
    if when is None:
        return timestamp_problem(text)
    return "has parts of a second" if when.microsecond else None


def _model_problem(text: str) -> str | None:
    return writer_problem(text) if text else None


def _reason_problem(text: str) -> str | None:
    return f"is longer than {MOST_REASON:,} characters" if len(text) > MOST_REASON else None


def _no_signature(text: str) -> str | None:
    return None if _SIGNATURE.fullmatch(text) else "is no SSH signature"
