"""Words about text that a person wrote and nobody knows: shown safely, with what was meant."""

from __future__ import annotations


def shown(text: str) -> str:
    """Untrusted text for a message: short, and with nothing in it that acts."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")


def closest(word: str, known: tuple[str, ...]) -> str:
    """``Did you mean `x`?`` for the nearest of ``known``, or "" when none is near."""
    import difflib

    for spelt in (word[:60].lower().replace("-", "_"), word[:60].lower()):
        found = difflib.get_close_matches(spelt, known, n=1)
        if found:
            return f"Did you mean `{found[0]}`?"
    return ""


def one_of(words: tuple[str, ...]) -> str:
    """``a, b or c``."""
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
