"""Reads ``.memrepo/policy.yml``: the policy it holds, and a finding for each mistake in it."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec

from memrepo.protocol.catalogue import CATALOGUE
from memrepo.protocol.defaults import default_policy_bytes
from memrepo.protocol.findings import Finding
from memrepo.protocol.policy import (
    POLICY_PATH,
    Archive,
    History,
    Knowledge,
    Level,
    Limits,
    Policy,
    Records,
    Text,
    Tools,
)
from memrepo.protocol.signers import parse_signer
from memrepo.protocol.strictjson import escape_pointer
from memrepo.protocol.suggest import closest, shown
from memrepo.protocol.yamltree import Mapping, Node, Scalar, Sequence, YamlProblem, read_tree

VERSION = 1
MAX_FINDINGS = 100

_LEVELS: tuple[str, ...] = get_args(Level)
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
_SOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
_SHARE = re.compile(r"-?([0-9]+(\.[0-9]*)?|\.[0-9]+)")


class Range(msgspec.Struct, frozen=True):
    """A number from ``low`` to ``high``, both included; ``whole`` when it has no fraction."""

    low: int
    high: int
    whole: bool = True


#: What each key of each section may hold: a range, a choice of words, true or false, a
#: pattern that a text must match, or a list of texts.
Kind = Range | tuple[str, ...] | type[bool] | re.Pattern[str] | type[list[str]]
KEYS: dict[str, dict[str, Kind]] = {
    "limits": {
        "context_turns": Range(1, 1_000_000),
        "file_bytes": Range(1_024, 104_857_600),
        "shrink": Range(0, 1, whole=False),
    },
    "history": {
        "layout": ("flat", "daily"),
        "recommend_daily_at": Range(1, 1_000_000_000),
    },
    "text": {
        "sensitive_words": list,
        "allow": list,
        "encoded_blob_chars": Range(32, 1_048_576),
        "sentiment": Range(0, 1, whole=False),
    },
    "tools": {"deny": list},
    "archive": {
        "older_than_days": Range(1, 36_500),
        "overdue_days": Range(1, 36_500),
        "tag_prefix": re.compile(r"[a-z0-9][a-z0-9._-]{0,38}[a-z0-9]"),
    },
    "knowledge": {"order": list, "rewrite": bool},
    "records": {"signers": list},
}
_TOP = ("version", *KEYS, "severity")


def parse_policy(data: bytes, path: str = POLICY_PATH) -> tuple[Policy, list[Finding]]:
    """The policy in ``data`` and what is wrong with it. Never raises, whatever the bytes.

    Findings are in the order of the file, at most ``MAX_FINDINGS`` and one that says so.
    Where a value cannot be used the default holds; of a list only the bad entries are
    left out. An empty file is the default policy.
    """
    if not data or data == default_policy_bytes():
        return Policy(), []
    reader = _Reader(path)
    try:
        tree = read_tree(data)
    except YamlProblem as problem:
        message = f"The policy cannot be read: {problem.message}."
        hint = "Repair it; until then the default policy holds."
        place = Scalar("", True, problem.line, problem.column)
        reader.add("policy-syntax", place, "", message, hint)
        return Policy(), reader.findings
    return reader.policy(tree), reader.findings


def _section_of(key: str) -> str | None:
    return next((name for name, keys in KEYS.items() if key in keys), None)


def _glob_problem(pattern: str) -> str | None:
    # fnmatch takes an open bracket literally: the pattern would match nothing, in silence.
    at = pattern.find("[")
    while at >= 0:
        start = at + 2 if pattern[at + 1 : at + 2] == "!" else at + 1
        end = pattern.find("]", start + 1)
        if end < 0:
            return "has a `[` without its `]`"
        at = pattern.find("[", end)
    return "holds a space or a line end" if re.search(r"\s", pattern) else None


class _Reader:
    """Collects findings while it reads; every method returns a usable value or None."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.findings: list[Finding] = []

    def add(self, code: str, node: Node, pointer: str, message: str, hint: str = "") -> None:
        if len(self.findings) > MAX_FINDINGS:
            return
        if len(self.findings) == MAX_FINDINGS:
            message, hint = "The policy has more mistakes, which are not listed.", ""
        finding = Finding(
            code=code,
            severity=CATALOGUE[code].severity,
            path=self.path,
            line=node.line,
            column=node.column,
            pointer=pointer,
            message=message,
            hint=hint,
        )
        self.findings.append(finding)

    def policy(self, tree: Node | None) -> Policy:
        sections: dict[str, dict[str, Any]] = {name: {} for name in KEYS}
        severity: dict[str, Level] = {}
        for key, node in self.pairs(tree, "", "the policy"):
            pointer = f"/{escape_pointer(key.text)}"
            if key.text == "version":
                self.version(node, pointer)
            elif key.text == "severity":
                severity = self.severities(node, pointer)
            elif key.text in KEYS:
                sections[key.text] = self.section(key.text, node, pointer)
            else:
                self.unknown(key, pointer, _TOP)
        return Policy(
            version=VERSION,
            limits=Limits(**sections["limits"]),
            history=History(**sections["history"]),
            text=Text(**sections["text"]),
            tools=Tools(**sections["tools"]),
            archive=Archive(**sections["archive"]),
            knowledge=Knowledge(**sections["knowledge"]),
            records=Records(**sections["records"]),
            severity=severity,
        )

    def pairs(self, node: Node | None, pointer: str, what: str) -> tuple[tuple[Scalar, Node], ...]:
        if isinstance(node, Mapping):
            return node.items
        # `limits:` with every line under it commented out leaves a null: nothing is set.
        if node is not None and not (isinstance(node, Scalar) and node.is_null):
            hint = "Write one `key: value` a line, indented under it."
            self.add("policy-value", node, pointer, f"{what} must hold keys and values.", hint)
        return ()

    def unknown(self, key: Scalar, pointer: str, known: tuple[str, ...]) -> None:
        if len(self.findings) > MAX_FINDINGS:
            return
        home = _section_of(key.text)
        if home:
            hint = f"`{key.text}` belongs under `{home}:`."
        else:
            hint = closest(key.text, known) or f"Known here: {', '.join(known)}."
        message = f"The policy has no key {shown(key.text)} here; it has no effect."
        self.add("policy-unknown-key", key, pointer, message, hint)

    def version(self, node: Node, pointer: str) -> None:
        if isinstance(node, Scalar) and node.plain and node.text == str(VERSION):
            return
        hint = f"Write `version: {VERSION}`, or use a memrepo that knows the other one."
        message = f"This memrepo knows version {VERSION} of the policy."
        self.add("policy-value", node, pointer, message, hint)

    def section(self, name: str, node: Node, pointer: str) -> dict[str, Any]:
        values: dict[str, Any] = {}
        keys = KEYS[name]
        for key, child in self.pairs(node, pointer, f"`{name}`"):
            below = f"{pointer}/{escape_pointer(key.text)}"
            kind = keys.get(key.text)
            value: object = None
            if kind is None:
                self.unknown(key, below, tuple(keys))
            elif isinstance(kind, Range):
                value = self.number(child, below, f"`{name}.{key.text}`", kind)
            elif isinstance(kind, tuple):
                value = self.choice(child, below, f"`{name}.{key.text}`", kind)
            elif kind is bool:
                word = self.choice(child, below, f"`{name}.{key.text}`", ("true", "false"))
                value = None if word is None else word == "true"
            elif isinstance(kind, re.Pattern):
                value = self.word(child, below, f"`{name}.{key.text}`", kind)
            else:
                value = self.texts(child, below, f"{name}.{key.text}")
            if value is not None:
                values[key.text] = value
        return values

    def number(self, node: Node, pointer: str, what: str, within: Range) -> float | None:
        kind = "a whole number" if within.whole else "a number"
        message = f"{what} must be {kind} from {within.low:,} to {within.high:,}."
        if isinstance(node, Scalar) and node.plain:
            pattern = _WHOLE if within.whole else _SHARE
            if len(node.text) <= 30 and pattern.fullmatch(node.text):
                value = int(node.text) if within.whole else float(node.text)
                if within.low <= value <= within.high:
                    return value
        hint = "Write it without quotes, sign or separators; the default holds until then."
        self.add("policy-value", node, pointer, message, hint)
        return None

    def choice(self, node: Node, pointer: str, what: str, words: tuple[str, ...]) -> str | None:
        if isinstance(node, Scalar) and node.text in words:
            return node.text
        message = f"{what} must be {', '.join(words[:-1])} or {words[-1]}."
        given = closest(node.text, words) if isinstance(node, Scalar) else ""
        self.add("policy-value", node, pointer, message, given or "The default holds until then.")
        return None

    def word(self, node: Node, pointer: str, what: str, pattern: re.Pattern[str]) -> str | None:
        if isinstance(node, Scalar) and pattern.fullmatch(node.text):
            return node.text
        message = f"{what} must be one word of 2 to 40 small letters, digits, `.`, `_` and `-`."
        self.add("policy-value", node, pointer, message, "The default holds until then.")
        return None

    def texts(self, node: Node, pointer: str, what: str) -> tuple[str, ...] | None:
        if not isinstance(node, Sequence):
            hint = "Write `[first, second]`, or one `- entry` a line; `[]` for none."
            self.add("policy-value", node, pointer, f"`{what}` must be a list.", hint)
            return None
        good: dict[str, None] = {}
        for index, item in enumerate(node.items):
            problem = self.text_problem(item, what)
            if problem:
                message = f"Entry {index + 1} of `{what}` {problem}."
                hint = "It is left out until it is corrected."
                self.add("policy-value", item, f"{pointer}/{index}", message, hint)
            elif isinstance(item, Scalar):
                good[item.text] = None
        # Only bad entries is not the same as none wanted: the default holds.
        return tuple(good) if good or not node.items else None

    def text_problem(self, item: Node, what: str) -> str | None:
        if not isinstance(item, Scalar) or item.is_null:
            return "must be a text"
        if not item.text.strip():
            return "is empty"
        if re.search("[\ud800-\udfff]", item.text):
            return "holds half a character"
        if what == "text.sensitive_words" and not re.search(r"\w", item.text):
            return "holds no letter or digit, so it is never a whole word"
        if what == "knowledge.order" and not _SOURCE.fullmatch(item.text):
            return "is no source: write `wiki` for the branch knowledge/wiki"
        if what == "records.signers" and parse_signer(item.text) is None:
            return "is no signer: write `human ann@example.com ssh-ed25519 AAAA…`"
        return _glob_problem(item.text) if what == "tools.deny" else None

    def severities(self, node: Node, pointer: str) -> dict[str, Level]:
        levels: dict[str, Level] = {}
        switchable = tuple(code for code, rule in CATALOGUE.items() if rule.switchable)
        for key, child in self.pairs(node, pointer, "`severity`"):
            below = f"{pointer}/{escape_pointer(key.text)}"
            rule = CATALOGUE.get(key.text)
            if rule is None:
                message = f"There is no finding {shown(key.text)}."
                hint = ""
                if len(self.findings) <= MAX_FINDINGS:
                    hint = closest(key.text, switchable) or "The findings page lists them all."
                self.add("policy-value", key, below, message, hint)
            elif not rule.switchable:
                message = f"`{rule.code}` is always {_article(rule.severity)}: {rule.reason}"
                hint = "Remove the line: every reader of the repository relies on this rule."
                self.add("policy-value", key, below, message, hint)
            else:
                level = self.choice(child, below, f"`severity.{rule.code}`", _LEVELS)
                if level is not None:
                    levels[rule.code] = level  # type: ignore[assignment]
        return levels


def _article(severity: str) -> str:
    return f"an {severity}" if severity == "error" else f"a {severity}"
