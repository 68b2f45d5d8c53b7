"""The command in a comment: exactly one line, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.knowledge.command import TakeCommand, commands_in

LINE = "/memrepo take theirs state/a/tools.json#/refund"


@pytest.mark.parametrize(
    "comment",
    [
        LINE,
        f"{LINE}\n",
        f"Checked.\r\n\r\n{LINE}\r\nThanks!",
        f"```\nx\n```\n{LINE}",
        f"{LINE}\n{LINE}",
    ],
)
def test_a_line_of_its_own(comment: str) -> None:
    assert commands_in(comment) == (TakeCommand("theirs", "state/a/tools.json", "/refund"),)


def test_several_and_a_whole_file() -> None:
    found = commands_in("/memrepo take ours a.md#\n/memrepo take base b.json#/x~1y/0")
    assert found == (TakeCommand("ours", "a.md", ""), TakeCommand("base", "b.json", "/x~1y/0"))


@pytest.mark.parametrize(
    "comment",
    [
        f" {LINE}",
        f"{LINE} ",
        f"> {LINE}",
        f"- {LINE}",
        f"`{LINE}`",
        f"please {LINE}",
        f"```\n{LINE}\n```",
        f"~~~~\n{LINE}\n~~~\n{LINE}\n~~~~",
        f"```\n{LINE}",
        LINE.upper(),
        LINE.replace("theirs", "mine"),
        LINE.replace("theirs", "value:1"),
        LINE.replace("#", " "),
        LINE.replace("#/", "#"),
        LINE.replace(" ", "  "),
        "/memrepo take theirs ../x.json#/a",
        "/memrepo take theirs /etc/passwd#",
        "/memrepo take theirs state/a\u202e.json#/a",
        "/memrepo take theirs #/a",
        "/memrepo",
        "",
    ],
)
def test_anything_else_is_a_sentence(comment: str) -> None:
    assert commands_in(comment) == ()


@given(st.text(alphabet=st.sampled_from("/memrepo takeours#\n\r`~> "), max_size=80))
def test_no_comment_breaks_it(comment: str) -> None:
    for found in commands_in(comment):
        assert found.take in ("ours", "theirs", "base")
        assert f"/memrepo take {found.take} {found.path}#{found.pointer}" in comment
