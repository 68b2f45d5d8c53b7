"""Judge one file: the protocol, the limits of the policy, and the text rules. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import msgspec

from memrepo.protocol.catalogue import severity_of
from memrepo.protocol.check import Checked, Value, as_text, check_file, conflict_in_plain, locate
from memrepo.protocol.documents import AgentState, Kind
from memrepo.protocol.findings import Finding
from memrepo.protocol.policy import Policy
from memrepo.protocol.schema import Fault
from memrepo.protocol.strictjson import Document, Problem, place_in
from memrepo.rules.hits import Hit
from memrepo.shards.values import ARCHIVE_FOLDER, INDEX_PATH

#: So many findings of one code in one file are listed; the last one says how many more.
MOST_OF_A_CODE = 20


class Judged(msgspec.Struct, frozen=True):
    """The value of a file (None where it cannot be used) and the findings about it."""

    value: Value | None
    findings: list[Finding] = []
    canonical: bool = True


def judge_file(
    kind: Kind, data: bytes, *, path: str, agent_id: str, policy: Policy, text: bool = True
) -> Judged:
    """Every rule that can be decided from this file alone. ``text``: run the text rules."""
    if len(data) > policy.limits.file_bytes:
        return Judged(None, too_large(path, len(data), policy, agent_id), False)
    checked = check_file(kind, data, agent_id=agent_id)
    hits: list[Hit] = []
    if text and checked.value is not None:
        # Not at the top: the protocol alone is validated without the text rules.
        from memrepo.rules.text import scan_document

        hits = scan_document(kind, data, checked.value, policy)
    limit = _turn_limit_hit(kind, checked.value, policy)
    if limit:
        hits = [limit, *hits]
    if not (checked.faults or checked.problems or hits):
        return Judged(checked.value)
    findings = _findings(data, checked, hits, path, agent_id, policy)
    return Judged(checked.value, findings, checked.canonical)


def _turn_limit_hit(kind: Kind, value: Value | None, policy: Policy) -> Hit | None:
    most = policy.limits.context_turns
    if kind == "context" and isinstance(value, list):
        turns, pointer = len(value), f"/{most}"
    elif isinstance(value, AgentState):
        turns, pointer = len(value.context), f"/context/{most}"
    else:
        return None
    if turns <= most:
        return None
    message = f"the context holds {turns} turns; {most} is the most"
    hint = "take the oldest turns out (every snapshot keeps them), or raise limits.context_turns"
    return Hit(code="context-limit", message=message, hint=hint, pointer=pointer)


def too_large(path: str, size: int, policy: Policy, agent_id: str = "") -> list[Finding]:
    """The finding ``too-large`` for a file of ``size`` bytes."""
    message = f"the file has {size:,} bytes; {policy.limits.file_bytes:,} is the most"
    hint = "split or shorten it, or raise limits.file_bytes in the policy"
    return make(policy, "too-large", path, message, hint, agent_id=agent_id)


def make(
    policy: Policy,
    code: str,
    path: str,
    message: str,
    hint: str = "",
    *,
    place: tuple[int, int] = (0, 0),
    pointer: str = "",
    agent_id: str = "",
) -> list[Finding]:
    """One finding with the severity that the policy gives its code; [] when it is off."""
    severity = severity_of(code, policy)
    if severity is None:
        return []
    return [
        Finding(
            code=code,
            severity=severity,
            path=path,
            message=message,
            hint=hint,
            line=place[0],
            column=place[1],
            pointer=pointer,
            agent_id=agent_id,
        )
    ]


def _findings(
    data: bytes, checked: Checked, hits: list[Hit], path: str, agent_id: str, policy: Policy
) -> list[Finding]:
    document = checked.document or locate(data)
    said = [
        *(_said(p, p.pointer, partial(document.place, p.offset)) for p in checked.problems),
        *(
            _said(f, f.pointer, partial(document.find, f.pointer, key=f.at_key))
            for f in checked.faults
        ),
        *(_said(h, h.pointer, partial(_place_of_hit, document, h)) for h in hits),
    ]
    return _placed(said, path, agent_id, policy)


class _Said(msgspec.Struct, frozen=True):
    """One thing to say of a file; ``where`` looks its place up, which costs a count of lines."""

    code: str
    message: str
    hint: str
    pointer: str
    where: Callable[[], tuple[int, int]]


def _said(what: Problem | Fault | Hit, pointer: str, where: Callable[[], tuple[int, int]]) -> _Said:
    return _Said(what.code, what.message, what.hint, pointer, where)


def _placed(said: list[_Said], path: str, agent_id: str, policy: Policy) -> list[Finding]:
    """At most :data:`MOST_OF_A_CODE` findings of each code; the last says what is left out."""
    counts = Counter(each.code for each in said)
    seen: Counter[str] = Counter()
    found: list[Finding] = []
    for each in said:
        seen[each.code] += 1
        more = counts[each.code] - MOST_OF_A_CODE
        if seen[each.code] > MOST_OF_A_CODE:
            continue
        last = more > 0 and seen[each.code] == MOST_OF_A_CODE
        rest = f" (and {more} more like this in the file)" if last else ""
        found += make(
            policy,
            each.code,
            path,
            each.message + rest,
            each.hint,
            place=each.where(),
            pointer=each.pointer,
            agent_id=agent_id,
        )
    return found


def _place_of_hit(document: Document, hit: Hit) -> tuple[int, int]:
    start = document.values.get(hit.pointer)
    if start is None or hit.offset < 0:
        return document.find(hit.pointer)
    inside = start + 1 + hit.offset
    if document.text[start : start + 1] != '"' or "\\" in document.text[start:inside]:
        # An escape before the place: characters of the file and of the text differ.
        return document.place(start)
    return document.place(inside)


#: Files that no agent reads as memory: configuration, and the policy with its word lists.
_NOT_MEMORY = (".github/", ".memrepo/", ".gitattributes", ".gitignore", ".gitmodules")
_TEXT_OF_ANY_FILE = frozenset(["secret", "hidden-text"])


def is_record(path: str) -> bool:
    """Whether a path is the archive's record: its index, or a list of a shard's snapshots."""
    return path == INDEX_PATH or path.startswith(f"{ARCHIVE_FOLDER}/members/")


def judge_plain(path: str, data: bytes, policy: Policy) -> list[Finding]:
    """The rules for a file that is no agent's: Markdown, YAML, any other text.

    A binary file (with a NUL byte) has no text to judge, and the archive's record holds none:
    see :mod:`memrepo.gate.archived`.
    """
    from memrepo.rules.text import scan_plain

    if b"\0" in data[:8192] or is_record(path):
        return []
    if len(data) > policy.limits.file_bytes:
        return too_large(path, len(data), policy)
    text, problems = as_text(data)
    shown = data.decode("utf-8", "replace") if text is None else text
    conflict = conflict_in_plain(shown)
    if conflict:
        problems.append(conflict)
    only = _TEXT_OF_ANY_FILE if path.startswith(_NOT_MEMORY) else None
    hits = [hit for hit in scan_plain(shown, policy, path=path) if only is None or hit.code in only]
    said = [
        *(_said(p, "", partial(place_in, shown, p.offset)) for p in problems),
        *(_said(h, "", partial(place_in, shown, max(h.offset, 0))) for h in hits),
    ]
    return _placed(said, path, "", policy)
