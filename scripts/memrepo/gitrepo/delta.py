"""Deltas in Git's own coding, made from edits that are already known (gitformat-pack)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .trees import Splice

#: A stretch of the base (offset, size), or literal bytes.
Piece = bytes | tuple[int, int]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def delta_of(base_size: int, size: int, steps: Sequence[Sequence[Splice]]) -> bytes:
    """The delta that takes a base through every edit of every step."""
    pieces: list[Piece] = [(0, base_size)]
    for edits in steps:
        for edit in edits:
            pieces = _spliced(pieces, edit)
    out = [_varint(base_size), _varint(size)]
    literal = b""
    end: Piece = (0, 0)
    for piece in [*pieces, end]:
        if isinstance(piece, bytes):
            literal += piece
            continue
        for start in range(0, len(literal), 127):
            part = literal[start : start + 127]
            out += [bytes([len(part)]), part]
        literal = b""
        out.append(_copy(*piece))
    return b"".join(out)


def _spliced(pieces: list[Piece], edit: Splice) -> list[Piece]:
    """The pieces with one edit made."""
    after = edit.start + edit.removed
    inserted = [edit.inserted] if edit.inserted else []
    return [*_cut(pieces, 0, edit.start), *inserted, *_cut(pieces, after, None)]


def _cut(pieces: list[Piece], start: int, end: int | None) -> Iterator[Piece]:
    """What of ``pieces`` lies between two places of the body they make."""
    at = 0
    for piece in pieces:
        size = len(piece) if isinstance(piece, bytes) else piece[1]
        first, last = max(0, start - at), size if end is None else min(size, end - at)
        at += size
        if first < last:
            yield (
                piece[first:last] if isinstance(piece, bytes) else (piece[0] + first, last - first)
            )


def _copy(offset: int, size: int) -> bytes:
    out = bytearray()
    while size:
        step = min(size, 0xFFFFFF)
        code, args = 0x80, bytearray()
        for bit, byte in enumerate((*offset.to_bytes(4, "little"), *step.to_bytes(3, "little"))):
            if byte:
                code |= 1 << bit
                args.append(byte)
        out.append(code)
        out += args
        offset, size = offset + step, size - step
    return bytes(out)


def patched(base: bytes, delta: bytes) -> bytes:
    """``delta`` applied to ``base``."""
    at = 0
    for _ in range(2):
        at = next(i for i in range(at, len(delta)) if delta[i] < 0x80) + 1
    out = []
    while at < len(delta):
        code = delta[at]
        at += 1
        if not code & 0x80:
            out.append(delta[at : at + code])
            at += code
            continue
        values = [0, 0]
        for bit in range(7):
            if code >> bit & 1:
                which, shift = (0, bit) if bit < 4 else (1, bit - 4)
                values[which] |= delta[at] << 8 * shift
                at += 1
        out.append(base[values[0] : values[0] + values[1]])
    return b"".join(out)
