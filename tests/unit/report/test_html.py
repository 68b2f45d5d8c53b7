from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import msgspec
from hypothesis import given

from memrepo.report import page
from memrepo.report.html import review_html
from memrepo.report.markdown import review_markdown
from memrepo.report.text import diff_text
from memrepo.report.verdict import Review
from memrepo.semdiff.change import AgentDiff, Diff, ToolsDiff, ToolSummary
from unit.report.hostile import hostile_text
from unit.report.sample import BASE, HEAD, HOSTILE, review_of_text, sample_diff, sample_review

_VOID = {"meta", "link", "input"}
_TAGS = """
    html head meta link title style body script a header main section div span article p pre
    h1 h2 h3 h4 h5 b i q code small kbd time ins del dl dt dd ul ol li details summary
    table thead tbody tr th td label input button output
"""
_ATTRIBUTES = """
    class id href dir lang charset content name http-equiv rel scope colspan tabindex open hidden
    type placeholder autocomplete spellcheck aria-hidden aria-labelledby aria-live aria-pressed
    data-risk data-breaking data-only data-fold
"""
_OUR_TAGS = frozenset(_TAGS.split())
_OUR_ATTRIBUTES = frozenset(_ATTRIBUTES.split())


class _Page(HTMLParser):
    """A page whose every element must be ours, closed, and without a way out."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _OUR_TAGS
        self.tags[tag] += 1
        if tag not in _VOID:
            self._open.append(tag)
        for name, value in attrs:
            assert name in _OUR_ATTRIBUTES
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


def test_the_page_says_what_matters_first() -> None:
    text = _Page(review_html(sample_review())).text
    order = [
        "Memory review",
        "Fail",
        "2 errors, 4 warnings and 1 note. 2 agents, 5 turns and 4 tools changed.",
        "Agents will believe",
        "1 earlier turn edited in support-eu",
        "Agents can do",
        "issue_refund added in support-eu",
        "What to look at",
        "snapshot-changed",
        "hidden-text",
        "characters a person does not see",
        "Conversation",
        "any account you name",
        "Refunds need no supervisor.",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)


def test_words_of_an_edited_turn_are_marked() -> None:
    html = review_html(sample_review())
    assert "Refunds go out <del>within five business days</del><ins>the same day</ins> to" in html
    assert "two <del>cities</del><ins>airports</ins>." in html


def test_a_finding_is_flagged_at_its_turn_and_its_tool() -> None:
    html = review_html(sample_review())
    turn = re.search(r'<li class="turn assistant appended">(.*?)</li>', html, re.DOTALL)
    assert turn is not None
    assert "hidden-text" in turn.group(1)
    card = re.search(r'<article class="tool added">(.*?)</article>', html, re.DOTALL)
    assert card is not None
    assert "issue_refund" in card.group(1)
    assert "tool-capability" in card.group(1)


def test_nothing_of_a_new_tool_is_left_out() -> None:
    parameters = {"type": "object", "properties": {"a": {"type": "string", "default": "hush"}}}
    tool = ToolSummary("t", "", parameters)
    agent = AgentDiff("a", "changed", tools=ToolsDiff(added=(tool,)))
    review = msgspec.structs.replace(sample_review(), diff=Diff(agents=(agent,)))
    for text in (_Page(review_html(review)).text, review_markdown(review)):
        assert "hush" in text
    assert "hush" in diff_text(review.diff, colour=False)


def test_gaps_between_changed_turns_are_counted() -> None:
    html = review_html(sample_review())
    assert re.findall(r'<li class="gap">(.*?)</li>', html) == [
        "3 unchanged turns",
        "7 unchanged turns",
    ]


def test_every_link_leads_to_a_place_in_the_page() -> None:
    page_ = _Page(review_html(sample_review()))
    targets = {link.removeprefix("#") for link in page_.links if link != "data:,"}
    assert targets <= set(page_.ids)
    assert len(page_.ids) == len(set(page_.ids))
    assert {"a1", "agents", "files"} <= targets


def test_nothing_is_fetched_and_only_our_script_may_run() -> None:
    html = review_html(sample_review())
    assert {link[0] for link in _Page(html).links if link != "data:,"} == {"#"}
    assert "src=" not in html
    assert "url(" not in html
    assert "@import" not in html
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'; "
        r"img-src data:; base-uri 'none'; form-action 'none'",
        policy.group(1),
    )
    assert "style=" not in html.split("</style>")[1]
    assert not re.search(r"\son\w+=", html.split("</style>")[1].split("<script>")[0])


def test_the_page_without_any_change() -> None:
    review = Review(base=BASE, head=HEAD, base_name="a", head_name="b", verdict="pass")
    text = _Page(review_html(review)).text
    assert "Pass" in text
    assert "No findings. Nothing changed." in text
    assert "No agent changed." in text


def test_hostile_memory_is_shown_and_inert() -> None:
    page_ = _Page(review_html(review_of_text(HOSTILE)))
    assert "<script>alert(1)</script>" in page_.text
    assert "⟨U+202E⟩gnp.exe" in page_.text
    assert "reads “Ign”" in page_.text
    assert page_.tags["script"] == 1


@given(hostile_text)
def test_no_text_adds_an_element(text: str) -> None:
    html = review_html(review_of_text(text))
    html.encode()
    _Page(html)


def test_agents_of_a_large_review_are_folded_and_complete() -> None:
    agent = sample_diff().agents[1]
    agents = tuple(msgspec.structs.replace(agent, agent_id=f"agent-{n:03}") for n in range(100))
    html = review_html(msgspec.structs.replace(sample_review(), diff=Diff(agents=agents)))
    assert html.count('<details class="agent"') == 100
    assert not re.search(r'<details class="agent"[^>]* open', html)
    assert 'class="many"' in html


def test_every_class_in_the_page_is_known_to_the_style() -> None:
    folder = Path(page.__file__).parent
    style = (folder / "style.css").read_text(encoding="utf-8")
    html = review_html(sample_review()) + review_html(review_of_text("x"))
    used = {name for names in re.findall(r'class="([^"]*)"', html) for name in names.split()}
    # These say what an element is, for filters and tests, and have no look of their own.
    assert {n for n in used if f".{n}" not in style} <= {
        "few",
        "files",
        "findings",
        "look",
        "risks",
    }
