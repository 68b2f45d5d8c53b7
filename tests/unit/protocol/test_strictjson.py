from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.protocol.strictjson import read

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_reads_what_the_standard_library_reads(value: object, indent: object, plain: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)  # type: ignore[arg-type]
    document = read(text)
    assert document.readable
    assert document.value == json.loads(text)
    assert not [p for p in document.problems if p.code != "encoding"]


@given(st.text())
def test_never_raises_and_agrees_on_what_is_json(text: str) -> None:
    document = read(text)
    try:
        value = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    except (ValueError, RecursionError):
        assert document.problems
    except pytest.fail.Exception:
        assert "non-finite-number" in {p.code for p in document.problems}
    else:
        assert document.readable or {p.code for p in document.problems} <= {"depth", "json-syntax"}
        if document.readable and not document.problems:
            assert document.value == value


@given(st.binary())
def test_never_raises_on_bytes(data: bytes) -> None:
    for problem in read(data.decode("utf-8", "replace")).problems:
        assert problem.offset >= 0


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("", "json-syntax", 1, 1),
        ("[1,]", "json-syntax", 1, 3),
        ('{\n  "a": 1\n  "b": 2\n}', "json-syntax", 3, 3),
        ('{"a": 1,\n "a": 2}', "duplicate-key", 2, 2),
        ("[1, NaN]", "non-finite-number", 1, 5),
        ("[-Infinity]", "non-finite-number", 1, 2),
        ("[1e999]", "non-finite-number", 1, 2),
        ('["\\ud800"]', "encoding", 1, 2),
        ('["a\tb"]', "json-syntax", 1, 4),
        ('["\\x"]', "json-syntax", 1, 3),
        ("[" * 65 + "]" * 65, "depth", 1, 65),
        ("[1] 2", "json-syntax", 1, 5),
        ("[" + "1" * 5000 + "]", "json-syntax", 1, 2),
        ("{'a': 1}", "json-syntax", 1, 2),
        ("[01]", "json-syntax", 1, 3),
        ("[1.]", "json-syntax", 1, 3),
    ],
)
def test_says_what_is_wrong_and_where(text: str, code: str, line: int, column: int) -> None:
    document = read(text)
    assert [(p.code, *document.place(p.offset)) for p in document.problems] == [
        (code, line, column)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 64 + "]" * 64,
        '["\\ud83d\\ude00"]',
        '{"a": {"a": 1}}',
        "[1e308, -0.0, 1E5]",
        " [\r\n] ",
    ],
)
def test_accepts_the_nearest_good_input(text: str) -> None:
    assert not read(text).problems


def test_finds_the_place_of_a_pointer() -> None:
    text = '{\n  "a/b": [\n    10,\n    {"c~d": "x"}\n  ]\n}\n'
    document = read(text)
    assert document.find("/a~1b/1/c~0d") == (4, 13)
    assert document.find("/a~1b/1/c~0d", key=True) == (4, 6)
    assert document.find("/a~1b/9/zzz") == (2, 10), "the nearest parent that is there"


def test_a_long_string_costs_one_pass() -> None:
    text = '["' + "a" * 3_000_000 + '", "' + "\\n" * 500_000 + '"]'
    document = read(text)
    assert document.readable
    assert len(document.value[1]) == 500_000


def test_numbers_keep_their_kind() -> None:
    value = read("[1, 1.0, 10000000000000000000000, 1e2]").value
    assert [type(v) for v in value] == [int, float, int, float]
    assert math.isclose(value[3], 100)
