"""An agent's conversation: the changed turns, as people read a chat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from memrepo.protocol.findings import Finding
from memrepo.report.escape import for_html, marked_html
from memrepo.report.page.pieces import SEVERITY_MARKS, badge, words_html
from memrepo.report.phrases import TURN_SIGNS, context_phrase, count, role_phrase, turn_label
from memrepo.semdiff.change import ContextDiff, TurnChange

_INDEX = re.compile(r"[0-9]{1,9}")


def conversation(context: ContextDiff, findings: Sequence[Finding]) -> str:
    """The section of changed turns; findings inside a turn are flagged at it."""
    flags = _by_turn(findings)
    items = "".join(_items(context.changes, flags))
    return (
        f"<section><h4>Conversation <small>{for_html(context_phrase(context))}</small></h4>"
        f'<ol class="turns">{items}</ol></section>'
    )


def _by_turn(findings: Sequence[Finding]) -> dict[int, list[Finding]]:
    """Findings of ``context.json`` by the index of their turn in the new context."""
    flags: dict[int, list[Finding]] = {}
    for finding in findings:
        index = finding.pointer.partition("/")[2].partition("/")[0]
        if finding.path.endswith("/context.json") and _INDEX.fullmatch(index):
            flags.setdefault(int(index), []).append(finding)
    return flags


def _items(changes: Sequence[TurnChange], flags: Mapping[int, Sequence[Finding]]) -> Iterator[str]:
    expected = 0
    for change in changes:
        if change.after_index > expected:
            unchanged = count(change.after_index - expected, "unchanged turn")
            yield f'<li class="gap">{unchanged}</li>'
        if change.after_index >= 0:
            expected = change.after_index + 1
        yield _turn(change, flags.get(change.after_index, ()))


def _turn(change: TurnChange, flags: Sequence[Finding]) -> str:
    role = "assistant" if change.role == "assistant" else "user"
    sign = TURN_SIGNS[change.kind]
    time = change.timestamp or change.before_timestamp
    when = f" · <time>{for_html(time)}</time>" if time else ""
    marks = "".join(badge(f.severity, SEVERITY_MARKS[f.severity], f.code) for f in flags)
    return (
        f'<li class="turn {role} {change.kind}"><p class="who">'
        f'<b class="kind"><i aria-hidden="true">{sign}</i> {change.kind}</b> '
        f"<b>{for_html(role_phrase(change))}</b> <span>{turn_label(change)}{when}</span>{marks}</p>"
        f'<p class="say" dir="auto">{_said(change)}</p></li>'
    )


def _said(change: TurnChange) -> str:
    if change.kind == "removed":
        return f"<del>{marked_html(change.before)}</del>"
    if change.kind == "edited" and change.words:
        return words_html(change.words)
    return marked_html(change.after)
