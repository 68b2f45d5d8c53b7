"""What is risky about the change: findings grouped by code, worst first."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.protocol.catalogue import CATALOGUE
from memrepo.protocol.findings import Finding
from memrepo.report.escape import clipped, for_html
from memrepo.report.page.pieces import Anchors, code, finding_item, said, severity_badge

#: Places shown under one code; every finding also stands at its agent.
_PLACES = 100
#: Longest message shown while a group is folded.
_EXAMPLE = 300


def risks(findings: Sequence[Finding], anchors: Anchors) -> str:
    """The section of grouped findings; ``findings`` are in report order."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.code), []).append(finding)
    body = "".join(_group(group, anchors) for group in groups.values())
    return (
        '<section class="risks" aria-labelledby="risks"><h2 id="risks">What to look at</h2>'
        f"{body or '<p>No finding: nothing here breaks a rule.</p>'}</section>"
    )


def _group(findings: Sequence[Finding], anchors: Anchors) -> str:
    first = findings[0]
    rule = CATALOGUE.get(first.code)
    title = for_html(rule.title) if rule else ""
    why = f'<p class="why">{said(rule.reason)}</p>' if rule else ""
    items = "".join(finding_item(finding, anchors=anchors) for finding in findings[:_PLACES])
    more = len(findings) - _PLACES
    rest = f"<p>{more:,} more, each shown at its agent.</p>" if more > 0 else ""
    example = said(clipped(first.message, _EXAMPLE))
    others = f" <b>and {len(findings) - 1:,} more</b>" if len(findings) > 1 else ""
    return (
        f'<details class="risk {first.severity}"><summary>'
        f"{severity_badge(first.severity)}<h3>{code(first.code)}</h3><small>{title}</small>"
        f'<span class="eg" dir="auto">{example}{others}</span></summary>'
        f'<div class="body">{why}<ul class="findings">{items}</ul>{rest}</div></details>'
    )
