from __future__ import annotations

import hashlib
from typing import Any

import pytest

from memrepo.protocol.record import CodeRef
from memrepo.recordrules.coderefs import blobs_seen, code_states, factor, find_line, parse_ref
from recordfiles import a_record

POOL = "import os\n\nMAX = 20  # above it deadlocks\n\nprint(MAX)\n"


class Tree:
    """A checkout made of texts: ``old`` are texts that were seen once."""

    def __init__(self, files: dict[str, str], old: tuple[str, ...] = ()) -> None:
        self.files = files
        self.texts = {blob(text): text for text in (*files.values(), *old)}

    def blob_of(self, _branch: str, path: str) -> str | None:
        return blob(self.files[path]) if path in self.files else None

    def text(self, blob: str) -> str | None:
        return self.texts.get(blob)

    def places_of(self, _branch: str, blob_id: str) -> list[str]:
        return [path for path, text in self.files.items() if blob(text) == blob_id]

    def named(self, _branch: str, name: str) -> list[str]:
        return [path for path in self.files if path.rpartition("/")[2] == name]


def blob(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def state(ref: str, now: dict[str, str], seen: str | None = POOL, known: bool = True) -> Any:
    record = a_record(code_refs=[ref])
    parsed = parse_ref(ref)
    if seen is not None and parsed:
        record.attributes["code_blobs"] = {parsed.path: blob(seen)}
    found = code_states(record, Tree(now, (seen,) if seen and known else ()))
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("src/pool.py:20", CodeRef("src/pool.py", 20)),
        ("src/pool.py:20-30", CodeRef("src/pool.py", 20)),
        ("src/pool.py", CodeRef("src/pool.py")),
        ("Makefile", CodeRef("Makefile")),
        ("/etc/passwd", None),
        ("../other/a.py:1", None),
        (".git/config", None),
        ("a//b", None),
        ("a b.py", None),
        ("a.py:0", None),
        ("~/x", None),
        ("https://example.com/x", None),
    ],
)
def test_what_a_reference_names(text: str, ref: CodeRef | None) -> None:
    assert parse_ref(text) == ref


@pytest.mark.parametrize(
    ("now", "expected", "place"),
    [
        ({"a.py": POOL}, "valid", ""),
        ({"a.py": POOL.replace("import os", "import sys")}, "valid", ""),
        ({"a.py": f"# new\n{POOL}"}, "moved", "a.py:4"),
        ({"a.py": POOL.replace("20", "30")}, "changed", ""),
        ({"a.py": ""}, "changed", ""),
        ({"lib/b.py": POOL}, "moved", "lib/b.py:3"),
        ({"lib/a.py": f"# new\n{POOL}"}, "moved", "lib/a.py:4"),
        ({"lib/a.py": "other"}, "missing", ""),
        ({}, "missing", ""),
    ],
)
def test_a_line_that_was_seen(now: dict[str, str], expected: str, place: str) -> None:
    found = state("a.py:3", now)
    assert (found.state, found.now) == (expected, place)


def test_a_whole_file_that_was_seen() -> None:
    assert state("a.py", {"a.py": POOL}).state == "valid"
    assert state("a.py", {"a.py": f"{POOL}\n"}).state == "changed"
    assert state("a.py", {"b.py": POOL}).now == "b.py"


def test_what_was_not_seen_cannot_be_compared() -> None:
    assert state("a.py:3", {"a.py": POOL}, seen=None).state == "unverifiable"
    assert state("a.py:3", {}, seen=None).state == "missing"
    assert state("Pool", {}, seen=None).state == "unverifiable"
    assert state("Pool.acquire", {}, seen=None).state == "unverifiable"
    assert state("src/pool.py", {}, seen=None).state == "missing"
    assert state("the pool", {}).state == "unverifiable"


def test_a_blob_that_is_not_there_any_more_counts_as_changed() -> None:
    assert state("a.py:3", {"a.py": f"# new\n{POOL}"}, known=False).state == "changed"


def test_without_a_checkout_nothing_can_be_said() -> None:
    record = a_record(code_refs=["a.py:3"])
    assert code_states(record, None)[0].state == "unverifiable"
    assert code_states(record, None, why="other code")[0].why == "other code"


def test_a_hostile_list_of_blobs_is_no_list() -> None:
    record = a_record(code_refs=["a.py:3"])
    for wrong in ("x", ["a.py"], {"a.py": 7}, {"a.py": "../../x"}, {"a.py": "A" * 40}):
        record.attributes["code_blobs"] = wrong
        assert code_states(record, Tree({"a.py": POOL}))[0].state == "unverifiable"


@pytest.mark.parametrize(
    ("before", "after", "line", "now"),
    [
        ("a\nb\nc", "a\nb\nc", 2, 2),
        ("a\n}\nc", "x\n}\ny", 2, None),
        ("a\n}\nc\na\n}\nc", "x\na\n}\nc\na\n}\nc", 2, 3),
        ("one\nunique_words\ntwo", "x\nunique_words\ny", 2, 2),
        ("unique_words\nunique_words", "x\nunique_words", 2, None),
        ("a", "a", 9, None),
        ("a  \nb", "a\r\nb", 1, 1),
    ],
)
def test_where_a_line_went(before: str, after: str, line: int, now: int | None) -> None:
    assert find_line(before, after, line) == now


def test_the_worst_reference_counts() -> None:
    record = a_record(code_refs=["a.py:3", "b.py:1"])
    record.attributes["code_blobs"] = {"a.py": blob(POOL), "b.py": blob("gone")}
    assert factor(code_states(record, Tree({"a.py": POOL}))) == 0.25
    assert factor(()) == 1


def test_the_blobs_that_a_writer_saw() -> None:
    seen = blobs_seen(["a.py:3", "a.py", "b.py", "../x"], Tree({"a.py": POOL}), "")
    assert seen == {"a.py": blob(POOL)}
