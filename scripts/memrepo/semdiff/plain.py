"""The plain diff of a file that is no agent's (Markdown memory, YAML, the policy)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

#: Lines of a patch that are kept; a longer one is cut there and says so.
MOST_LINES = 400
#: Above so many differing lines on a side the middle is shown as replaced whole: the
#: matching of difflib grows with the square of it.
_MOST_MATCHED = 1500
_CONTEXT = 3


class Patch(msgspec.Struct, frozen=True):
    """A unified diff without file headers; ``truncated`` when lines were left out."""

    text: str
    truncated: bool = False


def unified_diff(before: bytes | None, after: bytes | None) -> Patch | None:
    """The unified diff of two files; None where one of them is binary or was not read.

    An absent side is ``b""``. Bytes that are no UTF-8 show as U+FFFD.
    """
    if before is None or after is None or b"\0" in before[:8192] or b"\0" in after[:8192]:
        return None
    old = before.decode("utf-8", "replace").splitlines()
    new = after.decode("utf-8", "replace").splitlines()
    lines: list[str] = []
    for line in _lines(old, new):
        if len(lines) == MOST_LINES:
            return Patch("\n".join(lines), True)
        lines.append(line)
    return Patch("\n".join(lines))


def _lines(old: list[str], new: list[str]) -> Iterator[str]:
    start = 0
    while start < len(old) and start < len(new) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    if len(old) - start - end > _MOST_MATCHED or len(new) - start - end > _MOST_MATCHED:
        yield from _replaced(old, new, start, end)
        return
    import difflib

    # Only the neighbourhood of the change goes in; the numbers are put right afterwards.
    shift = max(start - _CONTEXT, 0)
    keep = max(end - _CONTEXT, 0)
    part_old, part_new = old[shift : len(old) - keep], new[shift : len(new) - keep]
    matcher = difflib.SequenceMatcher(None, part_old, part_new, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        yield _header(shift + first[1], last[2] - first[1], shift + first[3], last[4] - first[3])
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {line}" for line in part_old[i1:i2])
                continue
            yield from (f"-{line}" for line in part_old[i1:i2])
            yield from (f"+{line}" for line in part_new[j1:j2])


def _replaced(old: list[str], new: list[str], start: int, end: int) -> Iterator[str]:
    yield _header(start, len(old) - start - end, start, len(new) - start - end)
    yield from (f"-{line}" for line in old[start : len(old) - end])
    yield from (f"+{line}" for line in new[start : len(new) - end])


def _header(old_start: int, old_count: int, new_start: int, new_count: int) -> str:
    def part(start: int, count: int) -> str:
        # Git numbers an empty side by the line before it.
        first = start + 1 if count else start
        return f"{first}" if count == 1 else f"{first},{count}"

    return f"@@ -{part(old_start, old_count)} +{part(new_start, new_count)} @@"
