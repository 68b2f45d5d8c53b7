"""The top of the page: verdict, numbers, and what the agents will believe and can do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from memrepo.report.escape import clipped, marked_html
from memrepo.report.page.pieces import (
    SEVERITY_MARKS,
    Anchors,
    badge,
    class_badge,
    code,
)
from memrepo.report.page.records import record_beliefs
from memrepo.report.page.toolcards import flags_of, tool_flags
from memrepo.report.phrases import (
    FILE_SIGNS,
    TURN_SIGNS,
    count,
    headline,
    listed,
    sentence,
    severities_phrase,
    signed,
    tool_counts,
    turn_counts,
)
from memrepo.report.verdict import Review
from memrepo.semdiff.change import AgentDiff, Class, Diff, TurnKind

VERDICT_MARKS = {"pass": "✔", "warn": "▲", "fail": "✖"}
_VERDICT_WORDS = {"pass": "Pass", "warn": "Look closely", "fail": "Fail"}

#: What happened to turns, the changes to what was said before first.
_TURN_WORDS: dict[TurnKind, tuple[str, str]] = {
    "edited": ("earlier turn", "edited"),
    "removed": ("earlier turn", "removed"),
    "inserted": ("turn", "inserted between earlier ones"),
    "moved": ("turn", "moved"),
    "appended": ("turn", "appended"),
}

#: How many lines each of the two cards shows, and how long a quoted turn may be.
_LINES = 8
_QUOTE = 180


def header(review: Review) -> str:
    """The verdict in words and sign, what was compared, and the numbers."""
    mark, words = VERDICT_MARKS[review.verdict], _VERDICT_WORDS[review.verdict]
    said = severities_phrase(review.findings)
    said = said[0].upper() + said[1:]
    return (
        f'<header class="top {review.verdict}"><div class="verdict">'
        f'<span class="mark" aria-hidden="true">{mark}</span>'
        f'<div><p class="eyebrow">Memory review</p><h1>{words}</h1>'
        f'<p class="lead">{said}. {sentence(headline(review.diff))}.</p></div></div>'
        f'<p class="revs">from {code(review.base_name)} <small>{code(review.base[:10])}</small> '
        f"to {code(review.head_name)} <small>{code(review.head[:10])}</small></p></header>"
    )


def one_look(review: Review, anchors: Anchors) -> str:
    """Two cards: what the agents will believe, and what they will be able to do."""
    believe = "".join(_beliefs(review.diff, anchors)) or "<li>Nothing new.</li>"
    can_do = "".join(_abilities(review, anchors)) or "<li>Nothing new.</li>"
    return (
        '<section class="look" aria-labelledby="look"><h2 id="look">After this change</h2>'
        f'<div class="cards"><div class="card"><h3>Agents will believe</h3><ul>{believe}</ul></div>'
        f'<div class="card"><h3>Agents can do</h3><ul>{can_do}</ul></div></div></section>'
    )


def _beliefs(diff: Diff, anchors: Anchors) -> Iterator[str]:
    for kind, words in _TURN_WORDS.items():
        touched = [a for a in diff.agents if turn_counts(a.context)[kind]]
        if touched:
            number = sum(turn_counts(a.context)[kind] for a in touched)
            sign = f'<i class="sign {kind}" aria-hidden="true">{TURN_SIGNS[kind]}</i>'
            where = _where(touched, anchors)
            yield f"<li>{sign} {count(number, words[0])} {words[1]} in {where}</li>"
    yield from record_beliefs(diff, _LINES)
    for file in diff.other[:_LINES]:
        sign = f'<i class="sign {file.change}" aria-hidden="true">{FILE_SIGNS[file.change]}</i>'
        yield f'<li>{sign} <a href="#files">{code(file.path)}</a> {file.change}</li>'
    if len(diff.other) > _LINES:
        yield f'<li><a href="#files">{len(diff.other) - _LINES:,} more files</a></li>'
    for agent, text in list(_new_answers(diff.agents))[:3]:
        quote = f'<q dir="auto">{marked_html(clipped(text, _QUOTE))}</q>'
        name = _link(agent.agent_id, anchors)
        yield f'<li class="quote">{name} now remembers saying {quote}</li>'


def _new_answers(agents: Iterable[AgentDiff]) -> Iterator[tuple[AgentDiff, str]]:
    """The newest appended answer of each agent."""
    for agent in agents:
        for change in reversed(agent.context.changes):
            if change.kind == "appended" and change.role == "assistant" and change.after:
                yield agent, change.after
                break


def _abilities(review: Review, anchors: Anchors) -> Iterator[str]:
    """One line for each tool and change, the same change of many agents together."""
    lines: dict[tuple[str, str, Class], list[AgentDiff]] = {}
    for agent in review.diff.agents:
        tools = agent.tools
        for rename in tools.renamed:
            key = ("renamed", f"{rename.before} → {rename.after}", rename.cls)
            lines.setdefault(key, []).append(agent)
        for tool in tools.removed:
            lines.setdefault(("removed", tool.name, "breaking"), []).append(agent)
        for changed in tools.changed:
            lines.setdefault(("changed", changed.name, changed.cls), []).append(agent)
        for tool in tools.added:
            lines.setdefault(("added", tool.name, "compatible"), []).append(agent)
    flags = tool_flags(review.findings)
    flagged = {key: flags_of(key[1].split(" → ")[-1], flags) for key in lines}
    classes: tuple[Class, ...] = ("breaking", "compatible", "wording")
    ordered = sorted(lines, key=lambda k: (not flagged[k], classes.index(k[2]), k[0], k[1]))
    for key in ordered[:_LINES]:
        verb, name, cls = key
        sign = FILE_SIGNS.get(verb, "~")
        marks = class_badge(cls) if cls == "breaking" else ""
        where = _where(lines[key], anchors)
        yield (
            f'<li><i class="sign {verb}" aria-hidden="true">{sign}</i> {code(name)} {verb} '
            f"in {where} {marks}{flagged[key]}</li>"
        )
    if len(ordered) > _LINES:
        yield f'<li><a href="#agents">{len(ordered) - _LINES:,} more tools</a></li>'


def _where(agents: Sequence[AgentDiff], anchors: Anchors) -> str:
    """Up to two agents by name, more by their number."""
    if len(agents) > 2:
        return count(len(agents), "agent")
    return listed(_link(agent.agent_id, anchors) for agent in agents)


def _link(agent_id: str, anchors: Anchors) -> str:
    return f'<a href="#{anchors[agent_id]}">{code(agent_id)}</a>'


def numbers(diff: Diff) -> str:
    """The counts of everything that changed."""
    turns: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for agent in diff.agents:
        for kind, number in turn_counts(agent.context).items():
            turns[TURN_SIGNS[kind]] += number
        tools.update(tool_counts(agent.tools))
    snapshots = diff.snapshots
    touched = len(snapshots.changed) + len(snapshots.deleted)
    bad = badge("error", SEVERITY_MARKS["error"], f"{touched:,} not as before") if touched else ""
    moved = f"{snapshots.moved:,} moved" if snapshots.moved else ""
    moved = f"{snapshots.archived:,} archived" if snapshots.archived else moved
    tiles = (
        ("Agents", f"{len(diff.agents):,}", ""),
        ("Turns", f"{turns.total():,}", signed(turns)),
        ("Tools", f"{tools.total():,}", signed(tools)),
        ("Snapshots", f"+{snapshots.added:,}", bad or moved),
        *([("Records", f"{len(diff.records):,}", "")] if diff.records else []),
        ("Other files", f"{len(diff.other):,}", ""),
    )
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{number} <small>{note}</small></dd></div>"
        for name, number, note in tiles
    )
    return f'<dl class="tiles">{cells}</dl>'
