"""The text rules over a whole file.

``scan_document`` takes a state file or snapshot, ``scan_plain`` any other text file. Both
look ahead first (:mod:`memrepo.rules.gates`); a clean file costs some 20 microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memrepo.protocol.documents import AgentState, Turn
from memrepo.protocol.policy import POLICY_PATH, Policy
from memrepo.rules import (
    assigned,
    blobs,
    gates,
    hidden,
    instructions,
    personal,
    secrets,
    sentiment,
    words,
)
from memrepo.rules.denied import denied_tools
from memrepo.rules.fold import View
from memrepo.rules.gates import EVERYTHING, Rules, Suspicion
from memrepo.rules.hits import PLACES_PER_STRING, Hit, Place
from memrepo.rules.strings import Text, texts

#: Where the short spelling of parameters has a type: ``{"password": "string"}``.
_TYPED = re.compile(r"(?:/tools)?/\d+/parameters/[^/]+")


def scan_document(kind: str, data: bytes, value: Any, policy: Policy) -> list[Hit]:
    """Hits of the text rules (and ``tool-denied``) in a state file or snapshot.

    ``kind`` is context, tools, metadata or snapshot; ``data`` the file's bytes; ``value``
    what they parse to: plain JSON, or ``list[Turn]``, ``list[Tool]``, ``Metadata`` or
    ``AgentState``. Every key and every string counts. Codes that the policy sets to off
    are left out.
    """
    rules = _rules(policy)
    suspicion = gates.suspect(_body(kind, data, value), rules)
    hits: list[Hit] = []
    if suspicion.flags:
        for text in texts(kind, value):
            hits.extend(_examined(text, suspicion, rules))
    if rules.enabled & gates.SENTIMENT:
        hits.extend(_sentiment(kind, value, rules.sentiment))
    if policy.tools.deny and kind in ("tools", "snapshot"):
        hits.extend(denied_tools(kind, value, policy))
    return hits


def scan_plain(text: str, policy: Policy, *, path: str) -> list[Hit]:
    """Hits of the text rules in any other text file, such as MEMORY.md or YAML.

    ``text`` is the whole file, ``path`` its path in the repository: the policy file may
    name the words it lists.
    """
    rules = _rules(policy)
    suspicion = gates.suspect(text, rules)
    if path == POLICY_PATH:
        suspicion = suspicion._replace(flags=suspicion.flags & ~gates.WORD)
    return list(_examined(Text("", text), suspicion, rules)) if suspicion.flags else []


def scan_unfiltered(kind: str, value: Any, policy: Policy) -> list[Hit]:
    """What :func:`scan_document` answers, without the look ahead; for its tests."""
    rules = _rules(policy)
    hits: list[Hit] = []
    for text in texts(kind, value):
        everything = EVERYTHING._replace(flags=rules.enabled)
        hits.extend(_examined(text, everything, rules))
    if rules.enabled & gates.SENTIMENT:
        hits.extend(_sentiment(kind, value, rules.sentiment))
    return hits


def _rules(policy: Policy) -> Rules:
    if not policy.severity:
        return gates.ready(policy.text)
    off = tuple(sorted(code for code, level in policy.severity.items() if level == "off"))
    return gates.ready(policy.text, off)


def _body(kind: str, data: bytes, value: Any) -> str:
    """The file's strings as one text to look ahead in.

    For turns that is their content. For other documents it is the file itself, which
    holds every string as it is while the only escapes are those of quotes, newlines and
    tabs; a file with others is read string by string.
    """
    if kind == "context" and isinstance(value, list) and value and isinstance(value[0], Turn):
        parts = [turn.content for turn in value]
        parts += [turn.timestamp for turn in value]
        return "\n".join(parts)
    escapes = data.count(b"\\")
    if escapes:
        quotes, lines, tabs = data.count(b'\\"'), data.count(b"\\n"), data.count(b"\\t")
        # Every backslash is followed by one of the three, so none escapes another.
        if escapes != quotes + lines + tabs:
            return "\n".join(text.text for text in texts(kind, value))
    try:
        body = data.decode()
    except UnicodeDecodeError:
        return "\n".join(text.text for text in texts(kind, value))
    if escapes:
        body = body.replace("\\n", "\n").replace("\\t", "\t")
    # The one long word of JSON Schema; between its quotes it is no key of a service.
    return body.replace('"additionalProperties"', '""')


def _examined(text: Text, suspicion: Suspicion, rules: Rules) -> Iterator[Hit]:
    """Hits of the suspected rules in one string."""
    flags = suspicion.flags
    view = View(text.text)
    found: list[Place] = []
    if flags & gates.SECRET:
        found = secrets.find(text.text, rules.allow)
    if flags & gates.ASSIGNED:
        found = _without_overlap(found, _assigned(text, rules.allow))
    yield from _hits(secrets.CODE, found, text)
    if flags & gates.WORD and rules.words is not None:
        yield from _hits(words.CODE, words.find(view, rules.words), text)
    if flags & gates.PERSONAL:
        yield from _hits(personal.CODE, personal.find(view, rules.allow), text)
    if flags & gates.HIDDEN:
        yield from _hits(hidden.CODE, hidden.find(view), text)
    if flags & gates.ORDER:
        found = instructions.find(view, suspicion.orders)
        yield from _hits(instructions.CODE, found, text)
    if flags & gates.BLOB:
        yield from _hits(blobs.CODE, blobs.find(text.text, rules.blob_chars, rules.allow), text)


def _assigned(text: Text, allow: frozenset[str]) -> list[Place]:
    found = assigned.find(text.text, allow)
    if text.name and text.place == "value" and not found:
        typed = _TYPED.fullmatch(text.pointer) is not None
        found = assigned.find_named(text.name, text.text, typed, allow)
    return found


def _without_overlap(first: list[Place], second: list[Place]) -> list[Place]:
    """Both lists, less the second's places that lie over one of the first's."""
    apart = [p for p in second if not any(p.start < q.end and q.start < p.end for q in first)]
    return (first + apart)[:PLACES_PER_STRING]


def _hits(code: str, places: list[Place], text: Text) -> list[Hit]:
    if text.place == "value":
        return [Hit(code, p.message, p.hint, text.pointer, p.start) for p in places]
    where = "in the name of this field" if text.place == "key" else "in this number"
    return [Hit(code, f"{p.message} ({where})", p.hint, text.pointer) for p in places]


def _sentiment(kind: str, value: Any, threshold: float) -> Iterator[Hit]:
    if kind not in ("context", "snapshot") or threshold >= 1:
        return
    turns = value.context if isinstance(value, AgentState) else value
    prefix = "/context" if isinstance(value, AgentState) else ""
    if isinstance(turns, list) and (not turns or isinstance(turns[0], Turn)):
        for index, turn in enumerate(turns):
            if turn.role == "assistant":
                place = Text(f"{prefix}/{index}/content", turn.content)
                yield from _hits(sentiment.CODE, sentiment.find(turn.content, threshold), place)
        return
    for text in texts(kind, value):
        if text.turn:
            yield from _hits(sentiment.CODE, sentiment.find(text.text, threshold), text)
