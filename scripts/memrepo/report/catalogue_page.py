"""The documentation page of every finding, written from the catalogue.

``python -m memrepo.report.catalogue_page > docs/findings.md`` writes it anew.
"""

from __future__ import annotations

import sys

from memrepo.protocol.catalogue import CATALOGUE
from memrepo.protocol.rule import Group, Rule

_GROUPS: dict[Group, tuple[str, str]] = {
    "bytes": ("Bytes", "Does every reader read the file as the same values?"),
    "layout": ("Layout", "Does the repository hold what it should, where it should?"),
    "schema": ("Shape", "Do the values have the shape of the [protocol](protocol.md)?"),
    "judgement": ("Judgement", "Is the change one that a team wants?"),
    "text": ("Text", "Is there something in the text that should not be remembered?"),
    "policy": ("Policy", "Can the [policy](policy.md) be read?"),
    "records": ("Records", "Does a [shared record](records.md) say no more than its writer may?"),
    "rollout": ("Rollouts", "Is a [trial on a branch](rollout.md) as it should be?"),
}

_HEAD = """\
# Findings

What memrepo says about a memory repository is a list of findings. Each has a stable code, a
severity, a place (path, line, column and JSON pointer) and a hint. An **error** stops `commit` and
fails the gate, a **warning** asks for a person's look, a **note** is only for information.

A policy may switch a code when teams can rightly differ about it: set it to `error`, `warning`,
`note` or `off` under `severity:` in `.memrepo/policy.yml`. The other codes stand for what makes
memory unreadable to someone else, or lets someone forge it. They stay as they are: a repository
that switched one off would pass its own checks and fail in the next program that reads it. To try
is a `policy-value` finding.

This page is written from the catalogue in the program: `python -m memrepo.report.catalogue_page`.
"""


def render_findings_page() -> str:
    """The whole page as Markdown: an overview, then one section a code."""
    parts = [_HEAD, _overview()]
    for group, (title, question) in _GROUPS.items():
        parts.append(f"## {title}\n\n{question}\n")
        parts += [_section(rule) for rule in CATALOGUE.values() if rule.group == group]
    return "\n".join(parts)


def _overview() -> str:
    rows = ["| code | severity | policy may switch it | what it says |", "|---|---|---|---|"]
    rows += [
        f"| [`{rule.code}`](#{rule.code}) | {rule.severity} "
        f"| {'yes' if rule.switchable else 'no'} | {rule.title} |"
        for rule in CATALOGUE.values()
    ]
    return "\n".join(rows) + "\n"


def _section(rule: Rule) -> str:
    switch = f"`severity: {{{rule.code}: off}}`" if rule.switchable else "none"
    return (
        f"### {rule.code}\n\n"
        f"{rule.title[0].upper()}{rule.title[1:]}: {rule.severity}.\n\n"
        f"- Why: {rule.reason}\n"
        f"- Example: {rule.example}\n"
        f"- What to do: {rule.fix}\n"
        f"- Policy switch: {switch}\n"
    )


if __name__ == "__main__":
    sys.stdout.write(render_findings_page())
