"""One agent of the page: a line that says what changed, and the diff folded below it."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.protocol.findings import Finding
from memrepo.report.escape import for_html, marked_html
from memrepo.report.page.pieces import badge, class_badge, code, finding_item, severity_badges
from memrepo.report.page.toolcards import tools_section
from memrepo.report.page.turns import conversation
from memrepo.report.phrases import (
    FILE_SIGNS,
    count,
    signed,
    tool_counts,
    turn_signs,
    version_phrase,
)
from memrepo.semdiff.change import AgentDiff


def agent_block(agent: AgentDiff, findings: Sequence[Finding], anchor: str, *, unfold: bool) -> str:
    """The agent's ``<details>``; ``anchor`` is its HTML id."""
    breaking = agent.tools.cls == "breaking"
    marks = severity_badges(findings) + (class_badge("breaking") if breaking else "")
    tags = f"{' data-risk' if findings else ''}{' data-breaking' if breaking else ''}"
    sign = FILE_SIGNS[agent.change]
    return (
        f'<details class="agent" id="{anchor}"{tags}{" open" if unfold else ""}><summary>'
        f'<b class="kind {agent.change}"><i aria-hidden="true">{sign}</i> {agent.change}</b> '
        f"<h3>{code(agent.agent_id)}</h3> {marks}"
        f'<span class="nums">{_numbers(agent)}</span></summary>'
        f'<div class="body">{_body(agent, findings)}</div></details>'
    )


def _numbers(agent: AgentDiff) -> str:
    signs = (("turns", turn_signs(agent.context)), ("tools", signed(tool_counts(agent.tools))))
    parts = [f"{noun} {numbers}" for noun, numbers in signs if numbers]
    old, new = agent.metadata.version
    if old != new:
        parts.append(f"version {for_html(' → '.join(v for v in (old, new) if v is not None))}")
    return " · ".join(parts)


def _body(agent: AgentDiff, findings: Sequence[Finding]) -> str:
    parts = []
    if findings:
        items = "".join(finding_item(finding) for finding in findings)
        title = f"<h4>Findings <small>{count(len(findings), 'finding')}</small></h4>"
        parts.append(f'<section>{title}<ul class="findings">{items}</ul></section>')
    if version := version_phrase(agent.metadata):
        mark = "" if agent.metadata.fits else badge("warning", "▲", "does not fit")
        parts.append(f"<p><b>Version</b> {marked_html(version)} {mark}</p>")
    if not agent.context.is_empty:
        parts.append(conversation(agent.context, findings))
    if not agent.tools.is_empty:
        parts.append(tools_section(agent.tools, findings))
    if agent.unreadable:
        names = ", ".join(map(code, agent.unreadable))
        parts.append(f"<p>{badge('error', '✖', 'not compared')} {names} cannot be read.</p>")
    return "".join(parts) or "<p>Nothing but the time of its last update changed.</p>"
