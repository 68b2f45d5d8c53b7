"""Findings as SARIF 2.1.0, the form that code scanning services read.

Section numbers are those of the OASIS standard "Static Analysis Results Interchange
Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from memrepo import __version__
from memrepo.protocol.catalogue import Rule
from memrepo.protocol.findings import Finding, in_order
from memrepo.report.escape import visible

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

#: The name of our fingerprint; a change of its recipe needs a new number.
_FINGERPRINT = "memrepo/v1"

_LINK = re.compile(r"\[(?=[^\]]*\]\()")


def findings_sarif(findings: Iterable[Finding], *, catalogue: Mapping[str, Rule]) -> dict[str, Any]:
    """One SARIF log with one run; rules are those of ``catalogue`` that occur."""
    ordered = in_order(list(findings))
    codes = list(dict.fromkeys(finding.code for finding in ordered))
    index = {code: position for position, code in enumerate(codes)}
    seen: Counter[tuple[str, str, str]] = Counter()
    results = []
    for finding in ordered:
        identity = (finding.code, finding.path, finding.pointer)
        results.append(_result(finding, index[finding.code], seen[identity]))
        seen[identity] += 1
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "memrepo",
                        "semanticVersion": __version__,
                        "rules": [_rule(code, catalogue.get(code)) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def _rule(code: str, rule: Rule | None) -> dict[str, Any]:
    value: dict[str, Any] = {"id": visible(code)}
    if rule is None:
        return value
    switch = (
        f"A policy may set it under `severity: {{{code}: …}}`."
        if rule.switchable
        else "No policy can switch it off."
    )
    plain = f"{rule.reason}\n\nFor example: {rule.example}\n\nWhat to do: {rule.fix}\n\n{switch}"
    value |= {
        "name": "".join(word.capitalize() for word in code.split("-")),
        "shortDescription": {"text": _message(rule.title)},
        "fullDescription": {"text": _message(rule.reason)},
        "help": {
            "text": _message(plain),
            "markdown": f"{rule.reason}\n\n**For example:** {rule.example}\n\n"
            f"**What to do:** {rule.fix}\n\n{switch}",
        },
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": ["agent-memory", rule.group]},
    }
    return value


def _result(finding: Finding, rule_index: int, occurrence: int) -> dict[str, Any]:
    text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
    value: dict[str, Any] = {
        "ruleId": visible(finding.code),
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": {"text": _message(text)},
        "locations": [_location(finding)],
        "partialFingerprints": {_FINGERPRINT: _fingerprint(finding, occurrence)},
    }
    if finding.agent_id:
        value["properties"] = {"agentId": visible(finding.agent_id)}
    return value


def _location(finding: Finding) -> dict[str, Any]:
    physical: dict[str, Any] = {
        "artifactLocation": {"uri": _uri(finding.path), "uriBaseId": "%SRCROOT%"}
    }
    if finding.line > 0:
        physical["region"] = {"startLine": finding.line}
        if finding.column > 0:
            physical["region"]["startColumn"] = finding.column
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.pointer:
        pointer = visible(finding.pointer)
        location["logicalLocations"] = [{"fullyQualifiedName": pointer, "kind": "member"}]
    return location


def _uri(path: str) -> str:
    """A relative reference, percent-encoded (RFC 3986); ``.`` for the whole repository."""
    return quote(_bytes(path.lstrip("/")), safe="/") or "."


def _bytes(text: str) -> bytes:
    """UTF-8, and also for file names that are not: their bytes as Git has them."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _fingerprint(finding: Finding, occurrence: int) -> str:
    """The same while the finding stays what it is: no line, no wording (§3.27.17)."""
    identity = "\0".join((finding.code, finding.path, finding.pointer, str(occurrence)))
    return hashlib.sha256(_bytes(identity)).hexdigest()


def _message(text: str) -> str:
    """Plain message text: a bracket that would open an embedded link is escaped (§3.11.6)."""
    return _LINK.sub(r"\\[", visible(text)) or "(no text)"
