"""``instruction-like``: text that orders the model which reads memory about."""

from __future__ import annotations

from memrepo.rules.characters import shown
from memrepo.rules.fold import View
from memrepo.rules.hits import PLACES_PER_STRING, Place
from memrepo.rules.orders import ORDERS, Order

CODE = "instruction-like"

_HINT = "Memory says what is so, it does not give orders: take it out or say it as a fact."

_NEEDS = [[frozenset(w.encode() for w in some) for some in order.needs] for order in ORDERS]

#: For each word that a form needs most of all, the forms that need it.
_NEEDED_BY: dict[bytes, list[int]] = {}
for _at, _sets in enumerate(_NEEDS):
    for _word in _sets[0] if _sets else ():
        _NEEDED_BY.setdefault(_word, []).append(_at)
#: Every text with one of the forms that need words has one of these.
GATE = frozenset(_NEEDED_BY)

_WORDLESS = [at for at, order in enumerate(ORDERS) if not order.needs]
_MARKS = tuple(mark for at in _WORDLESS for mark in ORDERS[at].marks)
_ASCII_MARKS = tuple(mark for mark in _MARKS if mark.isascii())


def is_marked(folded: str, ascii_only: bool) -> bool:
    """Whether a folded text has the mark of a form that needs no words."""
    return any(mark in folded for mark in (_ASCII_MARKS if ascii_only else _MARKS))


def suspects(words: list[bytes], folded: str, ascii_only: bool) -> tuple[Order, ...]:
    """The forms that can be in a folded text.

    ``words`` are its words, cut as :class:`memrepo.rules.orders.Order` says.
    """
    candidates = {at for word in GATE.intersection(words) for at in _NEEDED_BY[word]}
    if is_marked(folded, ascii_only):
        candidates.update(_WORDLESS)
    return tuple(
        ORDERS[at]
        for at in sorted(candidates)
        if not any(some.isdisjoint(words) for some in _NEEDS[at])
        and (not ORDERS[at].marks or any(mark in folded for mark in ORDERS[at].marks))
    )


def find(view: View, orders: tuple[Order, ...] = ORDERS) -> list[Place]:
    """Orders in the string, with the words seen; earlier forms win at the same place."""
    text = view.folded
    places: list[Place] = []
    for order in orders:
        for match in order.pattern.finditer(text):
            start, end = view.span(*match.span())
            if any(start < p.end and p.start < end for p in places):
                continue
            words = shown(view.text[start:end])
            message = f'reads like an order to the model that {order.what}: "{words}"'
            places.append(Place(start, end, message, _HINT))
            if len(places) == PLACES_PER_STRING:
                return places
    return places
