"""YAML: joined by meaning, spliced into ours' text with its comments, or a conflict."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.semmerge.generic import merge_generic
from memrepo.semmerge.generictree import TreeProblem
from memrepo.semmerge.values import Merged
from memrepo.semmerge.yamltext import read_yaml


def merge(base: str, ours: str, theirs: str, lines: bytes | None = None) -> Merged:
    return merge_generic(
        "a.yml", base.encode(), ours.encode(), theirs.encode(), line_merge=lambda *_: lines
    )


BASE = """\
# settings
name: wiki  # the source
limits:
  # bytes
  file: 10
  turns: 5

# who reads it
readers:
  - id: ann
    role: editor
  - id: bob
    role: viewer
tags: [a, b]
note: |
  first
  second
"""


def sub(*pairs: tuple[str, str]) -> str:
    text = BASE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (sub(("file: 10", "file: 0x10")), sub(("turns: 5", "turns: 6")),
         sub(("file: 10", "file: 0x10"), ("turns: 5", "turns: 6"))),
        (sub(("name: wiki", "name: 'crm'")), sub(("tags: [a, b]", "tags: [a, b, c]")),
         sub(("name: wiki", "name: 'crm'"), ("tags: [a, b]", "tags: [a, b, c]"))),
        (sub(("    role: viewer\n", "    role: owner\n")),
         sub(("    role: viewer\n", "    role: viewer\n  # new here\n  - id: eve\n    role: x\n")),
         sub(("    role: viewer\n", "    role: owner\n  # new here\n  - id: eve\n    role: x\n"))),
        (sub(("  turns: 5\n", "  turns: 5  # few\n")),
         sub(("  turns: 5\n", "  turns: 5\n  more: 1\n")),
         sub(("  turns: 5\n", "  turns: 5  # few\n  more: 1\n"))),
        (sub(("file: 10", "file: 11")), sub(("  - id: ann\n    role: editor\n", "")),
         sub(("file: 10", "file: 11"), ("  - id: ann\n    role: editor\n", ""))),
        (sub(("file: 10", "file: 11")), sub(("  second\n", "  third\n\n  fourth\n")),
         sub(("file: 10", "file: 11"), ("  second\n", "  third\n\n  fourth\n"))),
        (sub(("file: 10", "file: 11")), sub(("  # bytes\n  file: 10\n  turns: 5\n", "  {}\n")),
         None),
        (sub(("name: wiki  # the source", "name: crm  # another")),
         sub(("note: |\n  first\n  second\n", "")),
         sub(("name: wiki  # the source", "name: crm  # another"),
             ("note: |\n  first\n  second\n", ""))),
        (sub(("role: editor", "role: owner")), sub(("tags: [a, b]\n", "tags:\n  - a\n  - c\n")),
         sub(("role: editor", "role: owner"), ("tags: [a, b]\n", "tags: [a, c]\n"))),
        # A comment below an entry that goes stands for itself.
        (sub(("name: wiki", "name: crm")),
         "name: wiki\n" + BASE[BASE.index("readers:"):],
         sub(("name: wiki", "name: crm"), ("limits:\n  # bytes\n  file: 10\n  turns: 5\n", ""),
             ("\n# who reads it\n", "# who reads it\n"))),
    ],
)  # fmt: skip
def test_splices(ours: str, theirs: str, expected: str | None) -> None:
    merged = merge(BASE, ours, theirs)
    if expected is None:
        assert [c.kind for c in merged.conflicts] == ["changed-and-removed"]
        return
    assert merged.data is not None, merged.conflicts
    assert merged.data.decode() == expected


def test_a_disagreement_is_named_at_its_place() -> None:
    merged = merge(BASE, sub(("role: viewer", "role: a")), sub(("role: viewer", "role: b")))
    (conflict,) = merged.conflicts
    assert (conflict.pointer, conflict.kind) == ("/readers/bob/role", "both-changed")
    assert (conflict.base, conflict.ours, conflict.theirs) == ("viewer", "a", "b")


def test_unquoted_times_move_forward() -> None:
    texts = [f"updated: 2026-01-0{day} 10:00:00\nn: {day if day < 3 else 1}\n" for day in (1, 2, 3)]
    merged = merge(texts[0], texts[1], texts[2])
    assert merged.data == b"updated: 2026-01-03 10:00:00\nn: 2\n"
    assert [note.kind for note in merged.notes] == ["later-time"]


def test_the_line_merge_is_taken_where_it_means_the_same() -> None:
    base, ours, theirs = "a: 1\nb: 1\n", "a: 2\nb: 1\n", "a: 1\nb: 2 # why\n"
    assert merge(base, ours, theirs, b"a: 2\nb: 2 # why\n").data == b"a: 2\nb: 2 # why\n"
    assert merge(base, ours, theirs, b"a: 2\nb: 1\n").data == b"a: 2\nb: 2\n"


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "lines"),
    [
        ("a: &x 1\nb: *x\n", "a: &x 1\nb: *x\nc: 1\n", "z: 0\na: &x 1\nb: *x\n",
         "z: 0\na: &x 1\nb: *x\nc: 1\n"),
        ("a: !t 1\nb: 1\n", "a: !t 1\nb: 2\n", "a: !t 2\nb: 1\n", "a: !t 2\nb: 2\n"),
        ("a: !t {x: 1}\nb: 1\n", "a: !t {x: 1}\nb: 2\n", "a: !u {x: 1}\nb: 1\n",
         "a: !u {x: 1}\nb: 2\n"),
        ("a: |+\n  x\n\nb: 1\n", "a: |+\n  x\n\nb: 2\n", "a: |+\n  y\n\nb: 1\n",
         "a: |+\n  y\n\nb: 2\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_spliced_needs_a_line_merge_that_means_the_same(
    base: str, ours: str, theirs: str, lines: str
) -> None:
    merged = merge(base, ours, theirs)
    assert merged.data is None or merged.data.decode() == lines
    assert merge(base, ours, theirs, lines.encode()).data == lines.encode()
    assert merge(base, ours, theirs, ours.encode()).data in (None, lines.encode())


def test_two_documents_are_whole() -> None:
    base = "a: 1\n---\nb: 1\n"
    ours, theirs = base.replace("a: 1", "a: 2"), base.replace("b: 1", "b: 2")
    assert [c.kind for c in merge(base, ours, theirs).conflicts] == ["both-changed"]
    assert merge(base, ours, base).data == ours.encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "line 2: a key stands twice in one mapping"),
        ("? [a]\n: 1\n", "line 1: a key must be a word"),
        ("a: *b\n", ""),
        ("a: [\n", ""),
        ("a: &a [*a]\n", "line 1: an alias to itself or to nothing"),
        ("a: &a [1,1,1,1,1,1,1,1,1]\n"
         + "".join(f"{c}: &{c} [{','.join([f'*{p}'] * 9)}]\n" for p, c in pairwise("abcdefg")),
         "more than 200,000 values, with its aliases written out"),
        ("[" * 80 + "]" * 80, "nested deeper than 50 levels"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(text: str, message: str) -> None:
    with pytest.raises(TreeProblem) as caught:
        read_yaml(text)
    assert message in caught.value.message


def test_types_are_told_apart() -> None:
    text = 'a: 1\nb: "1"\nc: yes\nd: 1.0\ne: 2026-01-01\nf:\ng: 0o7\nh: .inf\ni: 1_0\n'
    root = read_yaml(text).root
    assert [type(m.node.value).__name__ for m in root.members] == [
        *("int", "str", "bool", "Decimal", "tuple", "NoneType", "str", "tuple", "int"),
    ]
    assert root.members[0].node.meaning == root.members[3].node.meaning
    assert root.members[0].node.meaning != root.members[2].node.meaning


words = st.text("ab: #-é'\"\n,[]{}&*!|>%@`", min_size=0, max_size=6)
scalars = st.none() | st.booleans() | st.integers(-99, 99) | words
names = st.text("abcé", min_size=1, max_size=2)
inner_values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(names, scalars, max_size=3)
documents = st.dictionaries(names, inner_values | st.dictionaries(names, inner_values, max_size=3),
                            min_size=1, max_size=4)  # fmt: skip


@st.composite
def commented(draw: st.DrawFn, value: Any, mark: str) -> str:
    """Block style with any indent, and a comment of ``mark`` above some top-level keys."""
    text = yaml.safe_dump(
        value, allow_unicode=True, sort_keys=False, indent=draw(st.sampled_from([2, 4])),
        width=1000, default_flow_style=draw(st.sampled_from([False, None])),
    )  # fmt: skip
    if not draw(st.booleans()):
        return text
    lines = [
        f"# {mark}\n{line}" if line[:1] not in (" ", "-", "\n", "}", "]", "'", '"', "?") else line
        for line in text.splitlines(keepends=True)
    ]
    return "".join(lines)


@settings(max_examples=200, deadline=None)
@given(st.data(), documents)
def test_any_document_comes_out_with_the_joined_value(data: st.DataObject, base: Any) -> None:
    ours = dict(base, ours=data.draw(inner_values))
    theirs = dict(base)
    key = data.draw(st.sampled_from(list(base)))
    if data.draw(st.booleans()) and len(base) > 1:
        del theirs[key]
    else:
        theirs[key] = data.draw(inner_values)
    theirs["theirs"] = data.draw(inner_values)
    expected = {**theirs, "ours": ours["ours"]}
    text = data.draw(commented(ours, "mine"))
    merged = merge(data.draw(commented(base, "base")), text, data.draw(commented(theirs, "other")))
    assert merged.data is not None, merged.conflicts
    result = merged.data.decode()
    assert yaml.safe_load(result) == expected
    if key in theirs and text.startswith("# mine\n"):
        assert result.count("# mine\n") == text.count("# mine\n")


@pytest.mark.parametrize("word", [":>", "?x", ":x", "-x", "a:b", "a,b", "a]", "x#y"])
def test_a_word_of_a_block_that_brackets_would_read_otherwise(word: str) -> None:
    merged = merge("a: null\n", "{a: null}\n", f"a: null\nb: {word}\n")
    assert merged.data is not None
    assert yaml.safe_load(merged.data) == {"a": None, "b": word}


@settings(max_examples=150, deadline=None)
@given(*[st.text("ab:- \n#[]{},'\"|>&*!?1\t", max_size=25)] * 3)
def test_no_text_makes_it_fail(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    assert (merged.data is None) == bool(merged.conflicts)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        # Lines that meet, so that Git's merge cannot join them.
        ("a: 5\nb: 2\n", "# keep\na: 1\nb: 2  # why\n", "# keep\na: 5\nb: 2  # why\n"),
        ("a: 1\nb: 2\nc: 3\n", "a: 1  # why\nb: 2\n", "a: 1  # why\nb: 2\nc: 3\n"),
    ],
)
def test_comments_of_the_side_that_changed_nothing_else_stay(
    ours: str, theirs: str, expected: str
) -> None:
    base = "a: 1\nb: 2\n"
    for sides in ((ours, theirs), (theirs, ours)):
        merged = merge(base, *sides)
        assert merged.data == expected.encode(), sides


def test_git_joins_the_comments_of_both_where_the_meaning_is_one() -> None:
    base, ours, theirs = "a: 1\n\nb: 2\n", "# x\na: 5\n\nb: 2\n", "a: 1\n\nb: 2\n# y\n"
    joined = b"# x\na: 5\n\nb: 2\n# y\n"
    assert merge(base, ours, theirs, joined).data == joined
    # What Git would join to something else is not taken.
    assert merge(base, ours, theirs, b"a: 6\nb: 2\n# x\n# y\n").data == ours.encode()
