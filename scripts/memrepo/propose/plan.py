"""Decide what a proposal is called, says, and holds. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

import msgspec

from memrepo.errors import NeedsPerson
from memrepo.protocol.documents import STATE_FILES
from memrepo.protocol.layout import state_path

PREFIX = "memory/"
#: On the commits of a proposal: the blob ids of the three files as they were wanted.
TRAILER = "Proposed"
_BEGIN = "<!-- memrepo:diff -->"
_END = "<!-- memrepo:end -->"
_BLOCK = re.compile(rf"{re.escape(_BEGIN)}.*?{re.escape(_END)}", re.DOTALL)
_SLUG_LENGTH = 40


def branch_name(agent_id: str, message: str, again: int = 1) -> str:
    """``memory/<agent_id>/<slug of the message>``; ``again`` counts proposals of that name.

    The agent id is a safe path component; what Git does not take in a ref is left out.
    """
    words = unicodedata.normalize("NFKD", message.strip().partition("\n")[0]).lower()
    slug = re.sub(r"[^a-z0-9]+", "-", words.encode("ascii", "ignore").decode())
    slug = slug[:_SLUG_LENGTH].strip("-") or "change"
    # Of what an agent id may hold, Git refuses these in a ref.
    agent = re.sub(r"\.{2,}|\.lock$", "-", agent_id)
    suffix = f"-{again}" if again > 1 else ""
    return f"{PREFIX}{agent}/{slug}{suffix}"


class Three(msgspec.Struct, frozen=True):
    """An agent's files: the blob ids last proposed ("" where there was none), the bytes on
    the branch now, and the bytes that are wanted; all by file name."""

    proposed: Mapping[str, str]
    there: Mapping[str, bytes | None]
    wanted: Mapping[str, bytes]


def joined(
    agent_id: str, three: Three, branch: str, blob_id: Callable[[bytes], str]
) -> dict[str, bytes]:
    """The files that the branch should hold, with what a person changed on it kept.

    A file that only one side changed since the last proposal is that side's. Raises
    :class:`NeedsPerson` when both changed one file in different ways: neither is dropped.
    """
    result: dict[str, bytes] = {}
    clashes = []
    for name in STATE_FILES:
        base, there, wanted = three.proposed.get(name), three.there.get(name), three.wanted[name]
        if there is None or there == wanted or blob_id(there) == base:
            result[name] = wanted
        elif blob_id(wanted) == base:
            result[name] = there
        else:
            clashes.append(state_path(agent_id, name))
    if clashes:
        raise NeedsPerson(
            f"{', '.join(clashes)} changed on the branch {branch} too, in another way",
            "take that change over (git fetch, then compare), or propose under another --branch",
        )
    return result


def proposed_trailer(wanted: Mapping[str, bytes], blob_id: Callable[[bytes], str]) -> str:
    """What a proposal's commit says of the files that were wanted, whatever it holds itself."""
    return f"{TRAILER}: {' '.join(blob_id(wanted[name]) for name in STATE_FILES)}"


def read_proposed(value: str) -> dict[str, str] | None:
    """The blob ids of :func:`proposed_trailer`'s value by file name; None where it is none."""
    ids = value.split()
    return dict(zip(STATE_FILES, ids, strict=True)) if len(ids) == len(STATE_FILES) else None


def body_text(before: str, words: str, report: str) -> str:
    """The text of a pull request: the person's words, and the report in a block of its own.

    In a text that has the block already only the block changes, so that what a person
    wrote around it stays.
    """
    block = f"{_BEGIN}\n{report.replace(_BEGIN, '').replace(_END, '')}\n{_END}"
    if _BLOCK.search(before):
        return _BLOCK.sub(lambda _: block, before, count=1)
    start = before.strip() or words.strip()
    return f"{start}\n\n{block}\n" if start else f"{block}\n"
