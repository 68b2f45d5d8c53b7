"""Findings and diffs for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memrepo.protocol.findings import Finding, in_order
from memrepo.report.escape import clipped, for_terminal
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
    count,
    headline,
    place,
    role_phrase,
    sentence,
    severities_phrase,
    shortened,
    tools_phrase,
    turn_label,
    version_phrase,
)
from memrepo.report.recordtext import record_lines
from memrepo.semdiff.change import (
    AgentDiff,
    Diff,
    OtherFile,
    ParameterChange,
    ToolsDiff,
    ToolSummary,
    TurnChange,
    Word,
)

_BOLD, _DIM, _RED, _GREEN, _YELLOW, _CYAN = "1", "2", "31", "32", "33", "36"
_COLOURS = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "added": _GREEN,
    "appended": _GREEN,
    "inserted": _GREEN,
    "removed": _RED,
    "edited": _YELLOW,
    "changed": _YELLOW,
    "moved": _CYAN,
    "breaking": "1;31",
    "compatible": _GREEN,
    "wording": _DIM,
}

#: Longest excerpt of one turn or value, and context kept around an edit, in characters.
_EXCERPT = 400
_AROUND_EDIT = 60


class _Pen:
    """Paints when colours are on; otherwise hands the text back as it is."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.colour and text else text


def findings_text(findings: Iterable[Finding], *, colour: bool, width: int | None = None) -> str:
    """One line for each finding, its hint below, and a last line with the counts.

    ``path:line:column: severity code message`` is what editors and CI matchers read.
    ``width`` in columns wraps message and hint; None never wraps. Ends with a newline.
    """
    pen = _Pen(colour)
    ordered = in_order(list(findings))
    lines = [line for finding in ordered for line in _finding_lines(finding, pen, width)]
    total = severities_phrase(ordered)
    if not ordered:
        return pen("No findings.", _GREEN) + "\n"
    worst = ordered[0].severity
    return "\n".join([*lines, "", pen(f"{total}.", _COLOURS[worst])]) + "\n"


def _finding_lines(finding: Finding, pen: _Pen, width: int | None) -> Iterator[str]:
    where = for_terminal(place(finding))
    code = for_terminal(finding.code)
    message = for_terminal(finding.message)
    plain = f"{where}: {finding.severity} {code} "
    painted = f"{pen(where, _BOLD)}: {pen(finding.severity, _COLOURS[finding.severity])} {code} "
    first, *rest = _wrapped(message, width, len(plain))
    yield painted + first
    for line in rest:
        yield f"    {line}"
    if finding.hint:
        first, *rest = _wrapped(for_terminal(finding.hint), width, len("    hint: "))
        yield f"    {pen('hint:', _CYAN)} {first}"
        for line in rest:
            yield f"          {line}"


def _wrapped(text: str, width: int | None, taken: int) -> list[str]:
    """``text`` in lines of ``width``; ``taken`` columns of the first one are used already."""
    if width is None or taken + len(text) <= width:
        return [text]
    import textwrap

    first, *rest = textwrap.wrap(
        text,
        max(width, 40),
        initial_indent=" " * taken,
        subsequent_indent=" " * 10,
        break_on_hyphens=False,
        break_long_words=False,
    ) or [""]
    return [first.strip(), *(line.strip() for line in rest)]


def diff_text(diff: Diff, *, colour: bool) -> str:
    """The semantic diff for a terminal: agents, snapshots, records, then other files.

    Edited words stand as ``[-old-]{+new+}``, with colour struck red and underlined green.
    Ends with a newline.
    """
    pen = _Pen(colour)
    lines: list[str] = []
    for agent in diff.agents:
        lines += [*_agent_lines(agent, pen), ""]
    snapshots = diff.snapshots
    if snapshots.added:
        lines.append(f"{pen('+', _GREEN)} {count(snapshots.added, 'snapshot')} added")
    if snapshots.moved:
        lines.append(f"~ {count(snapshots.moved, 'snapshot')} moved to the other layout")
    if snapshots.archived:
        lines.append(f"~ {count(snapshots.archived, 'snapshot')} left for the archive")
    for verb, paths in (("changed", snapshots.changed), ("deleted", snapshots.deleted)):
        lines += [
            f"{pen(f'! snapshot {verb}', _COLOURS['error'])} {for_terminal(p)}" for p in paths
        ]
    for record in diff.records:
        lines += [*record_lines(record, pen), ""]
    for file in diff.other:
        lines += _file_lines(file, pen)
    if not lines:
        return "Nothing of the memory changed.\n"
    if lines[-1]:
        lines.append("")
    return "\n".join([*lines, pen(f"{sentence(headline(diff))}.", _BOLD)]) + "\n"


def _agent_lines(agent: AgentDiff, pen: _Pen) -> Iterator[str]:
    sign = pen(FILE_SIGNS[agent.change], _COLOURS[agent.change])
    yield f"{sign} {pen('agent ' + for_terminal(agent.agent_id), _BOLD)} {agent.change}"
    if version := version_phrase(agent.metadata):
        style = "" if agent.metadata.fits else _COLOURS["warning"]
        text = f"version {for_terminal(version)}"
        yield f"  {pen(text, style) if style else text}"
    if not agent.context.is_empty:
        yield f"  {context_phrase(agent.context)}"
        for change in agent.context.changes:
            yield from _turn_lines(change, pen)
    if not agent.tools.is_empty:
        yield f"  {tools_phrase(agent.tools)}"
        yield from _tools_lines(agent.tools, pen)
    for name in agent.unreadable:
        yield f"  {pen('!', _COLOURS['error'])} {for_terminal(name)} cannot be read, not compared"


def _turn_lines(change: TurnChange, pen: _Pen) -> Iterator[str]:
    colour = _COLOURS[change.kind]
    head = f"{TURN_SIGNS[change.kind]} {turn_label(change)} {for_terminal(role_phrase(change))}"
    yield f"    {pen(head, colour)} {change.kind}"
    for line in _turn_body(change, pen).split("\n"):
        yield f"        {line}".rstrip()


def _turn_body(change: TurnChange, pen: _Pen) -> str:
    if change.kind != "edited" or not change.words:
        text = change.before if change.kind == "removed" else change.after
        return for_terminal(clipped(text, _EXCERPT), one_line=False)
    return _edited(change.words, pen)


def _edited(words: Iterable[Word], pen: _Pen, *, one_line: bool = False) -> str:
    pieces = []
    for op, text in shortened(words, _AROUND_EDIT):
        shown = for_terminal(text, one_line=one_line)
        if op == "removed":
            shown = pen(shown, "9;31") if pen.colour else f"[-{shown}-]"
        elif op == "added":
            shown = pen(shown, "4;32") if pen.colour else f"{{+{shown}+}}"
        pieces.append(shown)
    return "".join(pieces)


def _tools_lines(tools: ToolsDiff, pen: _Pen) -> Iterator[str]:
    for tool in tools.added:
        yield f"    {pen('+ ' + _signature(tool), _GREEN)}"
        if tool.description:
            yield f"        {for_terminal(clipped(tool.description, _EXCERPT))}"
        for parameter in parameters_of(tool.parameters):
            shown = f"{parameter.name}: {clipped(parameter.phrase, _EXCERPT)}"
            yield f"          {for_terminal(shown)}"
        if rest := rest_of(tool.parameters):
            yield f"          in full: {for_terminal(value_phrase(rest, _EXCERPT))}"
    for tool in tools.removed:
        yield f"    {pen('− ' + _signature(tool), _RED)} {pen('breaking', _COLOURS['breaking'])}"
    for rename in tools.renamed:
        names = f"~ {for_terminal(rename.before)} → {for_terminal(rename.after)}"
        yield f"    {pen(names, _YELLOW)} renamed, {pen(rename.cls, _COLOURS[rename.cls])}"
        yield from _parameter_lines(rename.changes, pen)
    for changed in tools.changed:
        name = pen(f"~ {for_terminal(changed.name)}", _YELLOW)
        yield f"    {name} {pen(changed.cls, _COLOURS[changed.cls])}"
        yield from _parameter_lines(changed.changes, pen)


def _signature(tool: ToolSummary) -> str:
    """``name(a, b, c?)``: a question mark where a parameter is known to be optional."""
    names = (f"{p.name}{'?' * (p.required is False)}" for p in parameters_of(tool.parameters))
    return for_terminal(f"{tool.name}({', '.join(names)})")


def _parameter_lines(changes: Iterable[ParameterChange], pen: _Pen) -> Iterator[str]:
    for change in changes:
        label = for_terminal(parameter_label(change.pointer))
        values = _edited(reworded(change), pen, one_line=True) or " → ".join(
            pen(for_terminal(value), style)
            for value, style in zip(change_values(change, _EXCERPT), (_RED, _GREEN), strict=True)
            if value
        )
        tail = f": {values}" if values else ""
        yield f"        {pen(change.cls, _COLOURS[change.cls])} {label} {kind_phrase(change)}{tail}"


def _file_lines(file: OtherFile, pen: _Pen) -> Iterator[str]:
    sign = pen(FILE_SIGNS[file.change], _COLOURS[file.change])
    kind = "" if file.kind == "text" else f" ({file.kind})"
    yield f"{sign} {pen(for_terminal(file.path), _BOLD)} {file.change}{kind}"
    yield from (f"    {for_terminal(words)}" for words in file.words)
    for line in file.patch.split("\n") if file.patch else ():
        style = {"+": _GREEN, "-": _RED, "@": _CYAN}.get(line[:1], "")
        shown = for_terminal(line)
        yield f"    {pen(shown, style) if style else shown}".rstrip()
    if file.truncated:
        yield "    … (the rest of this diff is left out)"
