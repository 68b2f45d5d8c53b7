"""How the ``parameters`` of a tool are merged: by key, with the lists that are sets as sets.

Two sides can each leave a good schema and together a broken one: one takes a parameter out
while the other makes it required, or one takes a choice away that the other makes the
default. That is a disagreement about one thing, though each touched another key.
"""

from __future__ import annotations

from typing import Any, Literal

from memrepo.semdiff.spelling import is_json_schema
from memrepo.semmerge.jsonvalue import frozen, same, shown
from memrepo.semmerge.merging import Merging
from memrepo.semmerge.value import PLAIN, Rules, merge_set, merge_value
from memrepo.semmerge.values import ABSENT

#: Keywords whose members are named by the tool's author, each a schema.
_NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
#: Keywords whose value is data: a list in there is whole, whatever it is called.
_DATA = frozenset({"default", "const", "example", "examples"})

_Object = dict[str, Any]


class _SetRules(Rules):
    """A list without order or repetition. No list at all is an empty one where that is its
    meaning: nothing ``required``. An ``enum`` that is not there allows everything instead."""

    def __init__(self, *, none_is_empty: bool) -> None:
        self._none_is_empty = none_is_empty

    def both_changed(
        self, merging: Merging, pointer: str, base: Any, ours: Any, theirs: Any
    ) -> Any:
        before = [] if base is ABSENT and self._none_is_empty else base
        if isinstance(before, list) and isinstance(ours, list) and isinstance(theirs, list):
            merged = merge_set(before, ours, theirs)
            if merged is not None:
                return merged
        return merging.disagree(pointer, base, ours, theirs)


class _SchemaRules(Rules):
    """A JSON Schema, or an object that holds schemas by name."""

    def __init__(self, holds: Literal["keywords", "names"]) -> None:
        self._holds = holds

    def under(self, key: str) -> Rules:
        if self._holds == "names":
            return _SCHEMA
        if key in _NAMED:
            return _NAMES
        if key in _DATA:
            return PLAIN
        return _SETS.get(key, _SCHEMA)

    def joined(
        self,
        merging: Merging,
        pointer: str,
        sides: tuple[_Object, _Object, _Object],
        value: _Object,
    ) -> _Object:
        # With a conflict inside, the value is not what will stand there in the end.
        if self._holds == "names" or merging.clashes_below(pointer):
            return value
        for key, broken in (("required", _missing), ("default", _not_a_choice)):
            if broken(value) - broken(sides[1]) - broken(sides[2]):
                names = ", ".join(sorted(broken(value)))
                what = "required but no longer there" if key == "required" else "no longer a choice"
                message = (
                    f"{merging.labels.ours} and {merging.labels.theirs} together make "
                    f"this {names}, which is {what}"
                )
                three = [side.get(key, ABSENT) for side in sides]
                chosen = merging.clash(f"{pointer}/{key}", "invalid-result", message, *three)
                value = {k: v for k, v in {**value, key: chosen}.items() if v is not ABSENT}
        return value


def _missing(schema: _Object) -> set[str]:
    """Parameters that are required and not there."""
    required, properties = schema.get("required"), schema.get("properties")
    if not (isinstance(required, list) and isinstance(properties, dict)):
        return set()
    return {shown(name) for name in required if isinstance(name, str) and name not in properties}


def _not_a_choice(schema: _Object) -> set[str]:
    """The default, where it is none of the ``enum``."""
    choices = schema.get("enum")
    if not isinstance(choices, list) or "default" not in schema:
        return set()
    default = schema["default"]
    return set() if frozen(default) in map(frozen, choices) else {shown(default)}


_SCHEMA = _SchemaRules("keywords")
_NAMES = _SchemaRules("names")
_SETS = {"required": _SetRules(none_is_empty=True), "enum": _SetRules(none_is_empty=False)}


def _mean_the_same(ours: _Object, theirs: _Object) -> bool:
    from memrepo.semdiff.schema import diff_parameters

    changes = diff_parameters(ours, theirs)
    return all((c.kind, c.pointer) == ("schema-changed", "/parameters") for c in changes)


def merge_parameters(merging: Merging, pointer: str, base: Any, ours: Any, theirs: Any) -> Any:
    """The ``parameters`` that three make: JSON Schemas, or short maps of name to type.

    Where the two sides are in different spellings, joining them by key would mix the two. So
    what one side left as it was is the other's; of two that mean the same the JSON Schema is
    taken, with a note; the rest is a conflict about the whole.
    """
    if same(base, theirs):
        return ours
    if same(base, ours):
        return theirs
    schemas = {is_json_schema(side) for side in (ours, theirs) if side}
    if len(schemas) == 2:
        if _mean_the_same(ours, theirs):
            message = "a short map and a JSON Schema that mean the same: took the schema"
            merging.note(pointer, "spelling", message)
            return ours if is_json_schema(ours) else theirs
        message = (
            f"{merging.labels.ours} and {merging.labels.theirs} spell the parameters differently: "
            "one as a short map, one as a JSON Schema"
        )
        return merging.clash(pointer, "both-changed", message, base, ours, theirs)
    return merge_value(merging, pointer, base, ours, theirs, _SCHEMA if True in schemas else _NAMES)
