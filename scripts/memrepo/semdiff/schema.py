"""What changed in a tool's ``parameters``, each change once, with its class for a caller.

Both schemas are walked together, keyword by keyword and down into every part they
share. What means the same is no change: the order of keys, of ``required``, ``enum``
and ``type``, ``"type": ["string"]`` for ``"string"``, ``minLength: 0``, ``default:
null``, a root without ``type: object``. ``$ref`` is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

from memrepo.semdiff.alternatives import UNIONS, alternatives_of, pair_up
from memrepo.semdiff.change import Class, ParameterChange, ToolKind
from memrepo.semdiff.jsonvalue import same
from memrepo.semdiff.keywords import (
    ANNOTATIONS,
    LOWER,
    OPAQUE,
    RULES,
    TEXT,
    UPPER,
    bound_class,
    compare_values,
    rule_class,
    type_class,
    values_of,
)
from memrepo.semdiff.parameters import parameters_of, required_of
from memrepo.semdiff.spelling import Side, parameters_side

CLASSES: tuple[Class, ...] = ("breaking", "compatible", "wording")

#: Keywords whose value is one schema; without it everything is accepted.
_ONE = frozenset(
    {
        "additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems",
        "propertyNames", "items",
    }
)  # fmt: skip
#: Keywords whose value is a list of schemas that stand by their place, or all hold.
_LISTS = frozenset({"prefixItems", "allOf"})
#: Keywords whose value is an object of schemas; the first two only define names.
_NAMED = ("$defs", "definitions", "patternProperties", "dependentSchemas")
#: What a short map leaves open: neither said nor denied.
_UNSAID = ("$schema", "additionalProperties")
_NOTHING = Side({}, "")


def diff_parameters(before: Any, after: Any) -> list[ParameterChange]:
    """The changes from one ``parameters`` value to another; pointers begin ``/parameters``.

    Any JSON value is taken. A pointer leads into the tool as it is now, or into the old
    tool for what is gone; no two changes have the same pointer and kind. ``before`` and
    ``after`` are the values there (None: not there), ``False`` and ``True`` where a
    parameter became required; for a change of spelling they name the two spellings.
    """
    if same(before, after):
        return []
    old, new = parameters_side(before), parameters_side(after)
    walk = _Walk()
    if isinstance(before, dict) and isinstance(after, dict):
        if old.form != new.form and before and parameters_of(new) and parameters_of(old):
            words = ("short map", "JSON Schema")
            if new.form == "map":
                words = ("JSON Schema", "short map")
            walk.note("/parameters", "schema-changed", "wording", *words)
        walk.objects(old, new, _rooted(old.schema()), _rooted(new.schema()))
    else:
        walk.note("/parameters", "schema-changed", "breaking", before, after)
    return _unique(walk.changes)


def worst(classes: Iterable[Class]) -> Class:
    """The worst of some classes; "wording" of none."""
    return CLASSES[min(map(CLASSES.index, classes), default=2)]


def _rooted(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments are always an object (protocol), whether the root says so or not."""
    return {"type": "object", **schema}


def _unique(changes: list[ParameterChange]) -> list[ParameterChange]:
    """The parts of a short map's word share one pointer; the worst class speaks for them."""
    found: dict[tuple[str, str], ParameterChange] = {}
    for change in changes:
        key = (change.pointer, change.kind)
        known = found.setdefault(key, change)
        if CLASSES.index(change.cls) < CLASSES.index(known.cls):
            found[key] = change
    return list(found.values())


def _place(keyword: str, old: Side, new: Side, *, here: bool) -> str:
    """Where a keyword is in the new tool, or was in the old one."""
    return new.child(keyword) if here else old.child(keyword)


class _Walk:
    """One comparison: the changes found so far."""

    def __init__(self) -> None:
        self.changes: list[ParameterChange] = []

    def note(self, pointer: str, kind: ToolKind, cls: Class, before: Any, after: Any) -> None:
        self.changes.append(ParameterChange(pointer, kind, cls, before, after))

    def schemas(self, old: Side, new: Side) -> None:
        """Two schemas in the same place: objects, true or false, or words of a short map."""
        if isinstance(old.value, str) and isinstance(new.value, str):
            self._words(old, new)
            return
        if old.form == new.form and same(old.value, new.value):
            return
        before, after = old.schema(), new.schema()
        if isinstance(before, dict) and isinstance(after, dict):
            self.objects(old, new, before, after)
        elif before is False:
            self.note(new.pointer, "constraint-changed", "compatible", False, new.value)
        elif after is False:
            self.note(new.pointer, "constraint-changed", "breaking", old.value, False)
        else:
            self.note(new.pointer, "schema-changed", "breaking", old.value, new.value)

    def objects(self, old: Side, new: Side, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Two schema objects, keyword by keyword, in the order of the new one."""
        hidden = self._unions(old, new, before, after)
        before = {k: v for k, v in before.items() if k not in hidden[0]}
        after = {k: v for k, v in after.items() if k not in hidden[1]}
        self._types(old, new, before, after)
        self._values(old, new, before, after)
        self._members(old, new, before, after)
        unsaid = _UNSAID if "map" in (old.form, new.form) else ()
        for keyword in dict.fromkeys((*after, *before)):
            if keyword in unsaid:
                continue
            if keyword in _NAMED:
                self._named(keyword, old, new, before.get(keyword), after.get(keyword))
            elif keyword in _ONE:
                self._one(keyword, old, new, before, after)
            elif keyword in _LISTS:
                self._listed(keyword, old, new, before.get(keyword), after.get(keyword))
            elif keyword not in _ELSEWHERE:
                self._plain(keyword, old, new, before.get(keyword), after.get(keyword))

    def _words(self, old: Side, new: Side) -> None:
        """Two words of short maps: one change of type, and one of description, at most."""
        inner = _Walk()
        inner.objects(old, new, old.schema(), new.schema())
        types = [c.cls for c in inner.changes if c.kind != "description-changed"]
        if types:
            self.note(new.pointer, "type-changed", worst(types), old.value, new.value)
        elif inner.changes:
            self.note(new.pointer, "description-changed", "wording", old.value, new.value)

    def _types(self, old: Side, new: Side, before: dict[str, Any], after: dict[str, Any]) -> None:
        x, y = before.get("type"), after.get("type")
        cls = type_class(x, y)
        if cls:
            place = _place("type", old, new, here="type" in after)
            self.note(place, "type-changed", cls, x, y)
        x, y = before.get("nullable") is True, after.get("nullable") is True
        if x != y:
            place = _place("nullable", old, new, here="nullable" in after)
            self.note(place, "type-changed", "compatible" if y else "breaking", x, y)

    def _values(self, old: Side, new: Side, before: dict[str, Any], after: dict[str, Any]) -> None:
        if self._odd("enum", list, old, new, before, after):
            return
        x, y = values_of(before), values_of(after)
        if x and not y:
            self.note(old.child(x.keyword), "enum-widened", "compatible", before[x.keyword], None)
        elif y and not x:
            self.note(new.child(y.keyword), "enum-narrowed", "breaking", None, after[y.keyword])
        elif x and y and (kind := compare_values(x.values, y.values)):
            cls: Class = "compatible" if kind == "enum-widened" else "breaking"
            self.note(new.child(y.keyword), kind, cls, before[x.keyword], after[y.keyword])

    def _members(self, old: Side, new: Side, before: dict[str, Any], after: dict[str, Any]) -> None:
        """``properties`` and ``required``: the parameters themselves."""
        self._odd("properties", dict, old, new, before, after)
        self._odd("required", list, old, new, before, after)
        had, has = parameters_of(old, before), parameters_of(new, after)
        needed, needs = required_of(before), required_of(after)
        for name, part in has.items():
            if name not in had:
                cls: Class = "breaking" if name in needs else "compatible"
                self.note(part.pointer, "parameter-added", cls, None, part.value)
                continue
            self.schemas(had[name], part)
            if name in needs and name not in needed:
                self.note(part.pointer, "became-required", "breaking", False, True)
            elif name in needed and name not in needs:
                self.note(part.pointer, "became-optional", "compatible", True, False)
        for name, part in had.items():
            if name not in has:
                self.note(part.pointer, "parameter-removed", "breaking", part.value, None)

    def _odd(
        self, keyword: str, shape: type, old: Side, new: Side, before: Any, after: Any
    ) -> bool:
        """Note a changed keyword whose value has not its shape on some side; whether it did."""
        x, y = before.get(keyword), after.get(keyword)
        if all(v is None or isinstance(v, shape) for v in (x, y)):
            return False
        self._whole(keyword, old, new, x, y)
        return True

    def _whole(self, keyword: str, old: Side, new: Side, before: Any, after: Any) -> None:
        """A keyword that nothing more can be said of than that it changed."""
        if not same(before, after):
            place = _place(keyword, old, new, here=after is not None)
            self.note(place, "schema-changed", "breaking", before, after)

    def _one(
        self, keyword: str, old: Side, new: Side, before: dict[str, Any], after: dict[str, Any]
    ) -> None:
        x, y = before.get(keyword, True), after.get(keyword, True)
        if isinstance(x, list) or isinstance(y, list):
            x, y = ([] if v is True else v for v in (x, y))
            self._listed(keyword, old, new, x, y)
            return
        if x is not False and y is False:
            # Who was told of no parameter gave none, so closing the root refuses nothing.
            told = new.pointer != "/parameters" or parameters_of(old, before)
            cls: Class = "breaking" if told or keyword != "additionalProperties" else "compatible"
            self.note(new.child(keyword), "constraint-changed", cls, before.get(keyword), False)
        elif x is False and y is not False:
            place = _place(keyword, old, new, here=keyword in after)
            self.note(place, "constraint-changed", "compatible", False, after.get(keyword))
        else:
            self.schemas(old.part(x, keyword), new.part(y, keyword))

    def _listed(self, keyword: str, old: Side, new: Side, before: Any, after: Any) -> None:
        """By place in ``prefixItems`` and lists of ``items``; by likeness in ``allOf``."""
        x, y = ([] if v is None else v for v in (before, after))
        if not isinstance(x, list) or not isinstance(y, list):
            self._whole(keyword, old, new, before, after)
            return
        olds = [old.part(v, keyword, i) for i, v in enumerate(x)]
        news = [new.part(v, keyword, i) for i, v in enumerate(y)]
        if keyword == "allOf":
            self._alternatives(olds, news, "constraint-changed", come="breaking", gone="compatible")
            return
        for i in range(max(len(x), len(y))):
            self.schemas(
                olds[i] if i < len(x) else _NOTHING,
                news[i] if i < len(y) else Side({}, olds[i].pointer),
            )

    def _named(self, keyword: str, old: Side, new: Side, before: Any, after: Any) -> None:
        x, y = ({} if v is None else v for v in (before, after))
        if not isinstance(x, dict) or not isinstance(y, dict):
            self._whole(keyword, old, new, before, after)
            return
        # A new definition binds nobody until something points to it.
        defines = keyword in _NAMED[:2]
        kind: ToolKind = "schema-changed" if defines else "constraint-changed"
        for name, value in y.items():
            if name in x:
                self.schemas(old.part(x[name], keyword, name), new.part(value, keyword, name))
            else:
                cls: Class = "compatible" if defines else "breaking"
                self.note(new.child(keyword, name), kind, cls, None, value)
        for name, value in x.items():
            if name not in y:
                self.note(old.child(keyword, name), kind, "breaking", value, None)

    def _unions(
        self, old: Side, new: Side, before: dict[str, Any], after: dict[str, Any]
    ) -> tuple[Set[str], Set[str]]:
        """Compare ``anyOf`` and ``oneOf``; answers the keywords of each side that are done.

        A schema that became one of several alternatives (``string`` to ``anyOf`` string
        or null) is compared with those, all its rules at once.
        """
        done = frozenset(UNIONS)
        if done.isdisjoint(before) and done.isdisjoint(after):
            return done, done
        x, y = alternatives_of(old, before), alternatives_of(new, after)
        if x and y and ((x.keyword and y.keyword) or (x.pure and y.pure)):
            if x.keyword and y.keyword and x.keyword != y.keyword:
                strict: Class = "breaking" if y.keyword == "oneOf" else "compatible"
                place = new.child(y.keyword)
                self.note(place, "constraint-changed", strict, x.keyword, y.keyword)
            self._alternatives(x.parts, y.parts, "type-changed", come="compatible", gone="breaking")
            return (
                done if x.keyword else before.keys() - ANNOTATIONS,
                done if y.keyword else after.keys() - ANNOTATIONS,
            )
        for keyword in UNIONS:
            v, w = before.get(keyword), after.get(keyword)
            if not same(v, w):
                gone = keyword not in after
                place = old.child(keyword) if gone else new.child(keyword)
                self.note(place, "type-changed", "compatible" if gone else "breaking", v, w)
        return done, done

    def _alternatives(
        self, olds: list[Side], news: list[Side], kind: ToolKind, *, come: Class, gone: Class
    ) -> None:
        pairs, left, right = pair_up(olds, news)
        for one, other in pairs:
            self.schemas(one, other)
        for side in right:
            self.note(side.pointer, kind, come, None, side.value)
        for side in left:
            self.note(side.pointer, kind, gone, side.value, None)

    def _plain(self, keyword: str, old: Side, new: Side, before: Any, after: Any) -> None:
        """A keyword whose value is compared whole."""
        place = _place(keyword, old, new, here=after is not None)
        if keyword in LOWER or keyword in UPPER:
            cls = bound_class(keyword, before, after)
        elif keyword in RULES or keyword in OPAQUE:
            cls = rule_class(keyword, before, after)
        elif same(before, after):
            return
        elif keyword == "default":
            # Whoever leaves the parameter out relied on the old value.
            kept: Class = "compatible" if before is None else "breaking"
            self.note(place, "default-changed", kept, before, after)
            return
        else:
            kind: ToolKind = "description-changed" if keyword in TEXT else "schema-changed"
            self.note(place, kind, "wording", before, after)
            return
        if cls:
            self.note(place, "constraint-changed", cls, before, after)


#: Keywords that are compared with others, not for themselves.
_ELSEWHERE = frozenset({"type", "nullable", "enum", "const", "properties", "required"})
