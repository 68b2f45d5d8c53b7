"""The artifact between the two halves: what the first writes, and nothing else."""

from __future__ import annotations

import io
import json
import stat
import struct
import warnings
import zipfile
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.errors import BadInput
from memrepo.report.jsonform import review_as_json
from memrepo.runner import handover
from memrepo.runner.handover import PULL_REQUEST, REVIEW, Handover, handover_texts, read_handover
from unit.report.sample import review_of_text

_REVIEW = review_of_text("a turn")
HEAD = _REVIEW.head


def packed(files: dict[str, Any], *, mode: int = stat.S_IFREG | 0o644) -> bytes:
    """A zip file of these files; a value that is no text is written as JSON."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, value in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            text = value if isinstance(value, str) else json.dumps(value)
            archive.writestr(entry, text, zipfile.ZIP_DEFLATED)
    return data.getvalue()


def good() -> dict[str, Any]:
    return {PULL_REQUEST: {"number": 7, "head_sha": HEAD}, REVIEW: review_as_json(_REVIEW)}


def test_what_the_first_half_writes_is_read() -> None:
    given_over = Handover(7, HEAD, _REVIEW)
    for more in ({}, {"review.html": "<p>never looked at"}):
        files = {**handover_texts(given_over), **more}
        assert read_handover(packed(files), head_sha=HEAD) == given_over


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"../up.json": "{}"}, "a file that does not belong there"),
        ({"/etc/passwd": ""}, "a file that does not belong there"),
        ({"run.sh": ""}, "a file that does not belong there"),
        ({"review.json/": ""}, "a file that does not belong there"),
        ({REVIEW: None}, "has no review.json"),
        ({PULL_REQUEST: None}, "has no pull-request.json"),
        ({REVIEW: "{"}, "is no JSON"),
        ({REVIEW: "[" * 100_000}, "is no JSON"),
        ({REVIEW: {}}, "not a review"),
        ({REVIEW: {**review_as_json(_REVIEW), "more": 1}}, "not a review"),
        ({REVIEW: {**review_as_json(_REVIEW), "head": "c" * 40}}, "about another commit"),
        ({PULL_REQUEST: {"number": 7, "head_sha": "c" * 40}}, "about another commit"),
        ({PULL_REQUEST: {"number": 0, "head_sha": HEAD}}, "names no pull request"),
        ({PULL_REQUEST: {"number": True, "head_sha": HEAD}}, "pull-request.json"),
        ({PULL_REQUEST: {"number": 7, "head_sha": HEAD, "run": "x"}}, "unknown field"),
        ({PULL_REQUEST: [7, HEAD]}, "pull-request.json"),
    ],
)
def test_anything_else_is_refused(change: dict[str, Any], problem: str) -> None:
    files = {name: value for name, value in {**good(), **change}.items() if value is not None}
    with pytest.raises(BadInput, match=problem):
        read_handover(packed(files), head_sha=HEAD)


def test_a_link_is_refused() -> None:
    with pytest.raises(BadInput, match="no plain file"):
        read_handover(packed(good(), mode=stat.S_IFLNK | 0o777), head_sha=HEAD)


def test_a_file_twice_is_refused() -> None:
    data = io.BytesIO(packed(good()))
    with warnings.catch_warnings(), zipfile.ZipFile(data, "a") as archive:
        warnings.simplefilter("ignore")  # zipfile does not like it either
        archive.writestr(REVIEW, "{}")
    with pytest.raises(BadInput, match="a file that does not belong there"):
        read_handover(data.getvalue(), head_sha=HEAD)


def test_too_much_is_refused_also_when_it_says_to_be_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(handover, "MOST_BYTES", 50_000)
    with pytest.raises(BadInput, match=r"has 100,000 bytes; 50,000 is the most"):
        read_handover(packed({**good(), REVIEW: " " * 100_000}), head_sha=HEAD)
    # A bomb: the sizes in the entry and in the folder of entries are lies.
    data = bytearray(packed({**good(), REVIEW: " " * 100_000}))
    size = struct.pack("<L", 100_000)
    assert data.count(size) == 2
    with pytest.raises(BadInput):
        read_handover(bytes(data.replace(size, struct.pack("<L", 10))), head_sha=HEAD)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_zip_file(data: bytes) -> None:
    with pytest.raises(BadInput):
        read_handover(data, head_sha=HEAD)


@given(st.integers(0), st.binary(min_size=1, max_size=4))
def test_a_zip_file_with_a_broken_place(at: int, put: bytes) -> None:
    data = bytearray(packed(good()))
    place = at % len(data)
    data[place : place + len(put)] = put
    try:
        got = read_handover(bytes(data), head_sha=HEAD)
    except BadInput:
        return
    assert got.head_sha == HEAD
    assert msgspec.structs.asdict(got).keys() == {"number", "head_sha", "review"}
