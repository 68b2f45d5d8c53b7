"""Text that came from memory, made safe to show (trust: text from memory is data).

Two things are done, and every report does both: characters that a person cannot see are
shown by their number, and what the target would obey (markup, mentions, links) is taken
its force. What workflow commands obey is the runner's business, not this module's.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

# What nobody sees, or what changes how its neighbours are seen: controls (all but newline
# and tab), soft hyphen, joiners, bidirectional marks, fillers, line and paragraph
# separators, variation selectors, tags, private use, noncharacters and lone surrogates.
_HIDDEN = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5"
    "\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164"
    "\\ud800-\\udfff\\ue000-\\uf8ff\\ufdd0-\\ufdef\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff0-\\ufffb"
    "\\ufffe\\uffff\\U0001d173-\\U0001d17a\\U0001fffe\\U0001ffff\\U000e0000-\\U0010ffff"
)
# U+FE0E and U+FE0F choose between text and emoji form. One after a visible character is
# ordinary writing; a second one, or one after nothing, carries something else.
_FORM = "\\ufe0e\\ufe0f"
_INVISIBLE = re.compile(f"[{_HIDDEN}]|(?<![^\\s{_HIDDEN}{_FORM}])[{_FORM}]")
_INVISIBLE_RUN = re.compile(f"(?:{_INVISIBLE.pattern})+")

_TAGS = range(0xE0020, 0xE007F)


def _shown(match: re.Match[str]) -> str:
    return "".join(f"⟨U+{ord(character):04X}⟩" for character in match.group())


def visible(text: str, *, one_line: bool = False) -> str:
    """``text`` with every invisible character shown as ``⟨U+202E⟩``.

    Newlines and tabs stay; with ``one_line`` a newline is shown as ``⏎`` and a tab as a
    space. The result holds no lone surrogate, so it can always be encoded.
    """
    text = _INVISIBLE.sub(_shown, text)
    return text.replace("\n", "⏎").replace("\t", " ") if one_line else text


def clipped(text: str, limit: int) -> str:
    """``text`` of at most about ``limit`` characters; says how many it leaves out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … ({len(text) - limit:,} more characters)"


def for_terminal(text: str, *, one_line: bool = True) -> str:
    """Text for a terminal: no control sequence and no bidirectional trick survives."""
    return visible(text, one_line=one_line)


_QUOTED = re.compile(r"`([^`\n]+)`")


def quoted(text: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    """A message whose names stand between backticks: ``plain`` and ``code`` escape the parts."""
    parts = _QUOTED.split(text)
    return "".join(code(part) if odd % 2 else plain(part) for odd, part in enumerate(parts))


# --- HTML


def for_html(text: str) -> str:
    """Text for an HTML element or a quoted attribute."""
    return html.escape(visible(text), quote=True)


def marked_html(text: str) -> str:
    """Text for an HTML element, invisible characters set off as ``<b class="u">``.

    Tag characters (U+E0020 to U+E007E) spell ASCII that only a machine reads; what they
    spell is added in words.
    """
    if not _INVISIBLE.search(text):
        return html.escape(text, quote=True)
    pieces = []
    end = 0
    for match in _INVISIBLE_RUN.finditer(text):
        pieces.append(html.escape(text[end : match.start()], quote=True))
        pieces.append(f'<b class="u">{_shown(match)}</b>')
        spelt = "".join(chr(ord(c) - 0xE0000) for c in match.group() if ord(c) in _TAGS)
        if spelt:
            pieces.append(f'<b class="u">reads “{html.escape(spelt, quote=True)}”</b>')
        end = match.end()
    pieces.append(html.escape(text[end:], quote=True))
    return "".join(pieces)


# --- Markdown

# Hexadecimal entities, since "#64" inside a decimal one looks like a ticket reference.
_ENTITIES = {ord(c): f"&#x{ord(c):X};" for c in "#`*_~[]|\\"} | {
    ord("&"): "&amp;",
    ord("<"): "&lt;",
    ord(">"): "&gt;",
    ord('"'): "&quot;",
    # A forge reads entities as plain characters when it looks for mentions, addresses and
    # formulas; alone in an element the character starts none of them.
    ord("@"): "<span>&#x40;</span>",
    ord("$"): "<span>&#x24;</span>",
}
_BLOCK_START = re.compile(r"(\s*)([-+=]|\d+(?=[.)](?:\s|$)))")

# What a forge links in the finished HTML, except in <code>: mentions, ticket
# numbers, advisories, commit ids, addresses, formulas, emoji names.
_LINKED = re.compile(
    r"@|#\w|[a-z_]\d*-\d|ghsa-|[0-9a-f]{7}|://|www\.|mailto:|xmpp:|\$|:[\w+-]+:", re.IGNORECASE
)
# Addresses are linked by the Markdown parser, which looks for these in the source.
_ADDRESS = re.compile(r"(?<=www)\.|:(?=//)|(?<=mailto):|(?<=xmpp):", re.IGNORECASE)
_SPACE = re.compile(r"(\s+)")


def _entity(match: re.Match[str]) -> str:
    return f"&#x{ord(match.group()):X};"


def _code(word: str) -> str:
    return f"<code>{_ADDRESS.sub(_entity, word.translate(_ENTITIES))}</code>"


def for_markdown(text: str, *, breaks: bool = False) -> str:
    """Text inside a line of Markdown (also a table cell, also inside inline HTML).

    Nothing in it is markup any more, and no forge turns part of it into a mention, a
    reference or a link. A newline becomes ``⏎``, or ``<br>`` with ``breaks``.
    """
    if breaks and "\n" in text:
        return "<br>".join(for_markdown(line) for line in text.split("\n"))
    line = "".join(
        _code(word) if _LINKED.search(word) else word.translate(_ENTITIES)
        for word in _SPACE.split(visible(text, one_line=True))
    )
    start = _BLOCK_START.match(line)
    if start is None:
        return line
    at = start.start(2) if not start.group(2).isdigit() else start.end()
    return f"{line[:at]}&#x{ord(line[at]):X};{line[at + 1 :]}"


def code_markdown(text: str) -> str:
    """A name or a path in ``<code>``, inside a line of Markdown or of HTML."""
    return _code(visible(text, one_line=True))


def fenced(text: str, info: str = "") -> str:
    """A code block, its fence longer than any run of backticks in ``text``.

    ``<!--`` is shown as ``<\\!--``, so that no text can pass for a marker that a job looks
    for in a comment.
    """
    body = visible(text).replace("<!--", "<\\!--")
    longest = max((len(run) for run in re.findall("`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    word = re.sub("[^A-Za-z0-9+-]", "", info)
    return f"{fence}{word}\n{body}{'' if body.endswith(chr(10)) or not body else chr(10)}{fence}"
