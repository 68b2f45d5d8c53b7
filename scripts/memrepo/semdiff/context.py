"""What changed in a context, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence

from memrepo.protocol.documents import Turn
from memrepo.semdiff.change import ContextDiff, TurnChange, TurnKind, Word
from memrepo.semdiff.matching import match_turns
from memrepo.semdiff.words import replaced, word_diff

#: Characters of edited turns, both sides, of one context that are compared word by word;
#: an edit beyond is shown as all old words out, all new ones in.
_WORDS_BUDGET = 400_000


def diff_context(before: Sequence[Turn], after: Sequence[Turn], *, limit: int) -> ContextDiff:
    """The turns appended, inserted, edited, removed and moved; none for equal contexts.

    ``limit`` is the number of turns a context may have. A turn is *appended* when no old
    turn comes after it. A turn of which only the time or the role changed is *edited*,
    with ``before_timestamp`` or ``before_role`` set, and no ``words`` where the text is
    the same. ``before`` is the text of removed and edited turns, ``after`` that of all
    others and of edited ones. Changes come in the order of ``after``, a removed turn
    behind the last turn that stayed before it.
    """
    if before == after:
        return ContextDiff(before_turns=len(before), after_turns=len(after))
    matching = match_turns(before, after, limit=limit)
    kept = dict(matching.kept)
    moved = dict(matching.moved)
    origin = {j: i for i, j in matching.moved}
    last_old = max((j for _, j in (*matching.kept, *matching.moved)), default=-1)
    budget = _WORDS_BUDGET
    changes: list[TurnChange] = []
    counts: dict[TurnKind, int] = dict.fromkeys(
        ("appended", "inserted", "edited", "removed", "moved"), 0
    )

    i = 0
    for j in range(len(after) + 1):
        # Removed turns follow the kept turn they stood behind.
        while i < len(before) and i not in kept:
            if i not in moved:
                changes.append(_removed(before[i], i))
                counts["removed"] += 1
            i += 1
        if j == len(after):
            break
        turn = after[j]
        if i < len(before) and kept[i] == j:
            old = before[i]
            if old != turn:
                changes.append(_edited(old, turn, i, j, in_words=budget > 0))
                budget -= len(old.content) + len(turn.content)
                counts["edited"] += 1
            i += 1
            continue
        kind: TurnKind = "moved" if j in origin else "appended" if j > last_old else "inserted"
        changes.append(
            TurnChange(
                kind=kind,
                role=turn.role,
                before_index=origin.get(j, -1),
                after_index=j,
                after=turn.content,
                timestamp=turn.timestamp,
            )
        )
        counts[kind] += 1

    return ContextDiff(
        appended=counts["appended"],
        inserted=counts["inserted"],
        edited=counts["edited"],
        removed=counts["removed"],
        moved=counts["moved"],
        trimmed=_trimmed(before, len(after), kept, moved, limit),
        before_turns=len(before),
        after_turns=len(after),
        changes=tuple(changes),
    )


def _removed(turn: Turn, index: int) -> TurnChange:
    return TurnChange(
        kind="removed",
        role=turn.role,
        before_index=index,
        before=turn.content,
        timestamp=turn.timestamp,
    )


def _edited(old: Turn, new: Turn, i: int, j: int, *, in_words: bool) -> TurnChange:
    words: tuple[Word, ...] = ()
    if old.content != new.content:
        words = (word_diff if in_words else replaced)(old.content, new.content)
    return TurnChange(
        kind="edited",
        role=new.role,
        before_index=i,
        after_index=j,
        before=old.content,
        after=new.content,
        before_role=old.role if old.role != new.role else "",
        timestamp=new.timestamp,
        before_timestamp=old.timestamp if old.timestamp != new.timestamp else "",
        words=words,
    )


def _trimmed(
    before: Sequence[Turn],
    after_turns: int,
    kept: dict[int, int],
    moved: dict[int, int],
    limit: int,
) -> int:
    """How many of the oldest turns left because the context would have been over its limit.

    The answers to a question that had to leave may leave with it: a context does not
    begin in the middle of an exchange.
    """
    oldest = 0
    while oldest < len(before) and oldest not in kept and oldest not in moved:
        oldest += 1
    over = after_turns + oldest - limit
    if over <= 0 or not after_turns:
        return 0
    while over < oldest and before[over].role == "assistant":
        over += 1
    return min(over, oldest)
