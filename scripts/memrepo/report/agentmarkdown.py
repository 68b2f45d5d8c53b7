"""One agent of a review as Markdown: its row in the table, and its folded details."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memrepo.protocol.findings import Finding, Severity
from memrepo.report.escape import clipped, code_markdown, for_markdown
from memrepo.report.parameters import (
    change_values,
    kind_phrase,
    parameter_label,
    parameters_of,
    rest_of,
    reworded,
    value_phrase,
)
from memrepo.report.phrases import (
    FILE_SIGNS,
    TURN_SIGNS,
    context_phrase,
    role_phrase,
    severities_phrase,
    severity_counts,
    shortened,
    signed,
    tool_counts,
    tools_phrase,
    turn_label,
    turn_signs,
    version_phrase,
)
from memrepo.semdiff.change import (
    AgentDiff,
    ContextDiff,
    ParameterChange,
    ToolsDiff,
    ToolSummary,
    TurnChange,
    Word,
)

SEVERITY_MARKS: dict[Severity, str] = {"error": "✖", "warning": "▲", "note": "•"}

#: Longest excerpt of one turn or value, and text kept around an edit, in characters.
_TURN = 1_500
_VALUE = 200
_AROUND_EDIT = 150


def agent_row(agent: AgentDiff, findings: Sequence[Finding]) -> str:
    """One row: agent, turns, tools, version, findings."""
    version = for_markdown(" → ".join(v for v in agent.metadata.version if v is not None))
    if not agent.metadata.fits:
        version += f" ▲ needs {agent.metadata.needs}"
    marks = " ".join(f"{SEVERITY_MARKS[level]} {n:,}" for level, n in severity_counts(findings))
    name = f"{FILE_SIGNS[agent.change]} {code_markdown(agent.agent_id)}"
    turns, tools = turn_signs(agent.context), signed(tool_counts(agent.tools))
    if agent.tools.cls == "breaking":
        tools += " **breaking**"
    return f"| {name} | {turns} | {tools} | {version} | {marks} |"


def agent_section(agent: AgentDiff, findings: Sequence[Finding]) -> str:
    """The folded details of one agent; holds no fence and exactly one ``<details>``."""
    title = f"{FILE_SIGNS[agent.change]} {code_markdown(agent.agent_id)}: {agent.change}"
    if findings:
        title += f", {severities_phrase(findings)}"
    blocks = [f"<details><summary>{title}</summary>"]
    if version := version_phrase(agent.metadata):
        mark = "" if agent.metadata.fits else "▲ "
        blocks.append(f"{mark}Version {for_markdown(version)}.")
    if not agent.context.is_empty:
        blocks += _context(agent.context)
    if not agent.tools.is_empty:
        blocks += _tools(agent.tools)
    if agent.unreadable:
        names = ", ".join(map(code_markdown, agent.unreadable))
        blocks.append(f"✖ Cannot be read, so not compared: {names}.")
    return "\n\n".join([*blocks, "</details>"])


def _context(context: ContextDiff) -> Iterator[str]:
    yield f"**Conversation** {context_phrase(context)}"
    yield "\n".join(map(_turn, context.changes))


def _turn(change: TurnChange) -> str:
    head = f"{TURN_SIGNS[change.kind]} {change.kind}"
    role = for_markdown(role_phrase(change))
    return f"- **{head}** {turn_label(change)}, {role}<br>{_turn_text(change)}"


def _turn_text(change: TurnChange) -> str:
    if change.kind == "edited" and change.words:
        return _edited(change.words)
    if change.kind == "removed":
        return f"<del>{for_markdown(clipped(change.before, _TURN), breaks=True)}</del>"
    return for_markdown(clipped(change.after, _TURN), breaks=True)


def _edited(words: Iterable[Word]) -> str:
    pieces = []
    for op, text in shortened(words, _AROUND_EDIT):
        shown = for_markdown(text, breaks=True)
        tag = {"removed": "del", "added": "ins"}.get(op)
        pieces.append(f"<{tag}>{shown}</{tag}>" if tag else shown)
    return "".join(pieces)


def _tools(tools: ToolsDiff) -> Iterator[str]:
    yield f"**Tools** {tools_phrase(tools)}"
    lines: list[str] = []
    for tool in tools.added:
        lines.append(_tool("+ added", tool, ""))
        for parameter in parameters_of(tool.parameters):
            text = for_markdown(clipped(parameter.phrase, _VALUE))
            lines.append(f"  - {code_markdown(parameter.name)}: {text}")
        if rest := rest_of(tool.parameters):
            lines.append(f"  - in full: {code_markdown(value_phrase(rest, _TURN))}")
    lines += [_tool("− removed", tool, ", breaking") for tool in tools.removed]
    for rename in tools.renamed:
        names = f"{code_markdown(rename.before)} → {code_markdown(rename.after)}"
        lines.append(f"- **~ renamed** {names}, {rename.cls}")
        lines += map(_parameter, rename.changes)
    for changed in tools.changed:
        lines.append(f"- **~ changed** {code_markdown(changed.name)}, {changed.cls}")
        lines += map(_parameter, changed.changes)
    if lines:
        yield "\n".join(lines)


def _tool(verb: str, tool: ToolSummary, tail: str) -> str:
    names = (f"{p.name}{'?' * (p.required is False)}" for p in parameters_of(tool.parameters))
    signature = code_markdown(clipped(f"{tool.name}({', '.join(names)})", _TURN))
    text = for_markdown(clipped(tool.description, _TURN))
    return f"- **{verb}** {signature}{tail}{f'<br>{text}' if text else ''}"


def _parameter(change: ParameterChange) -> str:
    before, after = change_values(change, _VALUE)
    values = _edited(reworded(change)) or " → ".join(
        f"<{tag}>{for_markdown(value)}</{tag}>"
        for tag, value in (("del", before), ("ins", after))
        if value
    )
    label = code_markdown(parameter_label(change.pointer))
    return f"  - {change.cls}: {label} {kind_phrase(change)}{f': {values}' if values else ''}"
