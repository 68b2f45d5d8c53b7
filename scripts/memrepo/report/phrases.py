"""The words that all renderings share: counts, labels and one-line descriptions.

Everything here returns raw text (or values); the caller escapes it for its target.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from memrepo.protocol.findings import SEVERITIES, Finding, Severity
from memrepo.semdiff.change import (
    AgentDiff,
    ContextDiff,
    Diff,
    MetadataDiff,
    ToolsDiff,
    TurnChange,
    TurnKind,
    Word,
)

#: One sign for each kind of change, so that no report rests on colour.
TURN_SIGNS: dict[TurnKind, str] = {
    "appended": "+",
    "inserted": "+",
    "edited": "~",
    "removed": "−",
    "moved": "↕",
}
_UNITS = ("kB", "MB", "GB", "TB")
FILE_SIGNS = {"added": "+", "removed": "−", "changed": "~"}


def count(number: int, noun: str) -> str:
    """``1 turn``, ``2 turns``, ``1,200 turns``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(number: int) -> str:
    """Bytes as people read them, in powers of 1,000: ``640 bytes``, ``1.5 MB``."""
    if number < 1000:
        return count(number, "byte")
    value, unit = number / 1000, 0
    while value >= 999.95 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {_UNITS[unit]}"


def listed(parts: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = list(parts) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def severity_counts(findings: Iterable[Finding]) -> list[tuple[Severity, int]]:
    """How many findings of each severity, worst first, without those that are zero."""
    found = Counter(f.severity for f in findings)
    return [(severity, found[severity]) for severity in SEVERITIES if found[severity]]


def severities_phrase(findings: Iterable[Finding]) -> str:
    """``1 error and 2 warnings``, or ``no findings``."""
    return listed(count(n, severity) for severity, n in severity_counts(findings)) or "no findings"


def place(finding: Finding) -> str:
    """``path:line:column``, without the numbers that are not there."""
    numbers = [n for n in (finding.line, finding.column) if n > 0] if finding.line > 0 else []
    return ":".join([finding.path or "(repository)", *map(str, numbers)])


def turns_changed(context: ContextDiff) -> int:
    """How many turns changed in any way."""
    return sum(turn_counts(context).values())


def turn_counts(context: ContextDiff) -> dict[TurnKind, int]:
    """Number of changed turns by kind, in a fixed order."""
    return {
        "appended": context.appended,
        "inserted": context.inserted,
        "edited": context.edited,
        "removed": context.removed,
        "moved": context.moved,
    }


def tool_counts(tools: ToolsDiff) -> dict[str, int]:
    """Number of changed tools by sign; a renamed one is a changed one."""
    changed = len(tools.changed) + len(tools.renamed)
    return {"+": len(tools.added), "−": len(tools.removed), "~": changed}


def tools_changed(tools: ToolsDiff) -> int:
    """How many tools changed in any way (their order does not count)."""
    return sum(tool_counts(tools).values())


def signed(counts: Mapping[str, int]) -> str:
    """``+2 ~1``: the numbers that are not zero, each after its sign."""
    return " ".join(f"{sign}{number:,}" for sign, number in counts.items() if number)


def turn_signs(context: ContextDiff) -> str:
    """``+2 ~1 −1``: the changed turns by sign."""
    counts: Counter[str] = Counter()
    for kind, number in turn_counts(context).items():
        counts[TURN_SIGNS[kind]] += number
    return signed(counts)


def headline(diff: Diff) -> str:
    """``3 agents, 14 turns and 5 tools changed``; what else did where no agent has."""
    if not diff.agents:
        others = [count(len(diff.records), "record")] if diff.records else []
        others += [count(len(diff.other), "other file")] if diff.other else []
        snapshots = diff.snapshots
        touched = snapshots.added + snapshots.moved + snapshots.archived
        touched += len(snapshots.changed + snapshots.deleted)
        others += [count(touched, "snapshot")] if touched else []
        return f"no agent changed, but {listed(others)}" if others else "nothing changed"
    turns = sum(turns_changed(agent.context) for agent in diff.agents)
    tools = sum(tools_changed(agent.tools) for agent in diff.agents)
    counted = [count(len(diff.agents), "agent"), count(turns, "turn"), count(tools, "tool")]
    counted += [count(len(diff.records), "record")] if diff.records else []
    return f"{listed(counted)} changed"


def sentence(text: str) -> str:
    """The text with a capital at its start."""
    return text[:1].upper() + text[1:]


def context_phrase(context: ContextDiff) -> str:
    """``12 → 14 turns: 3 appended, 1 edited, 1 removed (the oldest, to stay in the limit)``."""
    parts = [f"{number:,} {kind}" for kind, number in turn_counts(context).items() if number]
    if context.trimmed:
        parts.append(f"{context.trimmed:,} of the removed were the oldest, to stay in the limit")
    return f"{context.before_turns:,} → {count(context.after_turns, 'turn')}: {', '.join(parts)}"


def tools_phrase(tools: ToolsDiff) -> str:
    """``5 → 6 tools: 1 added, 1 changed``."""
    numbers = {
        "added": len(tools.added),
        "removed": len(tools.removed),
        "renamed": len(tools.renamed),
        "changed": len(tools.changed),
    }
    parts = [f"{number:,} {word}" for word, number in numbers.items() if number]
    if tools.reordered:
        parts.append("order changed")
    return f"{tools.before_tools:,} → {count(tools.after_tools, 'tool')}: {', '.join(parts)}"


def turn_label(change: TurnChange) -> str:
    """``turn 4``, ``turn 4 (was 7)``, ``was turn 7``; people count from 1."""
    if change.after_index < 0:
        return f"was turn {change.before_index + 1}"
    label = f"turn {change.after_index + 1}"
    if change.kind == "moved" or (0 <= change.before_index != change.after_index):
        return f"{label} (was {change.before_index + 1})"
    return label


def role_phrase(change: TurnChange) -> str:
    """The role, and the one before where the edit changed it too."""
    if change.before_role and change.before_role != change.role:
        return f"{change.before_role} → {change.role}"
    return change.role


def version_phrase(metadata: MetadataDiff) -> str:
    """``1.4.0 → 1.4.1, a patch step where a major one is needed``; "" if nothing moved."""
    old, new = metadata.version
    if old == new:
        if old is None or metadata.fits:
            return ""
        return f"{old} unchanged where a {metadata.needs} step is needed"
    if old is None or new is None:
        return f"{new} (new)" if old is None else f"{old} (gone)"
    steps = {"backward": "a step back", "unknown": "not comparable"}
    phrase = f"{old} → {new}, {steps.get(metadata.step, f'a {metadata.step} step')}"
    return phrase if metadata.fits else f"{phrase} where a {metadata.needs} one is needed"


def shortened(words: Iterable[Word], keep: int) -> Iterator[tuple[Literal["gap"] | str, str]]:
    """``(op, text)`` of an edited text, long runs that stayed the same cut in their middle.

    ``keep`` is the number of characters kept on each side of a change; a cut run yields
    an extra ``("gap", "…")``.
    """
    runs = list(words)
    for index, word in enumerate(runs):
        if word.op != "same" or len(word.text) <= 2 * keep + 20:
            yield word.op, word.text
            continue
        if index > 0:
            yield "same", word.text[:keep]
        yield "gap", " … "
        if index + 1 < len(runs):
            yield "same", word.text[-keep:]


def worst_first(agents: Iterable[AgentDiff], findings: Iterable[Finding]) -> list[AgentDiff]:
    """Agents with the worst findings first, then in order of their id."""
    rank: dict[str, int] = {}
    for finding in findings:
        level = SEVERITIES.index(finding.severity)
        rank[finding.agent_id] = min(level, rank.get(finding.agent_id, level))
    return sorted(agents, key=lambda a: (rank.get(a.agent_id, len(SEVERITIES)), a.agent_id))


def by_agent(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Findings of each agent, in report order; those about no agent under ""."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.agent_id, []).append(finding)
    return groups
