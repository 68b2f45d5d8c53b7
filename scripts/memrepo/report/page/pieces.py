"""Small pieces of HTML that several parts of the page use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memrepo.protocol.findings import Finding, Severity
from memrepo.report.escape import for_html, marked_html, quoted
from memrepo.report.phrases import place, severity_counts
from memrepo.semdiff.change import Class, Word

SEVERITY_MARKS: dict[Severity, str] = {"error": "✖", "warning": "▲", "note": "•"}
CLASS_MARKS: dict[Class, str] = {"breaking": "▲", "compatible": "✓", "wording": "≈"}

#: Where each agent's block is in the page: agent id to the block's HTML id.
Anchors = Mapping[str, str]


def code(text: str) -> str:
    """A name or a path; set apart from the writing direction around it."""
    return f'<code dir="auto">{marked_html(text)}</code>'


def said(message: str) -> str:
    """A message or a hint; what stands between backticks is set as code."""
    return quoted(message, marked_html, code)


def badge(kind: str, mark: str, words: str) -> str:
    """A sign and words in a coloured label; ``kind`` is a class of ours, the rest raw text."""
    return f'<span class="badge {kind}"><i aria-hidden="true">{mark}</i> {for_html(words)}</span>'


def severity_badge(severity: Severity, number: int | None = None) -> str:
    """``✖ error``, or ``✖ 2 errors``."""
    if number is None:
        return badge(severity, SEVERITY_MARKS[severity], severity)
    words = f"{number:,} {severity}{'' if number == 1 else 's'}"
    return badge(severity, SEVERITY_MARKS[severity], words)


def severity_badges(findings: Iterable[Finding]) -> str:
    """One badge for each severity that occurs, with its number."""
    return "".join(severity_badge(severity, n) for severity, n in severity_counts(findings))


def class_badge(cls: Class) -> str:
    """What a change means for a caller of the tool."""
    return badge(cls, CLASS_MARKS[cls], cls)


def finding_item(finding: Finding, *, anchors: Anchors | None = None) -> str:
    """One finding as a list item: with ``anchors`` it links to its agent, else names its code."""
    head, where = "", code(place(finding))
    if anchors is None:
        head = f"{severity_badge(finding.severity)}{code(finding.code)} "
    elif finding.agent_id in anchors:
        where = f'<a href="#{anchors[finding.agent_id]}">{where}</a>'
    hint = f'<p class="hint" dir="auto">{said(finding.hint)}</p>' if finding.hint else ""
    message = f'<p dir="auto">{head}{said(finding.message)}</p>'
    return f'<li class="finding"><div>{message}{hint}</div><p class="where">{where}</p></li>'


def words_html(words: Iterable[Word]) -> str:
    """An edited text: what went in ``<del>``, what came in ``<ins>``."""
    pieces = []
    for word in words:
        text = marked_html(word.text)
        if word.op == "removed":
            text = f"<del>{text}</del>"
        elif word.op == "added":
            text = f"<ins>{text}</ins>"
        pieces.append(text)
    return "".join(pieces)
