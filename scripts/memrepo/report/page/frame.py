"""The document around the page's parts: style, script, and a policy that allows no request."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from pathlib import Path

from memrepo.report.escape import for_html


@cache
def _asset(name: str) -> tuple[str, str]:
    """One of the files beside this module: its text, and its hash for the CSP."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return text, f"'sha256-{digest}'"


def document(title: str, body: str) -> str:
    """A whole HTML document; ``title`` is raw text, ``body`` finished HTML.

    The Content Security Policy allows exactly this style and this script, so nothing can
    be fetched and nothing else can run even if an escape were missing.
    """
    style, style_hash = _asset("style.css")
    script, script_hash = _asset("page.js")
    policy = (
        f"default-src 'none'; style-src {style_hash}; script-src {script_hash}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        '<meta name="referrer" content="no-referrer">'
        f'<link rel="icon" href="data:,"><title>{for_html(title)}</title>'
        f"<style>{style}</style></head><body>{body}<script>{script}</script></body></html>\n"
    )
