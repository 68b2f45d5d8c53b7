"""``encoded-blob``: data a reviewer cannot read, not long names."""

from __future__ import annotations

import base64
import hashlib

import pytest

from memrepo.protocol.policy import Policy, Text
from memrepo.rules.text import scan_document, scan_plain

BYTES = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(20))
BASE64 = base64.b64encode(BYTES).decode()
WRAPPED = "\n".join(BASE64[at : at + 76] for at in range(0, len(BASE64), 76))


def found(text: str, policy: Policy | None = None) -> list[tuple[int, str]]:
    hits = scan_plain(text, policy or Policy(), path="x.md")
    return [(h.offset, h.message) for h in hits if h.code == "encoded-blob"]


@pytest.mark.parametrize(
    ("run", "kind"),
    [
        (BASE64[:256], "base64"),
        (WRAPPED[:400], "base64"),
        (base64.urlsafe_b64encode(BYTES).decode()[:300], "base64"),
        (base64.b64encode(b"Text that was encoded to pass by a reader. " * 6).decode(), "base64"),
        (base64.b32encode(BYTES).decode()[:300], "base32"),
        (BYTES.hex()[:256], "hexadecimal"),
        (BYTES[:90].hex(":"), "hexadecimal"),
        ("".join(f"\\x{b:02x}" for b in BYTES[:64]), "hexadecimal"),
        ("".join(f"%{b:02X}" for b in BYTES[:86]), "percent-encoded"),
    ],
)
def test_long_runs_are_found(run: str, kind: str) -> None:
    assert found(f"see {run} there") == [(4, f"{len(run)} characters of {kind} data")]


@pytest.mark.parametrize(
    "text",
    [
        BASE64[:255],
        BYTES.hex()[:255],
        "".join(f"%{b:02X}" for b in BYTES[:85]),
        "-" * 400,
        "A" * 400,
        "=" * 300,
        "mid-task-while-still-working-" * 12,
        "src/Main/Java/Com/Example/Service/" * 10,
        "WordAfterWordWithoutSpaces" * 12,
        " ".join([BASE64[:200]] * 5),
        "。".join(["这是一个很长的句子"] * 60),
        "https://example.org/" + "a-long-path/of-words/" * 20,
    ],
)
def test_shorter_runs_and_long_names_are_quiet(text: str) -> None:
    assert found(text) == []


def test_the_policy_sets_the_length_and_what_is_allowed() -> None:
    assert found(BASE64[:64], Policy(text=Text(encoded_blob_chars=64)))
    assert found(BASE64[:63], Policy(text=Text(encoded_blob_chars=64))) == []
    assert found(BASE64[:300], Policy(text=Text(allow=(BASE64[:300],)))) == []


def test_a_run_is_found_behind_escapes() -> None:
    value = [{"name": "t", "description": f"\u00e9\n{WRAPPED}", "parameters": {}}]
    data = b'[{"name": "t", "description": "\\u00e9\\n%s", "parameters": {}}]' % (
        WRAPPED.replace("\n", "\\n").encode()
    )
    hits = [h for h in scan_document("tools", data, value, Policy()) if h.code == "encoded-blob"]
    assert [(h.pointer, h.offset) for h in hits] == [("/0/description", 2)]
