"""What a person finds in a file with conflicts: all three values, where they stand."""

from __future__ import annotations

import json

import pytest
import yaml

from memrepo.semmerge.generic import merge_generic
from memrepo.semmerge.generic_markers import marked
from memrepo.semmerge.resolve import decide
from memrepo.semmerge.values import Labels

LABELS = Labels("main", "knowledge/wiki")


def shown(path: str, base: str, ours: str, theirs: str) -> list[str]:
    """The lines of the file that the driver leaves."""
    sides = (base.encode(), ours.encode(), theirs.encode())
    conflicts = merge_generic(path, *sides, LABELS).conflicts
    choices = [decide(conflict, "ours") for conflict in conflicts]
    joined = merge_generic(path, *sides, LABELS, choices).data
    assert joined is not None
    lines = marked(joined, conflicts, LABELS).decode().splitlines()
    assert lines.pop().startswith("<<<<<<< memrepo: ")
    for read in (json.loads, yaml.safe_load):
        with pytest.raises((ValueError, yaml.YAMLError)):
            read("\n".join(lines))
    return lines


def test_each_hunk_may_be_decided_for_either_side() -> None:
    texts = [
        json.dumps({"a": a, "k": 0, "l": [{"id": 1, "v": v}], "z": z}, indent=2)
        for a, v, z in ((1, 1, 0), (2, 2, 0), (3, 3, 9))
    ]
    lines = shown("a.json", *texts)
    for take, wanted in ((0, (2, 2)), (1, (1, 1)), (2, (3, 3))):
        kept, part = [], -1
        for line in lines:
            if line.startswith(("<<<<<<< ", "||||||| ", "=======")):
                part += 1
            elif line.startswith(">>>>>>> "):
                part = -1
            elif part in (-1, take):
                kept.append(line)
        value = json.loads("\n".join(kept))
        assert (value["a"], value["l"][0]["v"]) == wanted
        # What only theirs changed is there whatever is chosen.
        assert value["z"] == 9


def test_yaml_keeps_its_lines() -> None:
    base = "# top\na:\n  b: 1 # one\nc: 1\n"
    lines = shown("a.yml", base, base.replace("b: 1", "b: 2"), base.replace("b: 1", "b: 3"))
    assert lines[:2] == ["# top", "a:"]
    assert "<<<<<<< main: /a/b" in lines
    assert "c: 1" in lines


def test_what_ours_removed_is_shown_where_it_was() -> None:
    base = '{\n  "a": {"x": 1},\n  "b": 1\n}\n'
    lines = shown("a.json", base, '{\n  "b": 1\n}\n', base.replace('"x": 1', '"x": 2'))
    assert lines == [
        "{",
        "<<<<<<< main: /a",
        "||||||| base",
        '  "a": {"x":1},',
        "=======",
        '  "a": {"x":2},',
        ">>>>>>> knowledge/wiki: knowledge/wiki changed what main removed",
        '  "b": 1',
        "}",
    ]


def test_what_has_no_line_of_its_own_is_shown_above() -> None:
    lines = shown("a.json", '{"a": 1, "b": 1}', '{"a": 2, "b": 2}', '{"a": 3, "b": 3}')
    assert lines[:7] == [
        "<<<<<<< main: /a",
        "2",
        "||||||| base",
        "1",
        "=======",
        "3",
        ">>>>>>> knowledge/wiki: main and knowledge/wiki changed this, differently",
    ]
    assert lines[-1] == '{"a": 2, "b": 2}'


def test_a_whole_file_is_one_hunk() -> None:
    lines = shown("a.json", "[]\n", "[\n  1\n", "[\n  2\n")
    assert lines[1:3] == ["[", "  1"]
    assert lines[-3:-1] == ["[", "  2"]
    assert lines[0] == "<<<<<<< main: the whole file"


def test_names_and_messages_cannot_write_to_the_terminal() -> None:
    sides = (b"{}", b'{"\\u001b[31m\\n": 1}', b'{"\\u001b[31m\\n": 2}')
    conflicts = merge_generic("a.json", *sides, Labels("m\nain", "o\x1bther")).conflicts
    text = marked(sides[1], conflicts, Labels("m\nain", "o\x1bther"))
    assert b"\x1b" not in text
    assert text.startswith(b"<<<<<<< m\\nain: /\\u001b[31m\\n\n")
