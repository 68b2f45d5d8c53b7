"""Splicing tree bodies gives, byte for byte, the trees that Git makes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrepo.gitrepo.objects import object_id
from memrepo.gitrepo.trees import FILE, FOLDER, Tree, entries, sort_key

_CHARS = st.characters(exclude_characters="/\0", exclude_categories=["Cs"])
_NAMES = st.one_of(
    st.text(_CHARS, min_size=1, max_size=6),
    st.text("ab. -0", min_size=1, max_size=4),
    st.integers(0, 99).map(lambda n: f"20260301-1200{n:02}-agent.json"),
).filter(lambda name: name not in (".", "..") and name.lower() != ".git")
_EDITS = st.lists(
    st.tuples(_NAMES, st.sampled_from([FILE, FOLDER, None]), st.integers(0, 5)), max_size=40
)


@pytest.fixture(scope="module", params=["sha1", "sha256"])
def algorithm(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def store(algorithm: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store")
    subprocess.run(["git", "init", "-q", f"--object-format={algorithm}", "."], cwd=path, check=True)
    return path


def plain_body(wanted: dict[bytes, tuple[bytes, bytes]]) -> bytes:
    ordered = sorted(wanted.items(), key=lambda item: sort_key(item[0], item[1][0]))
    return b"".join(b"%s %s\0%s" % (mode, name, oid) for name, (mode, oid) in ordered)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=_EDITS)
def test_any_edits_give_the_tree_that_git_makes(algorithm: str, store: Path, edits: list) -> None:  # type: ignore[type-arg]
    size = 20 if algorithm == "sha1" else 32
    tree = Tree(b"", size)
    wanted: dict[bytes, tuple[bytes, bytes]] = {}
    for text, mode, seed in edits:
        name, oid = text.encode(), bytes([seed]) * size
        before = tree.body
        if name in wanted and (mode is None or (mode == FOLDER) != (wanted[name][0] == FOLDER)):
            tree, edit = tree.remove(name)
            del wanted[name]
        elif mode is None:
            tree, edit = tree.remove(name)
            assert edit is None
        else:
            tree, edit = tree.put(name, mode, oid)
            wanted[name] = (mode, oid)
        if edit:
            after = edit.start + edit.removed
            assert tree.body == before[: edit.start] + edit.inserted + before[after:]
        else:
            assert tree.body == before
    assert tree.body == plain_body(wanted)
    for name, (mode, oid) in wanted.items():
        entry = tree.get(name)
        assert entry
        assert (entry.mode, entry.oid) == (mode, oid)
    listing = b"".join(
        b"%s %s %s\t%s\0" % (mode, b"tree" if mode == FOLDER else b"blob", oid.hex().encode(), name)
        for name, (mode, oid) in wanted.items()
    )
    made = subprocess.run(
        ["git", "mktree", "-z", "--missing"], cwd=store, input=listing, capture_output=True
    )
    assert made.stdout.decode().strip() == object_id(algorithm, "tree", tree.body).hex()


@settings(max_examples=30)
@given(st.data())
def test_large_trees_are_searched_without_being_fooled(data: st.DataObject) -> None:
    """Ids that look like entries, names that look like modes: the search must not take them."""
    size = 20
    decoys = [
        (b"\0" + b"100644 " + b"x" * 12)[:size],
        b" aaaaaaaaaaaaaaaaa\0\0"[:size],
        b" 20260301-00000\0" + b"zzzz",
        bytes(size),
    ]
    names = [b"20260301-%05d-agent.json" % n for n in range(120)]
    names += [b"a 100644 20260301-00007-agent.json", b"zz100644 20260301-00003-agent.json", b"a"]
    oids = data.draw(st.lists(st.sampled_from(decoys), min_size=len(names), max_size=len(names)))
    wanted = {name: (FILE, oid) for name, oid in zip(names, oids, strict=True)}
    body = plain_body(wanted)
    asked = [*names, b"20260301-99999-agent.json", b"x" * 12, b"aaaaaaaaaaaaaaaaa", b"nope"]
    for name in data.draw(st.lists(st.sampled_from(asked), min_size=5, max_size=20)):
        entry = Tree(body, size).get(name)
        assert (entry is not None) == (name in wanted)
        if entry:
            assert entry.oid == wanted[name][1]
    for name in (b"20260301-00050-zgent.json", b"20260301-99999-agent.json", b"A", b"zzz"):
        tree, _ = Tree(body, size).put(name, FILE, bytes(size))
        assert tree.body == plain_body({**wanted, name: (FILE, bytes(size))})


def test_an_old_version_stays_what_it_was() -> None:
    first, _ = Tree(b"", 20).put(b"a", FILE, b"1" * 20)
    assert first.get(b"a")
    second, _ = first.put(b"b", FILE, b"2" * 20)
    third, _ = first.put(b"c", FILE, b"3" * 20)
    assert [e.name for e in first.entries()] == [b"a"]
    assert first.get(b"b") is None
    assert second.get(b"c") is None
    assert third.get(b"b") is None
    assert third.get(b"c")


def test_damaged_bodies() -> None:
    with pytest.raises(ValueError, match="truncated"):
        list(entries(b"100644 a\0short", 20))
    with pytest.raises(ValueError, match="not found"):
        list(entries(b"no entry at all", 20))
