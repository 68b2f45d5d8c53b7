from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.catalogue import CATALOGUE
from memrepo.protocol.defaults import default_policy_bytes, default_policy_text
from memrepo.protocol.findings import Finding
from memrepo.protocol.policy import (
    POLICY_PATH,
    Archive,
    History,
    Knowledge,
    Limits,
    Policy,
    Records,
    Text,
    Tools,
)
from memrepo.protocol.policyfile import KEYS, MAX_FINDINGS, Range, parse_policy
from memrepo.protocol.yamltree import MAX_BYTES

DOCS = Path(__file__).parents[3] / "docs"
POLICY_PAGE = (DOCS / "policy.md").read_text(encoding="utf-8")

FIELDS = {
    f"{section}.{field.name}": field
    for section, struct in (
        ("limits", Limits),
        ("history", History),
        ("text", Text),
        ("tools", Tools),
        ("archive", Archive),
        ("knowledge", Knowledge),
        ("records", Records),
    )
    for field in msgspec.structs.fields(struct)
}


@pytest.fixture(params=["libyaml", "pure Python"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML comes with and without libyaml; both must answer alike."""
    if request.param == "pure Python":
        monkeypatch.setattr(yaml, "CSafeLoader", yaml.SafeLoader, raising=False)


def only(data: str) -> Finding:
    policy, findings = parse_policy(data.encode())
    assert isinstance(policy, Policy)
    assert len(findings) == 1, findings
    assert findings[0].severity == "error"
    assert findings[0].path == POLICY_PATH
    return findings[0]


def place(finding: Finding) -> tuple[int, int]:
    return finding.line, finding.column


# --- the default file


def test_default_text_read_as_yaml_is_the_default_policy() -> None:
    # The comment keeps the shortcut for the very bytes of the default from answering.
    assert parse_policy(default_policy_bytes() + b"# mine\n") == (Policy(), [])
    assert parse_policy(default_policy_bytes().replace(b"\n", b"\r\n")) == (Policy(), [])


def test_default_text_writes_out_every_value_and_switchable_code() -> None:
    read = yaml.safe_load(default_policy_text())
    assert read.pop("version") == 1
    assert read.pop("severity") is None
    defaults = msgspec.to_builtins(Policy())
    assert read == {name: defaults[name] for name in KEYS} | {
        "text": {**defaults["text"], "sensitive_words": list(Text().sensitive_words), "allow": []},
        "tools": {"deny": []},
        "knowledge": {"order": [], "rewrite": False},
        "records": {"signers": []},
    }
    lines = re.findall(r"^  # (\S+): (\w+) +# ", default_policy_text(), re.MULTILINE)
    assert lines == [(r.code, r.severity) for r in CATALOGUE.values() if r.switchable]


def test_uncommented_severities_are_the_defaults_too() -> None:
    text = re.sub(r"^  # (\S+: \w+ +#)", r"  \1", default_policy_text(), flags=re.MULTILINE)
    policy, findings = parse_policy(text.encode())
    assert findings == []
    assert policy.severity == {r.code: r.severity for r in CATALOGUE.values() if r.switchable}


@pytest.mark.parametrize("data", [b"", b"\n", b"# nothing\n", b"---\n", b"~\n", b"\xef\xbb\xbf"])
def test_empty_file_is_the_default_policy(data: bytes) -> None:
    assert parse_policy(data) == (Policy(), [])


def test_default_file_needs_no_yaml_reader() -> None:
    code = (
        "import sys; from memrepo.protocol.policyfile import parse_policy;"
        "from memrepo.protocol.defaults import default_policy_bytes;"
        "parse_policy(default_policy_bytes()); print('yaml' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# --- good values


def test_every_key_is_read() -> None:
    policy, findings = parse_policy(
        b"""\
version: 1
limits: {context_turns: 7, file_bytes: 2048, shrink: .25}
history:
  layout: daily
  recommend_daily_at: 9
text:
  sensitive_words: [Geheim, "no", 42, off, Geheim]
  allow: ["a b", AKIAIOSFODNN7EXAMPLE]
  encoded_blob_chars: 64
  sentiment: 1
tools:
  deny:
  - shell_*
  - "[!a]b"
  - "[]]"
archive: {older_than_days: 30, overdue_days: 7, tag_prefix: memory-1}
knowledge:
  order: [wiki, api/v2]
  rewrite: true
records: {signers: [human ann ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1pNwR8V0T4dE8zqFqRj5lF3b0VtJ8e]}
severity:
  secret: off
  "format": "warning"
"""
    )
    assert findings == []
    assert policy == Policy(
        limits=Limits(7, 2048, 0.25),
        history=History("daily", 9),
        text=Text(("Geheim", "no", "42", "off"), ("a b", "AKIAIOSFODNN7EXAMPLE"), 64, 1.0),
        tools=Tools(("shell_*", "[!a]b", "[]]")),
        archive=Archive(30, 7, "memory-1"),
        knowledge=Knowledge(("wiki", "api/v2"), rewrite=True),
        records=Records(
            ("human ann ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1pNwR8V0T4dE8zqFqRj5lF3b0VtJ8e",)
        ),
        severity={"secret": "off", "format": "warning"},
    )


def test_left_out_sections_and_keys_keep_their_defaults() -> None:
    policy, findings = parse_policy(b"limits:\n  context_turns: 7\ntext:\n")
    assert findings == []
    assert policy == Policy(limits=Limits(context_turns=7))


@pytest.mark.parametrize(
    ("section", "key"),
    [(s, k) for s, keys in KEYS.items() for k, v in keys.items() if isinstance(v, Range)],
)
def test_both_ends_of_a_range_are_in_it(section: str, key: str) -> None:
    within: Any = KEYS[section][key]
    for value in (within.low, within.high):
        policy, findings = parse_policy(f"{section}: {{{key}: {value}}}".encode())
        assert findings == []
        assert getattr(getattr(policy, section), key) == value
    for value in (within.low - 1, within.high + 1):
        finding = only(f"{section}: {{{key}: {value}}}")
        assert (finding.code, finding.pointer) == ("policy-value", f"/{section}/{key}")


# --- bad values: code, place, pointer, words


@pytest.mark.parametrize(
    ("text", "at", "pointer", "hint"),
    [
        ("limits:\n  context_turn: 3\n", (2, 3), "/limits/context_turn", "`context_turns`?"),
        ("limits:\n  context-turns: 3\n", (2, 3), "/limits/context-turns", "`context_turns`?"),
        ("limit: {}\n", (1, 1), "/limit", "`limits`?"),
        ("context_turns: 3\n", (1, 1), "/context_turns", "under `limits:`"),
        ("text: {deny: [x]}\n", (1, 8), "/text/deny", "under `tools:`"),
        ("tools: {zzz: 1}\n", (1, 9), "/tools/zzz", "Known here: deny."),
        ('"a/b~\\n": 1\n', (1, 1), "/a~1b~0\n", "Known here: version"),
    ],
)
def test_unknown_key(text: str, at: tuple[int, int], pointer: str, hint: str) -> None:
    finding = only(text)
    assert finding.code == "policy-unknown-key"
    assert place(finding) == at
    assert finding.pointer == pointer
    assert hint in finding.hint
    assert "\n" not in finding.message


@pytest.mark.parametrize(
    ("text", "at", "pointer", "words"),
    [
        ("version: 2\n", (1, 10), "/version", "version 1"),
        ('version: "1"\n', (1, 10), "/version", "version 1"),
        ("limits: 3\n", (1, 9), "/limits", "keys and values"),
        ("[]\n", (1, 1), "", "keys and values"),
        ("word\n", (1, 1), "", "keys and values"),
        ('limits:\n  context_turns: "50"\n', (2, 18), "/limits/context_turns", "whole number"),
        ("limits: {context_turns: 5.5}\n", (1, 25), "/limits/context_turns", "whole number"),
        ("limits: {context_turns: 010}\n", (1, 25), "/limits/context_turns", "whole number"),
        ("limits: {context_turns: [5]}\n", (1, 25), "/limits/context_turns", "whole number"),
        ("limits: {context_turns: ~}\n", (1, 25), "/limits/context_turns", "whole number"),
        (f"limits: {{file_bytes: {'9' * 5000}}}\n", (1, 22), "/limits/file_bytes", "104,857,600"),
        ("limits: {shrink: .nan}\n", (1, 18), "/limits/shrink", "from 0 to 1"),
        ("history: {layout: weekly}\n", (1, 19), "/history/layout", "flat or daily"),
        ("text: {allow: x}\n", (1, 15), "/text/allow", "a list"),
        ("text: {allow: [x, {}]}\n", (1, 19), "/text/allow/1", "Entry 2"),
        ("text: {allow: [~]}\n", (1, 16), "/text/allow/0", "must be a text"),
        ('text: {allow: [" "]}\n', (1, 16), "/text/allow/0", "is empty"),
        ('text: {sensitive_words: ["-"]}\n', (1, 26), "/text/sensitive_words/0", "no letter"),
        ('tools: {deny: ["a[b"]}\n', (1, 16), "/tools/deny/0", "without its `]`"),
        ('tools: {deny: ["a[!]"]}\n', (1, 16), "/tools/deny/0", "without its `]`"),
        ("tools: {deny: [a b]}\n", (1, 16), "/tools/deny/0", "space"),
        ("archive: {tag_prefix: Old Ones}\n", (1, 23), "/archive/tag_prefix", "small letters"),
        ("archive: {tag_prefix: [x]}\n", (1, 23), "/archive/tag_prefix", "small letters"),
        ("knowledge: {order: [-x]}\n", (1, 21), "/knowledge/order/0", "no source"),
        ("knowledge: {rewrite: maybe}\n", (1, 22), "/knowledge/rewrite", "true or false"),
        ("records: {signers: [human ann]}\n", (1, 21), "/records/signers/0", "no signer"),
        ("severity: [secret]\n", (1, 11), "/severity", "keys and values"),
        ("severity: {secrets: off}\n", (1, 12), "/severity/secrets", "no finding 'secrets'"),
        ("severity: {secret: low}\n", (1, 20), "/severity/secret", "note or off"),
        ("severity: {json-syntax: off}\n", (1, 12), "/severity/json-syntax", "always an error"),
        ("severity: {policy-changed: off}\n", (1, 12), "/severity/policy-changed", "a warning"),
    ],
)
def test_bad_value(text: str, at: tuple[int, int], pointer: str, words: str) -> None:
    finding = only(text)
    assert finding.code == "policy-value"
    assert place(finding) == at
    assert finding.pointer == pointer
    assert words in finding.message
    assert finding.hint
    policy, _ = parse_policy(text.encode())
    assert policy in (Policy(), Policy(text=Text(allow=("x",))))


def test_reason_is_given_for_a_code_that_cannot_be_switched() -> None:
    finding = only("severity: {duplicate-key: note}\n")
    assert CATALOGUE["duplicate-key"].reason in finding.message


def test_bad_entry_leaves_the_others() -> None:
    policy, findings = parse_policy(b"tools: {deny: [good, 'b[', also]}")
    assert policy.tools.deny == ("good", "also")
    assert [f.pointer for f in findings] == ["/tools/deny/1"]


@pytest.mark.parametrize(
    ("data", "at", "words"),
    [
        (b"a: [\n", (2, 1), ""),
        (b"limits: {}\nlimits: {}\n", (2, 1), "key of line 1 is given again"),
        (b'severity:\n  secret: off\n  "secret": note\n', (3, 3), "given again"),
        (b"limits: &a {}\n", (1, 9), "anchor"),
        (b"limits: &a {}\ntext: *a\n", (1, 9), "anchor"),
        (b"limits: *a\n", (1, 9), "alias"),
        (b"limits: !!python/object/apply:os.system [x]\n", (1, 9), "tag"),
        (b"limits: !!int 5\n", (1, 9), "tag"),
        (b"? [a]\n: b\n", (1, 3), "a key must be a word"),
        (b"a: 1\n---\nb: 1\n", (2, 1), "second document"),
        (b"limits: {}\nx: \xff\n", (2, 4), "not UTF-8"),
        ("# ä\nx: \0\n".encode(), (2, 4), "U+0000"),
        (b"[" * 50, (1, 18), "nested deeper"),
        (b"a: 1\n" + b" " * MAX_BYTES, (0, 0), "65,536"),
    ],
)
def test_bad_syntax(data: bytes, at: tuple[int, int], words: str) -> None:
    policy, findings = parse_policy(data)
    assert policy == Policy()
    (finding,) = findings
    assert finding.code == "policy-syntax"
    assert place(finding) == at
    assert words in finding.message
    assert "default policy holds" in finding.hint


def test_unprintable_and_long_names_are_shown_short_and_visible() -> None:
    finding = only(f'"\\u202e{"x" * 500}": 1\n')
    assert "\\u202e" in finding.message
    assert len(finding.message) < 200


def test_many_mistakes_are_cut() -> None:
    lines = b"".join(b"contexd_turnz%d: 1\n" % n for n in range(3000))
    policy, findings = parse_policy(lines)
    assert len(findings) == MAX_FINDINGS + 1
    assert "more mistakes" in findings[-1].message
    assert policy == Policy()


# --- whatever the bytes


KEY_WORDS = sorted({"version", "severity", *KEYS, *(k for keys in KEYS.values() for k in keys)})
PIECES = st.sampled_from(
    [
        *KEY_WORDS,
        *CATALOGUE,
        *(
            ": ",
            "\n",
            "  ",
            "- ",
            "[",
            "]",
            "{",
            "}",
            ", ",
            "&a ",
            "*a",
            "!!int ",
            "? ",
            "| ",
            "> ",
        ),
        *('"', "'", "#", "%YAML 9999999999.1\n", "---\n", "...\n", "\t", "off", "~", "1e999"),
        *('"\\UFFFFFFFF"', '"\\ud800"', "0x1F", "-1", "<<", "\u2028", "\x85", "\ufeff"),
    ]
)


@given(data=st.binary(max_size=200) | st.lists(PIECES, max_size=40).map("".join).map(str.encode))
def test_never_raises(data: bytes) -> None:
    policy, findings = parse_policy(data)
    check_sound(policy, findings)


@given(
    start=st.integers(0, len(default_policy_bytes())),
    length=st.integers(0, 40),
    new=st.binary(max_size=10),
)
def test_never_raises_on_a_damaged_file(start: int, length: int, new: bytes) -> None:
    data = default_policy_bytes()
    policy, findings = parse_policy(data[:start] + new + data[start + length :])
    check_sound(policy, findings)


def check_sound(policy: Policy, findings: list[Finding]) -> None:
    """A policy is always usable, and findings are placed and of the policy's codes."""
    assert msgspec.convert(msgspec.to_builtins(policy), Policy) == policy
    assert all(CATALOGUE[code].switchable for code in policy.severity)
    for name, field in FIELDS.items():
        section, _, key = name.partition(".")
        within = KEYS[section][key]
        value = getattr(getattr(policy, section), key)
        assert not isinstance(within, Range) or within.low <= value <= within.high, field.name
    for finding in findings:
        assert CATALOGUE[finding.code].group == "policy"
        assert finding.message
        finding.message.encode()
        (finding.hint + finding.path).encode()


# --- the page


def test_page_documents_every_key_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([a-z_.]+)` \| (\S.*?) \|", POLICY_PAGE, re.MULTILINE))
    assert set(rows) == {"version", "severity", *FIELDS}
    for name, field in FIELDS.items():
        text = rows[name].strip("`")
        assert yaml.safe_load(text) == msgspec.to_builtins(field.default, enc_hook=list) or (
            tuple(yaml.safe_load(text)) == field.default
        ), name


def test_page_documents_every_range() -> None:
    for section, keys in KEYS.items():
        for key, within in keys.items():
            if isinstance(within, Range):
                shown = f"| {within.low:,} to {within.high:,} |"
                (row,) = re.findall(rf"^\| `{section}\.{key}` .*$", POLICY_PAGE, re.MULTILINE)
                assert shown in row


def test_every_policy_shown_on_the_page_is_a_good_one() -> None:
    shown = re.findall(r"^```yaml\n(.*?)^```$", POLICY_PAGE, re.MULTILINE | re.DOTALL)
    assert len(shown) == 3
    for text in shown:
        assert parse_policy(text.encode())[1] == []
    assert shown[-1] == default_policy_text()


def test_keys_are_exactly_the_fields_of_the_policy() -> None:
    assert {f"{s}.{k}" for s, keys in KEYS.items() for k in keys} == set(FIELDS)
    assert {f.name for f in msgspec.structs.fields(Policy)} == {"version", "severity", *KEYS}
