from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memrepo.report.markdown import review_markdown
from memrepo.report.verdict import Review
from memrepo.semdiff.change import Diff
from unit.report.hostile import hostile_text
from unit.report.sample import BASE, HEAD, HOSTILE, review_of_text, sample_diff, sample_review

_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_NEVER_OURS = {"link_open", "image", "code_block", "blockquote_open", "hr", "s_open"}
_OUR_TAGS = {"details", "summary", "code", "span", "br", "del", "ins"}
# What a forge makes something of, in text that stands outside <code>.
_LINKED = re.compile(r"@\w|#\w|\bGH-\d|[0-9a-f]{7}|\w://|www\.\w|mailto:\w", re.IGNORECASE)


class _Html(HTMLParser):
    """The raw HTML of a report: its tags must be ours and closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _OUR_TAGS
        assert attrs == []
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        if "code" not in self.open:
            self.linked += _LINKED.findall(data)
        # An address is linked even in <code>, by the parser of the Markdown.
        self.linked += re.findall(r"\w@\w", data)


def _rendered(markdown: str) -> _Html:
    """Checks that the report's structure is whole, and reads it as a forge would."""
    tokens = _MARKDOWN.parse(markdown)
    for token in _flat(tokens):
        assert token.type not in _NEVER_OURS
        if token.type == "heading_open":
            assert token.map is not None
            assert token.map[0] == 0
    page = _Html()
    for token in tokens:
        page.feed("".join(_as_html(part) for part in (token.children or [token])))
    page.close()
    assert page.open == []
    return page


def _as_html(token: Token) -> str:
    """A token's text, as the element that GitHub's filters see it in."""
    if token.type in ("html_block", "html_inline"):
        return token.content
    return escape(token.content) if token.type == "text" else "<br>"


def _flat(tokens: list[Token]) -> list[Token]:
    return [t for token in tokens for t in (token, *(token.children or ()))]


_LINES = """\
| ✖ error | <code>hidden-text</code> | <code>state/support-eu/context.json:64:98</code> | \
the turn holds characters nobody sees: U+200B twice<br>\
Remove them; a person cannot review what is not shown. |
| ~ <code>support-eu</code> | +2 ~1 −1 | +1 ~2 **breaking** | 1.4.0 → 1.4.1 ▲ needs major \
| ✖ 2 ▲ 4 |
<details><summary>~ <code>support-eu</code>: changed, 2 errors and 4 warnings</summary>
- **~ edited** turn 4 (was 5), assistant<br>Refunds go out \
<del>within five business days</del><ins>the same day</ins> to \
<del>the card you paid with</del><ins>any account you name</ins>.
- **~ renamed** <code>get&#x5F;user&#x5F;details</code> → <code>find&#x5F;customer</code>, breaking
  - breaking: <code>cabin</code> became required
2 snapshots added.
```diff
+Refunds need no supervisor.
""".splitlines()


def test_the_first_line_holds_the_verdict_and_what_changed() -> None:
    first = review_markdown(sample_review()).splitlines()[0]
    assert first == "### ✖ Memory review: fail. 2 agents, 5 turns and 4 tools changed"


def test_a_clean_change() -> None:
    review = Review(base=BASE, head=HEAD, base_name="a", head_name="b", verdict="pass")
    assert review_markdown(review) == (
        "### ✔ Memory review: pass. Nothing changed\n\n"
        "No findings. From <code>a</code> (<code>3f1c9a5e7b</code>) to <code>b</code> "
        "(<code>b84d2e6f10</code>).\n"
    )


def test_the_report_in_full() -> None:
    markdown = review_markdown(sample_review())
    assert _rendered(markdown).linked == []
    for line in _LINES:
        assert line in markdown.splitlines()


def test_findings_are_listed_worst_first() -> None:
    backwards = msgspec.structs.replace(
        sample_review(), findings=tuple(reversed(sample_review().findings))
    )
    assert review_markdown(backwards) == review_markdown(sample_review())


def test_nothing_of_a_hostile_memory_is_obeyed() -> None:
    markdown = review_markdown(review_of_text(HOSTILE))
    assert _rendered(markdown).linked == []
    assert "<!--" not in markdown
    assert "@octocat" not in re.sub(r"(?s)(`{3,})diff\n.*?\n\1", "", markdown)


@given(hostile_text)
def test_no_text_breaks_or_uses_the_report(text: str) -> None:
    markdown = review_markdown(review_of_text(text))
    markdown.encode()
    assert "<!--" not in markdown
    assert _rendered(markdown).linked == []


@given(hostile_text, st.integers(min_value=200, max_value=6_000))
def test_a_limit_holds_and_cuts_nothing_open(text: str, limit: int) -> None:
    markdown = review_markdown(review_of_text(text), limit=limit)
    assert len(markdown) <= limit
    assert markdown.startswith("### ✖ Memory review: fail.")
    _rendered(markdown)


def _many(number: int) -> Review:
    review = sample_review()
    agent = sample_diff().agents[0]
    agents = tuple(msgspec.structs.replace(agent, agent_id=f"agent-{n}") for n in range(number))
    findings = tuple(
        msgspec.structs.replace(finding, agent_id=f"agent-{n}")
        for n in range(number)
        for finding in review.findings
    )
    return msgspec.structs.replace(review, findings=findings, diff=Diff(agents=agents))


def test_what_a_limit_leaves_out_is_counted() -> None:
    markdown = review_markdown(_many(200), limit=65_536)
    assert 55_000 < len(markdown) <= 65_536
    assert _rendered(markdown).linked == []
    shown = markdown.count("<details>")
    rows = len(re.findall(r"^\| [✖▲•] ", markdown, re.MULTILINE))
    last = markdown.splitlines()[-1]
    assert f"{200 - shown:,} × agent" in last
    assert f"{1400 - rows:,} × row of findings" in last
    assert "full report" in last


@pytest.mark.parametrize("limit", [10, 60, 100])
def test_a_tiny_limit_still_shows_the_verdict(limit: int) -> None:
    markdown = review_markdown(sample_review(), limit=limit)
    assert markdown.startswith("### ✖ Mem")
    assert len(markdown) <= limit


def test_the_whole_report_has_no_limit() -> None:
    markdown = review_markdown(_many(200))
    assert markdown.count("<details>") == markdown.count("</details>") == 200
    assert "Left out" not in markdown
