"""Judge one record by its file alone: the envelope, its place, and the text rules. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from memrepo.gate.files import judge_plain, make, too_large
from memrepo.protocol.findings import Finding
from memrepo.protocol.policy import Policy
from memrepo.protocol.record import Record
from memrepo.protocol.recorddump import dump_record
from memrepo.protocol.recordfile import parse_record
from memrepo.protocol.yamltree import Mapping, Node, Scalar, Sequence, YamlProblem, read_tree
from memrepo.recordrules.problem import Problem
from memrepo.rules.hits import Hit

#: So many findings of one code in one record are listed.
_MOST_OF_A_CODE = 20
_INDEX = re.compile(r"0|[1-9][0-9]{0,5}")
_ARMOUR = re.compile(rb"(?<=-----BEGIN SSH SIGNATURE-----)[^-]*(?=-----END SSH SIGNATURE-----)")


class JudgedRecord(msgspec.Struct, frozen=True):
    """A record (None where the file holds none) and the findings about its file alone.

    ``plain`` is false for a file that memrepo would write in other bytes: it may hold more
    than the record, a comment for example.
    """

    record: Record | None
    findings: list[Finding] = []
    plain: bool = True


def judge_record_file(path: str, data: bytes, policy: Policy, *, text: bool = True) -> JudgedRecord:
    """Every rule that can be decided from this file alone. ``text``: run the text rules."""
    if len(data) > policy.limits.file_bytes:
        return JudgedRecord(None, too_large(path, len(data), policy), False)
    record, findings = parse_record(data, path)
    if record is None:
        # What cannot be read is still read by those who do not look closely.
        return JudgedRecord(
            None, findings + (judge_plain(path, data, policy) if text else []), False
        )
    plain = dump_record(record) == data
    if not plain:
        message = "the record is not written as memrepo writes it; it may hold a comment"
        hint = "write it with `memrepo records write`"
        findings = make(policy, "format", path, message, hint, place=(1, 1))
    return JudgedRecord(
        record, findings + (_text(path, data, record, policy, plain) if text else []), plain
    )


def _text(path: str, data: bytes, record: Record, policy: Policy, plain: bool) -> list[Finding]:
    hits = record_hits(record, policy)
    findings: list[Finding] = []
    if hits:
        said = [Problem(hit.code, hit.pointer, hit.message, hit.hint) for hit in _first(hits)]
        findings = place_problems(said, path, data, policy)
    if plain:
        return findings
    # A comment is no part of the record, but stands before whoever opens the file.
    known = {(finding.code, finding.line) for finding in findings}
    whole = judge_plain(path, _ARMOUR.sub(_blank, data), policy)
    return findings + [one for one in whole if (one.code, one.line) not in known]


def record_hits(record: Record, policy: Policy) -> list[Hit]:
    """What the text rules say of a record's keys and texts, wherever a writer can put some."""
    from memrepo.rules.text import scan_document

    address, by = record.address, record.written_by
    # Ids, times and the signature hold no text, and look like keys of a service; so does
    # anything that is called a key.
    value = {
        "name": record.key,
        "address": {"org": address.org, "repo": address.repo, "branch": address.branch},
        "written_by": {"agent": by.agent, "model": by.model},
        "lifecycle": {"reason": record.lifecycle.reason},
        "attributes": record.attributes,
        "content": record.content,
    }
    hits = scan_document("record", msgspec.json.encode(value), value, policy)
    return [msgspec.structs.replace(h, pointer="/key") if h.pointer == "/name" else h for h in hits]


def _first(hits: Iterable[Hit]) -> list[Hit]:
    seen: dict[str, int] = {}
    kept = []
    for hit in hits:
        seen[hit.code] = seen.get(hit.code, 0) + 1
        if seen[hit.code] <= _MOST_OF_A_CODE:
            kept.append(hit)
    return kept


def _blank(found: re.Match[bytes]) -> bytes:
    return re.sub(rb"\S", b" ", found.group())


def place_problems(
    problems: Iterable[Problem], path: str, data: bytes, policy: Policy
) -> list[Finding]:
    """Problems of the record in ``data`` as findings, each at the line of its pointer."""
    found: list[Finding] = []
    tree: Node | None = None
    for problem in problems:
        tree = tree or _tree(data)
        found += make(
            policy,
            problem.code,
            path,
            problem.message,
            problem.hint,
            place=_place(tree, problem.pointer),
            pointer=problem.pointer,
        )
    return found


def _tree(data: bytes) -> Node:
    try:
        return read_tree(data) or Scalar("", True, 1, 1)
    except YamlProblem:
        return Scalar("", True, 1, 1)


def _place(tree: Node, pointer: str) -> tuple[int, int]:
    """Line and column of a pointer; of the nearest thing around it that is there."""
    at: Scalar | Node = tree
    node = tree
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            pair = next((pair for pair in node.items if pair[0].text == name), None)
            if pair is None:
                break
            key, node = pair
            # What a block holds begins on a later line than its name.
            at = node if isinstance(node, Scalar) else key
        elif isinstance(node, Sequence) and _INDEX.fullmatch(name) and int(name) < len(node.items):
            at = node = node.items[int(name)]
        else:
            break
    return at.line, at.column
