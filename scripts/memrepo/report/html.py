"""A review as one self-contained HTML page."""

from __future__ import annotations

from memrepo.protocol.findings import in_order
from memrepo.report.page.agent import agent_block
from memrepo.report.page.files import files
from memrepo.report.page.frame import document
from memrepo.report.page.overview import header, numbers, one_look
from memrepo.report.page.records import records
from memrepo.report.page.risks import risks
from memrepo.report.phrases import by_agent, worst_first
from memrepo.report.verdict import Review

#: With at most so many agents, all are unfolded at first.
_UNFOLDED = 6
#: From so many agents on, the browser lays out only those that are near the screen.
_MANY = 40

_TOOLBAR = (
    '<div class="bar" hidden><label>Filter <input type="search" id="filter" '
    'placeholder="any word in an agent" autocomplete="off" spellcheck="false"></label>'
    '<button type="button" data-only="risk" aria-pressed="false">With findings</button>'
    '<button type="button" data-only="breaking" aria-pressed="false">Breaking tools</button>'
    '<span class="gapless"><button type="button" data-fold="open">Unfold all</button>'
    '<button type="button" data-fold="close">Fold all</button></span>'
    '<output id="shown" aria-live="polite"></output>'
    "<small>Keys: <kbd>/</kbd> filter, <kbd>j</kbd> <kbd>k</kbd> next and previous agent, "
    "<kbd>Enter</kbd> fold</small></div>"
)


def review_html(review: Review) -> str:
    """The page: verdict, what agents will believe and can do, risks, then every agent's diff.

    It makes no request, runs without its script, and is safe to open whatever the memory
    holds.
    """
    ordered = in_order(list(review.findings))
    grouped = by_agent(ordered)
    agents = worst_first(review.diff.agents, ordered)
    anchors = {agent.agent_id: f"a{number}" for number, agent in enumerate(agents, 1)}
    unfold = len(agents) <= _UNFOLDED
    blocks = "".join(
        agent_block(agent, grouped.get(agent.agent_id, []), anchors[agent.agent_id], unfold=unfold)
        for agent in agents
    )
    density = "many" if len(agents) > _MANY else "few"
    toolbar = _TOOLBAR if agents else "<p>No agent changed.</p>"
    return document(
        f"Memory review of {review.head_name}: {review.verdict}",
        '<a class="skip" href="#agents">Skip to the agents</a>'
        f"{header(review)}<main>{numbers(review.diff)}{one_look(review, anchors)}"
        f"{risks(ordered, anchors)}"
        f'<section class="{density}" aria-labelledby="agents">'
        f'<h2 id="agents" tabindex="-1">Agents</h2>{toolbar}{blocks}</section>'
        f"{records(review.diff, ordered)}{files(review.diff)}</main>",
    )
