from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given

from memrepo.report.escape import (
    clipped,
    code_markdown,
    fenced,
    for_html,
    for_markdown,
    for_terminal,
    marked_html,
    quoted,
    visible,
)
from unit.report.hostile import hostile_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("re\u200bfund", "re⟨U+200B⟩fund"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("a\x07", "a⟨U+0007⟩"),
        ("\x9b2J", "⟨U+009B⟩2J"),
        ("a\rb", "a⟨U+000D⟩b"),
        ("\ud800", "⟨U+D800⟩"),
        ("\ufeffa", "⟨U+FEFF⟩a"),
        ("a\u3164", "a⟨U+3164⟩"),
        ("\ufe0f", "⟨U+FE0F⟩"),
        ("a\ufe0f\ufe0f", "a\ufe0f⟨U+FE0F⟩"),
        ("a\U000e0100", "a⟨U+E0100⟩"),
    ],
)
def test_what_nobody_sees_is_shown_by_its_number(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text", ["a\nb\tc", "naïve café", "日本語 한국어 עברית", "❤\ufe0f", "«x» “y” — €"]
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_a_line_for_the_terminal_is_one_line() -> None:
    assert for_terminal("a\nb\tc") == "a⏎b c"
    assert for_terminal("a\nb", one_line=False) == "a\nb"


@given(hostile_text)
def test_visible_text_holds_no_control_and_can_be_encoded(text: str) -> None:
    shown = visible(text, one_line=True)
    shown.encode()
    assert {unicodedata.category(c) for c in shown}.isdisjoint({"Cc", "Cs", "Co", "Zl", "Zp"})


def test_clipped_says_how_much_is_missing() -> None:
    assert clipped("abc", 3) == "abc"
    assert clipped("abcdef", 3) == "abc … (3 more characters)"


def test_html_is_inert_in_text_and_attributes() -> None:
    assert for_html("<a href=\"x\" b='y'>&") == "&lt;a href=&quot;x&quot; b=&#x27;y&#x27;&gt;&amp;"
    assert for_html("\u202e") == "⟨U+202E⟩"


def test_marked_html_reads_tag_characters_out() -> None:
    hidden = "".join(chr(0xE0000 + ord(c)) for c in "<hi>")
    assert marked_html(f"a{hidden}b&") == (
        'a<b class="u">⟨U+E003C⟩⟨U+E0068⟩⟨U+E0069⟩⟨U+E003E⟩</b>'
        '<b class="u">reads “&lt;hi&gt;”</b>b&amp;'
    )


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain words, as they are.", "plain words, as they are."),
        ("2025: 3-4 (ok)", "2025: 3-4 (ok)"),
        ("**b** _i_", "&#x2A;&#x2A;b&#x2A;&#x2A; &#x5F;i&#x5F;"),
        ("~~s~~", "&#x7E;&#x7E;s&#x7E;&#x7E;"),
        ("<b>", "&lt;b&gt;"),
        ("a|b", "a&#x7C;b"),
        ("hi @octocat", "hi <code><span>&#x40;</span>octocat</code>"),
        ("fixes #1", "fixes <code>&#x23;1</code>"),
        ("GH-12", "<code>GH-12</code>"),
        ("octo/repo#3", "<code>octo/repo&#x23;3</code>"),
        ("at 0123abc", "at <code>0123abc</code>"),
        ("see https://x.example/", "see <code>https&#x3A;//x.example/</code>"),
        ("see WWW.x.example", "see <code>WWW&#x2E;x.example</code>"),
        ("mailto:a", "<code>mailto&#x3A;a</code>"),
        (":tada:", "<code>:tada:</code>"),
        ("a $x$", "a <code><span>&#x24;</span>x<span>&#x24;</span></code>"),
        ("- a", "&#x2D; a"),
        ("1. a", "1&#x2E; a"),
        ("1.4.0", "1.4.0"),
        ("a\nb", "a⏎b"),
        ("<!-- x -->", "&lt;!-- x --&gt;"),
    ],
)
def test_markdown_in_a_line(text: str, escaped: str) -> None:
    assert for_markdown(text) == escaped


def test_markdown_with_breaks_keeps_the_lines() -> None:
    assert for_markdown("a\n- b", breaks=True) == "a<br>&#x2D; b"


def test_code_in_markdown_is_one_element() -> None:
    assert code_markdown("a_b`c`") == "<code>a&#x5F;b&#x60;c&#x60;</code>"


@pytest.mark.parametrize(
    ("text", "fence"), [("a", "```"), ("``", "```"), ("```", "````"), ("a`````b", "``````")]
)
def test_a_fence_is_longer_than_any_run_inside(text: str, fence: str) -> None:
    assert fenced(text, "diff") == f"{fence}diff\n{text}\n{fence}"


def test_a_fence_holds_no_marker_and_no_foreign_info() -> None:
    assert fenced("<!-- m -->\n", "di`ff\n@x") == "```diffx\n<\\!-- m -->\n```"


def test_names_between_backticks_are_code() -> None:
    assert quoted("a `b` c `", str.upper, lambda name: f"[{name}]") == "A [b] C `"
