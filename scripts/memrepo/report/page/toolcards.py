"""An agent's tools: a card for each one that came, went or changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memrepo.protocol.findings import Finding
from memrepo.report.escape import for_html, marked_html
from memrepo.report.page.pieces import SEVERITY_MARKS, badge, class_badge, code, words_html
from memrepo.report.parameters import (
    change_values,
    kind_phrase,
    parameter_label,
    parameters_of,
    rest_of,
    reworded,
)
from memrepo.report.phrases import tools_phrase
from memrepo.semdiff.change import Class, ParameterChange, ToolsDiff, ToolSummary

#: Finding codes that say something about one tool, and belong on its card.
_ABOUT_TOOLS = frozenset({"tool-capability", "tool-denied"})

#: Findings by the words of their message.
Flags = Mapping[str, Sequence[Finding]]

_WORD = re.compile(r"[^\s`'\"“”‘’,;()]+")
_NEEDED = {True: "required", False: "optional", None: ""}


def tools_section(tools: ToolsDiff, findings: Sequence[Finding]) -> str:
    """The cards, most dangerous for a caller first."""
    return (
        f"<section><h4>Tools <small>{for_html(tools_phrase(tools))}</small></h4>"
        f'<div class="tools">{"".join(_cards(tools, tool_flags(findings)))}</div></section>'
    )


def tool_flags(findings: Iterable[Finding]) -> Flags:
    """The findings that belong on the card of a tool, by every word of their message."""
    flags: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.code in _ABOUT_TOOLS:
            for word in set(_WORD.findall(finding.message)):
                flags.setdefault(word.rstrip(".:"), []).append(finding)
    return flags


def flags_of(name: str, flags: Flags) -> str:
    """Badges of the findings whose message names this tool, one for each code."""
    found = {f.code: f for f in flags.get(name, ())}
    return "".join(badge(f.severity, SEVERITY_MARKS[f.severity], f.code) for f in found.values())


def _cards(tools: ToolsDiff, flags: Flags) -> Iterator[str]:
    for tool in tools.removed:
        yield _summary_card(tool, "removed", "−", class_badge("breaking"))
    for rename in tools.renamed:
        names = f"{code(rename.before)} → {code(rename.after)}"
        marks = flags_of(rename.after, flags)
        yield _card("renamed", "~", names, rename.cls, marks, _changes_table(rename.changes))
    for changed in sorted(tools.changed, key=lambda change: change.cls != "breaking"):
        marks = flags_of(changed.name, flags)
        table = _changes_table(changed.changes)
        yield _card("changed", "~", code(changed.name), changed.cls, marks, table)
    for tool in tools.added:
        yield _summary_card(tool, "added", "+", flags_of(tool.name, flags))


def _card(verb: str, sign: str, title: str, cls: Class, marks: str, body: str) -> str:
    return _shell(verb, sign, title, class_badge(cls) + marks, body)


def _shell(verb: str, sign: str, title: str, badges: str, body: str) -> str:
    kind = f'<b class="kind"><i aria-hidden="true">{sign}</i> {verb}</b>'
    return f'<article class="tool {verb}"><h5>{kind} {title} {badges}</h5>{body}</article>'


def _summary_card(tool: ToolSummary, verb: str, sign: str, badges: str) -> str:
    described = f'<p dir="auto">{marked_html(tool.description)}</p>' if tool.description else ""
    rows = "".join(
        f'<tr><th scope="row">{code(p.name)}</th><td>{code(p.type)}</td>'
        f'<td>{_NEEDED[p.required]}</td><td dir="auto">{marked_html(p.description)}</td></tr>'
        for p in parameters_of(tool.parameters)
    )
    head = ("Parameter", "Type", "Needed", "Description")
    table = _table(head, rows) if rows else "<p>No parameters.</p>"
    if rest := rest_of(tool.parameters):
        text = marked_html(json.dumps(rest, ensure_ascii=False, indent=2))
        table += f"<details><summary>All of it as JSON</summary><pre>{text}</pre></details>"
    return _shell(verb, sign, code(tool.name), badges, described + table)


def _changes_table(changes: Sequence[ParameterChange]) -> str:
    rows = "".join(map(_change_row, changes))
    return _table(("Parameter", "Change", "Before", "After", "For callers"), rows) if rows else ""


def _change_row(change: ParameterChange) -> str:
    return (
        f'<tr><th scope="row">{code(parameter_label(change.pointer))}</th>'
        f"<td>{kind_phrase(change)}</td>{_values(change)}<td>{class_badge(change.cls)}</td></tr>"
    )


def _values(change: ParameterChange) -> str:
    """The two cells of before and after; one for both where a text is shown word by word."""
    if words := reworded(change):
        return f'<td colspan="2" dir="auto">{words_html(words)}</td>'
    before, after = change_values(change)
    old = f"<del>{marked_html(before)}</del>" if before else ""
    new = f"<ins>{marked_html(after)}</ins>" if after else ""
    return f'<td dir="auto">{old}</td><td dir="auto">{new}</td>'


def _table(head: Sequence[str], rows: str) -> str:
    cells = "".join(f'<th scope="col">{title}</th>' for title in head)
    return (
        f'<div class="scroll"><table><thead><tr>{cells}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
