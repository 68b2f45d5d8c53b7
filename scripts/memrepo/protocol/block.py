"""memrepo's marked block in a file that is a person's: ``.gitattributes``, ``.gitignore``."""

from __future__ import annotations

from memrepo.errors import BadInput
from memrepo.protocol.defaults import BLOCK_BEGIN, BLOCK_END


def with_block(before: bytes, block: bytes, path: str) -> bytes:
    """``before`` with memrepo's marked block in it: replaced where it stands, else at the end.

    Every other byte stays. Raises BadInput when the marks are not one pair in order.
    """
    lines, place = _find(before, path)
    if place is None:
        return _appended(before, block)
    return b"".join((*lines[: place[0]], block, *lines[place[1] + 1 :]))


def with_block_last(before: bytes, block: bytes, path: str) -> bytes:
    """``before`` with the block as its last lines, taken from where it stood if need be.

    In ``.gitattributes`` and ``.gitignore`` a later line wins over an earlier one. Raises
    BadInput when the marks are not one pair in order.
    """
    lines, place = _find(before, path)
    if place is not None:
        if not b"".join(lines[place[1] + 1 :]).strip():
            return with_block(before, block, path)
        before = b"".join((*lines[: place[0]], *lines[place[1] + 1 :]))
    return _appended(before, block)


def _find(before: bytes, path: str) -> tuple[list[bytes], tuple[int, int] | None]:
    """The lines, and the numbers (from 0) of the block's first and last one."""
    lines = before.splitlines(keepends=True)
    words = [line.strip() for line in lines]
    begins = [n for n, word in enumerate(words) if word == BLOCK_BEGIN.encode()]
    ends = [n for n, word in enumerate(words) if word == BLOCK_END.encode()]
    if not begins and not ends:
        return lines, None
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        line = (begins + ends)[0] + 1
        raise BadInput(
            f"{path}, line {line}: memrepo's marks are not one `{BLOCK_BEGIN}` followed by "
            f"one `{BLOCK_END}`",
            "restore the missing mark, or remove both and what is between them",
        )
    return lines, (begins[0], ends[0])


def _appended(before: bytes, block: bytes) -> bytes:
    gap = b"" if not before else b"\n" if before.endswith(b"\n") else b"\n\n"
    return before + gap + block
