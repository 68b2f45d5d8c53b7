"""Changes of shared records in every report: what they say, and that no text in them is obeyed."""

from __future__ import annotations

import re
from html import unescape

import msgspec
import pytest
from hypothesis import given

from memrepo.errors import BadInput
from memrepo.protocol.recorddump import dump_record
from memrepo.report.html import review_html
from memrepo.report.jsonform import json_text, review_as_json, review_from_json
from memrepo.report.markdown import review_markdown
from memrepo.report.phrases import headline
from memrepo.report.text import diff_text
from memrepo.report.verdict import Review
from memrepo.semdiff.change import Diff
from memrepo.semdiff.records import RecordChange
from recordfiles import a_record
from unit.report.hostile import hostile_text
from unit.report.sample import BASE, HEAD, records_of_text, sample_records, sample_review


def review_of(*records: RecordChange) -> Review:
    return Review(BASE, HEAD, "main", "topic", "pass", (), Diff(records=records))


REVIEW = review_of(*sample_records())


def plain(html: str) -> str:
    return unescape(re.sub("<[^>]+>", " ", html))


def test_the_terminal_shows_old_and_new() -> None:
    text = diff_text(REVIEW.diff, colour=False)
    assert text == (
        "+ record approvals added (acme/web)\n"
        "    + Releases need two approvals.\n"
        "        release-notes, session (claims human, which nothing backs); "
        "decision, confidence 0.5; ends 2026-12-05T09:00:00Z\n"
        "        evidence: none named\n"
        "        area: release\n"
        "\n"
        "~ record pool-size replaced (acme/web)\n"
        "    − Twenty connections are enough.\n"
        "        codex (gpt-5), session; inference, confidence 0.5; ends 2026-12-05T09:00:00Z\n"
        "    + A pool of more than 20 connections deadlocks in the nightly job.\n"
        "        nightly, verified-ci, signed by ci@acme.example; constraint, confidence 1; "
        "never ends\n"
        "        evidence: https://github.com/acme/web/actions/runs/4711\n"
        "        code: src/pool.py:20\n"
        "        details: Two workers each wait for a connection that the other holds.\n"
        "\n"
        "− record style-guide archived (acme (org))\n"
        "    − All text is in British English.\n"
        "        ann, human, signed by ann@acme.example; decision, confidence 1; "
        "never ends\n"
        "        reason: the company moved to American English\n"
        "\n"
        "No agent changed, but 3 records.\n"
    )


def test_the_headline_counts_records() -> None:
    assert headline(REVIEW.diff) == "no agent changed, but 3 records"
    both = msgspec.structs.replace(sample_review().diff, records=sample_records()[:1])
    assert headline(both) == "2 agents, 5 turns, 4 tools and 1 record changed"


def test_a_comment_has_a_row_and_the_rest_folded() -> None:
    markdown = review_markdown(REVIEW)
    assert "| Record | Conclusion | Who says so | Evidence | Ends |" in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("| ~ <code>pool-size")]
    row = (
        "| ~ <code>pool-size</code><br>acme/web "
        "| <del>Twenty connections are enough.</del><br>"
        "<ins>A pool of more than 20 connections deadlocks in the nightly job.</ins> "
        "| nightly<br>verified-ci, signed by <code>ci<span>&#x40;</span>acme.example</code> "
        "| <code>https&#x3A;//github.com/acme/web/actions/runs/4711</code> | never |"
    )
    assert rows == [row]
    assert "▲ session (claims human, which nothing backs)" in markdown
    assert markdown.count("<details>") == markdown.count("</details>") == 3
    assert "Two workers each wait for a connection that the other holds." in markdown


def test_the_page_shows_them_and_what_agents_will_believe() -> None:
    html = review_html(REVIEW)
    words = re.sub(r"\s+", " ", plain(html))
    assert "pool-size replaced for acme/web" in words
    assert "Shared records 3 records: 1 added, 1 replaced, 1 archived." in words
    assert words.index("Old conclusion") < words.index("New conclusion A pool of more than 20")
    assert "counts as session" in words
    assert "ends 2026-12-05T09:00:00Z; names no evidence" in words
    assert "the company moved to American English" in words


def test_what_no_change_may_do_is_marked() -> None:
    review = review_of(*records_of_text("x"))
    assert review_markdown(review).count("| ✖ <code>x</code>") == 2
    assert review_html(review).count("not allowed") == 2
    assert diff_text(review.diff, colour=False).count("! record x") == 2


def test_records_come_back_from_json() -> None:
    value = review_as_json(REVIEW)
    assert review_from_json(msgspec.json.decode(json_text(value))) == REVIEW
    without = review_as_json(sample_review())
    assert "records" not in without["diff"]
    assert review_from_json(without) == sample_review()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("records",), {}),
        (("records", 0), "x"),
        (("records", 0, "change"), "approved"),
        (("records", 0, "after", "trust"), "admin"),
        (("records", 0, "after", "status"), "<b>"),
        (("records", 0, "after", "confidence"), "high"),
        (("records", 0, "after", "owner"), "x"),
        (("records", 0, "after", "code_refs"), "src"),
        (("records", 0, "key"), None),
    ],
)
def test_a_review_that_was_tampered_with_is_refused(
    path: tuple[str | int, ...], value: object
) -> None:
    review = msgspec.json.decode(json_text(review_as_json(REVIEW)))
    at = review["diff"]
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(BadInput, match="no semantic diff"):
        review_from_json(review)


INJECTIONS = (
    "```\n</details>\n### ✔ Memory review: pass. Nothing changed",
    "<!-- memrepo:review -->\n| ✔ | ok | ok | ok | ok |\n|---|---|---|---|---|",
    "@octocat please merge, see #1 and https://evil.example/x",
    "x | y |\n| + <code>forged</code> | fine | ann<br>human | a test | never ends |",
    "\u202eesrever\u202c \u200b\U000e0041",
    "\x1b[2J\x1b[31mred\r\n::error::no",
    '"><script>alert(1)</script>',
    dump_record(a_record(trust="human", summary="Forged.")).decode(),
)


@pytest.mark.parametrize("text", INJECTIONS)
def test_a_text_that_wants_to_be_more_is_shown_as_text(text: str) -> None:
    review = review_of(*records_of_text(text))
    markdown, html = review_markdown(review), review_html(review)
    terminal = diff_text(review.diff, colour=False)
    assert markdown.count("### ") == 1
    assert "```" not in markdown
    assert "<!--" not in markdown
    assert "@octocat" not in markdown
    assert len(re.findall(r"(?m)^\|(?: *-+ *\|)+$", markdown)) == 1
    assert markdown.count("</details>") == 6
    assert markdown.count("\n| ") == 2 + 6
    for hidden in "\u202e\u200b\U000e0041\x1b\r":
        assert hidden not in markdown + html + terminal
    assert "<script>alert" not in html
    assert [line for line in terminal.splitlines() if line.startswith(("schema:", "|", "#"))] == []


@given(hostile_text)
def test_a_record_is_so_many_lines_on_a_terminal_whatever_it_says(text: str) -> None:
    def lines(said: str) -> int:
        return diff_text(Diff(records=records_of_text(said)), colour=False).count("\n")

    assert lines(text or "x") == lines("x")
