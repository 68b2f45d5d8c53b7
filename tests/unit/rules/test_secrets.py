"""``secret``: what is found, what stays quiet, and that no value is ever printed."""

from __future__ import annotations

import base64
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.protocol.policy import Policy, Text
from memrepo.rules import assigned, secrets
from memrepo.rules.gates import ASSIGNED, SECRET, ready, suspect
from memrepo.rules.text import scan_document, scan_plain

# Put together here, so that no scanner of this repository takes them for real ones.
RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6A7b8C9d0E1f2G3h4"
JWT = ".".join(
    base64.urlsafe_b64encode(part).rstrip(b"=").decode()
    for part in (b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"1234567890"}', b"\x01\x02\xff" * 11)
)
KEYS = {
    "GitHub Token": "ghp_" + RANDOM[:36],
    "GitHub Fine-Grained Token": "github_pat_" + RANDOM + RANDOM[:14],
    "AWS Access Key": "AKIA" + "IOSFODNN7EXAMPLE",
    "Slack Token": "xoxb-" + "123456789012-1234567890123-" + RANDOM[:24],
    "Stripe Access Key": "sk_live_" + RANDOM[:24],
    "OpenAI Token": "sk-" + RANDOM[:20] + "T3BlbkFJ" + RANDOM[20:40],
    "OpenAI-style API Key": "sk-proj-" + RANDOM[:48],
    "Anthropic API Key": "sk-ant-" + "api03-" + RANDOM[:60] + "-" + RANDOM[:32] + "AA",
    "Google API Key": "AIza" + RANDOM[:35],
    "Hugging Face Token": "hf_" + RANDOM[:34],
    "npm Token": "npm_" + RANDOM[:36],
    "GitLab Token": "glpat-" + RANDOM[:20],
    "JSON Web Token": JWT,
    "SendGrid API Key": "SG." + RANDOM[:22] + "." + RANDOM[:43],
    "Twilio API Key": "SK" + "0123456789abcdef" * 2,
    "Telegram Bot Token": "123456789:" + RANDOM[:35],
    "Mailchimp Access Key": "0123456789abcdef" * 2 + "-us12",
    "PyPI Token": "pypi-AgEIcHlwaS5vcmc" + RANDOM + RANDOM[:10],
    "Discord Bot Token": "M" + RANDOM[:23] + "." + RANDOM[:6] + "." + RANDOM[:27],
    "Square OAuth Secret": "sq0csp-" + RANDOM[:43],
    "Azure Storage Account access key": "AccountKey=" + RANDOM + RANDOM[:18] + "==",
    "Private Key": "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIE",
    "Encrypted Private Key": "-----BEGIN ENCRYPTED PRIVATE " + "KEY-----\nMIIE",
    "Basic Auth Credentials": "https://ann:" + "tr0ub4dor@db.example.org/",
}

# All of these are ordinary in memory.
QUIET = [
    "…mid-task-while-still-working… on the rest of the list",
    "ask-the-customer-for-confirmation-before-refunding",
    "a task-42-mid-flight-while-still-waiting-for-seats-2024",
    "sk-learn is a library; sk-while-still-working-on-the-long-list-of-things",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "commit e83c5163316f89bfbde7d9ab23ca2e25604af290 of the first tree",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "550e8400-e29b-41d4-a716-446655440000",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "refs/heads/knowledge/wiki-2024-05-20-import-of-all-articles",
    "20240520-153000-agent-with-a-rather-long-name-0001.json",
    "call_oIHazX6yQrB8hUwl4cRilFKj",
    "credit_card_4421486 and certificate_4856383, user mia_li_3668",
    "https://example.org:8080/path/to/page?query=long-words-here&page=12",
    "mailto:ann@example.org and https://example.org/@ann",
    "http://json-schema.org/draft-07/schema#",
    "https://user:password@example.org/ is how such a URL looks",
    "postgres://app:${DB_PASSWORD}@db/app",
    "ghp_" + "x" * 36,
    "AKIA" + "X" * 16,
    "the header says BEGIN PUBLIC KEY and BEGIN CERTIFICATE",
    "look for the words BEGIN RSA PRIVATE KEY in the file",
    "glpat-the-personal-access-token-of-ann",
    "M_this_is_a_dotted_name_of.method.with_a_rather_long_last_part",
    "eyJ is how a base64 object begins: eyJhbGciOiJIUzI1NiJ9.not-json.x",
    "ACCOUNT NUMBERS AND SKILLS",
]

ASSIGNED_FOUND = [
    ("password: hunter2", "hunter2"),
    ("Password = correct7horse", "correct7horse"),
    ("pwd=letmein", "letmein"),
    ("DB_PASSWORD=s3cr3t!", "s3cr3t!"),
    ("my password is hunter2.", "hunter2"),
    ('the password is "swordfish", keep it', "swordfish"),
    ("**Password**: `Tr0ub4dor&3`", "Tr0ub4dor&3"),
    ("passphrase: open5esame", "open5esame"),
    ("password: 123456", "123456"),
    ("my password is 12345678", "12345678"),
    ("password: letmein", "letmein"),
    ("contraseña: hola1234", "hola1234"),
    ("Passwort ist geheim99", "geheim99"),
    ("api_key = 0a1b2c3d4e5f6071", "0a1b2c3d4e5f6071"),
    ("apiKey: 'f00b4r-77aa-1122'", "f00b4r-77aa-1122"),
    ("client secret is 8fj2kd9s0aa1", "8fj2kd9s0aa1"),
    ("access_token=ya29a0AfH6SMB", "ya29a0AfH6SMB"),
    ("token: 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
]
ASSIGNED_QUIET = [
    "Your password is required.",
    "my password is not working",
    "I forgot my password: what can I do?",
    "The password is incorrect, please try again",
    "password: string",
    "password: must have 8 letters",
    "password: 8-20 characters",
    "Password: Reset",
    "password: <your password>",
    "password=${PASSWORD}",
    "password: ********",
    "password: your-password-1",
    "password: https://example.org/reset1",
    "password: changeme",
    "password expires 2024-05-20",
    "token: string",
    "the token is expired",
    "max_tokens: 4096, token_count: 12345678901234567890",
    "next token: 2024-05-20T12:00:00Z",
    "secret: santa",
    "The API key is required for this call",
    "api_key: str",
    "the key: 0a1b2c3d4e5f6071 opens the door",
    "passwords: hunter2",
    "password=parts['password'], token=tokens[12345678]",
    "password = getpass2('name')",
    "password: &lt;string&gt;",
    "&quot;Password is incorrect.&quot;",
]


def codes(text: str, policy: Policy | None = None) -> list[str]:
    found = scan_plain(text, policy or Policy(), path="MEMORY.md")
    return [hit.code for hit in found if hit.code == "secret"]


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_found_where_it_is_and_its_value_never_printed(kind: str) -> None:
    value = KEYS[kind]
    text = f"Use this: {value} for the next call."
    hits = [h for h in scan_plain(text, Policy(), path="x.md") if h.code == "secret"]
    assert len(hits) == 1
    assert kind in hits[0].message
    assert 10 <= hits[0].offset < 10 + len(value)
    for printed in (hits[0].message, hits[0].hint):
        assert not any(value[at : at + 8] in printed for at in range(10, len(value) - 8))


@pytest.mark.parametrize("kind", KEYS)
def test_a_key_is_found_in_a_state_file_under_any_escape(kind: str) -> None:
    turns = [{"role": "user", "content": f"\u00e9 {KEYS[kind]}", "timestamp": "x"}]
    for ensure_ascii in (True, False):
        data = json.dumps(turns, ensure_ascii=ensure_ascii).encode()
        hits = scan_document("context", data, turns, Policy())
        assert [h.pointer for h in hits if h.code == "secret"] == ["/0/content"]


@pytest.mark.parametrize("text", QUIET)
def test_what_is_no_secret_stays_quiet(text: str) -> None:
    assert codes(text) == []
    assert secrets.find(text, frozenset()) == []


@pytest.mark.parametrize(("text", "value"), ASSIGNED_FOUND)
def test_a_name_with_its_value_is_found(text: str, value: str) -> None:
    hits = [h for h in scan_plain(text, Policy(), path="x.md") if h.code == "secret"]
    assert [h.offset for h in hits] == [text.index(value)]
    assert value not in hits[0].message + hits[0].hint


@pytest.mark.parametrize("text", ASSIGNED_QUIET)
def test_prose_about_passwords_stays_quiet(text: str) -> None:
    assert codes(text) == []


def test_a_member_of_an_object_is_a_name_with_its_value() -> None:
    def pointers(parameters: dict[str, object]) -> list[str]:
        tools = [{"name": "t", "description": "", "parameters": parameters}]
        hits = scan_document("tools", json.dumps(tools).encode(), tools, Policy())
        return [h.pointer for h in hits if h.code == "secret"]

    default = {"type": "string", "default": "hunter2"}
    assert pointers({"type": "object", "properties": {"password": default}}) == [
        "/0/parameters/properties/password/default"
    ]
    assert pointers({"type": "object", "x": {"db_password": "swordfish"}}) == [
        "/0/parameters/x/db_password"
    ]
    # The short spelling has a type there, and a schema's own words are no values.
    assert pointers({"password": "string", "api_key": "text"}) == []
    assert pointers({"password": "swordfish"}) == []
    assert pointers({"properties": {"password": {"type": "string", "title": "hunter2"}}}) == []


def test_the_policy_can_allow_a_value() -> None:
    for value in (KEYS["GitHub Token"], KEYS["Basic Auth Credentials"], "hunter2"):
        text = f"password: {value}" if value == "hunter2" else value
        assert codes(text)
        allowed = value if value == "hunter2" or value.startswith("ghp") else "tr0ub4dor"
        assert codes(text, Policy(text=Text(allow=(allowed,)))) == []
        assert codes(text, Policy(text=Text(allow=(allowed[:-1],)))) == ["secret"]


def test_one_place_is_one_finding() -> None:
    assert codes(f"password: {KEYS['GitHub Token']}") == ["secret"]
    assert codes(f"{KEYS['GitHub Token']} {KEYS['Slack Token']}") == ["secret", "secret"]
    assert len(codes(f"{KEYS['GitHub Token']} " * 30)) == 10


def _patterns() -> list[re.Pattern[str]]:
    return [pattern for detector in secrets.detectors() for pattern in detector.patterns]


@pytest.mark.parametrize("at", range(len(_patterns())))
@settings(max_examples=15)
@given(data=st.data())
def test_the_look_ahead_covers_every_pattern(at: int, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(_patterns()[at], fullmatch=False))
    if secrets.find(text, frozenset()):
        assert suspect(text, ready(Text())).flags & SECRET
        assert suspect(f"before\n{text}\nafter", ready(Text())).flags & SECRET


def test_the_library_still_has_every_plugin_that_is_used() -> None:
    assert len(secrets.detectors()) == len(secrets.FORMATS) + len(secrets.FURTHER)
    assert all(detector.patterns for detector in secrets.detectors())


@given(data=st.data())
def test_the_look_ahead_covers_names_with_values(data: st.DataObject) -> None:
    name = data.draw(st.from_regex(f"(?:{assigned._CHOSEN}|{assigned._MADE})", fullmatch=True))
    name = data.draw(st.sampled_from([name, name.upper(), f"my_{name}", f"x-{name.title()}"]))
    text = f"{name}{data.draw(st.sampled_from([': ', '=', ' is ', '=>']))}hunter2hunter2hunter2"
    if assigned.find(text, frozenset()):
        assert suspect(text, ready(Text())).flags & ASSIGNED


def test_a_deeply_nested_token_is_no_traceback() -> None:
    part = base64.urlsafe_b64encode(b'{"a":' + b"[" * 6000).rstrip(b"=").decode()
    assert secrets.find(f"{part}.{part}.x", frozenset()) == []
