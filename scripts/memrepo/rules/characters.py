"""Characters that nobody sees, and how to show them."""

from __future__ import annotations

import re
import unicodedata

#: Inside a regular expression class: everything that leaves no mark on a screen. These are
#: Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties), the bidirectional
#: controls (UAX #9), the line and paragraph separators and the interlinear marks.
_FORMAT = (
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f"
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb"
    "\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff"
)

#: C0 and C1 controls but for the newline and the tab, and the noncharacters.
_CONTROL = "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\ufdd0-\\ufdef\\ufffe\\uffff" + "".join(
    f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(1, 17)
)

#: One format character; what :func:`memrepo.rules.fold.fold` leaves out.
FORMAT = re.compile(f"[{_FORMAT}]")

#: A run of characters that nobody sees.
INVISIBLE = re.compile(f"[{_FORMAT}{_CONTROL}]+")


class _Hidden(dict[str, bool]):
    """Whether nobody sees a character, filled as characters are met."""

    def __missing__(self, char: str) -> bool:
        hidden = INVISIBLE.match(char) is not None
        self[char] = hidden
        return hidden


_HIDDEN = _Hidden()


def has_invisible(text: str) -> bool:
    """Whether :data:`INVISIBLE` matches in the text (faster on long text)."""
    return any(map(_HIDDEN.__getitem__, set(text)))


#: Names that ``unicodedata`` does not have: it knows none of the controls.
_NAMES = {
    0x00: "NULL",
    0x07: "BELL",
    0x08: "BACKSPACE",
    0x0B: "LINE TABULATION",
    0x0C: "FORM FEED",
    0x0D: "CARRIAGE RETURN",
    0x1B: "ESCAPE",
    0x7F: "DELETE",
    0x85: "NEXT LINE",
}


def described(char: str) -> str:
    """``U+200B ZERO WIDTH SPACE``: the code point and, where there is one, the name."""
    code = ord(char)
    name = unicodedata.name(char, "") or _NAMES.get(code, "")
    if not name:
        name = "CONTROL" if unicodedata.category(char) == "Cc" else "UNASSIGNED"
    return f"U+{code:04X} {name}"


def shown(text: str, limit: int = 60) -> str:
    """``text`` on one line for a message: what nobody sees as U+XXXX, cut to ``limit``."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    line = " ".join(cut.split())
    return INVISIBLE.sub(lambda m: "".join(f"<U+{ord(c):04X}>" for c in m.group()), line)
