"""The command in a comment of a pull request: ``/memrepo take theirs PATH#POINTER``. Pure."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

_COMMAND = re.compile(r"/memrepo take (ours|theirs|base) ([^\s#]{1,500})#((?:/\S{0,500})?)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MOST = 20


class TakeCommand(msgspec.Struct, frozen=True):
    """What is asked for: a side, for a place (a JSON pointer, "" the whole file) in a file."""

    take: Literal["ours", "theirs", "base"]
    path: str
    pointer: str


def commands_in(comment: str) -> tuple[TakeCommand, ...]:
    """The commands of a comment, in order; () where it holds none.

    A command is a line of its own and nothing else, outside of code blocks. Whatever is
    not exactly one is a sentence to people, and ignored.
    """
    found: dict[TakeCommand, None] = {}
    fence = ""
    for line in comment.replace("\r\n", "\n").split("\n"):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip(" `~"):
            fence = ""
        elif not fence and (command := _COMMAND.fullmatch(line)):
            take, path, pointer = command.groups()
            if _is_path(path):
                found[TakeCommand(take, path, pointer)] = None  # type: ignore[arg-type]
    return tuple(found)[:_MOST]


def _is_path(path: str) -> bool:
    return not any(part in ("", ".", "..") for part in path.split("/")) and path.isprintable()
