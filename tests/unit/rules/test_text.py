"""The rules over whole files: places, the look ahead, hostile text, real memory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.documents import AgentState, Metadata, Tool, Turn
from memrepo.protocol.policy import Policy, Text
from memrepo.rules.text import scan_document, scan_plain, scan_unfiltered

HERE = Path(__file__)
SAMPLE = HERE.parents[2] / "data"
LARGE = Path(os.environ.get("MEMREPO_REAL_DATA") or HERE.parents[3].parent / "shared" / "data")
FOLDERS = [SAMPLE, *([LARGE] if LARGE.is_dir() else [])]

WHEN = "2026-03-01T12:00:00Z"
NUMBER = "4111 1111 1111 1111"


def places(kind: str, value: Any, policy: Policy | None = None) -> list[tuple[str, str, int]]:
    data = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=2).encode()
    hits = scan_document(kind, data, value, policy or Policy())
    return [(h.code, h.pointer, h.offset) for h in hits]


def test_every_string_of_a_document_counts() -> None:
    tool: dict[str, Any] = {
        "name": "token",
        "description": "the ssn",
        "parameters": {
            "properties": {
                "a/b~c": {"description": f"pay {NUMBER}", "enum": ["x", "my token"]},
                "token": {"default": "a\u200bb"},
            }
        },
    }
    card = ("personal-data", "/0/parameters/properties/a~1b~0c/description", 4)
    expected = [
        ("sensitive-word", "/0/name", 0),
        ("sensitive-word", "/0/description", 4),
        card,
        ("sensitive-word", "/0/parameters/properties/a~1b~0c/enum/1", 3),
        ("sensitive-word", "/0/parameters/properties/token", -1),
        ("hidden-text", "/0/parameters/properties/token/default", 1),
    ]
    assert places("tools", [tool]) == expected
    assert places("tools", [Tool(**tool)]) == expected


def test_turns_and_metadata_and_snapshots() -> None:
    turns = [Turn("user", "ok", WHEN), Turn("assistant", "a token", WHEN)]
    metadata = Metadata("my-token", "1.0.0", WHEN)
    assert places("context", turns) == [("sensitive-word", "/1/content", 2)]
    assert places("context", msgspec.to_builtins(turns)) == [("sensitive-word", "/1/content", 2)]
    assert places("metadata", metadata) == [("sensitive-word", "/agent_id", 3)]
    state = AgentState(turns, [Tool("t", "ssn", {})], metadata)
    expected = [
        ("sensitive-word", "/context/1/content", 2),
        ("sensitive-word", "/tools/0/description", 0),
        ("sensitive-word", "/metadata/agent_id", 3),
    ]
    assert places("snapshot", state) == expected
    assert places("snapshot", msgspec.to_builtins(state)) == expected
    assert places("context", [Turn("user", "ok", "the token")]) == [
        ("sensitive-word", "/0/timestamp", 4)
    ]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("\\u0074oken", "token"),
        ("a\\ntoken", "a\ntoken"),
        ("a\\\\ntoken", "a\\ntoken"),
        ('\\"token\\"', '"token"'),
        ("\\ttoken\\/", "\ttoken/"),
        ("\\u00e9 token", "\u00e9 token"),
    ],
)
def test_no_escape_hides_a_word(written: str, text: str) -> None:
    data = f'[{{"name": "{written}", "description": "", "parameters": {{}}}}]'.encode()
    value = json.loads(data)
    assert value[0]["name"] == text
    hits = scan_document("tools", data, value, Policy())
    whole = text != "a\\ntoken"
    assert [h.code for h in hits] == (["sensitive-word"] if whole else [])
    assert hits == scan_unfiltered("tools", value, Policy())


def test_a_code_that_is_off_is_left_out() -> None:
    text = f"the token\u200b {NUMBER}"
    assert len(scan_plain(text, Policy(), path="x")) == 3
    for code in ("sensitive-word", "hidden-text", "personal-data"):
        hits = scan_plain(text, Policy(severity={code: "off"}), path="x")
        assert len(hits) == 2
        assert code not in {h.code for h in hits}
        assert len(scan_plain(text, Policy(severity={code: "note"}), path="x")) == 3


# Pieces that lead rules astray: needles, halves of needles, characters that fold into them.
_PIECES = st.one_of(
    st.sampled_from(
        [
            *("password", "token", "ssn", "PASS", "word", "ﬁ", "ſsn", "to\u212aen", "ｔｏｋｅｎ"),
            *(
                "\u200b",
                "\u00ad",
                "\u202e",
                "\u0301",
                "\x00",
                "\x7f",
                "\r",
                "👩\u200d💻",
                "…",
                "“",
                "é",
            ),
            *(": ", "=", " is ", "hunter2", '"', "\\", "\\n", "\n", "\t", " ", "-", "_"),
            *("ignore", "all", "previous", "instructions", "<|", "im_start", "|>", "[INST]"),
            *("you must now", "忽略", "之前的指令", "do not tell", "the user"),
            *("4111", "1111", "123-45-", "6789", "0000", "%41", "deadbeef0123"),
            *("AKIA", "IOSFODNN7EXAMPLE", "ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "eyJ"),
            *("sk-", "https://", "ann:tr0ub4dor@", "BEGIN RSA PRIVATE KEY", "-----"),
            "additionalProperties",
        ]
    ),
    st.text(max_size=8),
)
_TEXTS = st.lists(_PIECES, max_size=12).map("".join)
_POLICIES = st.sampled_from(
    [
        Policy(),
        Policy(
            text=Text(sensitive_words=("password", "naïve", "密", "c++"), encoded_blob_chars=24)
        ),
        Policy(text=Text(sensitive_words=(), allow=("hunter2",), sentiment=0.2)),
    ]
)
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), _TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(_TEXTS, inner, max_size=4)
    ),
    max_leaves=8,
)


@given(
    _JSON, _POLICIES, st.booleans(), st.sampled_from(["context", "tools", "metadata", "snapshot"])
)
def test_the_look_ahead_changes_no_answer(
    value: Any, policy: Policy, ascii_only: bool, kind: str
) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only, indent=2).encode("utf-8", "surrogatepass")
    assert scan_document(kind, data, value, policy) == scan_unfiltered(kind, value, policy)


@given(st.lists(_TEXTS, min_size=1, max_size=4), _POLICIES)
def test_the_look_ahead_changes_no_answer_about_turns(texts: list[str], policy: Policy) -> None:
    turns = [Turn("assistant", text, WHEN) for text in texts]
    data = msgspec.json.encode([{"content": "not looked at"}])
    assert scan_document("context", data, turns, policy) == scan_unfiltered(
        "context", turns, policy
    )


@given(_TEXTS, _POLICIES)
def test_places_lie_inside_the_text(text: str, policy: Policy) -> None:
    for hit in scan_plain(text, policy, path="x.md"):
        assert 0 <= hit.offset < len(text)
        assert "\n" not in hit.message


@given(st.binary(max_size=60), _JSON)
def test_bytes_that_do_not_fit_the_value_are_no_traceback(data: bytes, value: Any) -> None:
    for kind in ("context", "tools", "metadata", "snapshot"):
        assert isinstance(scan_document(kind, data, value, Policy()), list)


def test_deep_nesting_is_no_traceback() -> None:
    value: Any = "the token"
    for _ in range(5_000):
        value = [value]
    hits = scan_document("tools", b"the token \\u0020", value, Policy())
    assert [h.code for h in hits] == ["sensitive-word"]


# A megabyte of each would take minutes if any rule took more than linear time.
_HOSTILE = [
    *("a", "A1b2", "%41", "\\x41", "41:", "=", "-", "!", " ", "\r", "\n"),
    *("sk-", "task-", "=eyJ", "eyJhIjoxfQ.", "xoxb-1-", "://", "://a:", "glagent-", "aws key '"),
    *("AKIA", "ghp_", "-----BEGIN ", "a1B2c3D4e5F6g7H8i9J0k1L2m3."),
    *("password ", "password=", "password: ", "token is "),
    *("ignore ", "ignore all previous ", "do not tell ", "send keys to ", "read ~", "\nhuman:"),
    *("<|a", "you are now the ", "忽略"),
    *("4 ", "4-", "4111 ", "123-45-", "ssn "),
    *("\u200b", "a\u200d", "é\u200b", "\U000e0041", "\ufe0f", "👩\u200d", "ﬁ"),
    *("but ", "no bad ", "not good ", "hate "),
]


@pytest.mark.parametrize("piece", _HOSTILE)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    hits = scan_unfiltered("context", [Turn("assistant", text, WHEN)], Policy())
    assert len(hits) <= 80


def _real_documents(folder: Path) -> list[tuple[str, str, Any]]:
    documents: list[tuple[str, str, Any]] = []
    for line in (folder / "airline-conversations.jsonl").read_text("utf-8").splitlines():
        run = json.loads(line)
        turns = []
        for message in run["messages"]:
            content = message.get("content") or json.dumps(message.get("tool_calls") or "")
            role = "user" if message["role"] == "user" else "assistant"
            turns.append(Turn(role, content, WHEN))  # type: ignore[arg-type]
        documents.append((f"conversation {len(documents)}", "context", turns))
    for path in sorted([*folder.glob("*-tools.json"), *folder.glob("tool-versions/*.json")]):
        tools = msgspec.json.decode(path.read_bytes(), type=list[Tool])
        documents.append((path.name, "tools", tools))
    return documents


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_real_memory_is_quiet(folder: Path) -> None:
    documents = _real_documents(folder)
    assert len(documents) > 5
    noise = []
    for name, kind, value in documents:
        data = json.dumps(msgspec.to_builtins(value), indent=2).encode()
        hits = scan_document(kind, data, value, Policy())
        assert hits == scan_unfiltered(kind, value, Policy())
        noise += [(name, h.code, h.pointer) for h in hits if h.code != "sentiment"]
    assert noise == []
