"""Any other JSON, JSON Lines and text: joined by meaning, written in ours' own hand."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memrepo.semmerge.generic import merge_generic
from memrepo.semmerge.generic_identity import joint_order
from memrepo.semmerge.resolve import decide
from memrepo.semmerge.values import Labels, Merged

LABELS = Labels("main", "knowledge/wiki")


def merge(base: str | None, ours: str, theirs: str, path: str = "records/a.json") -> Merged:
    start = None if base is None else base.encode()
    return merge_generic(path, start, ours.encode(), theirs.encode(), LABELS)


def clean(base: str | None, ours: str, theirs: str, path: str = "records/a.json") -> str:
    merged = merge(base, ours, theirs, path)
    assert merged.conflicts == ()
    assert merged.data is not None
    return merged.data.decode()


def conflicts(
    base: str | None, ours: str, theirs: str, path: str = "records/a.json"
) -> list[tuple[str, str]]:
    merged = merge(base, ours, theirs, path)
    assert merged.data is None
    return [(conflict.pointer, conflict.kind) for conflict in merged.conflicts]


# --- what stays as ours wrote it


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        # A one-line file stays one, with its own spaces.
        ('{"a":1,"b":2}', '{"a": 1,  "b":2 }', '{"a":1,"b":3}', '{"a": 1,  "b":3 }'),
        # Four spaces, CRLF and no final newline.
        ('{"a": 1}', '{\r\n    "a": 1,\r\n    "x": 0\r\n}', '{"a": 1, "l": {"k": [1]}}',
         '{\n    "a": 1,\n    "x": 0,\n    "l": {\n        "k": [\n            1\n'
         '        ]\n    }\n}'.replace("\n", "\r\n")),
        # Tabs; a list that theirs keeps on one line stays on one.
        ("{\n}\n", '{\n\t"a" : 1\n}\n', '{\n  "b": [1, 2]\n}\n',
         '{\n\t"a" : 1,\n\t"b" : [1, 2]\n}\n'),
        # Spelling of numbers and escapes, of both sides.
        ('{"a": 1.0, "b": "x"}', '{"a": 1.00, "b": "x", "c": "\\u00e9"}',
         '{"a": 1.0, "b": "\\u0041", "d": 1e2}',
         '{"a": 1.00, "b": "\\u0041", "c": "\\u00e9", "d": 1e2}'),
        # An integer that no float holds.
        ('{"a": 1, "n": 1}', '{"a": 2, "n": 1}', '{"a": 1, "n": 12345678901234567890}',
         '{"a": 2, "n": 12345678901234567890}'),
        # Key order of ours, theirs' additions after their neighbour.
        ('{"a": 1, "c": 3}', '{"c": 3, "a": 1, "z": 0}', '{"a": 1, "b": 2, "c": 3}',
         '{"c": 3, "a": 1, "z": 0, "b": 2}'),
        # What theirs took out goes with its comma.
        ('[{"id": 1}, {"id": 2}, {"id": 3}]', '[{"id": 1}, {"id": 2}, {"id": 3, "v": 1}]',
         '[{"id": 1}, {"id": 3}]', '[{"id": 1}, {"id": 3, "v": 1}]'),
        ('{"a": [1], "b": 2}', '{"a": [1], "b": 3}', '{"b": 2}', '{"b": 3}'),
        ('{"a": {"x": 1}, "b": 2}', '{"a": {"x": 1}, "b": 3}', '{"a": {}, "b": 2}',
         '{"a": {}, "b": 3}'),
        # Only ours' layout differs from the base: theirs' change comes in that layout.
        ('{"l": [1, 2, 3]}', '{\n "l": [\n  1,\n  2,\n  3\n ]\n}\n', '{"l": [1, 9, 3, 4]}',
         '{\n "l": [\n  1,\n  9,\n  3,\n  4\n ]\n}\n'),
        ("\ufeff[]\n", '\ufeff["a"]\n', '\ufeff["b"]\n', '\ufeff["a", "b"]\n'),
    ],
)  # fmt: skip
def test_formatting_of_ours_survives(base: str, ours: str, theirs: str, expected: str) -> None:
    assert clean(base, ours, theirs) == expected


def test_one_side_alone_keeps_its_bytes_whatever_they_are() -> None:
    for data in ("{", '{"a":1,"a":2}', "", "NaN"):
        assert clean("[]", data, "[]") == data
        assert clean("[]", "[]", data) == data
        assert clean("[]", data, data) == data
        assert clean(None, data, data) == data


# --- where the sides disagree


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        ('{"a": 1}', '{"a": 2}', '{"a": 3}', [("/a", "both-changed")]),
        ('{"a": 1}', '{"a": true}', '{"a": "1"}', [("/a", "both-changed")]),
        ("{}", '{"a": {"x": 1, "y": 1}}', '{"a": {"x": 1, "y": 2}}', [("/a/y", "both-added")]),
        ('{"a": {"b": 1}}', "{}", '{"a": {"b": 2}}', [("/a", "changed-and-removed")]),
        ('{"a": null}', "{}", '{"a": 1}', [("/a", "changed-and-removed")]),
        ('{"a/b~": 1}', '{"a/b~": 2}', '{"a/b~": 3}', [("/a~1b~0", "both-changed")]),
        ('{"l": [1]}', '{"l": [1, 2]}', '{"l": [1, 3]}', [("/l", "both-changed")]),
        ('{"l": []}', '{"l": {"k": 1}}', '{"l": 1}', [("/l", "both-changed")]),
        ('[{"id": 1}]', '[{"id": 1, "v": 1}]', "[]", [("/1", "changed-and-removed")]),
        ("[]", '[{"id": 1, "v": 1}]', '[{"id": 1, "v": 2}]', [("/1/v", "both-added")]),
        ('[{"id": 1}]', '[{"id": 1}, {"id": 1}]', "[]", [("", "ambiguous-identity")]),
        ('["a", "b", "c"]', '["b", "a", "c"]', '["c", "a", "b"]', [("", "order")]),
        ("{", "[]", "{}", [("", "unparseable")]),
        ("{}", '{"a": NaN}', "[]", [("", "unparseable")]),
        ("{}", '{"a": "\\ud800"}', "[]", [("", "unparseable")]),
        ("{}", '{"a": 1, "a": 1}', "[]", [("", "ambiguous-identity")]),
        ("[]", "[" * 300 + "]" * 300, "[1]", [("", "unparseable")]),
        ("[]", "[1e99999999999]", "[1]", [("", "unparseable")]),
        (None, "{}", "[]", [("", "both-added")]),
        ("", '{"a": 1}', '{"a": 2}', [("/a", "both-added")]),
    ],
)  # fmt: skip
def test_a_disagreement_is_named_at_its_place(
    base: str | None, ours: str, theirs: str, expected: list[tuple[str, str]]
) -> None:
    assert conflicts(base, ours, theirs) == expected
    swapped = conflicts(base, theirs, ours)
    assert [pointer for pointer, _ in swapped] == [pointer for pointer, _ in expected]


def test_a_conflict_tells_the_three_values_and_the_names_of_the_sides() -> None:
    merged = merge('{"a": 1}', '{"a": 1.50}', "{}")
    (conflict,) = merged.conflicts
    assert conflict.message == "main changed what knowledge/wiki removed"
    assert json.loads(json.dumps(conflict.base)) == 1
    broken = merge("[]", '{\n  "a": 1,\n}', "[1]").conflicts[0]
    assert (
        broken.message == 'main cannot be read: line 2, column 9: a comma before "}"; take it out'
    )


def test_a_recorded_decision_is_used_for_the_same_values_only() -> None:
    base, ours, theirs = '{"a": 1}', '{ "a": 2 }', '{"a": 3}'
    (conflict,) = merge(base, ours, theirs).conflicts
    wanted = {"ours": 2, "theirs": 3, "base": 1, "value": {"x": [1.5]}}
    for take, value in wanted.items():
        decision = decide(conflict, take, value)  # type: ignore[arg-type]
        merged = merge_generic(
            "records/a.json", base.encode(), ours.encode(), theirs.encode(), LABELS, [decision]
        )
        assert merged.data is not None
        assert json.loads(merged.data) == {"a": value}
        assert merged.data.startswith(b'{ "a": ')
        assert [note.kind for note in merged.notes] == ["resolved"]
        other = merge_generic(
            "records/a.json", base.encode(), b'{"a": 4}', theirs.encode(), LABELS, [decision]
        )
        assert [c.pointer for c in other.conflicts] == ["/a"]


# --- arrays with an identity


@pytest.mark.parametrize(
    ("entries", "key"),
    [
        ([{"id": 1, "name": "x"}, {"id": 2, "name": "y"}], "id"),
        ([{"name": "x", "id": 1}, {"name": "y"}], "name"),
        ([{"id": None, "key": "x"}, {"id": 2, "key": "y"}], "key"),
        ([{"source": 1, "target": 2}, {"source": 1, "target": 3}], "source + target"),
    ],
)
def test_the_key_that_tells_entries_apart_is_chosen_and_named(
    entries: list[dict[str, Any]], key: str
) -> None:
    ours = [dict(entries[0], v=1), entries[1]]
    theirs = [entries[0], dict(entries[1], v=2)]
    merged = merge(*(json.dumps({"l": side}) for side in (entries, ours, theirs)))
    assert merged.data is not None
    assert json.loads(merged.data) == {"l": [ours[0], theirs[1]]}
    (note,) = merged.notes
    assert (note.kind, note.pointer) == ("identity-key", "/l")
    assert note.message.endswith(f"by {key}")


def test_entries_go_by_their_id_in_a_pointer_even_where_not_all_have_one() -> None:
    base = '[{"id": "p1", "name": "x", "n": 1}, {"name": "y", "n": 1}]'
    ours, theirs = base.replace("1}", "2}"), base.replace("1}", "3}")
    assert [pointer for pointer, _ in conflicts(base, ours, theirs)] == ["/p1/n", "/y/n"]


def test_texts_are_a_set_that_keeps_order() -> None:
    assert clean('["a", "b"]', '["a", "b", "c"]', '["x", "b", "d"]') == '["x", "b", "c", "d"]'
    assert conflicts('["a"]', '["a", "a"]', '["a", "b"]') == [("", "both-changed")]


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        # Each put its own in the place of the same one: together they would say both.
        ('["Lives in Berlin"]', '["Lives in Munich"]', '["Lives in Rome"]'),
        ('["a", "b", "c"]', '["a", "x", "c"]', '["a", "y", "c"]'),
        # In a command line a text means what stands beside it.
        ('["--port", "80"]', '["--port", "81"]', '["--port", "80", "--verbose"]'),
        ('["run"]', '["run", "--retries", "3"]', '["run", "--timeout", "3"]'),
        ('["run"]', '["run", "-v"]', '["run", "-q"]'),
    ],
)
def test_texts_that_are_no_set(base: str, ours: str, theirs: str) -> None:
    assert conflicts(base, ours, theirs) == [("", "both-changed")]
    assert conflicts(base, theirs, ours) == [("", "both-changed")]


def test_texts_that_came_and_went_in_different_places_are_joined() -> None:
    assert clean('["a", "b", "c"]', '["b", "c", "d"]', '["b", "c", "e"]') == '["b", "c", "d", "e"]'
    assert clean('["a", "b"]', '["b"]', '["x", "b"]') == '["x", "b"]'


@pytest.mark.parametrize("path", ["a.json", "a.jsonl"])
def test_an_entry_that_both_renamed_is_not_doubled(path: str) -> None:
    def text(*names: str) -> str:
        rows = [json.dumps({"name": name, "role": name[:1]}) for name in names]
        return "\n".join(rows) if path == "a.jsonl" else f"[{', '.join(rows)}]"

    sides = text("ann", "bob"), text("anna", "bob"), text("annie", "bob")
    assert conflicts(*sides, path=path) == [("", "renamed-and-changed")]
    (conflict,) = merge(*sides, path=path).conflicts
    words = 'main renamed "ann" to "anna", knowledge/wiki to "annie"'
    assert conflict.message == words
    # One took it out and the other renamed it; both renamed it alike; two others came.
    assert clean(text("ann", "bob"), text("bob"), text("anna", "bob"), path).count("ann") == 1
    assert clean(sides[0], sides[1], sides[1] + "\n", path).count("anna") == 1
    assert clean(text("ann"), text("bea"), text("cid"), path).count("name") == 2


def test_only_one_side_moved_entries() -> None:
    base, moved = '["a", "b", "c"]', '["c", "a", "b"]'
    assert clean(base, '["a", "b", "x", "c"]', moved) == '["c", "a", "b", "x"]'
    assert clean(base, moved, '["a", "b", "x", "c"]') == '["c", "a", "b", "x"]'


def test_both_moved_keyed_entries_and_ours_order_stays() -> None:
    rows = [json.dumps([{"id": name} for name in order]) for order in ("abc", "bac", "cab")]
    merged = merge(*rows)
    assert merged.data == rows[1].encode()
    assert "stand as in main" in merged.notes[0].message


@given(st.permutations(range(6)), st.permutations(range(6)), st.sets(st.integers(0, 5)))
def test_order_holds_each_kept_entry_once(
    ours: list[int], theirs: list[int], gone: set[int]
) -> None:
    kept = set(range(6)) - gone
    order, _ = joint_order(list(range(6)), ours, theirs, kept)
    assert sorted(order) == sorted(kept)


# --- times


@pytest.mark.parametrize(
    "key", ["updated", "updated_at", "last_updated", "updatedAt", "lastUpdated"]
)
@pytest.mark.parametrize(
    ("base", "earlier", "later"),
    [
        ('"2026-01-01T00:00:00Z"', '"2026-01-02T00:00:00+02:00"', '"2026-01-02T00:00:00Z"'),
        ('"2026-01-01T00:00:00.1Z"', '"2026-01-01T00:00:00.10001Z"',
         '"2026-01-01T00:00:00.100010001Z"'),
        ('"2026-01-01"', '"2026-01-02"', '"2026-02-01"'),
        ("1767225600", "1767225601", "1767225602.5"),
    ],
)  # fmt: skip
def test_of_two_times_that_moved_forward_the_later_is_taken(
    key: str, base: str, earlier: str, later: str
) -> None:
    sides = [f'{{"{key}": {value}, "l": [{{"{key}": {value}, "id": 1}}]}}' for value in
             (base, earlier, later)]  # fmt: skip
    assert clean(*sides) == clean(sides[0], sides[2], sides[1]) == sides[2]
    (note,) = [note for note in merge(*sides).notes if note.kind == "later-time"]
    assert note.count == 2


@pytest.mark.parametrize(
    ("base", "ours", "theirs"),
    [
        ('"2026-01-02T00:00:00Z"', '"2026-01-01T00:00:00Z"', '"2026-01-03T00:00:00Z"'),
        ('"2026-01-01T00:00:00Z"', '"2026-01-02T00:00:00"', '"2026-01-03T00:00:00Z"'),
        ('"2026-01-01"', '"2026-01-02T00:00:00Z"', '"2026-01-03"'),
        ("1767225600", "1767225601", "1767225602000"),
        ("3", "4", "5"),
        ('"monday"', '"tuesday"', '"wednesday"'),
    ],
)
def test_times_that_cannot_be_compared_are_a_conflict(base: str, ours: str, theirs: str) -> None:
    sides = [f'{{"updated": {value}}}' for value in (base, ours, theirs)]
    assert conflicts(*sides) == [("/updated", "both-changed")]


def test_other_times_are_a_persons_choice() -> None:
    sides = [f'{{"created": "2026-01-0{day}T00:00:00Z"}}' for day in (1, 2, 3)]
    assert conflicts(*sides) == [("/created", "both-changed")]


# --- lines


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        ("1\n", "1\n2\n", "1\n3\n", "1\n2\n3\n"),
        ('{"id":1, "v":1.0}\n{"id":2}', '{"id":1, "v":1.0, "w": 0}\n{"id":2}',
         '{"id":1,"v":2.50}\n{"id":2}\n{ "id": 3 }\n',
         '{"id":1, "v":2.50, "w": 0}\n{"id":2}\n{ "id": 3 }'),
        ('{"a": 1}\n{"a": 1}\n', '{"a": 1}\n{"a": 1}\n{"a": 1}\n', '{"a":1}\n{"a":1}\n{"a": 2}\n',
         '{"a": 1}\n{"a": 1}\n{"a": 1}\n{"a": 2}\n'),
        ("1\n2\n3\n", "1\n2\n3\n4\n", "2\n3\n5\n", "2\n3\n4\n5\n"),
        ("1\r\n", "1\r\n2\r\n", "1\n3\n", "1\r\n2\r\n3\r\n"),
    ],
)  # fmt: skip
def test_json_lines(base: str, ours: str, theirs: str, expected: str) -> None:
    assert clean(base, ours, theirs, "log.jsonl") == expected


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        ("1\n2\n3\n", "1\n20\n3\n", "1\n21\n3\n", [("", "both-changed")]),
        ("1\n2\n3\n", "1\n3\n", "1\n21\n3\n", [("", "both-changed")]),
        ('{"id": 1, "v": 1}\n', '{"id": 1, "v": 2}\n', '{"id": 1, "v": 3}\n',
         [("/1/v", "both-changed")]),
        ("1\n", "1\n{\n", "1\n2\n", [("", "unparseable")]),
        ('{"id": 1}\n', '{"id": 1, "id": 1}\n', '{"id": 2}\n', [("", "ambiguous-identity")]),
    ],
)  # fmt: skip
def test_json_lines_that_disagree(
    base: str, ours: str, theirs: str, expected: list[tuple[str, str]]
) -> None:
    assert conflicts(base, ours, theirs, "log.ndjson") == expected
    assert conflicts(base, theirs, ours, "log.ndjson") == expected


# --- text


def test_text_goes_to_the_line_merge_that_was_handed_in() -> None:
    asked: list[tuple[bytes, bytes, bytes]] = []

    def joined(*sides: bytes) -> bytes | None:
        asked.append(sides)  # type: ignore[arg-type]
        return b"joined" if b"?" not in sides[1] else None

    merged = merge_generic("a.md", None, b"o", b"t", line_merge=joined)
    assert (merged.data, asked) == (b"joined", [(b"", b"o", b"t")])
    merged = merge_generic("a.md", b"b", b"?", b"t", LABELS, line_merge=joined)
    (conflict,) = merged.conflicts
    assert (conflict.kind, conflict.base, conflict.theirs) == ("text", "b", "t")
    assert conflict.message == "main and knowledge/wiki changed the same lines"
    assert merge_generic("a.md", b"b", b"o", b"t").conflicts
    assert merge_generic("a.bin", b"b", b"\0", b"t", line_merge=joined).conflicts
    decision = decide(conflict, "theirs")
    again = merge_generic("a.md", b"b", b"?", b"t", LABELS, [decision], line_merge=joined)
    assert again.data == b"t"


# --- any value in any layout

scalars = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=3)
keys = st.text("abcdefé/~", min_size=1, max_size=2)
objects = st.recursive(
    st.dictionaries(keys, scalars | st.lists(st.integers(0, 3), max_size=3), max_size=4),
    lambda inner: st.dictionaries(keys, inner | scalars, max_size=4),
    max_leaves=12,
)
_MISSING = object()


def reference(base: Any, ours: Any, theirs: Any) -> Any:
    """The join of plain values, or ValueError where the sides disagree."""
    if repr(ours) == repr(theirs) or repr(theirs) == repr(base):
        return ours
    if repr(ours) == repr(base):
        return theirs
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        raise ValueError
    if not isinstance(base, dict) and base is not _MISSING:
        raise ValueError
    start = base if isinstance(base, dict) else {}
    found = {
        key: reference(*(side.get(key, _MISSING) for side in (start, ours, theirs)))
        for key in {**ours, **theirs}
    }
    return {key: value for key, value in found.items() if value is not _MISSING}


def canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: canonical(value[key]) for key in sorted(value)}
    return value


@st.composite
def layout(draw: st.DrawFn, value: Any) -> str:
    """JSON text of ``value`` with any space, any order of keys, any escapes."""
    space = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n "])

    def write(part: Any) -> str:
        def around(text: str) -> str:
            return f"{draw(space)}{text}{draw(space)}"

        if isinstance(part, dict):
            names = draw(st.permutations(list(part)))
            inner = [f"{around(write(k))}:{around(write(part[k]))}" for k in names]
            return "{" + (",".join(inner) or draw(space)) + "}"
        if isinstance(part, list):
            return "[" + ",".join(around(write(item)) for item in part) + "]"
        return json.dumps(part, ensure_ascii=draw(st.booleans()))

    return draw(space) + write(value) + draw(space)


@st.composite
def edited(draw: st.DrawFn, value: Any) -> Any:
    """``value`` with some members changed, removed and added."""
    if not isinstance(value, dict):
        return draw(scalars)
    result = {}
    for key, inner in value.items():
        what = draw(st.sampled_from(["keep"] * 4 + ["edit", "drop"]))
        if what != "drop":
            result[key] = inner if what == "keep" else draw(edited(inner))
    result.update(draw(st.dictionaries(keys, scalars, max_size=1)))
    return result


@st.composite
def merges(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    base = canonical(draw(objects))
    return base, canonical(draw(edited(base))), canonical(draw(edited(base)))


@settings(max_examples=150, deadline=None)
@given(st.data(), merges())
def test_any_layout_comes_out_with_the_joined_value(
    data: st.DataObject, sides: tuple[Any, Any, Any]
) -> None:
    texts = [data.draw(layout(side)) for side in sides]
    merged = merge(*texts)
    try:
        expected = reference(*map(canonical, sides))
    except ValueError:
        assert merged.data is None
        assert {c.pointer for c in merged.conflicts} == {
            c.pointer for c in merge(texts[0], texts[2], texts[1]).conflicts
        }
        return
    assert merged.data is not None, merged.conflicts
    assert repr(canonical(json.loads(merged.data))) == repr(canonical(expected))
    swapped = merge(texts[0], texts[2], texts[1]).data
    assert swapped is not None
    assert repr(canonical(json.loads(swapped))) == repr(canonical(expected))


_TOKENS = re.compile(r'("(?:[^"\\]|\\.)*"|[^\s\[\]{}:,"]+|[\[\]{}:,])')


@settings(max_examples=100, deadline=None)
@given(st.data(), objects)
def test_bytes_outside_the_changed_places_are_ours(data: st.DataObject, base: Any) -> None:
    def leaves(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: leaves(inner) for key, inner in value.items()}
        return value if isinstance(value, list) else data.draw(st.just(value) | st.just(77))

    theirs = leaves(base)
    # An edit of ours that theirs knows nothing of, so that the file is really joined.
    ours = dict(base, added=1)
    assume("added" not in base)
    text = data.draw(layout(ours))
    merged = clean(data.draw(layout(base)), text, data.draw(layout(theirs)))
    before, after = _TOKENS.split(text), _TOKENS.split(merged)
    assert after[::2] == before[::2]
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert all(new == "77" for _, new in changed)


@settings(max_examples=150, deadline=None)
@given(
    *[st.text('{}[]:,"\\u19aeE+-.#&*|>\n -!', max_size=12)] * 3,
    st.sampled_from(["a.json", "a.jsonl", "a.yml", "a.md"]),
)
def test_no_bytes_make_it_fail(base: str, ours: str, theirs: str, path: str) -> None:
    merged = merge(base, ours, theirs, path)
    assert (merged.data is None) == bool(merged.conflicts)
